//===- SplitSweeps.cpp - split every sweep into masked and plain loops
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {
#define GEN_PASS_DEF_SPLITSWEEPSPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-split-sweeps"

namespace {
struct SplitSweeps : attn::impl::SplitSweepsPassBase<SplitSweeps> {
  using SplitSweepsPassBase::SplitSweepsPassBase;
  void runOnOperation() override {}
};
} // namespace
