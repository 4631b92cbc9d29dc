//===- ProducerRole.cpp - the thread that copies
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of partitioning for family wgmma (PartitionProducer.cpp): the nest of the elected thread holds the copies, in
// the order of the loads, and what their addresses and the loops around them are computed from.
//
//===----------------------------------------------------------------------===//

#include "ProducerPartitioner.h"

#include "attn/Facts/Facts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attn;

LogicalResult ProducerPartitioner::need(Value value, LoadOp load) {
  if (!tiles.getBody().isAncestor(value.getParentRegion()))
    return success();
  Operation *owner = value.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == tiles || (isa<SweepOp>(parent) && argument.getArgNumber() < 2) ||
        (isa<scf::ForOp>(parent) && argument.getArgNumber() == 0))
      return success();
  } else if (!owner->getNumRegions() && isMemoryEffectFree(owner)) {
    if (needed.insert(owner))
      for (Value operand : owner->getOperands())
        if (failed(need(operand, load)))
          return failure();
    return success();
  }
  return load.emitOpError("cannot be fetched by another role: where it is or how often depends on more than the tile's "
                          "numbers and those of the loops and sweeps around it");
}

LogicalResult ProducerPartitioner::findNeeded() {
  for (auto &[op, ring] : rings) {
    SmallVector<Value> values(ring.load.getAt());
    for (LoadOp vector : ring.vectors)
      llvm::append_range(values, vector.getAt());
    if (ring.sweep) {
      llvm::append_values(values, ring.sweep.getLo(), ring.sweep.getHi());
      for (auto loop = dyn_cast<scf::ForOp>(ring.sweep->getParentOp()); loop;
           loop = dyn_cast<scf::ForOp>(loop->getParentOp()))
        llvm::append_values(values, loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    }
    for (Value value : values)
      if (failed(need(value, ring.load)))
        return failure();
  }
  return success();
}

void ProducerPartitioner::fill(TmaLoad &ring, ArrayRef<Value> next, IRMapping &map) {
  Location loc = ring.load.getLoc();
  Value tile = map.lookup(tiles.getBody().getArgument(0));
  Value step = ring.sweep ? map.lookup(ring.sweep.getBody().getArgument(0)) : Value();
  SmallVector<Value> at;
  for (Value coordinate : ring.load.getAt())
    at.push_back(map.lookupOrDefault(coordinate));
  int64_t share = rows / groups;
  for (int64_t group = 0, end = ring.perGroup ? groups : 1; group < end; ++group) {
    SmallVector<Value> box = at;
    if (group)
      moveRow(builder, loc, box, cast<MemRefType>(ring.load.getSource().getType()), ring.load.getResult().getType(),
              constant(loc, group * share));
    Value number = group ? constant(loc, group) : Value();
    Value item = itemOf(ring, next, tile, step, number);
    auto slot = AcquireOp::create(builder, loc, ring.ring.getBufs(), ring.alloc, item);
    CopyOp::create(builder, loc, ring.map, box, slot.getBufs()[0], ValueRange{}, ring.alloc, item, Value(),
                   TransportAttr::get(builder.getContext(), Transport::Tma));
    for (auto [vector, buf] : llvm::zip_equal(ring.vectors, slot.getBufs().drop_front())) {
      SmallVector<Value> from;
      for (Value coordinate : vector.getAt())
        from.push_back(map.lookupOrDefault(coordinate));
      CopyOp::create(builder, vector.getLoc(), vector.getSource(), from, buf, ValueRange{}, ring.alloc, item, Value(),
                     TransportAttr::get(builder.getContext(), Transport::Bulk));
    }
  }
}

/// A sweep that fills what `sweep` reads. Nothing is masked here: all of it is plain.
void ProducerPartitioner::fillSweep(SweepOp sweep, Numbers next, IRMapping &map) {
  Location loc = sweep.getLoc();
  Value lo = map.lookupOrDefault(sweep.getLo()), hi = map.lookupOrDefault(sweep.getHi());
  auto copy = SweepOp::create(builder, loc, TypeRange(), sweep.getOrder(), lo, hi, lo, hi, IntegerAttr(), ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&copy.getBody(), {}, {builder.getI32Type(), builder.getI32Type()}, {loc, loc});
  YieldOp::create(builder, loc, ValueRange{});
  builder.setInsertionPoint(body->getTerminator());
  map.map(sweep.getBody().getArguments().take_front(2), body->getArguments());
  fillBlock(sweep.getBody().front(), next, map);
}

/// A loop around such sweeps.
void ProducerPartitioner::fillLoop(scf::ForOp loop, Numbers next, IRMapping &map) {
  SmallVector<size_t> inside = sweepsIn(loop);
  SmallVector<Value> init, numbers(next);
  for (size_t index : inside)
    init.push_back(next[index]);
  auto copy = scf::ForOp::create(builder, loop.getLoc(), map.lookupOrDefault(loop.getLowerBound()),
                                 map.lookupOrDefault(loop.getUpperBound()), map.lookupOrDefault(loop.getStep()), init);
  map.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [position, index] : llvm::enumerate(inside)) {
    numbers[index] = copy.getRegionIterArg(position);
    next[index] = copy.getResult(position);
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(copy.getBody());
  fillBlock(*loop.getBody(), numbers, map);
  SmallVector<Value> yielded;
  for (size_t index : inside)
    yielded.push_back(numbers[index]);
  scf::YieldOp::create(builder, loop.getLoc(), yielded);
}

/// Copies of `from`'s loads, and of what they need, at the builder's point. `next`: the number of each sweep's next
/// item, before and after.
void ProducerPartitioner::fillBlock(Block &from, Numbers next, IRMapping &map) {
  for (Operation &op : from) {
    if (needed.contains(&op))
      builder.clone(op, map);
    if (auto ring = rings.find(&op); ring != rings.end())
      fill(ring->second, next, map);
    if (sweepsIn(&op).empty())
      continue;
    if (auto sweep = dyn_cast<SweepOp>(op))
      fillSweep(sweep, next, map);
    else
      fillLoop(cast<scf::ForOp>(op), next, map);
  }
  countSweeps(from, next, [&](Value value) { return map.lookupOrDefault(value); });
}

void ProducerPartitioner::makeProducer() {
  Location loc = tiles.getLoc();
  producer = makeRole("producer", 0, facts::kGroupWarps, 1, 0, /*elect=*/true);
  TilesOp nest = makeTiles(&producer.getBody().front());
  Block *body = builder.createBlock(&nest.getBody(), {}, SmallVector<Type>(4 + sweeps.size(), builder.getI32Type()),
                                    SmallVector<Location>(4 + sweeps.size(), loc));
  auto yield = YieldOp::create(builder, loc, ValueRange{});
  builder.setInsertionPoint(yield);
  SmallVector<Value> next(body->args_begin() + 4, body->args_end());
  IRMapping map;
  map.map(tiles.getBody().getArguments(), body->getArguments().take_front(4));
  fillBlock(tiles.getBody().front(), next, map);
  yield.getValuesMutable().assign(next);
}
