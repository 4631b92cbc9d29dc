//===- MapToGrid.cpp - turn the nest over query tiles, heads and batch into a kernel and its launch
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func @f(args) { sizes; forall (b, h, i) { tile } }
//     =>  func @f(args) { sizes; section; counter; launch @f_fwd }     the host plan, which the manifest prints
//         kernel @f_fwd(args, section, counter) { sizes; tiles (i, h, b) { tile } }
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/DebugLog.h"

namespace attn {
#define GEN_PASS_DEF_MAPTOGRIDPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-map-to-grid"

/// Sizes are what both sides can compute from the arguments: constants, dimensions, and integer arithmetic on those.
static bool isSizeOp(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return true;
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return isa<BlockArgument>(dim.getSource());
  return isa<arith::ArithDialect>(op.getDialect()) && op.getNumResults() == 1 &&
         op.getResult(0).getType().isIntOrIndex();
}

/// Whether `value` is computed from `from` inside the block of `from`.
static bool dependsOn(Value value, Value from, SmallPtrSetImpl<Operation *> &seen) {
  if (value == from)
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || !seen.insert(def).second)
    return false;
  return llvm::any_of(def->getOperands(), [&](Value operand) { return dependsOn(operand, from, seen); });
}
static bool dependsOn(Value value, Value from) {
  SmallPtrSet<Operation *, 16> seen;
  return dependsOn(value, from, seen);
}

/// A sweep whose end moves with the row tile and whose begin does not grows with it, so the last tiles are the longest.
/// Walked first, they leave the short ones to fill the machine at the end.
static bool growsWithRowTile(SweepOp sweep, Value rowTile) {
  return dependsOn(sweep.getHi(), rowTile) && !dependsOn(sweep.getLo(), rowTile);
}

/// The kernel made of a function.
static std::string kernelName(func::FuncOp func) { return (func.getName() + "_fwd").str(); }

namespace {
/// Rewrites one function.
class GridMapper {
public:
  GridMapper(func::FuncOp func, scf::ForallOp nest, SweepOp sweep, ScheduleAttr schedule)
      : func(func), nest(nest), sweep(sweep), schedule(schedule), loc(nest.getLoc()) {}

  void run() {
    // Extents in the order of attn.tiles: row tiles, heads, batch.
    OpBuilder b(nest);
    SmallVector<Value> bounds = nest.getUpperBound(b); // constants where a spec fixes a size
    extents = {bounds[2], bounds[1], bounds[0]};
    heaviestFirst = growsWithRowTile(sweep, nest.getInductionVars()[2]);
    buildKernel();
    buildHostPlan();
    remark::passed(loc, remark::RemarkOpts::name("mapped").category(DEBUG_TYPE).function(func.getName()))
        << (std::string(isPersistent() ? "blocks walk tiles" : "one block a tile") +
            (heaviestFirst ? ", last row tiles first" : ""))
        << remark::metric("tiles", stringifyTiling(schedule.getTiles()))
        << remark::metric("section_bytes", schedule.getSection());
  }

private:
  void buildKernel();
  void buildTiles(OpBuilder &b, IRMapping &values, Value section, Value counter);
  void buildHostPlan();
  bool isPersistent() const { return schedule.getTiles() != Tiling::Single; }
  /// Where dynamic tiles are counted; null for the others.
  MemRefType counterType() const {
    if (schedule.getTiles() != Tiling::Dynamic)
      return {};
    return MemRefType::get({1}, IntegerType::get(schedule.getContext(), 32));
  }
  Value buildSection(OpBuilder &b);

  func::FuncOp func;
  scf::ForallOp nest;
  SweepOp sweep;
  ScheduleAttr schedule;
  Location loc;
  SmallVector<Value> extents;
  bool heaviestFirst = false;
};
} // namespace

void GridMapper::buildKernel() {
  OpBuilder b(func->getContext());
  b.setInsertionPointAfter(func);
  auto kernel =
      KernelOp::create(b, loc, kernelName(func), schedule, /*smem_bytes=*/IntegerAttr(), /*threads=*/IntegerAttr());
  if (Attribute target = func->getAttr(AttnDialect::kTargetAttr))
    kernel->setAttr(AttnDialect::kTargetAttr, target);
  Block *entry = b.createBlock(&kernel.getBody());
  IRMapping values;
  for (BlockArgument argument : func.getArguments())
    values.map(argument, entry->addArgument(argument.getType(), argument.getLoc()));
  Value section = schedule.getSection() ? entry->addArgument(b.getI32Type(), loc) : BlockArgument();
  Value counter = counterType() ? entry->addArgument(counterType(), loc) : BlockArgument();

  // The sizes the tiles need, computed once a block.
  llvm::SetVector<Value> needed(extents.begin(), extents.end());
  getUsedValuesDefinedAbove(nest.getRegion(), needed);
  llvm::SetVector<Operation *> sizes;
  SmallVector<Value> worklist(needed.begin(), needed.end());
  while (!worklist.empty())
    if (Operation *def = worklist.pop_back_val().getDefiningOp(); def && sizes.insert(def))
      llvm::append_range(worklist, def->getOperands());
  for (Operation &op : func.front())
    if (sizes.contains(&op))
      b.clone(op, values);
  buildTiles(b, values, section, counter);
}

