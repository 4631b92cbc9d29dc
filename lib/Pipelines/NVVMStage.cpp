//===- NVVMStage.cpp - partitioned to nvvm
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On its own because of what it includes: the LLVM dialect's headers take longer to read than the rest to compile.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Pipelines.h"

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

void attn::buildNVVMStage(OpPassManager &pm, const NVVMStageOptions &) {
  pm.addPass(createConvertAttnToNVVMPass());
  // Kernels only: the host plan keeps its sizes and launches for the manifest. No canonicalizer here: the thousands of
  // operations of a dot are canonical, and walking them to a fixed point costs more than the conversion.
  OpPassManager &kernel = pm.nest<LLVM::LLVMFuncOp>();
  kernel.addPass(createHoistInvariantsPass()); // addresses of a lane, while loops are still loops
  kernel.addPass(createCSEPass());
  kernel.addPass(createRotateLoopsPass());
  kernel.addPass(createConvertVectorToLLVMPass());
  kernel.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass()); // a pass on modules; the host plan has no branches
  pm.addNestedPass<LLVM::LLVMFuncOp>(createReconcileUnrealizedCastsPass());
  buildStageCheck(pm, Stage::NVVM);
}
