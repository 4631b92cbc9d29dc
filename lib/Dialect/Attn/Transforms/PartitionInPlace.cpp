//===- PartitionInPlace.cpp - one role that fills its own rings
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Family mma_sync: one role, all warps, which fills its own rings. A loaded tile that a matrix product reads travels
// through a ring; `lead` items are on their way when the sweep starts, and step t fetches item t + lead:
//
//   depth d >= 2, lead = d - 1                       depth 1, lead = 1
//     wait R[t]          <- barrier                    wait R[t]
//     copy R[t + d - 1]  into the slot of R[t - 1]     .. last use of R[t] ..  release R[t]
//     .. uses of R[t] ..                               wait of another ring, or sync      <- barrier
//     release R[t]                                     copy R[t + 1]  into the slot of R[t]
//
// Why no warp overwrites what another still reads: `wait` ends in a barrier of the group. With d >= 2 a warp passes the
// barrier of step t only when all warps have arrived there, that is after their last use of R[t - 1] in step t - 1, and
// the copy comes after the barrier. With one slot the last use of R[t] is in the same step, so the copy stands behind
// the next barrier after the release; where the step has none left, one is made. acquire and release emit no code.
// attn-count-waits and attn-verify-stage recompute this from the IR (Analysis/InFlight.h) instead of believing it.
//
// A sweep may run again and again, once for every head that shares a tile of keys. Each run numbers its items from 0
// and starts with empty rings; a barrier in front of its first copies says that all warps have left the run before.
//
// A matrix that no product reads (O and dO, which are multiplied element by element) goes through shared memory as
// well: a copy reads 16 bytes of a row at a time, a fragment's lanes would read two columns each.
//
//===----------------------------------------------------------------------===//

#include "KernelRemark.h"
#include "LongSteps.h"
#include "PartitionRoles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-partition-roles"

/// Items on their way when the sweep starts; step t fetches item t + lead.
static int64_t leadOf(const RingLoad &ring) { return std::max<int64_t>(ring.depth() - 1, 1); }

namespace {
/// The values that number and place item t + lead inside the body of a sweep.
struct Ahead {
  IRMapping map; ///< t and j of the body to those of the item; grows with the cloned address arithmetic
  Value item, more;
};

class InPlacePartitioner : RolePartitioner {
public:
  InPlacePartitioner(KernelOp kernel, TilesOp tiles) : RolePartitioner(kernel, tiles, Family::MmaSync) {}
  LogicalResult run();

private:
  FailureOr<SmallVector<RingLoad>> makeRings(Block &block);
  LogicalResult pipelineSweep(SweepOp sweep);
  void loadOnce(MutableArrayRef<RingLoad> rings);
  void loadRegisters(RingLoad &ring, Value item);
  void stageOutputs(Block &body);
  void makeRole();

  CopyOp fetch(RingLoad &load, ValueRange at, Value item, Value guard);
  FailureOr<SmallVector<Value>> addressAt(RingLoad &load, IRMapping &map);

  RoleOp role;
  /// Of the rings filled once a tile, the largest: read to the end by the time results are ready.
  Value drained;
  int64_t drainedBytes = 0;
};
} // namespace

/// Whether a load is a matrix of 16-bit elements for registers only.
static bool isForRegisters(LoadOp load) {
  RankedTensorType tile = load.getResult().getType();
  return isa<MemRefType>(load.getSource().getType()) && tile.getRank() == 2 && tile.getElementTypeBitWidth() == 16 &&
         llvm::none_of(load->getUsers(), llvm::IsaPred<DotOp>);
}

