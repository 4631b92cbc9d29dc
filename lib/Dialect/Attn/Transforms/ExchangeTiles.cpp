//===- ExchangeTiles.cpp - computed tiles that all groups need
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of partitioning for family wgmma (PartitionProducer.cpp). A product that reads a computed tile transposed sums
// over its rows, and every group has some of them. With two groups of 64 rows of A, and B loaded with the same rows:
//
//   slot of "dS"            group 0's 64 x M | group 1's 64 x M      each stores its own (acquire, store, commit)
//   C = A^T B, M x N        A_g^T B_g then A_o^T B_o                 behind `wait`; o is the other group
//
// Of C a group makes 64 rows, or, if C has no more than that, its share of the columns.
//
//===----------------------------------------------------------------------===//

#include "ProducerPartitioner.h"

#include "attn/Facts/Facts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

static BufType makeBuf(int64_t rows, int64_t columns, Type element) {
  return getBufType(RankedTensorType::get({rows, columns}, element));
}

/// Stores this group's rows of `tile` into its part of a slot; returns the ring.
Value ProducerPartitioner::handOver(Value tile, SweepOp sweep) {
  Location loc = tile.getLoc();
  auto type = cast<RankedTensorType>(tile.getType());
  const int64_t share = rows / groups, columns = type.getDimSize(1);
  BufType whole = makeBuf(share, groups * columns, type.getElementType());
  BufType part = makeBuf(share, columns, type.getElementType());
  auto pack = tile.getDefiningOp<PackOp>();
  builder.setInsertionPoint(producer);
  auto ring = RingType::get(builder.getContext(), schedule.getDepthDs(), {whole});
  Value alloc = AllocOp::create(
      builder, loc, ring, builder.getStringAttr(uniqueLabel(pack ? pack.getLabel().value_or("tile") : "tile")),
      builder.getI64IntegerAttr(facts::kGroupWarps * groups), IntegerAttr(), IntegerAttr(), StringAttr());
  Value step = sweep.getBody().getArgument(0), group = compute.getBody().getArgument(0);
  builder.setInsertionPointToStart(&sweep.getBody().front());
  Value item = itemOf(sweep, first, Value(), step);
  builder.setInsertionPointAfterValue(tile);
  Value slot = AcquireOp::create(builder, loc, TypeRange{whole}, alloc, item).getBufs()[0];
  Value mine =
      SliceOp::create(builder, loc, part, slot, arith::MulIOp::create(builder, loc, group, constant(loc, columns)));
  StoreOp::create(builder, loc, tile, mine, ValueRange(), StringAttr());
  CommitOp::create(builder, loc, alloc, item);
  return alloc;
}

/// What the other groups have of the operand whose own item is `own`: waited for and released where that is.
SmallVector<Value> ProducerPartitioner::waitForOthers(Value own) {
  auto wait = own.getDefiningOp<WaitOp>();
  auto *found = llvm::find_if(rings, [&](auto &entry) { return entry.second.alloc == wait.getRing(); });
  TmaLoad &ring = found->second;
  Location loc = wait.getLoc();
  Value group = compute.getBody().getArgument(0);
  SmallVector<Value> others;
  for (int64_t by = 1; by < groups; ++by) {
    builder.setInsertionPoint(wait);
    Value other = arith::RemUIOp::create(
        builder, loc, arith::AddIOp::create(builder, loc, group, constant(loc, by)).getResult(), constant(loc, groups));
    Value item = itemOf(ring, first, tiles.getBody().getArgument(0), Value(), other);
    builder.setInsertionPointAfter(wait);
    others.push_back(WaitOp::create(builder, loc, TypeRange{ring.buf}, ring.alloc, item, IntegerAttr()).getBufs()[0]);
    builder.setInsertionPointAfter(ring.release);
    ReleaseOp::create(builder, loc, ring.alloc, item);
  }
  return others;
}

