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
// Where a tile has a loop around the sweep (the query heads that share a key head, in the backward), n is carried
// through it as well: the items of all its sweeps are one sequence.
//
// A row of numbers that a step reads along the columns of its tiles travels in the slot of one of them.
//
// The roles: ProducerRole.cpp, ComputeRole.cpp. A tile that groups compute for each other: ExchangeTiles.cpp. What
// leaves a tile: StageResults.cpp.
//
//===----------------------------------------------------------------------===//

#include "KernelRemark.h"
#include "ProducerPartitioner.h"
#include "attn/Analysis/SharedAllocs.h"
#include "attn/Analysis/SharedPlan.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "attn/Facts/Facts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-partition-roles"

using facts::kGroupWarps;

/// Gradients of keys and values are computed with keys on the rows of tiles.
static int64_t getRows(ScheduleAttr schedule) {
  return schedule.makes("dK") || schedule.makes("dV") ? schedule.getTileKeys() : schedule.getTileQueries();
}

ProducerPartitioner::ProducerPartitioner(KernelOp kernel, TilesOp tiles)
    : RolePartitioner(kernel, tiles, Family::Wgmma), groups(schedule.getGroups()), rows(getRows(schedule)),
      maps(kernel) {}

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
  // Rows that are what a product sums over, share by share.
  auto sumsOver = [](OpOperand *use) {
    auto dot = cast<DotOp>(use->getOwner());
    return use->getOperandNumber() == 0 || (dot.getTransA() && !dot.getTransB());
  };
  ring.forOthers = readsRows && readsAll;
  if (ring.forOthers && !llvm::all_of(ring.uses, sumsOver))
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
  makeRing(ring, buf, share * depthOf(load), kGroupWarps * groups / (ring.forOthers ? 1 : share), tiles);
  return success();
}

/// Rows of numbers that are read along the columns of the step's tiles, from workspaces (dense and padded: a copy of
/// consecutive bytes looks at no bounds): one goes with each of the tiles that have the same rows, in order.
void ProducerPartitioner::takeVectors(Block &block, MutableArrayRef<RingLoad> loads) {
  auto isRow = [](LoadOp load) {
    auto memory = dyn_cast<MemRefType>(load.getSource().getType());
    RankedTensorType type = load.getResult().getType();
    return memory && memory.getLayout().isIdentity() && isa<BlockArgument>(load.getSource()) && type.getRank() == 1 &&
           type.getElementType().isF32() && static_cast<int64_t>(load.getAt().size()) == memory.getRank() &&
           type.getDimSize(0) * 4 % facts::kBankBytes == 0;
  };
  auto *next = loads.begin();
  for (LoadOp load : block.getOps<LoadOp>()) {
    if (!isRow(load))
      continue;
    auto takes = [&](RingLoad &tile) {
      bool isB = llvm::all_of(tile.uses, [](OpOperand *use) { return use->getOperandNumber() == 1; });
      auto at = tile.load.getAt();
      return isB && at.size() > 2 && at[2] == load.getAt().back() &&
             tile.load.getResult().getType().getDimSize(0) == load.getResult().getType().getDimSize(0);
    };
    next = std::find_if(next, loads.end(), takes);
    if (next == loads.end())
      return;
    (next++)->vectors.push_back(load);
  }
}

LogicalResult ProducerPartitioner::collect(Block &block) {
  auto sweep = dyn_cast<SweepOp>(block.getParentOp());
  SmallVector<RingLoad> found = findRingLoads(block);
  if (sweep && !found.empty())
    sweeps.push_back(sweep);
  if (sweep)
    takeVectors(block, found);
  for (RingLoad &load : found) {
    Operation *op = load.load;
    if (failed(prepare(rings[op], std::move(load), sweep)))
      return failure();
  }
  for (Operation &op : block)
    if (isa<SweepOp, scf::ForOp>(op) && failed(collect(op.getRegion(0).front())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Numbers of items
//===----------------------------------------------------------------------===//

/// Which sweeps `op` is or holds.
SmallVector<size_t> ProducerPartitioner::sweepsIn(Operation *op) const {
  SmallVector<size_t> inside;
  for (auto [index, sweep] : llvm::enumerate(sweeps))
    if (op->isAncestor(sweep))
      inside.push_back(index);
  return inside;
}

/// The number of what is made in tile `tile`, or in step `step` of a sweep whose first is in `first`.
Value ProducerPartitioner::itemOf(SweepOp sweep, ArrayRef<Value> first, Value tile, Value step) {
  Value &item = items[sweep ? step : tile];
  if (!item)
    item = sweep ? builder.createOrFold<arith::AddIOp>(sweep.getLoc(),
                                                       first[llvm::find(sweeps, sweep) - sweeps.begin()], step)
                 : tile;
  return item;
}

/// The same of an item of a ring, for group `group` (null: the first).
Value ProducerPartitioner::itemOf(TmaLoad &ring, ArrayRef<Value> first, Value tile, Value step, Value group) {
  Location loc = ring.load.getLoc();
  if (!ring.perGroup || groups == 1)
    return itemOf(ring.sweep, first, tile, step);
  Value count =
      ring.sweep
          ? builder.createOrFold<arith::AddIOp>(loc, first[llvm::find(sweeps, ring.sweep) - sweeps.begin()], step)
          : tile;
  Value ofGroups = arith::MulIOp::create(builder, loc, count, constant(loc, groups));
  return group ? builder.createOrFold<arith::AddIOp>(loc, ofGroups, group) : ofGroups;
}

/// At the end of a block: every sweep in it has taken hi - lo items.
void ProducerPartitioner::countSweeps(Block &block, Numbers next, llvm::function_ref<Value(Value)> lookup) {
  for (auto [sweep, number] : llvm::zip_equal(sweeps, next)) {
    if (sweep->getBlock() != &block)
      continue;
    Location loc = sweep.getLoc();
    Value count = builder.createOrFold<arith::SubIOp>(loc, lookup(sweep.getHi()), lookup(sweep.getLo()));
    number = arith::AddIOp::create(builder, loc, number, count);
  }
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

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

/// What PlanMemory will find taken, and what is left of the target's bytes.
StagingRoom ProducerPartitioner::findRoom() {
  StagingRoom room{schedule.getOut(), {}, std::nullopt};
  for (auto &[op, ring] : rings)
    if (!ring.sweep && ring.perGroup && !ring.forOthers && ring.depth() == groups)
      room.slots.push_back({ring.alloc.getDefiningOp<AllocOp>(), ring.release});
  int64_t slots = 0, bytes = 0;
  for (AllocOp alloc : kernel.getBody().getOps<AllocOp>()) {
    slots += isExchange(alloc) ? 0 : cast<RingType>(alloc.getType()).getDepth();
    bytes += getSharedBytes(alloc);
  }
  bytes += barrierBytes(slots, tiles.getKind() == Tiling::Dynamic);
  if (int64_t smem = getTarget(kernel).getSmem())
    room.bytes = (smem - bytes) / groups;
  return room;
}

LogicalResult ProducerPartitioner::run() {
  if (failed(check()) || failed(collect(tiles.getBody().front())) || failed(findNeeded()))
    return failure();
  makeProducer();
  makeCompute();
  if (failed(exchangeTiles()) || failed(splitRows(compute, rows)) || failed(holdOperands()))
    return failure();
  // An overlapped tile starts with a whole step of every group.
  if (groups > 1 && schedule.getSeam() == Seam::Plain)
    narrowSweeps(compute, tiles, schedule);
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
