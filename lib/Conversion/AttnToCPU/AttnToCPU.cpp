//===- AttnToCPU.cpp - convert mapped kernels to loops over vectors on the cpu
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTOCPUPASS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "convert-attn-to-cpu"

namespace {
struct AttnToCPU : attn::impl::ConvertAttnToCPUPassBase<AttnToCPU> {
  using ConvertAttnToCPUPassBase::ConvertAttnToCPUPassBase;
  void runOnOperation() override {}
};
} // namespace