/// A ring, not filled yet, for every load of `block` that a product reads, and in a tile (not in a sweep) for matrices
/// that go to registers.
FailureOr<SmallVector<RingLoad>> InPlacePartitioner::makeRings(Block &block) {
  SmallVector<RingLoad> rings = findRingLoads(block);
  if (isa<TilesOp>(block.getParentOp()))
    for (LoadOp load : block.getOps<LoadOp>())
      if (isForRegisters(load))
        rings.push_back({load, {}, {}, {}, {}});
  for (RingLoad &ring : rings) {
    auto source = cast<MemRefType>(ring.load.getSource().getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(source.getStridesAndOffset(strides, offset)) || strides.back() != 1)
      return ring.load.emitOpError("cannot travel through cp_async: expects a last dimension of stride 1, got ")
             << source;
    makeRing(ring, getBufType(ring.load.getResult().getType()), depthOf(ring.load), schedule.getNumWarps(), role);
  }
  return rings;
}

//===----------------------------------------------------------------------===//
// Filling and draining
//===----------------------------------------------------------------------===//

CopyOp InPlacePartitioner::fetch(RingLoad &ring, ValueRange at, Value item, Value guard) {
  Location loc = ring.load.getLoc();
  auto slot = AcquireOp::create(builder, loc, TypeRange{ring.buf}, ring.alloc, item);
  return CopyOp::create(builder, loc, ring.load.getSource(), at, slot.getBufs()[0], ValueRange{}, ring.alloc, item,
                        guard, TransportAttr::get(builder.getContext(), Transport::CpAsync));
}

/// `value`, computed in `body`, for the t and j that `map` holds. Null if something other than them decides it.
static Value cloneSlice(OpBuilder &builder, Value value, Block *body, IRMapping &map) {
  if (Value known = map.lookupOrNull(value))
    return known;
  if (!body->getParent()->isAncestor(value.getParentRegion()))
    return value;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() || !isMemoryEffectFree(op))
    return {};
  for (Value operand : op->getOperands()) {
    Value cloned = cloneSlice(builder, operand, body, map);
    if (!cloned)
      return {};
    map.map(operand, cloned);
  }
  builder.clone(*op, map);
  return map.lookup(value);
}

FailureOr<SmallVector<Value>> InPlacePartitioner::addressAt(RingLoad &ring, IRMapping &map) {
  SmallVector<Value> at;
  for (Value coordinate : ring.load.getAt()) {
    Value cloned = cloneSlice(builder, coordinate, ring.load->getBlock(), map);
    if (!cloned)
      return ring.load.emitOpError("cannot be fetched ahead: its coordinates depend on more than the sweep's t and j");
    at.push_back(cloned);
  }
  return at;
}

/// Rings filled once a tile: item 0. (One tile a block; a block that walks tiles would number items by its ordinal.)
void InPlacePartitioner::loadOnce(MutableArrayRef<RingLoad> rings) {
  for (RingLoad &ring : rings) {
    builder.setInsertionPoint(ring.load);
    Value item = constant(ring.load.getLoc(), 0);
    fetch(ring, ring.load.getAt(), item, {});
    if (ring.uses.empty()) {
      loadRegisters(ring, item);
      ring.load.erase();
      continue;
    }
    waitAndRelease(ring, item);
    if (ring.load->use_empty())
      ring.load.erase();
    int64_t bytes = ring.ring.getDepth() * ring.ring.getSlotBytes();
    if (bytes > drainedBytes)
      drained = ring.alloc, drainedBytes = bytes;
  }
}

/// From the ring to registers in front of the first use, when the copies of other tiles are under way.
void InPlacePartitioner::loadRegisters(RingLoad &ring, Value item) {
  Location loc = ring.load.getLoc();
  Operation *first = nullptr;
  for (Operation *user : ring.load->getUsers()) {
    user = ring.load->getBlock()->findAncestorOpInBlock(*user);
    first = !first || user->isBeforeInBlock(first) ? user : first;
  }
  if (first)
    builder.setInsertionPoint(first);
  Value buf = WaitOp::create(builder, loc, TypeRange{ring.buf}, ring.alloc, item, IntegerAttr()).getBufs()[0];
  Value tile = LoadOp::create(builder, loc, ring.load.getResult().getType(), buf, ValueRange{}, StringAttr());
  ReleaseOp::create(builder, loc, ring.alloc, item);
  ring.load.getResult().replaceAllUsesWith(tile);
}