LogicalResult ProducerPartitioner::exchange(DotOp dot) {
  Location loc = dot.getLoc();
  auto sweep = dyn_cast<SweepOp>(dot->getParentOp());
  Value tile = dot.getA();
  const int64_t m = dot.getTile().getDimSize(0), n = dot.getTile().getDimSize(1), perGroup = facts::kGroupRows;
  const bool byColumns = m == perGroup;
  if (!sweep || !isa<RankedTensorType>(tile.getType()) || tile.getParentBlock() != dot->getBlock() || dot.getAcc() ||
      groups > 2)
    return dot.emitOpError(
        "expects, to read A transposed, a tile that the same step of a sweep computes, no accumulator "
        "and at most two groups");
  if (byColumns ? n % (groups * perGroup) : m != groups * perGroup)
    return dot.emitOpError("cannot be shared by ") << groups << " groups: expects " << groups * perGroup << " rows, or "
                                                   << perGroup << " and columns in multiples "
                                                   << "of " << groups * perGroup << "; got " << dot.getTile();
  if (llvm::any_of(dot->getUsers(), [](Operation *user) { return !isa<StoreOp>(user); }))
    return dot.emitOpError("reads A transposed; expects a result that is stored and nothing else");

  auto type = cast<RankedTensorType>(tile.getType());
  const int64_t share = rows / groups, columns = byColumns ? n / groups : n;
  Value ring = handOver(tile, sweep), group = compute.getBody().getArgument(0);
  SmallVector<Value> bs{dot.getB()};
  llvm::append_range(bs, waitForOthers(dot.getB()));
  builder.setInsertionPoint(dot);
  Value item = itemOf(sweep, first, Value(), sweep.getBody().getArgument(0));
  BufType whole = cast<BufType>(cast<RingType>(ring.getType()).getBufs()[0]);
  Value all = WaitOp::create(builder, loc, TypeRange{whole}, ring, item, IntegerAttr()).getBufs()[0];
  auto times = [&](Value number, int64_t by) -> Value {
    return arith::MulIOp::create(builder, loc, number, constant(loc, by));
  };
  Value mine = times(group, byColumns ? columns : perGroup); // of the rows or columns of C
  SmallVector<Value> operands;
  for (auto [by, b] : llvm::enumerate(bs)) {
    Value whose = group;
    if (by)
      whose = arith::RemUIOp::create(builder, loc,
                                     arith::AddIOp::create(builder, loc, group, constant(loc, by)).getResult(),
                                     constant(loc, groups));
    Value from = times(whose, m);
    if (!byColumns)
      from = arith::AddIOp::create(builder, loc, from, mine);
    operands.push_back(SliceOp::create(builder, loc, makeBuf(share, perGroup, type.getElementType()), all, from));
    operands.push_back(
        byColumns && groups > 1
            ? SliceOp::create(builder, loc, makeBuf(share, columns, type.getElementType()), b, mine).getResult()
            : b);
  }
  operands.resize(4);
  auto result = RankedTensorType::get({perGroup, columns}, dot.getTile().getElementType());
  auto product = DotOp::create(builder, loc, result, operands[0], operands[1], operands[2], operands[3], Value(),
                               dot.getLabelAttr(), /*async=*/false, /*transA=*/true, /*transB=*/false);
  ReleaseOp::create(builder, loc, ring, item);
  for (Operation *user : llvm::to_vector(dot->getUsers())) { // their lists of operands grow
    auto store = cast<StoreOp>(user);
    SmallVector<Value> at(store.getAt());
    const size_t dim = cast<MemRefType>(store.getDest().getType()).getRank() - (byColumns ? 1 : 2);
    builder.setInsertionPoint(store);
    while (at.size() <= dim)
      at.push_back(constant(loc, 0));
    at[dim] = arith::AddIOp::create(builder, loc, at[dim], mine);
    store.getAtMutable().assign(at);
  }
  dot.replaceAllUsesWith(product.getResult());
  dot.erase();
  return success();
}

LogicalResult ProducerPartitioner::exchangeTiles() {
  SmallVector<DotOp> dots;
  compute.walk([&](DotOp dot) {
    if (dot.getTransA())
      dots.push_back(dot);
  });
  return success(llvm::all_of(dots, [&](DotOp dot) { return succeeded(exchange(dot)); }));
}
