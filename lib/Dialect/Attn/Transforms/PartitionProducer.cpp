//===- PartitionProducer.cpp - one thread copies, groups of warps compute
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Family wgmma: an elected thread hands every loaded tile that a product reads to the tensor memory accelerator; groups
// of four warps share the rows of a tile and read the items. Rings live at kernel level, their items are numbered over
// all tiles of a block, and each side computes the number by itself:
//
//   producer                                          compute, group g of G
//     tiles n = 0 {                                     tiles n = 0 {
//       for each g: copy Q[t G + g] <- rows of g          wait Q[t G + g]
//       sweep u {                                         sweep u {
//         copy K[n + u]                                     wait K[n + u] .. uses .. release K[n + u]
//         copy V[n + u]                                     wait V[n + u] .. uses .. release V[n + u]
//       }                                                 }
//       yield n + (hi - lo)                               release Q[t G + g];  results;  yield n + (hi - lo)
//     }                                                 }
//
// The producer's nest holds what the addresses are computed from and nothing else. What leaves a tile:
// StageResults.cpp.
//
//===----------------------------------------------------------------------===//

#include "KernelRemark.h"
#include "PartitionRoles.h"
#include "StageResults.h"
#include "TensorMaps.h"
#include "attn/Analysis/SharedPlan.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "attn/Facts/Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-partition-roles"

using facts::kGroupWarps;

namespace {
/// A ring, and how the items in it are made.
struct TmaLoad : RingLoad {
  Value map;
  SweepOp sweep;         ///< null: filled once a tile
  bool perGroup = false; ///< A of products: every group has its own rows, an item of its own
  ReleaseOp release;
};

class ProducerPartitioner : RolePartitioner {
public:
  ProducerPartitioner(KernelOp kernel, TilesOp tiles)
      : RolePartitioner(kernel, tiles, Family::Wgmma), groups(schedule.getGroups()), rows(schedule.getTileQueries()),
        maps(kernel) {}
  LogicalResult run();

private:
  LogicalResult check();
  LogicalResult collect(Block &block, SweepOp sweep);
  LogicalResult prepare(TmaLoad &ring, RingLoad load, SweepOp sweep);

  LogicalResult need(Value value, LoadOp load);
  LogicalResult findNeeded();
  void makeProducer();
  void fillBlock(Block &from, ValueRange carried, IRMapping &map);
  void fill(TmaLoad &ring, ValueRange carried, IRMapping &map);

  RoleOp makeRole(StringRef name, int64_t first, int64_t warps, int64_t groups, int64_t regsIndex, bool elect);
  TilesOp makeTiles(Block *into);
  void makeCompute();
  void dropDeadAddresses(ArrayRef<Value> roots);
  StagingRoom findRoom();

  Value itemOf(TmaLoad &ring, ValueRange carried, Value tile, Value step, Value group);
  void yieldCounts(Location loc, YieldOp yield, ValueRange carried, llvm::function_ref<Value(Value)> lookup);

  int64_t groups, rows;
  llvm::MapVector<Operation *, TmaLoad> rings; ///< by load, in program order
  SmallVector<SweepOp> sweeps;                 ///< that fill rings; each carries the number of its next item
  TensorMaps maps;
  llvm::SetVector<Operation *> needed; ///< what addresses and sweeps' bounds are computed from
  llvm::DenseMap<Value, Value> items;  ///< numbers that several rings share, by what counts: a tile or a step
  RoleOp producer, compute;
};
} // namespace

//===----------------------------------------------------------------------===//
// Rings and tensor maps
//===----------------------------------------------------------------------===//

LogicalResult ProducerPartitioner::check() {
  if (schedule.getWarps() != ArrayRef<int64_t>{kGroupWarps, 1})
    return kernel.emitOpError("expects groups of [4, 1] warps on family wgmma, got [") << schedule.getWarps() << "]";
  if (int64_t warps = kGroupWarps * (groups + 1); warps > 32)
    return kernel.emitOpError("has ") << groups << " groups; with the warps that copy the block needs " << warps
                                      << " warps, it may have 32";
  if (!tiles.getInit().empty())
    return tiles.emitOpError("expects a nest that carries nothing, got ") << tiles.getInit().size() << " values";
  return checkDots();
}