/// The barrier in `body` behind which the slot of item t + lead is free, or null.
static Operation *findBarrier(const RingLoad &ring, Block &body) {
  auto ofRing = [&](auto op) { return op.getRing() == ring.alloc; };
  if (ring.depth() > 1) {
    Operation *wait = *llvm::find_if(body.getOps<WaitOp>(), ofRing);
    while (isa<WaitOp>(wait->getNextNode()))
      wait = wait->getNextNode();
    return wait;
  }
  Operation *release = *llvm::find_if(body.getOps<ReleaseOp>(), ofRing);
  for (Operation *next = release->getNextNode(); next; next = next->getNextNode())
    if (isa<WaitOp, SyncOp>(next))
      return next;
  return nullptr;
}

LogicalResult InPlacePartitioner::pipelineSweep(SweepOp sweep) {
  Block &body = sweep.getBody().front();
  const bool isLong = isLongStep(body);
  if (isLong)
    orderStep(body, schedule.getNumWarps());
  FailureOr<SmallVector<RingLoad>> rings = makeRings(body);
  if (failed(rings))
    return failure();
  if (rings->empty())
    return success();
  Location loc = sweep.getLoc();
  bool descending = sweep.getOrder() == SweepOrder::Descending;
  Value t = body.getArgument(0), j = body.getArgument(1);
  auto along = [&](Value from, int64_t steps) -> Value {
    Value by = constant(loc, steps);
    return descending ? builder.createOrFold<arith::SubIOp>(loc, from, by)
                      : builder.createOrFold<arith::AddIOp>(loc, from, by);
  };

  // In front of the sweep: items 0 .. lead - 1 of every ring, in the order their waits will ask for them. Item 0 is
  // always there (a sweep is never empty), later ones are guarded.
  builder.setInsertionPoint(sweep);
  if (sweep->getParentOp() != tiles)
    SyncOp::create(builder, loc, Scope::Group);
  Value count = builder.createOrFold<arith::SubIOp>(loc, sweep.getHi(), sweep.getLo());
  int64_t maxLead = 0;
  for (RingLoad &ring : *rings)
    maxLead = std::max(maxLead, leadOf(ring));
  for (int64_t k = 0; k < maxLead; ++k) {
    Value item = constant(loc, k), guard;
    IRMapping map;
    map.map(t, item);
    map.map(j, descending ? along(sweep.getHi(), k + 1) : along(sweep.getLo(), k));
    if (k)
      guard = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, item, count);
    for (RingLoad &ring : *rings) {
      if (k >= leadOf(ring))
        continue;
      FailureOr<SmallVector<Value>> at = addressAt(ring, map);
      if (failed(at))
        return failure();
      fetch(ring, *at, item, guard);
    }
  }

  // In the body: numbers and addresses of the items ahead at the top, then waits and releases around the uses.
  std::map<int64_t, Ahead> ahead;
  builder.setInsertionPointToStart(&body);
  for (RingLoad &ring : *rings) {
    Ahead &next = ahead[leadOf(ring)];
    if (!next.item) {
      next.item = arith::AddIOp::create(builder, loc, t, constant(loc, leadOf(ring)));
      next.more = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, next.item, count);
      next.map.map(t, next.item);
      next.map.map(j, along(j, leadOf(ring)));
    }
  }
  SmallVector<SmallVector<Value>> coordinates;
  for (RingLoad &ring : *rings) {
    FailureOr<SmallVector<Value>> at = addressAt(ring, ahead[leadOf(ring)].map);
    if (failed(at))
      return failure();
    coordinates.push_back(*at);
  }
  for (RingLoad &ring : *rings)
    waitAndRelease(ring, t);
  if (isLong)
    waitTogether(*rings, body);

  // The fetches, each behind a barrier that follows the last use of what the slot holds (picture above). Fetches behind
  // one barrier keep the order of the rings, which is the order they are waited for in.
  llvm::SmallDenseMap<Operation *, Operation *> fetched;
  Operation *lastBarrier = nullptr;
  for (auto [ring, at] : llvm::zip_equal(*rings, coordinates)) {
    Operation *barrier = findBarrier(ring, body);
    if (!barrier) {
      if (!lastBarrier) {
        builder.setInsertionPoint(body.getTerminator());
        lastBarrier = SyncOp::create(builder, loc, Scope::Group);
      }
      barrier = lastBarrier;
    }
    Operation *&after = fetched.try_emplace(barrier, barrier).first->second;
    builder.setInsertionPointAfter(after);
    Ahead &next = ahead[leadOf(ring)];
    after = fetch(ring, at, next.item, next.more);
  }
  for (RingLoad &ring : *rings)
    if (ring.load->use_empty())
      ring.load.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// A fragment is spread thinly over the lanes; through shared memory every lane gets 16 bytes of one row to store.
