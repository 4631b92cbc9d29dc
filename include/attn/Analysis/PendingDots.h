//===- PendingDots.h - products in flight ---------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_PENDINGDOTS_H
#define ATTN_ANALYSIS_PENDINGDOTS_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// V1: products complete in the order they are issued, so an await may leave open exactly those that are issued behind
/// the last one it lists. Recomputed from the IR; absent if paths differ, that is if a listed product is not issued in
/// the block of the await, or a loop or branch in between issues some.
std::optional<int64_t> countYoungerDots(AwaitOp await);

/// V1 and V2 (every pending is awaited once, and in the block that issues it) for all products below `root`. Errors at
/// the op that breaks them.
mlir::LogicalResult checkPendingDots(mlir::Operation *root);

} // namespace attn

#endif // ATTN_ANALYSIS_PENDINGDOTS_H