static BufType getGroupBuf(RankedTensorType tile, int64_t rows) {
  return getBufType(RankedTensorType::get({rows, tile.getDimSize(1)}, tile.getElementType()));
}

LogicalResult ProducerPartitioner::prepare(TmaLoad &ring, RingLoad found, SweepOp sweep) {
  static_cast<RingLoad &>(ring) = std::move(found);
  ring.sweep = sweep;
  LoadOp load = ring.load;
  RankedTensorType tile = load.getResult().getType();
  bool readsRows = llvm::any_of(ring.uses, [](OpOperand *use) { return use->getOperandNumber() == 0; });
  bool readsAll = llvm::any_of(ring.uses, [](OpOperand *use) { return use->getOperandNumber() == 1; });
  if (readsRows && readsAll)
    return load.emitOpError("is the A operand of one product and the B operand of another; on family wgmma a group has "
                            "its rows of an A operand only");
  if (size_t others = llvm::range_size(load->getUses()) - ring.uses.size())
    return load.emitOpError("is read by products and by ")
           << others << " other uses; on family wgmma only products read a tile that TMA brings";
  if (readsRows && tile.getDimSize(0) != rows)
    return load.emitOpError("has ") << tile.getDimSize(0) << " rows, " << groups << " groups share tiles of " << rows;
  ring.perGroup = readsRows;
  BufType buf = readsRows ? getGroupBuf(tile, rows / groups) : getBufType(tile);
  FailureOr<Value> map = maps.get(load, load.getSource(), buf);
  if (failed(map))
    return failure();
  ring.map = *map;
  int64_t share = readsRows ? groups : 1;
  makeRing(ring, buf, share * depthOf(load), kGroupWarps * groups / share, tiles);
  return success();
}

