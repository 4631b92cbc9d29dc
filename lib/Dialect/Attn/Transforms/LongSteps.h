//===- LongSteps.h - steps of a sweep with many products ------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family mma_sync: what a step of a backward sweep does in another order than it says.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_LONGSTEPS_H
#define ATTN_TRANSFORMS_LONGSTEPS_H

#include "PartitionRoles.h"

namespace attn {

/// More than two products. In a step of two, a forward's, each operand had better arrive under the other one's product.
bool isLongStep(mlir::Block &body);

/// Moves what a step computes close to where it is read: accumulators that wait for each other are what registers go to
/// (dP beside P instead of beside S, P and two vectors). A product of loaded operands goes in front of its first
/// reader, a vector in front of the last product before its first reader: its load takes as long as that.
///
/// Not where a product is short: S and dP side by side are then what hides latency. (H200, tiles of 32 queries: dK and
/// dV at D = 64 took 1.06 times as long in the other order, at D = 128 1.05 times; tiles of 64 at D = 128 0.96 times.)
void orderStep(mlir::Block &body, int64_t warps);

/// Waits at once for everything that was fetched a step ago: one barrier instead of several.
void waitTogether(llvm::ArrayRef<RingLoad> rings, mlir::Block &body);

} // namespace attn

#endif // ATTN_TRANSFORMS_LONGSTEPS_H