/// The tile lies over the ring that was filled once: it has been read, and the first barrier makes that true for all
/// warps. The same barrier orders two results that take turns in these bytes.
void InPlacePartitioner::stageOutputs(Block &body) {
  for (StoreOp store : llvm::make_early_inc_range(body.getOps<StoreOp>())) {
    auto tile = store.getValue().getType();
    if (tile.getRank() != 2 || store.getRaw() || store.getAdd() || !isa<MemRefType>(store.getDest().getType()))
      continue;
    Location loc = store.getLoc();
    BufType buf = getBufType(tile);
    std::string label = uniqueLabel(store.getLabel().value_or("O"));
    builder.setInsertionPointToStart(&role.getBody().front());
    StringAttr over = drained ? drained.getDefiningOp<AllocOp>().getLabelAttr() : StringAttr();
    Value staging = AllocOp::create(builder, loc, buf, builder.getStringAttr(label), IntegerAttr(), IntegerAttr(),
                                    IntegerAttr(), over);
    builder.setInsertionPoint(store);
    if (over)
      SyncOp::create(builder, loc, Scope::Group);
    StoreOp::create(builder, loc, store.getValue(), staging, ValueRange{}, StringAttr());
    SyncOp::create(builder, loc, Scope::Group);
    CopyOp::create(builder, loc, staging, ValueRange{}, store.getDest(), store.getAt(), Value(), Value(), Value(),
                   TransportAttr::get(builder.getContext(), Transport::Vector));
    remark::passed(loc, inKernel(store, "output", DEBUG_TYPE))
        << "staged through shared memory: " << remark::metric("buf", label)
        << remark::metric("over", over ? over.getValue() : "nothing");
    store.erase();
  }
}

//===----------------------------------------------------------------------===//
// The role
//===----------------------------------------------------------------------===//

/// What other roles may share, rings and sizes, stays in front of the role (K1).
void InPlacePartitioner::makeRole() {
  Location loc = tiles.getLoc();
  builder.setInsertionPoint(tiles);
  role = RoleOp::create(builder, loc, "compute", 0, schedule.getNumWarps(), 1, /*regs=*/IntegerAttr());
  Block *body = builder.createBlock(&role.getBody(), {}, {builder.getI32Type()}, {loc});
  YieldOp::create(builder, loc, ValueRange{});
  tiles->moveBefore(body, std::prev(body->end()));
}

LogicalResult InPlacePartitioner::run() {
  if (failed(checkDots()))
    return failure();
  makeRole();
  Block &body = tiles.getBody().front();
  FailureOr<SmallVector<RingLoad>> once = makeRings(body);
  if (failed(once))
    return failure();
  SmallVector<SweepOp> sweeps;
  tiles.walk([&](SweepOp sweep) { sweeps.push_back(sweep); });
  for (SweepOp sweep : sweeps)
    if (failed(pipelineSweep(sweep)))
      return failure();
  // After the sweeps: a wait for a tile they read then stands behind the copies of their first items.
  loadOnce(*once);
  stageOutputs(body);
  return success();
}

LogicalResult attn::partitionInPlace(KernelOp kernel, TilesOp tiles) { return InPlacePartitioner(kernel, tiles).run(); }
