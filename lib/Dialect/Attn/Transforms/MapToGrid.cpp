//===- MapToGrid.cpp - turn nests over row tiles, heads and batch into kernels and their launches
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func @f(args) { sizes; workspaces; forall (b, h, i) { tile }  forall ... }
//     =>  func @f(args) { sizes; workspaces; section; counter; launch @f_fwd ... }   the host plan: the manifest
//         kernel @f_fwd(args, workspaces, section, counter) { sizes; tiles (i, h, b) { tile } } ...
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "GridNest.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn {
#define GEN_PASS_DEF_MAPTOGRIDPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-map-to-grid"

/// Replaces a nest by the launch of its kernel, which is made at `kernels`.
static void mapNest(func::FuncOp func, GridNest &nest, OpBuilder &kernels) {
  OpBuilder b(nest.loop);
  Location loc = nest.loop.getLoc();
  SmallVector<Value> extents = nest.loop.getUpperBound(b); // constants where a spec fixes a size
  std::reverse(extents.begin(), extents.end());            // to the order of attn.tiles: row tiles, heads, batch
  SmallVector<Value> arguments(nest.arguments);
  // How many heads are walked together: as many as have what their sweeps load in the byte budget of the schedule.
  Value bytes = nest.schedule.getSection() ? buildSweptBytes(b, nest) : Value();
  if (bytes)
    arguments.push_back(SectionOp::create(b, loc, b.getI32Type(), ValueRange{extents[2], extents[1]}, bytes,
                                          b.getI64IntegerAttr(nest.schedule.getSection()), /*whole=*/IntegerAttr()));
  if (MemRefType type = nest.getCounterType())
    arguments.push_back(memref::AllocOp::create(b, loc, type));
  LaunchOp::create(b, loc, nest.kernel, nest.isPersistent(), extents, arguments);
  KernelOp kernel = buildKernel(kernels, nest, /*sectioned=*/static_cast<bool>(bytes));
  kernels.setInsertionPointAfter(kernel);
  remark::passed(loc, remark::RemarkOpts::name("mapped").category(DEBUG_TYPE).function(func.getName()))
      << (std::string(nest.isPersistent() ? "blocks walk tiles" : "one block a tile") +
          (nest.isHeaviestLast() ? ", last row tiles first" : ""))
      << remark::metric("kernel", nest.kernel) << remark::metric("tiles", stringifyTiling(nest.schedule.getTiles()))
      << remark::metric("section_bytes", bytes ? nest.schedule.getSection() : 0);
  nest.loop.erase();
}

namespace {
struct MapToGrid : attn::impl::MapToGridPassBase<MapToGrid> {
  using MapToGridPassBase::MapToGridPassBase;

  LogicalResult mapFunction(func::FuncOp func) {
    FailureOr<SmallVector<GridNest>> nests = readNests(func);
    if (failed(nests))
      return failure();
    if (nests->empty())
      return success();
    OpBuilder kernels(&getContext());
    kernels.setInsertionPointAfter(func);
    for (GridNest &nest : *nests)
      mapNest(func, nest, kernels);
    func->removeDiscardableAttr(AttnDialect::kScheduleAttr);
    // Sizes only the tiles used.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(func.front())))
      if (isOpTriviallyDead(&op))
        op.erase();
    return success();
  }

  void runOnOperation() override {
    for (auto func : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!func.isDeclaration() && failed(mapFunction(func)))
        return signalPassFailure();
  }
};
} // namespace
