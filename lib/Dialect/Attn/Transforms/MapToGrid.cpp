//===- MapToGrid.cpp - turn the nest over query tiles, heads and batch into a kernel and its launch
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {
#define GEN_PASS_DEF_MAPTOGRIDPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-map-to-grid"

namespace {
struct MapToGrid : attn::impl::MapToGridPassBase<MapToGrid> {
  using MapToGridPassBase::MapToGridPassBase;
  void runOnOperation() override {}
};
} // namespace
