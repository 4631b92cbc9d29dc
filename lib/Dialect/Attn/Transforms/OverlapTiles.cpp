//===- OverlapTiles.cpp - start the next tile over the end of this one
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rotated sweep leaves the tensor cores alone at both ends of a tile: over the softmax of the first block and over
// the way out of the result. The loop over tiles is rotated as the sweep is:
//
//   do {                          lead(first)
//     lead                        while (true) {
//     sweep                         sweep
//     trail             becomes     next id; if there is none, break
//     next id                       seam: trail(this) and lead(next)
//   } while (more)                }
//                                 trail(last)
//
// The seam is one more step of the rotated sweep, whose newest actions work on the next tile and whose lagging ones on
// this tile, so the schedule's order says how they interleave. Only the accumulator knows that it is another tile: it
// starts anew. What the lead computes travels around the loop; numbers are computed again.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "KernelRemark.h"
#include "TileLoop.h"
#include "attn/Analysis/PendingDots.h"
#include "attn/Analysis/SweepOrder.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/DebugLog.h"

namespace attn {
#define GEN_PASS_DEF_OVERLAPTILESPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using Verb = OrderEntry::Verb;
using Part = OrderEntry::Part;

#define DEBUG_TYPE "attn-overlap-tiles"

namespace {
/// Rotates one loop.
class Overlap {
public:
  Overlap(TileLoop &tile, ArrayRef<OrderEntry> order)
      : tile(tile), order(order), builder(tile.loop), loc(tile.loop.getLoc()) {}
  LogicalResult check();
  void run();
  int64_t getNumCarried() const { return carried.size(); }

private:
  void emitSeam(TileCode &now, TileCode &next);
  Value getPinned(Operation *target, Part part);

