//===- ComputeRole.cpp - the groups that compute
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of partitioning for family wgmma (PartitionProducer.cpp): the tile's own body, with waits and releases for what
// the other role copies.
//
//===----------------------------------------------------------------------===//

#include "ProducerPartitioner.h"

#include "attn/Facts/Facts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attn;

/// Erases what only the erased loads used.
void ProducerPartitioner::dropDeadAddresses(ArrayRef<Value> roots) {
  SmallVector<Value> worklist(roots);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !compute->isProperAncestor(op) || !isOpTriviallyDead(op))
      continue;
    SmallVector<Value> operands(op->getOperands());
    for (Value result : op->getResults())
      llvm::erase(worklist, result);
    op->erase();
    llvm::append_range(worklist, operands);
  }
}

/// Carries the numbers of sweeps' next items through the loops of `block`. `next` is that of each, before and after;
/// `first` gets what it is where the sweep stands.
void ProducerPartitioner::carryNumbers(Block &block, Numbers next) {
  for (scf::ForOp loop : llvm::make_early_inc_range(block.getOps<scf::ForOp>())) {
    SmallVector<size_t> inside = sweepsIn(loop);
    if (inside.empty())
      continue;
    SmallVector<Value> init(loop.getInitArgs()), numbers(next);
    for (size_t index : inside)
      init.push_back(next[index]);
    builder.setInsertionPoint(loop);
    auto carrying =
        scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), init);
    const size_t before = loop.getNumResults();
    carrying.getRegion().takeBody(loop.getRegion());
    for (auto [position, index] : llvm::enumerate(inside)) {
      numbers[index] = carrying.getBody()->addArgument(builder.getI32Type(), loop.getLoc());
      next[index] = carrying.getResult(before + position);
    }
    loop.replaceAllUsesWith(carrying.getResults().take_front(before));
    loop.erase();
    carryNumbers(*carrying.getBody(), numbers);
    auto yield = cast<scf::YieldOp>(carrying.getBody()->getTerminator());
    for (size_t index : inside)
      yield.getResultsMutable().append(numbers[index]);
  }
  for (auto [sweep, from, to] : llvm::zip_equal(sweeps, next, first))
    if (sweep->getBlock() == &block)
      to = from;
  builder.setInsertionPoint(block.getTerminator());
  countSweeps(block, next, [](Value value) { return value; });
}

void ProducerPartitioner::makeCompute() {
  Location loc = tiles.getLoc();
  compute = makeRole("compute", facts::kGroupWarps, facts::kGroupWarps * groups, groups, 1, /*elect=*/false);
  TilesOp nest = makeTiles(&compute.getBody().front());
  nest.getBody().takeBody(tiles.getBody());
  Block &body = nest.getBody().front();
  for (size_t i = 0; i < sweeps.size(); ++i)
    body.addArgument(builder.getI32Type(), loc);
  tiles.erase();
  tiles = nest;

  SmallVector<Value> next(body.args_begin() + 4, body.args_end());
  first.resize(next.size());
  carryNumbers(body, next);
  cast<YieldOp>(body.getTerminator()).getValuesMutable().assign(next);
  Value group = compute.getBody().getArgument(0);
  SmallVector<Value> addresses;
  for (auto &[op, ring] : rings) {
    Block &block = *ring.load->getBlock();
    builder.setInsertionPointToStart(&block);
    Value step = ring.sweep ? block.getArgument(0) : Value();
    for (LoadOp vector : ring.vectors)
      llvm::append_range(addresses, vector.getAt());
    ring.release = waitAndRelease(ring, itemOf(ring, first, body.getArgument(0), step, group));
    llvm::append_range(addresses, ring.load.getAt());
    ring.load.erase();
  }
  dropDeadAddresses(addresses);
}

//===----------------------------------------------------------------------===//
// Operands in registers
//===----------------------------------------------------------------------===//

/// The first `columns` columns of A from registers, which are loaded when the item is there; a second pair of operands
/// goes on with the rest.
LogicalResult ProducerPartitioner::hold(TmaLoad &ring, DotOp dot, int64_t columns) {
  const int64_t all = ring.buf.getTile().getDimSize(1), perPanel = 8 * ring.buf.getSwizzle() / 16;
  const bool some = columns < all;
  if (some && (columns % perPanel || !dot.getTransB()))
    return dot.emitOpError("cannot hold ") << columns << " columns of its A operand in registers: expects all " << all
                                           << ", or a multiple of " << perPanel << " (and B stored [n][k])";
  auto wait = dot.getA().getDefiningOp<WaitOp>();
  auto slice = [&](Value buf, int64_t from, int64_t to) -> Value {
    RankedTensorType tile = cast<BufType>(buf.getType()).getTile();
    if (from == 0 && to == tile.getDimSize(1))
      return buf;
    BufType part = getBufType(RankedTensorType::get({tile.getDimSize(0), to - from}, tile.getElementType()));
    return SliceOp::create(builder, dot.getLoc(), part, buf, constant(dot.getLoc(), from));
  };
  const int64_t held = std::min(columns, all);
  builder.setInsertionPointAfter(wait);
  Value whole = wait.getBufs()[0], part = slice(whole, 0, held), rest = some ? slice(whole, held, all) : Value();
  Value registers =
      LoadOp::create(builder, dot.getLoc(), cast<BufType>(part.getType()).getTile(), part, ValueRange(), StringAttr());
  builder.setInsertionPoint(dot);
  Value b = dot.getB();
  dot.getAMutable().assign(registers);
  if (some) {
    dot.getBMutable().assign(slice(b, 0, held));
    dot.getA2Mutable().assign(rest);
    dot.getB2Mutable().assign(slice(b, held, all));
  }
  return success();
}

LogicalResult ProducerPartitioner::holdOperands() {
  constexpr int64_t kStep = 16; // columns of A in a step of a product
  for (auto &[op, ring] : rings) {
    StringRef label = cast<AllocOp>(ring.alloc.getDefiningOp()).getLabel().value_or("");
    int64_t steps = label == "V" ? schedule.getHoldV() : label == "Q" ? schedule.getHoldQ() : 0;
    if (!steps || !ring.perGroup || ring.sweep)
      continue;
    for (OpOperand *use : ring.uses)
      if (auto dot = cast<DotOp>(use->getOwner()); use->getOperandNumber() == 0)
        if (failed(hold(ring, dot, steps * kStep)))
          return failure();
  }
  return success();
}