void GridMapper::buildTiles(OpBuilder &b, IRMapping &values, Value section, Value counter) {
  Type i32 = b.getI32Type();
  SmallVector<Value> sizes;
  for (Value extent : extents)
    sizes.push_back(arith::IndexCastOp::create(b, loc, i32, values.lookup(extent)));
  auto tiles = TilesOp::create(b, loc, TypeRange(), schedule.getTiles(), sizes, section, counter,
                               /*init=*/ValueRange(), heaviestFirst);
  Block *body = b.createBlock(&tiles.getBody(), {}, TypeRange{i32, i32, i32, i32}, SmallVector<Location>(4, loc));

  // The nest counts in index, tiles in i32: its casts to i32 disappear, any other use gets a cast back.
  llvm::SmallPtrSet<Operation *, 4> casts;
  for (auto [dim, iv] : llvm::enumerate(nest.getInductionVars())) {
    Value tile = body->getArgument(3 - dim);
    bool usedAsIndex = false;
    for (Operation *user : iv.getUsers()) {
      auto cast = dyn_cast<arith::IndexCastOp>(user);
      if (!cast || cast.getType() != i32) {
        usedAsIndex = true;
        continue;
      }
      casts.insert(user);
      values.map(cast.getResult(), tile);
    }
    if (usedAsIndex)
      values.map(iv, arith::IndexCastOp::create(b, loc, b.getIndexType(), tile).getResult());
  }
  for (Operation &op : nest.getBody()->without_terminator())
    if (!casts.contains(&op))
      b.clone(op, values);
  YieldOp::create(b, loc, ValueRange());
}

/// How many heads are walked together: as many as have their keys and values in the byte budget of the schedule.
Value GridMapper::buildSection(OpBuilder &b) {
  int64_t bytesPerKey = 0;
  Value keys;
  for (auto load : sweep.getBody().getOps<LoadOp>()) {
    auto source = dyn_cast<BlockArgument>(load.getSource());
    if (!source || source.getOwner() != &func.front())
      continue;
    auto type = cast<MemRefType>(source.getType());
    bytesPerKey += type.getShape().back() * type.getElementTypeBitWidth() / 8;
    if (!keys)
      keys = memref::DimOp::create(b, loc, source, type.getRank() - 2);
  }
  Value perKey = arith::ConstantIndexOp::create(b, loc, bytesPerKey);
  if (!keys)
    keys = perKey;
  Value bytes = arith::MulIOp::create(b, loc, keys, perKey);
  return SectionOp::create(b, loc, b.getI32Type(), ValueRange{extents[2], extents[1]}, bytes, schedule.getSection());
}

void GridMapper::buildHostPlan() {
  OpBuilder b(nest);
  SmallVector<Value> arguments(func.getArguments().begin(), func.getArguments().end());
  if (schedule.getSection())
    arguments.push_back(buildSection(b));
  if (MemRefType type = counterType())
    arguments.push_back(memref::AllocOp::create(b, loc, type));
  LaunchOp::create(b, loc, kernelName(func), isPersistent(), extents, arguments);
  nest.erase();
  func->removeDiscardableAttr(AttnDialect::kScheduleAttr);
  // Sizes only the tiles used.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(func.front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct MapToGrid : attn::impl::MapToGridPassBase<MapToGrid> {
  using MapToGridPassBase::MapToGridPassBase;

  LogicalResult mapFunction(func::FuncOp func, scf::ForallOp nest) {
    auto schedule = func->getAttrOfType<ScheduleAttr>(AttnDialect::kScheduleAttr);
    if (!schedule)
      return func.emitOpError("expects '") << AttnDialect::kScheduleAttr << "': its loops were built from a schedule";
    TargetAttr target = requireTarget(func);
    if (!target)
      return failure();
    if (schedule.getTiles() != Tiling::Single && target.getFamily() != Family::Wgmma)
      return func.emitOpError("has a schedule with tiles = ")
             << stringifyTiling(schedule.getTiles()) << ", but a block of family "
             << stringifyFamily(target.getFamily()) << " takes one tile; it must say tiles = single";
    if (nest.getRank() != 3 || !nest.isNormalized() || nest.getNumResults())
      return nest.emitOpError("expects a nest over (batch, heads, row tiles) from 0 by 1, without results");
    auto sweeps = nest.getBody()->getOps<SweepOp>();
    if (!llvm::hasSingleElement(sweeps))
      return nest.emitOpError("expects one attn.sweep in a tile, got ") << std::distance(sweeps.begin(), sweeps.end());
    for (Operation &op : func.front()) {
      if (&op == nest || isa<func::ReturnOp>(op) || isSizeOp(op))
        continue;
      if (isa<scf::ForallOp>(op))
        return op.emitOpError("is the second nest in @") << func.getName() << "; a function is one kernel for now";
      InFlightDiagnostic diag = op.emitOpError("is neither an argument nor a size, so a kernel of @")
                                << func.getName() << " cannot have it";
      diag.attachNote(nest.getLoc()) << "the kernel is made of this nest";
      return diag;
    }
    std::string name = kernelName(func);
    if (Operation *other = SymbolTable::lookupSymbolIn(getOperation(), name)) {
      InFlightDiagnostic diag = func.emitOpError("needs the name @") << name << " for its kernel";
      diag.attachNote(other->getLoc()) << "which is taken here";
      return diag;
    }
    GridMapper(func, nest, *sweeps.begin(), schedule).run();
    return success();
  }

  void runOnOperation() override {
    SmallVector<std::pair<func::FuncOp, scf::ForallOp>> nests;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isDeclaration())
        continue;
      auto found = func.front().getOps<scf::ForallOp>();
      if (!found.empty())
        nests.emplace_back(func, *found.begin());
    }
    for (auto [func, nest] : nests)
      if (failed(mapFunction(func, nest)))
        return signalPassFailure();
  }
};
} // namespace
