//===- CPU.cpp - mapped to llvm on the CPU
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Pipelines.h"

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "attn/Target/EmitObject.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

void attn::buildCPUStage(OpPassManager &pm, const CPUStageOptions &options) {
  pm.addPass(createSplitSweepsPass());
  pm.addPass(createLowerTilesPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  ConvertAttnToCPUPassOptions convert;
  convert.cpu = options.cpu;
  if (llvm::Expected<CpuTarget> cpu = getCpuTarget(options.cpu)) {
    convert.cpu = cpu->cpu;
    convert.vectorLanes = cpu->vectorLanes;
    convert.vectorRegisters = cpu->vectorRegisters;
  } else { // Loops for any CPU; whoever makes an object says what is wrong with the name.
    llvm::consumeError(cpu.takeError());
  }
  pm.addPass(createConvertAttnToCPUPass(convert));

  // The kernels are modules of their own, so that the host function stays as it is.
  OpPassManager &code = pm.nest<ModuleOp>();
  code.addPass(createCanonicalizerPass());
  code.addPass(createCSEPass());
  code.addPass(createLoopInvariantCodeMotionPass());
  // 16-bit floats that stayed scalar: no calls into a compiler's library, which lacks some of them.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  code.addPass(arith::createArithExpandOpsPass(expand));
  code.addPass(memref::createExpandStridedMetadataPass());
  code.addPass(createLowerAffinePass());
  code.addPass(createSCFToControlFlowPass());
  ConvertVectorToLLVMPassOptions vector;
  vector.force32BitVectorIndices = false;
  code.addPass(createConvertVectorToLLVMPass(vector));
  code.addPass(createConvertMathToLLVMPass());
  code.addPass(createConvertMathToLibmPass());
  code.addPass(createArithToLLVMConversionPass());
  FinalizeMemRefToLLVMConversionPassOptions memref;
  memref.useAlignedAlloc = true;
  code.addPass(createFinalizeMemRefToLLVMConversionPass(memref));
  code.addPass(createConvertFuncToLLVMPass());
  code.addPass(createConvertControlFlowToLLVMPass());
  code.addPass(createUBToLLVMConversionPass());
  code.addPass(createReconcileUnrealizedCastsPass());
  code.addPass(createCanonicalizerPass());
  code.addPass(createCSEPass());
  VerifyStagePassOptions verify;
  verify.stage = Stage::LLVM;
  pm.addPass(createVerifyStagePass(verify));
}
