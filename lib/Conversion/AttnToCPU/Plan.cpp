//===- Plan.cpp - which tile ops share a loop, and how long tiles live
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A forward body becomes (2-D nests are loops over 64 keys x 64 queries, 1-D nests over 64 queries):
//
//   dot S | mask, reduce max | m1, nm, al | e, p, pack, reduce sum | la, l1 | os | dot O
//           2-D                1-D          2-D                      1-D      2-D
//
// `pack` follows `la` and `l1` in program order, but its operand is ready in the nest that computes `p`.
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

bool cpu::isVirtual(Operation *op) {
  return isa<arith::ConstantOp, tensor::SplatOp, SpreadOp, CoordOp>(op) && isTile(op->getResult(0));
}

static void resolveRead(Value value, bool direct, llvm::function_ref<void(Value, bool)> read) {
  if (!isTile(value))
    return;
  Operation *def = value.getDefiningOp();
  if (!def || !isVirtual(def))
    return read(value, direct);
  if (auto spread = dyn_cast<SpreadOp>(def))
    resolveRead(spread.getX(), false, read);
}

void cpu::forEachRead(Operation *op, llvm::function_ref<void(Value, bool)> read) {
  op->walk([&](Operation *inner) {
    if (isVirtual(inner))
      return;
    for (Value operand : inner->getOperands())
      resolveRead(operand, true, [&](Value tile, bool direct) {
        // What a region of `op` defines is its own affair.
        Operation *owner = tile.getParentBlock()->getParentOp();
        if (inner == op || !op->isAncestor(owner))
          read(tile, direct && inner == op);
      });
  });
}

/// True if `op` is computed element by element, or reduces, over tiles of the returned shape.
static ArrayRef<int64_t> getNestShape(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getX().getType().getShape();
  if (op->getNumResults() != 1 || !isTile(op->getResult(0)))
    return {};
  if (isa<MaskOp, PackOp, GatherOp>(op) || OpTrait::hasElementwiseMappableTraits(op))
    return cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  return {};
}

bool BlockPlan::isRead(Value tile) const {
  auto it = lastUse.find(tile);
  return it != lastUse.end() && (!tile.getDefiningOp() || it->second != stepOf.lookup(tile.getDefiningOp()));
}

namespace {
struct Planner {
  Block &block;
  BlockPlan plan{};

  /// The first step in which an elementwise op may read `value`.
  unsigned getReady(Value value) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != &block)
      return 0;
    if (auto spread = dyn_cast<SpreadOp>(def)) {
      // Read at other places than it is computed: stored first.
      Operation *source = spread.getX().getDefiningOp();
      if (source && source->getBlock() == &block && !isVirtual(source))
        return plan.stepOf.lookup(source) + 1;
      return source ? getReady(spread.getX()) : 0;
    }
    if (isVirtual(def)) {
      unsigned ready = 0;
      for (Value operand : def->getOperands())
        ready = std::max(ready, getReady(operand));
      return ready;
    }
    unsigned step = plan.stepOf.lookup(def);
    bool sameNest = plan.steps[step].isNest() && !isa<ReduceOp>(def);
    return sameNest ? step : step + 1;
  }

  unsigned placeInNest(Operation *op, ArrayRef<int64_t> shape) {
    unsigned first = 0;
    for (Value operand : op->getOperands())
      first = std::max(first, getReady(operand));
    for (unsigned i = first; i < plan.steps.size(); ++i)
      if (plan.steps[i].shape == shape) {
        plan.steps[i].ops.push_back(op);
        return i;
      }
    plan.steps.push_back({{op}, shape});
    return plan.steps.size() - 1;
  }

  void run() {
    for (Operation &op : block.without_terminator()) {
      if (isVirtual(&op))
        continue;
      ArrayRef<int64_t> shape = getNestShape(&op);
      if (shape.empty())
        plan.steps.push_back({{&op}, {}});
      plan.stepOf[&op] = shape.empty() ? plan.steps.size() - 1 : placeInNest(&op, shape);
    }
    auto note = [&](Operation *op, unsigned step) {
      forEachRead(op, [&](Value tile, bool) {
        if (tile.getParentBlock() == &block)
          plan.lastUse[tile] = std::max(plan.lastUse.lookup(tile), step);
      });
    };
    for (auto [i, step] : llvm::enumerate(plan.steps))
      for (Operation *op : step.ops)
        note(op, i);
    if (block.mightHaveTerminator())
      note(block.getTerminator(), plan.steps.size());
  }
};
} // namespace

BlockPlan cpu::planBlock(Block &block) {
  Planner planner{block};
  planner.run();
  return std::move(planner.plan);
}
