//===- TileLoop.cpp - a role's loop over tiles, taken apart
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileLoop.h"

#include "attn/Analysis/SweepBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

static bool isTileRing(Value ring) {
  auto alloc = ring.getDefiningOp<AllocOp>();
  return alloc && alloc.getLabel() == kTileRing;
}

/// Does the op ask for the next tile's id, or hand it on?
static bool findsIds(Operation *op) {
  if (isa<FetchOp>(op))
    return true;
  return llvm::any_of(op->getOperands(), [](Value operand) {
    if (auto wait = operand.getDefiningOp<WaitOp>())
      return isTileRing(wait.getRing());
    if (auto acquire = operand.getDefiningOp<AcquireOp>())
      return isTileRing(acquire.getRing());
    return isTileRing(operand);
  });
}

FailureOr<TileLoop> TileLoop::takeApart(scf::WhileOp loop) {
  TileLoop tile;
  tile.loop = loop;
  tile.body = loop.getBeforeBody();
  DenseSet<Operation *> found; // of ids
  auto isKnown = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !tile.isInside(value) || !op || tile.recomputed.contains(op) || found.contains(op);
  };
  for (Operation &op : tile.body->without_terminator()) {
    if (findsIds(&op)) {
      tile.ids.push_back(&op);
      found.insert(&op);
    } else if (op.getNumRegions() == 0 && isMemoryEffectFree(&op) && llvm::all_of(op.getOperands(), isKnown)) {
      tile.recomputed.insert(&op);
    } else if (auto sweep = dyn_cast<SweepOp>(op)) {
      if (tile.sweep)
        return sweep.emitOpError("is the second sweep of a tile; tiles are overlapped at one");
      tile.sweep = sweep;
    } else {
      (tile.sweep ? tile.trail : tile.lead).push_back(&op);
    }
  }
  if (!tile.sweep)
    return loop.emitOpError("has no sweep at which tiles could be overlapped");
  if (tile.lead.empty() || tile.trail.empty())
    return tile.sweep.emitOpError("works on one step at a time, so there is nothing of the next tile to run over this "
                                  "one; 'seam = overlap' needs an order with entries '@1'");
  return tile;
}

/// A division by something other than a constant.
static bool isCostly(Operation *op) {
  return isa<arith::DivUIOp, arith::RemUIOp, arith::DivSIOp, arith::RemSIOp, arith::CeilDivUIOp, arith::CeilDivSIOp,
             arith::FloorDivSIOp>(op) &&
         !matchPattern(op->getOperand(1), m_Constant());
}

void TileLoop::addRoots(Value value, SetVector<Value> &roots) const {
  SmallVector<Value> work{value};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!isInside(next) || !seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (isRecomputed(op) && !isCostly(op))
      llvm::append_range(work, op->getOperands());
    else
      roots.insert(next);
  }
}

void TileLoop::addRoots(ArrayRef<Operation *> ops, SetVector<Value> &roots) const {
  for (Operation *op : ops)
    for (Value input : SweepBody::getInputs(op))
      addRoots(input, roots);
}

Value TileCode::read(Value value) {
  if (!tile.isInside(value))
    return value;
  if (Value known = values.lookup(value))
    return known;
  emit(value.getDefiningOp());
  return values.lookup(value);
}

SmallVector<Value> TileCode::read(ValueRange range) {
  return llvm::map_to_vector(range, [&](Value value) { return read(value); });
}

void TileCode::emit(Operation *op) {
  IRMapping map;
  for (Value input : SweepBody::getInputs(op))
    map.map(input, read(input));
  set(op->getResults(), builder.clone(*op, map)->getResults());
}