LogicalResult ProducerPartitioner::collect(Block &block, SweepOp sweep) {
  SmallVector<RingLoad> found = findRingLoads(block);
  if (sweep && !found.empty())
    sweeps.push_back(sweep);
  for (RingLoad &load : found) {
    Operation *op = load.load;
    if (failed(prepare(rings[op], std::move(load), sweep)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Numbers of items
//===----------------------------------------------------------------------===//

/// The number of the item that is made in tile `tile`, in step `step` of a sweep, for group `group` (null: the first).
Value ProducerPartitioner::itemOf(TmaLoad &ring, ValueRange carried, Value tile, Value step, Value group) {
  Location loc = ring.load.getLoc();
  auto count = [&]() -> Value {
    if (!ring.sweep)
      return tile;
    size_t index = llvm::find(sweeps, ring.sweep) - sweeps.begin();
    return builder.createOrFold<arith::AddIOp>(loc, carried[index], step);
  };
  if (!ring.perGroup || groups == 1) {
    Value &item = items[step ? step : tile];
    return item ? item : item = count();
  }
  Value first = arith::MulIOp::create(builder, loc, count(), constant(loc, groups));
  return group ? builder.createOrFold<arith::AddIOp>(loc, first, group) : first;
}

/// A sweep takes hi - lo items in every tile.
void ProducerPartitioner::yieldCounts(Location loc, YieldOp yield, ValueRange carried,
                                      llvm::function_ref<Value(Value)> lookup) {
  builder.setInsertionPoint(yield);
  SmallVector<Value> next;
  for (auto [sweep, number] : llvm::zip_equal(sweeps, carried)) {
    Value count = builder.createOrFold<arith::SubIOp>(loc, lookup(sweep.getHi()), lookup(sweep.getLo()));
    next.push_back(arith::AddIOp::create(builder, loc, number, count));
  }
  yield.getValuesMutable().assign(next);
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

LogicalResult ProducerPartitioner::need(Value value, LoadOp load) {
  if (!tiles.getBody().isAncestor(value.getParentRegion()))
    return success();
  Operation *owner = value.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == tiles || (isa<SweepOp>(parent) && argument.getArgNumber() < 2))
      return success();
  } else if (!owner->getNumRegions() && isMemoryEffectFree(owner)) {
    if (needed.insert(owner))
      for (Value operand : owner->getOperands())
        if (failed(need(operand, load)))
          return failure();
    return success();
  }
  return load.emitOpError("cannot be fetched by another role: where it is or how often depends on more than the tile's "
                          "numbers and the sweep's t and j");
}

LogicalResult ProducerPartitioner::findNeeded() {
  for (auto &[op, ring] : rings) {
    SmallVector<Value> values(ring.load.getAt());
    if (ring.sweep)
      llvm::append_values(values, ring.sweep.getLo(), ring.sweep.getHi());
    for (Value value : values)
      if (failed(need(value, ring.load)))
        return failure();
  }
  return success();
}

void ProducerPartitioner::fill(TmaLoad &ring, ValueRange carried, IRMapping &map) {
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
    Value item = itemOf(ring, carried, tile, step, number);
    auto slot = AcquireOp::create(builder, loc, TypeRange{ring.buf}, ring.alloc, item);
    CopyOp::create(builder, loc, ring.map, box, slot.getBufs()[0], ValueRange{}, ring.alloc, item, Value(),
                   TransportAttr::get(builder.getContext(), Transport::Tma));
  }
}

/// Copies of `from`'s loads, and of what they need, at the builder's point.
void ProducerPartitioner::fillBlock(Block &from, ValueRange carried, IRMapping &map) {
  for (Operation &op : from) {
    if (needed.contains(&op))
      builder.clone(op, map);
    if (auto ring = rings.find(&op); ring != rings.end())
      fill(ring->second, carried, map);
    auto sweep = dyn_cast<SweepOp>(op);
    if (!sweep || !llvm::is_contained(sweeps, sweep))
      continue;
    // Nothing is masked here: all of it is plain.
    Value lo = map.lookupOrDefault(sweep.getLo()), hi = map.lookupOrDefault(sweep.getHi());
    auto copy = SweepOp::create(builder, sweep.getLoc(), TypeRange(), sweep.getOrder(), lo, hi, lo, hi, IntegerAttr(),
                                ValueRange());
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&copy.getBody(), {}, {builder.getI32Type(), builder.getI32Type()},
                                      {sweep.getLoc(), sweep.getLoc()});
    YieldOp::create(builder, sweep.getLoc(), ValueRange{});
    builder.setInsertionPoint(body->getTerminator());
    map.map(sweep.getBody().getArguments().take_front(2), body->getArguments());
    fillBlock(sweep.getBody().front(), carried, map);
  }
}

RoleOp ProducerPartitioner::makeRole(StringRef name, int64_t first, int64_t warps, int64_t groups, int64_t regsIndex,
                                     bool elect) {
  Location loc = tiles.getLoc();
  builder.setInsertionPoint(tiles);
  IntegerAttr regs =
      schedule.getRegs().empty() ? IntegerAttr() : builder.getI64IntegerAttr(schedule.getRegs()[regsIndex]);
  auto role = RoleOp::create(builder, loc, name, first, warps, groups, regs, elect);
  builder.createBlock(&role.getBody(), {}, {builder.getI32Type()}, {loc});
  YieldOp::create(builder, loc, ValueRange{});
  return role;
}

/// A nest like the kernel's, with room for the numbers of the next items; its body is empty.
TilesOp ProducerPartitioner::makeTiles(Block *into) {
  Location loc = tiles.getLoc();
  builder.setInsertionPoint(into->getTerminator());
  SmallVector<Value> zeros;
  if (!sweeps.empty())
    zeros.assign(sweeps.size(), constant(loc, 0));
  SmallVector<Type> types(zeros.size(), builder.getI32Type());
  return TilesOp::create(builder, loc, types, tiles.getKind(), tiles.getExtents(), tiles.getSection(),
                         tiles.getCounter(), zeros, tiles.getHeaviestFirst());
}

void ProducerPartitioner::makeProducer() {
  Location loc = tiles.getLoc();
  producer = makeRole("producer", 0, kGroupWarps, 1, 0, /*elect=*/true);
  TilesOp nest = makeTiles(&producer.getBody().front());
  Block *body = builder.createBlock(&nest.getBody(), {}, SmallVector<Type>(4 + sweeps.size(), builder.getI32Type()),
                                    SmallVector<Location>(4 + sweeps.size(), loc));
  auto yield = YieldOp::create(builder, loc, ValueRange{});
  builder.setInsertionPoint(yield);
  ValueRange carried = ValueRange(body->getArguments()).drop_front(4);
  IRMapping map;
  map.map(tiles.getBody().getArguments(), body->getArguments().take_front(4));
  fillBlock(tiles.getBody().front(), carried, map);
  yieldCounts(loc, yield, carried, [&](Value value) { return map.lookupOrDefault(value); });
}

//===----------------------------------------------------------------------===//
// The groups that compute
//===----------------------------------------------------------------------===//

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

void ProducerPartitioner::makeCompute() {
  Location loc = tiles.getLoc();
  compute = makeRole("compute", kGroupWarps, kGroupWarps * groups, groups, 1, /*elect=*/false);
  TilesOp nest = makeTiles(&compute.getBody().front());
  nest.getBody().takeBody(tiles.getBody());
  Block &body = nest.getBody().front();
  for (size_t i = 0; i < sweeps.size(); ++i)
    body.addArgument(builder.getI32Type(), loc);
  tiles.erase();
  tiles = nest;

  ValueRange carried = ValueRange(body.getArguments()).drop_front(4);
  Value group = compute.getBody().getArgument(0);
  SmallVector<Value> addresses;
  for (auto &[op, ring] : rings) {
    Block &block = *ring.load->getBlock();
    builder.setInsertionPointToStart(&block);
    Value step = ring.sweep ? block.getArgument(0) : Value();
    ring.release = waitAndRelease(ring, itemOf(ring, carried, body.getArgument(0), step, group));
    llvm::append_range(addresses, ring.load.getAt());
    ring.load.erase();
  }
  dropDeadAddresses(addresses);
  yieldCounts(loc, cast<YieldOp>(body.getTerminator()), carried, [](Value value) { return value; });
}

/// What PlanMemory will find taken, and what is left of the target's bytes.
StagingRoom ProducerPartitioner::findRoom() {
  StagingRoom room{schedule.getOut(), {}, std::nullopt};
  int64_t slots = 0, bytes = 0;
  for (auto &[op, ring] : rings) {
    if (!ring.sweep && ring.perGroup && ring.depth() == groups)
      room.slots.push_back({ring.alloc.getDefiningOp<AllocOp>(), ring.release});
    slots += ring.depth();
    bytes += ring.depth() * ring.ring.getSlotBytes();
  }
  bytes += barrierBytes(slots, tiles.getKind() == Tiling::Dynamic);
  if (int64_t smem = getTarget(kernel).getSmem())
    room.bytes = (smem - bytes) / groups;
  return room;
}

LogicalResult ProducerPartitioner::run() {
  if (failed(check()) || failed(collect(tiles.getBody().front(), {})))
    return failure();
  for (SweepOp sweep : tiles.getBody().getOps<SweepOp>())
    if (failed(collect(sweep.getBody().front(), sweep)))
      return failure();
  if (failed(findNeeded()))
    return failure();
  makeProducer();
  makeCompute();
  if (failed(splitRows(compute, rows)))
    return failure();
  auto label = [&](StringRef wanted) { return uniqueLabel(wanted); };
  if (failed(stageResults(tiles, findRoom(), maps, label)))
    return failure();
  remark::passed(kernel.getLoc(), inKernel(kernel, "roles", DEBUG_TYPE))
      << "one thread copies, groups of warps compute: " << remark::metric("groups", groups)
      << remark::metric("rows", rows / groups);
  return success();
}

LogicalResult attn::partitionProducer(KernelOp kernel, TilesOp tiles) {
  return ProducerPartitioner(kernel, tiles).run();
}
