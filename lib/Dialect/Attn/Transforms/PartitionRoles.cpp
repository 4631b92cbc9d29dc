//===- PartitionRoles.cpp - give the block its roles and its rings
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
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#include <map>

namespace attn {
#define GEN_PASS_DEF_PARTITIONROLESPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-partition-roles"

namespace {
/// A loaded tile that goes through shared memory.
struct RingLoad {
  LoadOp load;
  SmallVector<OpOperand *> uses; ///< operands of products
  RingType ring;
  BufType buf;
  Value alloc;

  int64_t depth() const { return ring.getDepth(); }
  /// Items on their way when the sweep starts; step t fetches item t + lead.
  int64_t lead() const { return std::max<int64_t>(depth() - 1, 1); }
};

/// The values that number and place item t + lead inside the body of a sweep.
struct Ahead {
  IRMapping map; ///< t and j of the body to those of the item; grows with the cloned address arithmetic
  Value item, more;
};

class Partitioner {
public:
  Partitioner(KernelOp kernel, TilesOp tiles)
      : kernel(kernel), tiles(tiles), schedule(kernel.getScheduleAttr()), builder(kernel.getContext()) {}
  LogicalResult run();

private:
  LogicalResult checkDots();
  FailureOr<SmallVector<RingLoad>> makeRings(Block &block);
  LogicalResult pipelineSweep(SweepOp sweep);
  void loadOnce(MutableArrayRef<RingLoad> rings);
  void stageOutputs(Block &body);
  void makeRole();

  Value constant(Location loc, int64_t value) { return arith::ConstantIntOp::create(builder, loc, value, 32); }
  std::string uniqueLabel(StringRef wanted);
  int64_t depthOf(StringRef label) const;
  CopyOp fetch(RingLoad &load, ValueRange at, Value item, Value guard);
  void waitAndRelease(RingLoad &load, Value item);
  FailureOr<SmallVector<Value>> addressAt(RingLoad &load, IRMapping &map);

