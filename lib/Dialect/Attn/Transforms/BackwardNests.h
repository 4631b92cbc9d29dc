//===- BackwardNests.h - the nests of a backward function ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All of them recompute P from the LSE of the forward, in base 2 (L = LSE log2 e, c as in Scores.h):
//
//   P = 2^(c S - L)      dP = dO V^T      D = rowsum(dO O) - dLSE      dS = P (dP - D), through the score region
//   dV = P^T dO          dK = scale dS^T Q                             dQ = scale dS K
//
// L and D are made once for all of them, by the nest `pre`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_BACKWARDNESTS_H
#define ATTN_TRANSFORMS_BACKWARDNESTS_H

#include "Scores.h"
#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// What the nests of one function share.
struct BackwardFunction {
  Family family;
  ScoreRules rules;
  RangeMode mode;
  /// Whether a region may give a number to a position past the end that is not one.
  bool scored = false;
  bool noQueries = false, noKeys = false; ///< by type: a sweep has a block (W1), though the host launches nothing
  float scale = 1;

  mlir::Value q, k, v, o, lse, dout, dlse; ///< `dlse` may be null
  mlir::Value dq, dk, dv;
  /// Workspaces: (batch, query heads, queries rounded up). +inf and 0 for queries past the end and those without a key.
  mlir::Value lse2, dsum;
  /// dQ without its scale, f32, where a nest adds it up in memory (with head dimension behind queries); else null.
  mlir::Value dqsum;

  mlir::Value batches, queryHeads, keyHeads, queries, keys; ///< index
  mlir::Value queryLength, keyLength, groupSize;            ///< i32; query heads that read one key head
};

/// L and D of every query; zeros for `dqsum`.
void buildPreNest(mlir::OpBuilder &builder, mlir::Location loc, const BackwardFunction &f, ScheduleAttr schedule,
                  TargetAttr target);

/// Keys on rows: dK and dV, or one of them, for a tile of keys; all query heads of its group and all queries that see
/// it pass by. With dQ what the tile adds to it goes to `dqsum`.
mlir::LogicalResult buildKeyNest(mlir::OpBuilder &builder, mlir::Location loc, const BackwardFunction &f,
                                 ScheduleAttr schedule);

/// dQ from `dqsum`.
void buildPostNest(mlir::OpBuilder &builder, mlir::Location loc, const BackwardFunction &f, ScheduleAttr schedule,
                   TargetAttr target);

/// Queries on rows, as in the forward: dQ of a tile of queries.
mlir::LogicalResult buildQueryNest(mlir::OpBuilder &builder, mlir::Location loc, const BackwardFunction &f,
                                   ScheduleAttr schedule);

} // namespace attn

#endif // ATTN_TRANSFORMS_BACKWARDNESTS_H
