//===- InFlight.h - copies under way and slots in use --------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a role abstractly, through its loops, and answers two questions: how many groups of cp.async are younger than
// the one a wait is for, and whether anybody could overwrite shared memory that somebody still reads.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_INFLIGHT_H
#define ATTN_ANALYSIS_INFLIGHT_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace attn {

/// A rule of the rings that some path through a role breaks.
struct RingProblem {
  mlir::Operation *op;
  std::string message; ///< continues "op ..."
};

/// Whether items are filled by one role and read by others, so that they have barriers: not what InFlight is about.
inline bool hasSeveralRoles(KernelOp kernel) {
  return kernel && llvm::range_size(kernel.getBody().getOps<RoleOp>()) > 1;
}

/// What holds on every path through a role whose warps fill their own rings. Sync means: every warp of the group has
/// passed; `wait` and `sync` are such points. The rules:
///
///   a copy fills an item   only if the item before it in the slot is released, and a sync lies between
///   a wait                 only for an item that a copy fills
///   a read of an item      only between its wait and its release; released once
///   a store into a buf     only if everything in the same bytes (`over`) is released, or read, before a sync
///   a read of a buf        only behind a sync after the store
class InFlight {
public:
  explicit InFlight(RoleOp role);

  /// Groups of cp.async that may still be open behind this wait: the least over all paths. Absent if no copy fills the
  /// item or the wait is never reached.
  std::optional<int64_t> getLeaves(WaitOp wait) const;
  llvm::ArrayRef<RingProblem> getProblems() const { return problems; }

private:
  friend class RoleWalk;
  llvm::MapVector<WaitOp, int64_t> leaves;
  llvm::SmallVector<RingProblem> problems;
};

} // namespace attn

#endif // ATTN_ANALYSIS_INFLIGHT_H