  KernelOp kernel;
  TilesOp tiles;
  ScheduleAttr schedule;
  OpBuilder builder;
  llvm::StringSet<> labels;
  RoleOp role;
  /// Of the rings filled once a tile, the largest: read to the end by the time results are ready.
  Value drained;
  int64_t drainedBytes = 0;
};
} // namespace

/// The widest span that divides a row: the wider, the fewer panels (128 bytes reach all banks with eight rows).
static BufType getBufType(RankedTensorType tile) {
  int64_t rowBytes = tile.getShape().back() * tile.getElementTypeBitWidth() / 8;
  for (int64_t span : {128, 64, 32})
    if (tile.getRank() == 2 && rowBytes % span == 0)
      return BufType::get(tile.getContext(), tile, span);
  return BufType::get(tile.getContext(), tile, 0);
}

std::string Partitioner::uniqueLabel(StringRef wanted) {
  std::string label = wanted.str();
  for (int64_t n = 1; !labels.insert(label).second; ++n)
    label = wanted.str() + std::to_string(n);
  return label;
}

/// The schedule names the rings of the forward pass; any other has one slot.
int64_t Partitioner::depthOf(StringRef label) const {
  if (label == "Q")
    return schedule.getDepthQ();
  if (label == "K")
    return schedule.getDepthK();
  if (label == "V")
    return schedule.getDepthV();
  return 1;
}

//===----------------------------------------------------------------------===//
// Which loads become rings
//===----------------------------------------------------------------------===//

/// Products read their B operand from shared memory, so it has to be a loaded tile.
LogicalResult Partitioner::checkDots() {
  WalkResult result = kernel.walk([&](DotOp dot) -> WalkResult {
    auto load = dot.getB().getDefiningOp<LoadOp>();
    if (!load || !isa<MemRefType>(load.getSource().getType()))
      return dot.emitOpError("expects its B operand to be loaded from a memref: family mma_sync has no way yet to "
                             "pass a computed tile through shared memory"),
             WalkResult::interrupt();
    Operation *parent = load->getParentOp();
    if (parent != tiles && !(isa<SweepOp>(parent) && parent->getParentOp() == tiles))
      return load.emitOpError("feeds a product from inside a loop; its ring can be filled per tile or per step of a "
                              "sweep of the tile only"),
             WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A ring, not filled yet, for every load of `block` that a product reads.
FailureOr<SmallVector<RingLoad>> Partitioner::makeRings(Block &block) {
  SmallVector<RingLoad> rings;
  for (LoadOp load : block.getOps<LoadOp>()) {
    RingLoad ring{load, {}, {}, {}, {}};
    for (OpOperand &use : load->getUses())
      if (isa<DotOp>(use.getOwner()) && use.getOperandNumber() < 2)
        ring.uses.push_back(&use);
    auto source = dyn_cast<MemRefType>(load.getSource().getType());
    if (ring.uses.empty() || !source)
      continue;
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(source.getStridesAndOffset(strides, offset)) || strides.back() != 1)
      return load.emitOpError("cannot travel through cp_async: expects a last dimension of stride 1, got ") << source;
    StringRef operand = load.getLabel().value_or("tile");
    std::string label = uniqueLabel(operand);
    ring.buf = getBufType(load.getResult().getType());
    ring.ring = RingType::get(load.getContext(), depthOf(operand), {ring.buf});
    builder.setInsertionPoint(role);
    ring.alloc =
        AllocOp::create(builder, load.getLoc(), ring.ring, builder.getStringAttr(label),
                        builder.getI64IntegerAttr(schedule.getNumWarps()), IntegerAttr(), IntegerAttr(), StringAttr());
    remark::passed(load.getLoc(), remark::RemarkOpts::name("ring").category(DEBUG_TYPE))
        << "travels through shared memory: " << remark::metric("ring", label)
        << remark::metric("depth", ring.ring.getDepth())
        << remark::metric("bytes", ring.ring.getDepth() * ring.ring.getSlotBytes());
    rings.push_back(std::move(ring));
  }
  return rings;
}

//===----------------------------------------------------------------------===//
// Filling and draining
//===----------------------------------------------------------------------===//

CopyOp Partitioner::fetch(RingLoad &ring, ValueRange at, Value item, Value guard) {
  Location loc = ring.load.getLoc();
  auto slot = AcquireOp::create(builder, loc, TypeRange{ring.buf}, ring.alloc, item);
  return CopyOp::create(builder, loc, ring.load.getSource(), at, slot.getBufs()[0], ValueRange{}, ring.alloc, item,
                        guard, TransportAttr::get(builder.getContext(), Transport::CpAsync));
}

/// Waits in front of the first product that reads the item, releases it behind the last one.
void Partitioner::waitAndRelease(RingLoad &ring, Value item) {
  Block *block = ring.load->getBlock();
  Operation *first = nullptr, *last = nullptr;
  for (OpOperand *use : ring.uses) {
    Operation *user = block->findAncestorOpInBlock(*use->getOwner());
    first = !first || user->isBeforeInBlock(first) ? user : first;
    last = !last || last->isBeforeInBlock(user) ? user : last;
  }
  Location loc = ring.load.getLoc();
  builder.setInsertionPoint(first);
  auto wait = WaitOp::create(builder, loc, TypeRange{ring.buf}, ring.alloc, item, IntegerAttr());
  for (OpOperand *use : ring.uses)
    use->set(wait.getBufs()[0]);
  builder.setInsertionPointAfter(last);
  ReleaseOp::create(builder, loc, ring.alloc, item);
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

FailureOr<SmallVector<Value>> Partitioner::addressAt(RingLoad &ring, IRMapping &map) {
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
void Partitioner::loadOnce(MutableArrayRef<RingLoad> rings) {
  for (RingLoad &ring : rings) {
    builder.setInsertionPoint(ring.load);
    Value item = constant(ring.load.getLoc(), 0);
    fetch(ring, ring.load.getAt(), item, {});
    waitAndRelease(ring, item);
    if (ring.load->use_empty())
      ring.load.erase();
    int64_t bytes = ring.ring.getDepth() * ring.ring.getSlotBytes();
    if (bytes > drainedBytes)
      drained = ring.alloc, drainedBytes = bytes;
  }
}

/// The barrier in `body` behind which the slot of item t + lead is free, or null.
static Operation *findBarrier(const RingLoad &ring, Block &body) {
  auto ofRing = [&](auto op) { return op.getRing() == ring.alloc; };
  if (ring.depth() > 1)
    return *llvm::find_if(body.getOps<WaitOp>(), ofRing);
  Operation *release = *llvm::find_if(body.getOps<ReleaseOp>(), ofRing);
  for (Operation *next = release->getNextNode(); next; next = next->getNextNode())
    if (isa<WaitOp, SyncOp>(next))
      return next;
  return nullptr;
}

LogicalResult Partitioner::pipelineSweep(SweepOp sweep) {
  Block &body = sweep.getBody().front();
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
  Value count = builder.createOrFold<arith::SubIOp>(loc, sweep.getHi(), sweep.getLo());
  int64_t maxLead = 0;
  for (RingLoad &ring : *rings)
    maxLead = std::max(maxLead, ring.lead());
  for (int64_t k = 0; k < maxLead; ++k) {
    Value item = constant(loc, k), guard;
    IRMapping map;
    map.map(t, item);
    map.map(j, descending ? along(sweep.getHi(), k + 1) : along(sweep.getLo(), k));
    if (k)
      guard = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, item, count);
    for (RingLoad &ring : *rings) {
      if (k >= ring.lead())
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
    Ahead &next = ahead[ring.lead()];
    if (!next.item) {
      next.item = arith::AddIOp::create(builder, loc, t, constant(loc, ring.lead()));
      next.more = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, next.item, count);
      next.map.map(t, next.item);
      next.map.map(j, along(j, ring.lead()));
    }
  }
  SmallVector<SmallVector<Value>> coordinates;
  for (RingLoad &ring : *rings) {
    FailureOr<SmallVector<Value>> at = addressAt(ring, ahead[ring.lead()].map);
    if (failed(at))
      return failure();
    coordinates.push_back(*at);
  }
  for (RingLoad &ring : *rings)
    waitAndRelease(ring, t);

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
    Ahead &next = ahead[ring.lead()];
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
void Partitioner::stageOutputs(Block &body) {
  for (StoreOp store : llvm::make_early_inc_range(body.getOps<StoreOp>())) {
    auto tile = store.getValue().getType();
    if (tile.getRank() != 2 || !isa<MemRefType>(store.getDest().getType()))
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
    remark::passed(loc, remark::RemarkOpts::name("output").category(DEBUG_TYPE))
        << "staged through shared memory: " << remark::metric("buf", label)
        << remark::metric("over", over ? over.getValue() : "nothing");
    store.erase();
  }
}

//===----------------------------------------------------------------------===//
// The role
//===----------------------------------------------------------------------===//

/// What other roles may share, rings and sizes, stays in front of the role (K1).
void Partitioner::makeRole() {
  Location loc = tiles.getLoc();
  builder.setInsertionPoint(tiles);
  role = RoleOp::create(builder, loc, "compute", 0, schedule.getNumWarps(), 1, /*regs=*/IntegerAttr());
  Block *body = builder.createBlock(&role.getBody(), {}, {builder.getI32Type()}, {loc});
  YieldOp::create(builder, loc, ValueRange{});
  tiles->moveBefore(body, std::prev(body->end()));
}

LogicalResult Partitioner::run() {
  if (failed(checkDots()))
    return failure();
  makeRole();
  Block &body = tiles.getBody().front();
  FailureOr<SmallVector<RingLoad>> once = makeRings(body);
  if (failed(once))
    return failure();
  for (SweepOp sweep : llvm::to_vector(body.getOps<SweepOp>()))
    if (failed(pipelineSweep(sweep)))
      return failure();
  // After the sweeps: a wait for a tile they read then stands behind the copies of their first items.
  loadOnce(*once);
  stageOutputs(body);
  return success();
}

namespace {
struct PartitionRoles : attn::impl::PartitionRolesPassBase<PartitionRoles> {
  using PartitionRolesPassBase::PartitionRolesPassBase;
  void runOnOperation() override;
};
} // namespace

static LogicalResult partition(KernelOp kernel) {
  TargetAttr target = requireTarget(kernel);
  if (!target)
    return failure();
  if (target.getFamily() != Family::MmaSync)
    return kernel.emitOpError("cannot be partitioned for family ")
           << stringifyFamily(target.getFamily()) << " (chip " << target.getChip() << "); roles exist for mma_sync";
  if (!kernel.getScheduleAttr())
    return kernel.emitOpError("needs a schedule, got none; run attn-choose-schedule first");
  auto nests = llvm::to_vector(kernel.getBody().getOps<TilesOp>());
  if (nests.size() != 1)
    return kernel.emitOpError("expects one nest of tiles to partition, got ") << nests.size();
  return Partitioner(kernel, nests.front()).run();
}

void PartitionRoles::runOnOperation() {
  for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
    LDBG() << "partition " << kernel.getSymName();
    if (failed(partition(kernel)))
      return signalPassFailure();
  }
}
