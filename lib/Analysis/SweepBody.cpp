//===- SweepBody.cpp - the body of a sweep as a graph
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/SweepBody.h"

using namespace mlir;
using namespace attn;

llvm::SetVector<Value> SweepBody::getInputs(Operation *op) {
  llvm::SetVector<Value> inputs;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
        inputs.insert(operand);
  });
  return inputs;
}

SweepBody::SweepBody(SweepOp sweep) : sweep(sweep), block(sweep.getBody().front()), yield(block.getTerminator()) {
  auto isKnown = [&](Value value) {
    if (value.getParentBlock() != &block)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getArgNumber() < 2 || isInvariant(argument);
    return recomputed.contains(value.getDefiningOp());
  };
  // What is yielded is a state of the loop, however it is computed.
  for (Operation &op : block.without_terminator())
    if (op.getNumRegions() == 0 && isMemoryEffectFree(&op) && !llvm::is_contained(op.getUsers(), yield) &&
        llvm::all_of(op.getOperands(), isKnown))
      recomputed.insert(&op);
}

bool SweepBody::isInvariant(BlockArgument carried) const {
  return carried.getArgNumber() >= 2 && yield->getOperand(carried.getArgNumber() - 2) == carried;
}

std::optional<SweepBody::Source> SweepBody::getSource(Value read) const {
  if (read.getParentBlock() != &block)
    return std::nullopt;
  int64_t distance = 0;
  if (auto argument = dyn_cast<BlockArgument>(read)) {
    if (argument.getArgNumber() < 2 || isInvariant(argument))
      return std::nullopt;
    read = yield->getOperand(argument.getArgNumber() - 2);
    distance = 1;
  }
  Operation *op = read.getDefiningOp();
  if (!op || op->getBlock() != &block || isRecomputed(op))
    return std::nullopt;
  return Source{op, read, distance};
}
