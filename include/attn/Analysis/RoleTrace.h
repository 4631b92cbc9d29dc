//===- RoleTrace.h - what a role does, run on made-up sizes ---------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles that fill each other's rings agree on numbers: of items, steps, tiles. Whether they do is a question about
// arithmetic and control flow together, so it is answered by running both (IntegerRun.h). What comes out is the list of
// events other roles can see, and the rules broken inside the role.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_ROLETRACE_H
#define ATTN_ANALYSIS_ROLETRACE_H

#include "attn/Analysis/InFlight.h"
#include "attn/Analysis/IntegerRun.h"

namespace attn {

/// Words that a role stores into items for the others, by ring and item.
using SharedWords = llvm::DenseMap<std::pair<mlir::Operation *, int64_t>, int64_t>;

/// Something other roles or groups can see.
struct RoleEvent {
  enum Kind { Acquire, Fill, Wait, Release, Take, Give } kind;
  mlir::Operation *op;
  mlir::Operation *ring; ///< an alloc; none for turns
  int64_t item;
};

/// One group of a role. The rules that concern nobody else:
///
///   an item      is filled only when acquired, read only between its wait and its release, released once
///   a product    in flight keeps what it reads from being released (Analysis/PendingDots.h has its other rules)
///   a buf        is stored to when no copy out of its bytes may still read them, and leaves via tma behind
///                `sync publish`; all warps know of a drain behind a sync
struct RoleTrace {
  RoleTrace(RoleOp role, int64_t group, const TrialSizes &sizes, SharedWords &words);

  llvm::SmallVector<RoleEvent> events;
  /// Whether the role came to its end: else it was too long, or its control flow depends on what is not an integer.
  bool complete = false;
  std::string whyCut; ///< if not, as the predicate of a sentence
  llvm::SmallVector<RingProblem> problems;
};

} // namespace attn

#endif // ATTN_ANALYSIS_ROLETRACE_H
