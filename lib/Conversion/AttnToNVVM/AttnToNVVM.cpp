//===- AttnToNVVM.cpp - convert the partitioned stage to llvm and nvvm
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "Lowering.h"
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
/// What a family does its own way. A new family is a row here and the files it names.
struct FamilyLowerings {
  Family family;
  void (*rings)(TypeConverter &, KernelStates &, RewritePatternSet &);
  void (*copies)(TypeConverter &, KernelStates &, RewritePatternSet &);
  void (*dots)(TypeConverter &, KernelStates &, RewritePatternSet &);
};
constexpr FamilyLowerings kFamilies[] = {
    {Family::MmaSync, populateCpAsyncRingPatterns, populateCpAsyncCopyPatterns, populateMmaSyncPatterns},
};

struct AttnToNVVM : attn::impl::ConvertAttnToNVVMPassBase<AttnToNVVM> {
  using ConvertAttnToNVVMPassBase::ConvertAttnToNVVMPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<TargetAttr>(AttnDialect::kTargetAttr);
    if (!target) {
      module.emitError("has no ") << AttnDialect::kTargetAttr << "; run attn-set-target first";
      return signalPassFailure();
    }
    const FamilyLowerings *family =
        llvm::find_if(kFamilies, [&](const FamilyLowerings &f) { return f.family == target.getFamily(); });
    if (family == std::end(kFamilies)) {
      module.emitError("has no lowering to nvvm for family ") << stringifyFamily(target.getFamily());
      return signalPassFailure();
    }
    for (KernelOp kernel : module.getOps<KernelOp>())
      if (failed(checkKernel(kernel)))
        return signalPassFailure();

    KernelTypeConverter types;
    KernelStates kernels;
    RewritePatternSet patterns(&getContext());
    populateKernelPatterns(types, kernels, patterns);
    populateFragmentPatterns(types, kernels, patterns);
    populateReductionPatterns(types, kernels, patterns);
    populateMathPatterns(types, kernels, patterns);
    populateMemoryPatterns(types, kernels, patterns);
    family->rings(types, kernels, patterns);
    family->copies(types, kernels, patterns);
    family->dots(types, kernels, patterns);

    ConversionTarget legal(getContext());
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns, legal);
    legal.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect, vector::VectorDialect>();
    legal.addIllegalDialect<AttnDialect, math::MathDialect, memref::MemRefDialect, tensor::TensorDialect,
                            gpu::GPUDialect>();
    legal.addDynamicallyLegalDialect<arith::ArithDialect>([&](Operation *op) { return types.isLegal(op); });
    legal.addIllegalOp<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>();
    legal.addDynamicallyLegalOp<arith::DivFOp>([](Operation *op) { return false; });
    SmallVector<Operation *> roots(module.getOps<KernelOp>());
    // The host plan stays as it is: the manifest is printed from it.
    ConversionConfig config;
    config.allowPatternRollback = false;
    if (failed(applyPartialConversion(roots, legal, FrozenRewritePatternSet(std::move(patterns)), config)))
      signalPassFailure();
  }

  static LogicalResult checkKernel(KernelOp kernel) {
    if (!kernel.getThreads() || !kernel.getSmemBytes())
      return kernel.emitOpError("has no threads or smem_bytes; run attn-plan-memory first");
    return success();
  }
};
} // namespace
