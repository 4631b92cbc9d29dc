//===- CPU.cpp - mapped to llvm on the CPU
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Pipelines.h"

#include "attn/Conversion/Passes.h"
#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

void attn::buildCPUStage(OpPassManager &pm, const CPUStageOptions &) {
  pm.addPass(createSplitSweepsPass());
  pm.addPass(createConvertAttnToCPUPass());
  VerifyStagePassOptions verify;
  verify.stage = Stage::LLVM;
  pm.addPass(createVerifyStagePass(verify));
}
