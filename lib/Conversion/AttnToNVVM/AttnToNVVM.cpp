//===- AttnToNVVM.cpp - convert the partitioned stage to llvm and nvvm
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {
#define GEN_PASS_DEF_CONVERTATTNTONVVMPASS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "convert-attn-to-nvvm"

namespace {
struct AttnToNVVM : attn::impl::ConvertAttnToNVVMPassBase<AttnToNVVM> {
  using ConvertAttnToNVVMPassBase::ConvertAttnToNVVMPassBase;
  void runOnOperation() override {}
};
} // namespace
