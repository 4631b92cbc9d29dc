//===- CountWaits.cpp - count the copies that may still be open at every wait
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {
#define GEN_PASS_DEF_COUNTWAITSPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-count-waits"

namespace {
struct CountWaits : attn::impl::CountWaitsPassBase<CountWaits> {
  using CountWaitsPassBase::CountWaitsPassBase;
  void runOnOperation() override {}
};
} // namespace
