//===- AttnToNVVM.cpp - convert the partitioned stage to llvm and nvvm
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "Lowering.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTONVVMPASS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

#define DEBUG_TYPE "convert-attn-to-nvvm"

namespace {
struct Lowerings {
  Check check;
  Populate populate;
};
/// What is the same on every family.
constexpr Lowerings kCommon[] = {
    {checkKernel, populateKernelPatterns}, {checkFragment, populateFragmentPatterns},
    {nullptr, populateReductionPatterns},  {checkMath, populateMathPatterns},
    {checkMemory, populateMemoryPatterns},
};
/// What a family does its own way. A new family is a row here and the files it names.
struct FamilyLowerings {
  Family family;
  Lowerings rings, copies, dots;
};
constexpr FamilyLowerings kFamilies[] = {
    {Family::MmaSync,
     {checkCpAsyncRing, populateCpAsyncRingPatterns},
     {checkCpAsyncCopy, populateCpAsyncCopyPatterns},
     {checkMmaSync, populateMmaSyncPatterns}},
};

struct AttnToNVVM : attn::impl::ConvertAttnToNVVMPassBase<AttnToNVVM> {
  using ConvertAttnToNVVMPassBase::ConvertAttnToNVVMPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    TargetAttr target = requireTarget(module);
    if (!target)
      return signalPassFailure();
    const FamilyLowerings *family =
        llvm::find_if(kFamilies, [&](const FamilyLowerings &f) { return f.family == target.getFamily(); });
    if (family == std::end(kFamilies)) {
      module.emitError("has no lowering to nvvm for family ") << stringifyFamily(target.getFamily());
      return signalPassFailure();
    }
    SmallVector<Lowerings> lowerings(std::begin(kCommon), std::end(kCommon));
    lowerings.append({family->rings, family->copies, family->dots});
    for (KernelOp kernel : module.getOps<KernelOp>())
      if (failed(check(kernel, lowerings)))
        return signalPassFailure();

    KernelTypeConverter types;
    KernelStates kernels;
    RewritePatternSet patterns(&getContext());
    for (const Lowerings &l : lowerings)
      l.populate(types, kernels, patterns);

    ConversionTarget legal(getContext());
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns, legal);
    legal.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, vector::VectorDialect>();
    legal.addIllegalDialect<AttnDialect, math::MathDialect, memref::MemRefDialect, tensor::TensorDialect,
                            gpu::GPUDialect>();
    legal.addDynamicallyLegalDialect<arith::ArithDialect>([&](Operation *op) { return types.isLegal(op); });
    legal.addIllegalOp<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp, arith::DivFOp>();
    SmallVector<Operation *> roots(module.getOps<KernelOp>());
    // The host plan stays as it is: the manifest is printed from it.
    ConversionConfig config;
    config.allowPatternRollback = false;
    if (failed(applyPartialConversion(roots, legal, FrozenRewritePatternSet(std::move(patterns)), config)))
      signalPassFailure();
  }

  static LogicalResult check(KernelOp kernel, ArrayRef<Lowerings> lowerings) {
    if (!kernel.getThreads() || !kernel.getSmemBytes())
      return kernel.emitOpError("has no threads or smem_bytes; run attn-plan-memory first");
    const int64_t warps = *kernel.getThreads() / kWarpLanes;
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      for (const Lowerings &l : lowerings)
        if (l.check && failed(l.check(op, warps)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
