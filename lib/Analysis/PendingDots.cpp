//===- PendingDots.cpp - products in flight
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/PendingDots.h"

using namespace mlir;
using namespace attn;

static bool issuesInside(Operation *op) {
  auto isIssue = [](DotOp dot) { return dot.getAsync() ? WalkResult::interrupt() : WalkResult::advance(); };
  return op->walk(isIssue).wasInterrupted();
}

std::optional<int64_t> attn::countYoungerDots(AwaitOp await) {
  Operation *last = nullptr;
  for (Value pending : await.getPendings()) {
    Operation *dot = pending.getDefiningOp<DotOp>();
    if (!dot || dot->getBlock() != await->getBlock())
      return std::nullopt;
    last = !last || last->isBeforeInBlock(dot) ? dot : last;
  }
  if (!last)
    return std::nullopt;
  int64_t younger = 0;
  for (Operation *op = last->getNextNode(); op != await; op = op->getNextNode()) {
    if (op->getNumRegions() && issuesInside(op))
      return std::nullopt;
    auto dot = dyn_cast<DotOp>(op);
    younger += dot && dot.getAsync();
  }
  return younger;
}

LogicalResult attn::checkPendingDots(Operation *root) {
  WalkResult result = root->walk([](Operation *op) -> WalkResult {
    if (auto dot = dyn_cast<DotOp>(op); dot && dot.getAsync()) {
      int64_t awaits = 0;
      for (Operation *user : dot->getUsers())
        awaits += isa<AwaitOp>(user) && user->getBlock() == dot->getBlock() ? 1 : 2;
      if (awaits != 1) // V2
        return dot.emitOpError("is awaited ") << (awaits ? "more than once, or outside its block" : "nowhere")
                                              << "; attn-schedule-sweep waits once for each product",
               WalkResult::interrupt();
    }
    if (auto await = dyn_cast<AwaitOp>(op)) {
      std::optional<int64_t> younger = countYoungerDots(await);
      if (!younger || *younger != static_cast<int64_t>(await.getLeaves())) // V1
        return await.emitOpError("leaves ")
                   << await.getLeaves() << " products open, but "
                   << (younger ? std::to_string(*younger) + " are" : "not the same number on every path is")
                   << " issued behind the last it waits for (attn-schedule-sweep)",
               WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
