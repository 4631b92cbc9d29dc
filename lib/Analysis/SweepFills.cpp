//===- SweepFills.cpp - the plan of a sweep that fills rings
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads in the order and with the lags of the waits: with depth d a load waits for the release of the item d before
// it, so a load that is early in this sweep but late in the other would keep back one that is asked for first.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/SweepPlan.h"

using namespace mlir;
using namespace attn;

/// The ring an op of a filling sweep is for.
static Value ringOf(Operation *op) {
  if (auto acquire = dyn_cast<AcquireOp>(op))
    return acquire.getRing();
  if (auto copy = dyn_cast<CopyOp>(op))
    return copy.getRing();
  if (auto commit = dyn_cast<CommitOp>(op))
    return commit.getRing();
  return {};
}

FailureOr<SweepPlan> attn::planFills(const SweepBody &body, const llvm::MapVector<Value, int64_t> &rings) {
  SweepPlan plan;
  llvm::MapVector<Value, SmallVector<Operation *>> fills;
  for (auto [ring, lag] : rings)
    fills[ring];
  SmallVector<Operation *> before;
  Operation *other = nullptr;
  for (Operation &op : body.block.without_terminator()) {
    if (body.isRecomputed(&op))
      continue;
    Value ring = ringOf(&op);
    if (!ring) {
      other = &op;
      continue;
    }
    plan.lags[&op] = rings.lookup(ring);
    plan.lag = std::max(plan.lag, rings.lookup(ring));
    fills[ring].push_back(&op);
    before.push_back(&op);
  }
  SmallVector<Operation *> after;
  for (auto &[ring, ops] : fills)
    llvm::append_range(after, ops);
  if (plan.lag == 0 && (other || before == after))
    return SweepPlan();
  if (other)
    return other->emitOpError("cannot be scheduled: beside addresses, a sweep that fills rings only acquires, copies "
                              "and commits");
  for (Operation *op : after) {
    PlanStep &step = plan.steps.emplace_back();
    step.op = op, step.lag = plan.lags[op];
  }
  return plan;
}
