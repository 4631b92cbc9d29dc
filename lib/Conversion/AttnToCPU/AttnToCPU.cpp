//===- AttnToCPU.cpp - mapped kernels to loops over vectors on the CPU
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "Lower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTOCPUPASS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "convert-attn-to-cpu"

/// What is promised at launch, in the type: the last dimension of a memref has unit stride. Null for other types than
/// numbers and such memrefs.
static Type withUnitStride(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return type.isIntOrFloat() ? type : Type();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(memref.getStridesAndOffset(strides, offset)))
    return {};
  if (strides.empty())
    return memref;
  if (strides.back() != 1 && !ShapedType::isDynamic(strides.back()))
    return {};
  strides.back() = 1;
  return MemRefType::get(memref.getShape(), memref.getElementType(),
                         StridedLayoutAttr::get(type.getContext(), offset, strides), memref.getMemorySpace());
}

/// A 16-bit tile is kept as f32 anyway: where all its users widen it, the load gives f32 at once, and the layout of a
/// second operand.
static void widenLoads(KernelOp kernel) {
  SmallVector<LoadOp> loads;
  kernel.walk([&](LoadOp load) { loads.push_back(load); });
  for (LoadOp load : loads) {
    auto isWidening = [](Operation *user) {
      return isa<arith::ExtFOp>(user) && getElementTypeOrSelf(user->getResult(0).getType()).isF32();
    };
    SmallVector<Operation *> users(load->getUsers());
    if (users.empty() || !llvm::all_of(users, isWidening))
      continue;
    load.getResult().setType(cast<RankedTensorType>(users.front()->getResult(0).getType()));
    for (Operation *widening : users) {
      widening->getResult(0).replaceAllUsesWith(load.getResult());
      widening->erase();
    }
  }
}

static LogicalResult lowerKernel(OpBuilder &b, KernelOp kernel, cpu::Machine machine) {
  Block &block = kernel.getBody().front();
  auto types = llvm::to_vector(block.getArgumentTypes());
  if (types.size() < 2 || !types[types.size() - 1].isInteger(64) || !types[types.size() - 2].isInteger(64))
    return kernel.emitOpError("expects begin and end (i64) as its last arguments, as attn-lower-tiles adds them for "
                              "family cpu");
  for (auto [i, type] : llvm::enumerate(MutableArrayRef(types).drop_back(2)))
    if (Type known = withUnitStride(type))
      type = known;
    else
      return kernel.emitOpError("argument ") << i << " of type " << type
                                             << " is not supported on the CPU: expected a number, or a memref whose "
                                                "last dimension has unit stride";
  if (kernel.walk([](Operation *op) { return WalkResult(cpu::checkMath(op)); }).wasInterrupted())
    return failure();
  // The host function beside it is no code for a machine: what converts the kernel further must not touch it. The
  // module has the name by which the host function launches the kernel.
  b.setInsertionPoint(kernel);
  auto code = ModuleOp::create(b, kernel.getLoc(), kernel.getSymName());
  b.setInsertionPointToStart(code.getBody());
  auto body =
      func::FuncOp::create(b, kernel.getLoc(), (kernel.getSymName() + "_tiles").str(), b.getFunctionType(types, {}));
  body.setPrivate();
  body->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  body.addEntryBlock();
  widenLoads(kernel);
  cpu::KernelLowering lowering(body, machine);
  lowering.getScalars().map(block.getArguments(), body.getArguments());
  if (failed(lowering.lowerBody(block)))
    return failure();
  cpu::emitEntry(b, body, kernel.getSymName());
  kernel.erase();
  return success();
}

namespace {
struct AttnToCPU : attn::impl::ConvertAttnToCPUPassBase<AttnToCPU> {
  using ConvertAttnToCPUPassBase::ConvertAttnToCPUPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    int64_t lanes = vectorLanes, registers = vectorRegisters;
    if (!llvm::isPowerOf2_64(lanes) || registers < 8 || !llvm::isPowerOf2_64(registers)) {
      module.emitError("vector-lanes and vector-registers must be powers of two and at least 1 and 8, got ")
          << lanes << " and " << registers;
      return signalPassFailure();
    }
    OpBuilder b(&getContext());
    for (auto kernel : llvm::make_early_inc_range(module.getOps<KernelOp>()))
      if (failed(lowerKernel(b, kernel, {lanes, registers})))
        return signalPassFailure();
    module->setAttr(AttnDialect::kCpuAttr, b.getStringAttr(cpu));

    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns);
    FrozenRewritePatternSet frozen(std::move(patterns));
    for (auto code : module.getOps<ModuleOp>())
      (void)applyPatternsGreedily(code, frozen);
  }
};
} // namespace