  TileLoop &tile;
  ArrayRef<OrderEntry> order;
  OpBuilder builder;
  Location loc;
  SetVector<Value> carried; ///< what a tile's sweep and trail need of its lead, and its numbers
  SetVector<Value> handed;  ///< what the seam and the last trail need
};
} // namespace

//===----------------------------------------------------------------------===//
// The seam
//===----------------------------------------------------------------------===//

/// The op of a lead or trail that an entry is about, or none: what the first step need not do is not there.
static Operation *findIn(ArrayRef<Operation *> ops, const OrderEntry &entry) {
  for (Operation *op : ops) {
    if (auto await = dyn_cast<AwaitOp>(op); await && entry.verb == Verb::Await) {
      for (Value pending : await.getPendings())
        if (auto dot = pending.getDefiningOp<DotOp>(); dot && dot.getLabel() == entry.label)
          return op;
    } else if (auto wait = dyn_cast<WaitOp>(op); wait && entry.verb == Verb::Get) {
      auto ring = wait.getRing().getDefiningOp<AllocOp>();
      if (ring && ring.getLabel() == entry.label)
        return op;
    } else if (entry.verb == Verb::Issue || entry.verb == Verb::Pin) {
      auto label = op->getAttrOfType<StringAttr>("label");
      if (!label || label != StringRef(entry.label) || isa<StoreOp>(op))
        continue;
      if (entry.part == Part::Result)
        return op;
      auto dot = dyn_cast<DotOp>(op);
      Value operand = entry.part == Part::In ? op->getOperand(0) : dot ? dot.getAcc() : Value();
      return operand ? operand.getDefiningOp() : nullptr;
    }
  }
  return nullptr;
}

/// What a pin of the lead waits for: the operand, or the nearest value that starts the sweep.
Value Overlap::getPinned(Operation *target, Part part) {
  if (part != Part::Result)
    return target->getResult(0);
  SetVector<Operation *> reached;
  reached.insert(target);
  for (size_t i = 0; i < reached.size(); ++i)
    for (Value result : reached[i]->getResults()) {
      if (llvm::is_contained(tile.sweep.getInit(), result))
        return result;
      for (Operation *user : result.getUsers())
        if (llvm::is_contained(tile.lead, user))
          reached.insert(user);
    }
  return target->getResult(0);
}

/// Two lists, each in its own order; the entries say when which goes on.
void Overlap::emitSeam(TileCode &now, TileCode &next) {
  ArrayRef<Operation *> lead(tile.lead), trail(tile.trail);
  auto emitReleases = [&](ArrayRef<Operation *> &ops, TileCode &code) {
    for (; !ops.empty() && isa<ReleaseOp>(ops.front()); ops = ops.drop_front())
      code.emit(ops.front());
  };
  auto advanceTo = [&](Operation *target, ArrayRef<Operation *> &ops, TileCode &code) {
    while (llvm::is_contained(ops, target)) {
      code.emit(ops.front());
      ops = ops.drop_front();
    }
    if (isa<AwaitOp>(target))
      emitReleases(ops, code);
  };
  emitReleases(trail, now); // what only this tile's sweep has read
  bool takesTurns = tile.loop->getParentOfType<RoleOp>().getGroups() > 1;
  for (const OrderEntry &entry : order) {
    if (entry.verb == Verb::Take || entry.verb == Verb::Give) {
      if (takesTurns)
        TurnOp::create(builder, loc, entry.verb == Verb::Take ? TurnKind::Take : TurnKind::Give);
      continue;
    }
    bool isOld = entry.lag > 0;
    Operation *target = findIn(isOld ? tile.trail : tile.lead, entry);
    if (!target && entry.verb == Verb::Await)
      target = findIn(tile.trail, entry), isOld = true;
    if (!target)
      continue;
    Value pinned = entry.verb == Verb::Pin && !isOld ? getPinned(target, entry.part) : Value();
    if (pinned)
      target = pinned.getDefiningOp();
    if (isOld)
      advanceTo(target, trail, now);
    else
      advanceTo(target, lead, next);
    if (pinned)
      PinOp::create(builder, loc, next.read(pinned));
  }
  for (Operation *op : lead)
    next.emit(op);
  for (Operation *op : trail)
    now.emit(op);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

LogicalResult Overlap::check() {
  // An item that is held across the sweep: the next tile's is filled before this one's is given back.
  int64_t groups = tile.loop->getParentOfType<RoleOp>().getGroups();
  DenseSet<Value> released;
  for (Operation *op : tile.lead)
    if (auto release = dyn_cast<ReleaseOp>(op))
      released.insert(release.getRing());
  for (Operation *op : tile.lead) {
    auto wait = dyn_cast<WaitOp>(op);
    auto ring = wait ? cast<RingType>(wait.getRing().getType()) : RingType();
    if (!wait || released.contains(wait.getRing()) || ring.getDepth() >= 2 * groups)
      continue;
    auto alloc = wait.getRing().getDefiningOp<AllocOp>();
    return wait.emitOpError("holds an item of ring \"")
           << (alloc ? alloc.getLabel().value_or("") : "") << "\" for a whole tile, of " << ring.getDepth() << " for "
           << groups << " groups; 'seam = overlap' needs two for each (depth = {q = 2, ..}, out = own)";
  }

  SetVector<Value> late;
  tile.addRoots(tile.trail, handed);
  for (Value value : tile.getCondition().getArgs())
    tile.addRoots(value, late);
  handed.insert_range(late);
  auto isOf = [](Value value, ArrayRef<Operation *> ops) { return llvm::is_contained(ops, value.getDefiningOp()); };
  for (Value value : late)
    if (isOf(value, tile.trail))
      return value.getDefiningOp()->emitOpError(
          "hands a value to the next tile, which 'seam = overlap' starts before this one ends");
  handed.remove_if([&](Value value) { return isOf(value, tile.trail); });

  carried = handed;
  tile.addRoots({tile.sweep.getOperation()}, carried);
  tile.addRoots(tile.ids, carried);
  tile.addRoots(tile.getCondition().getCondition(), carried);
  carried.remove_if([&](Value value) { return value.getDefiningOp() == tile.sweep || isOf(value, tile.ids); });
  return success();
}

void Overlap::run() {
  scf::WhileOp old = tile.loop;
  scf::ConditionOp condition = tile.getCondition();
  ValueRange arguments = old.getBeforeArguments();
  auto locsOf = [&](const SetVector<Value> &values) { return SmallVector<Location>(values.size(), loc); };
  auto typesOf = [](const SetVector<Value> &values) {
    return SmallVector<Type>(ValueRange(values.getArrayRef()).getTypes());
  };

  TileCode first(tile, builder);
  first.set(arguments, old.getInits());
  for (Operation *op : tile.lead)
    first.emit(op);
  auto loop = scf::WhileOp::create(builder, loc, typesOf(handed), first.read(carried.getArrayRef()));

  Block *before = builder.createBlock(&loop.getBefore(), {}, typesOf(carried), locsOf(carried));
  TileCode body(tile, builder);
  body.set(carried.getArrayRef(), before->getArguments());
  // An answer that takes long is asked for in front of the sweep.
  for (Operation *op : tile.ids)
    if (op->isBeforeInBlock(tile.sweep))
      body.emit(op);
  body.emit(tile.sweep);
  for (Operation *op : tile.ids)
    if (!op->isBeforeInBlock(tile.sweep))
      body.emit(op);
  Value more = body.read(condition.getCondition());
  scf::ConditionOp::create(builder, loc, more, body.read(handed.getArrayRef()));

  Block *after = builder.createBlock(&loop.getAfter(), {}, typesOf(handed), locsOf(handed));
  TileCode now(tile, builder), next(tile, builder);
  now.set(handed.getArrayRef(), after->getArguments());
  next.set(arguments, now.read(condition.getArgs()));
  emitSeam(now, next);
  scf::YieldOp::create(builder, loc, next.read(carried.getArrayRef()));
  for (AwaitOp await : after->getOps<AwaitOp>())
    if (std::optional<int64_t> younger = countYoungerDots(await))
      await.setLeaves(*younger);

  builder.setInsertionPointAfter(loop);
  TileCode last(tile, builder);
  last.set(handed.getArrayRef(), loop.getResults());
  for (Operation *op : tile.trail)
    last.emit(op);
  for (auto [result, value] : llvm::zip_equal(old.getResults(), condition.getArgs()))
    if (!result.use_empty())
      result.replaceAllUsesWith(last.read(value));
  old.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct OverlapTiles : attn::impl::OverlapTilesPassBase<OverlapTiles> {
  using OverlapTilesPassBase::OverlapTilesPassBase;
  void runOnOperation() override;
  LogicalResult overlap(KernelOp kernel);
};
} // namespace

LogicalResult OverlapTiles::overlap(KernelOp kernel) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  FailureOr<SmallVector<OrderEntry>> order = parseOrder(schedule.getOrder(), [&] { return kernel.emitOpError(); });
  if (failed(order))
    return failure();
  for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
    for (AllocOp alloc : role.getBody().getOps<AllocOp>())
      if (alloc.getOver())
        return alloc.emitOpError("lies over ring \"")
               << *alloc.getOver() << "\", which holds the next tile already with 'seam = overlap'; needs 'out = own'";
    auto loops = llvm::to_vector(role.getBody().getOps<scf::WhileOp>());
    if (loops.size() != 1)
      return role.emitOpError("has no loop over tiles; 'seam = overlap' needs tiles = fixed or dynamic");
    FailureOr<TileLoop> tile = TileLoop::takeApart(loops.front());
    if (failed(tile))
      return failure();
    Overlap rotation(*tile, *order);
    if (failed(rotation.check()))
      return failure();
    rotation.run();
    remark::passed(role.getLoc(), inKernel(role, "seam", DEBUG_TYPE))
        << "the next tile starts over the end of this one: " << remark::metric("role", role.getName())
        << remark::metric("carried", rotation.getNumCarried());
  }
  return success();
}

void OverlapTiles::runOnOperation() {
  for (KernelOp kernel : getOperation().getOps<KernelOp>())
    if (ScheduleAttr schedule = kernel.getScheduleAttr(); schedule && schedule.getSeam() == Seam::Overlap)
      if (failed(overlap(kernel)))
        return signalPassFailure();
}
