//===- AttnToNVVM.cpp - convert the partitioned stage to llvm and nvvm
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "Lowering.h"
#include "Slots.h"
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
    {checkKernel, populateKernelPatterns},     {checkAlloc, populateAllocPatterns},
    {checkFragment, populateFragmentPatterns}, {checkReduction, populateVotePatterns},
    {checkMath, populateMathPatterns},         {checkMemory, populateMemoryPatterns},
    {checkRawTile, populateRawTilePatterns},
};
/// What a family does its own way. A new family is a row here and the files it names.
struct FamilyLowerings {
  Family family;
  EnterKernel enter;
  Lowerings roles, rings, copies, dots, packs, reductions, stores, slotLoads, words;
  FinishKernel finish;
};
constexpr FamilyLowerings kFamilies[] = {
    {Family::MmaSync,
     enterOneRole,
     {checkOneRole, populateOneRolePatterns},
     {checkCpAsyncRing, populateCpAsyncRingPatterns},
     {checkCpAsyncCopy, populateCpAsyncCopyPatterns},
     {checkMmaSync, populateMmaSyncPatterns},
     {nullptr, populateTruncationPatterns},
     {nullptr, populateTreeReductionPatterns},
     {nullptr, populateWordStorePatterns},
     {nullptr, nullptr},
     {nullptr, nullptr},
     nullptr},
    {Family::Wgmma,
     enterRoles,
     {checkRoles, populateRolePatterns},
     {checkMbarrier, populateMbarrierPatterns},
     {checkTmaCopy, populateTmaCopyPatterns},
     {checkWgmma, populateWgmmaPatterns},
     {nullptr, populateFixedPackPatterns},
     {nullptr, populateChainReductionPatterns},
     {checkMatrixStore, populateMatrixStorePatterns},
     {checkSlotLoad, populateSlotLoadPatterns},
     {checkWords, populateWordPatterns},
     compareCoords},
};

struct AttnToNVVM : attn::impl::ConvertAttnToNVVMPassBase<AttnToNVVM> {
  using ConvertAttnToNVVMPassBase::ConvertAttnToNVVMPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // A kernel may be for another family than the rest of its module: each is converted on its own.
    SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
    if (kernels.empty() && !findFamily(module))
      return signalPassFailure();
    for (KernelOp kernel : kernels) {
      const FamilyLowerings *family = findFamily(kernel);
      if (!family || failed(convert(kernel, *family)))
        return signalPassFailure();
    }
  }

  /// The row of an op's target; an error, and null, if there is none.
  static const FamilyLowerings *findFamily(Operation *op) {
    TargetAttr target = requireTarget(op);
    if (!target)
      return nullptr;
    const FamilyLowerings *family =
        llvm::find_if(kFamilies, [&](const FamilyLowerings &f) { return f.family == target.getFamily(); });
    if (family != std::end(kFamilies))
      return family;
    op->emitError("has no lowering to nvvm for family ") << stringifyFamily(target.getFamily());
    return nullptr;
  }

  static LogicalResult convert(KernelOp kernel, const FamilyLowerings &family) {
    SmallVector<Lowerings> lowerings(std::begin(kCommon), std::end(kCommon));
    lowerings.append({family.roles, family.rings, family.copies, family.dots, family.packs, family.reductions,
                      family.stores, family.slotLoads, family.words});
    if (failed(check(kernel, lowerings)))
      return failure();

    markExchanges(kernel);
    MLIRContext *ctx = kernel.getContext();
    KernelTypeConverter types;
    KernelStates states(family.enter);
    RewritePatternSet patterns(ctx);
    for (const Lowerings &l : lowerings)
      if (l.populate)
        l.populate(types, states, patterns);

    ConversionTarget legal(*ctx);
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns, legal);
    legal.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, vector::VectorDialect>();
    legal.addIllegalDialect<AttnDialect, math::MathDialect, memref::MemRefDialect, tensor::TensorDialect,
                            gpu::GPUDialect>();
    legal.addDynamicallyLegalDialect<arith::ArithDialect>([&](Operation *op) { return types.isLegal(op); });
    legal.addIllegalOp<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp, arith::DivFOp>();
    // The host plan stays as it is: the manifest is printed from it.
    ConversionConfig config;
    config.allowPatternRollback = false;
    ModuleOp module = kernel->getParentOfType<ModuleOp>();
    const std::string name = kernel.getSymName().str();
    if (failed(
            applyPartialConversion(kernel.getOperation(), legal, FrozenRewritePatternSet(std::move(patterns)), config)))
      return failure();
    if (family.finish)
      family.finish(module.lookupSymbol<LLVM::LLVMFuncOp>(name));
    return success();
  }

  static LogicalResult check(KernelOp kernel, ArrayRef<Lowerings> lowerings) {
    if (!kernel.getThreads() || !kernel.getSmemBytes())
      return kernel.emitOpError("has no threads or smem_bytes; run attn-plan-memory first");
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      for (const Lowerings &l : lowerings)
        if (l.check && failed(l.check(op)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
