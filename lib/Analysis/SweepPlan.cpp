//===- SweepPlan.cpp - what a rotated sweep does when
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The slice of an entry is what it takes to compute its op in the body, up to ops that have an entry of their own.
//
//   lags     an op works as far behind as the nearest of the entries whose slice holds it; what no slice holds follows
//            its operands
//   places   entry after entry: the rest of its slice, then its op. Waits for rings belong to slices like any op;
//            a release stands behind the await that retires the last reader
//
//   order:  S, PV@1, await S, max, P, PV.acc         body                    step u of the rotated sweep
//                                                    S  = Q K[i]             S  = Q K[u + 1]
//           slice of P stops at max and S            mx = max S              O  = .. + P V[u]     P, O: carried
//           slice of PV@1 stops at P and PV.acc      P  = 2^(S - mx)         mx, P of u + 1
//                                                    O' = O * a + P V[i]     O * a
//
// Whether values are there when they are used: SweepCheck.cpp.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/SweepPlan.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;
using Verb = OrderEntry::Verb;
using Part = OrderEntry::Part;
using Kind = PlanStep::Kind;

//===----------------------------------------------------------------------===//
// Placing
//===----------------------------------------------------------------------===//

namespace {
class Planner {
public:
  Planner(const SweepBody &body, ArrayRef<OrderEntry> order) : body(body), sweep(body.sweep), order(order) {}
  FailureOr<SweepPlan> run();

private:
  LogicalResult readBody();
  LogicalResult resolve();
  Value nearestCarried(Value value) const;

  /// A lag, and the name of the entry it comes from.
  using Lag = std::pair<int64_t, std::string>;
  void mark(Operation *op, const Lag &lag, bool top);
  Lag lagOfOperands(Operation *op);
  void place(Operation *op, int64_t lag, const OrderEntry &entry);
  LogicalResult placeAwait(const OrderEntry &entry);
  LogicalResult placeEntries();
  void placeFollower(Operation *node);
  void placeFollowers();
  LogicalResult placeReleases();

  /// What must be done before `op` in the same step: ops whose results it reads, and the stores a commit publishes.
  SmallVector<Operation *> getNeeds(Operation *op);

  const SweepBody &body;
  SweepOp sweep;
  ArrayRef<OrderEntry> order;
  SweepPlan plan;
  SmallVector<Operation *> nodes; ///< ops that get a place, in program order
  SmallVector<ReleaseOp> releases;
  SmallVector<Operation *> targets; ///< what each entry places; null for turns
  OrderBeside after;
  llvm::DenseMap<Operation *, Lag> leastLag; ///< memory of lagOfOperands
  SmallVector<DotOp> open;                   ///< products issued and not waited for
};
} // namespace

LogicalResult Planner::readBody() {
  for (Operation &op : body.block.without_terminator()) {
    if (isa<SyncOp, DrainOp, TurnOp, PinOp, AwaitOp, SweepOp>(op))
      return op.emitOpError("cannot be scheduled: it orders what is around it");
    bool hidden = false;
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) { hidden |= isa<DotOp, WaitOp, ReleaseOp, AcquireOp>(inner); });
    if (hidden)
      return op.emitOpError("cannot be scheduled: it has products or waits for rings inside");
    if (auto dot = dyn_cast<DotOp>(op); dot && dot.getAsync())
      return op.emitOpError("is scheduled already");
    if (auto release = dyn_cast<ReleaseOp>(op))
      releases.push_back(release);
    else if (!body.isRecomputed(&op))
      nodes.push_back(&op);
  }
  for (auto [argument, value] : llvm::zip_equal(body.block.getArguments().drop_front(2), body.yield->getOperands()))
    if (!body.isInvariant(argument) && !body.getSource(value))
      return body.yield->emitOpError("carries a value that no step computes");
  // Stores into a slot are its filling once committed, and only then can it be waited for.
  for (Operation *node : nodes)
    if (auto commit = dyn_cast<CommitOp>(node)) {
      for (Operation *other : nodes) {
        if (other == node)
          break;
        Value dest = isa<StoreOp>(other) ? cast<StoreOp>(other).getDest() : Value();
        if (auto slice = dest ? dest.getDefiningOp<SliceOp>() : SliceOp())
          dest = slice.getSource();
        auto slot = dest ? dest.getDefiningOp<AcquireOp>() : AcquireOp();
        if (slot && slot.getRing() == commit.getRing())
          after[node].push_back(other);
      }
      for (Operation *other : nodes)
        if (auto wait = dyn_cast<WaitOp>(other);
            wait && wait.getRing() == commit.getRing() && node->isBeforeInBlock(wait))
          after[wait].push_back(node);
    }
  return success();
}

/// The value nearest to `value`, along its uses, that the next step gets; itself if there is none.
Value Planner::nearestCarried(Value value) const {
  SmallVector<Value> level{value};
  llvm::DenseSet<Value> seen{value};
  while (!level.empty()) {
    SmallVector<Value> next;
    for (Value v : level) {
      if (llvm::is_contained(body.yield->getOperands(), v))
        return v;
      for (Operation *user : v.getUsers())
        if (Operation *op = body.block.findAncestorOpInBlock(*user))
          for (Value result : op->getResults())
            if (seen.insert(result).second)
              next.push_back(result);
    }
    level = std::move(next);
  }
  return value;
}

SmallVector<Operation *> Planner::getNeeds(Operation *op) {
  SmallVector<Operation *> needs;
  for (Value input : SweepBody::getInputs(op))
    if (std::optional<SweepBody::Source> source = body.getSource(input); source && !source->distance)
      needs.push_back(source->op);
  if (auto it = after.find(op); it != after.end())
    llvm::append_range(needs, it->second);
  return needs;
}

/// What each entry is about, and from that the lag of every op.
LogicalResult Planner::resolve() {
  llvm::DenseMap<Operation *, const OrderEntry *> entryOf;
  for (const OrderEntry &entry : order) {
    Operation *&target = targets.emplace_back(nullptr);
    if (entry.verb == Verb::Take || entry.verb == Verb::Give)
      continue;
    FailureOr<Operation *> op = findTarget(body, entry);
    if (failed(op))
      return failure();
    target = *op;
    if (entry.verb == Verb::Await) {
      if (!isa<DotOp>(target))
        return sweep.emitOpError() << entry.name() << " waits for " << describe(target) << ", which is no product";
      continue;
    }
    if (entry.verb == Verb::Pin && entry.part == Part::Result)
      continue;
    const OrderEntry *&first = entryOf[target];
    bool pin = entry.verb == Verb::Pin || (first && first->verb == Verb::Pin);
    if (first && !pin && first->part == entry.part && first->verb == entry.verb)
      return sweep.emitOpError() << entry.name() << " stands there twice";
    if (first && first->lag != entry.lag)
      return sweep.emitOpError() << first->name() << " and " << entry.name() << " place one op, " << describe(target)
                                 << ", in two steps";
    first = &entry;
    plan.named.insert(target);
  }
  for (DotOp dot : body.block.getOps<DotOp>())
    if (!plan.named.contains(dot))
      return dot.emitOpError("has no entry in the order of the schedule: it names every product of a sweep");

  for (auto [entry, target] : llvm::zip_equal(order, targets)) {
    if (entry.verb == Verb::Pin && entry.part == Part::Result)
      mark(nearestCarried(target->getResult(0)).getDefiningOp(), {entry.lag, entry.name()}, false);
    else if (entry.places())
      mark(target, {entry.lag, entry.name()}, true);
  }
  for (Operation *node : nodes)
    if (!plan.lags.contains(node))
      mark(node, lagOfOperands(node), true);
  for (Operation *node : nodes) {
    plan.lag = std::max(plan.lag, plan.lags[node]);
    if (isa<MaskOp>(node) && plan.lags[node])
      return node->emitOpError("is a step behind, because ")
             << plan.causes[node] << " is: the plain range of a sweep is that of its newest step";
  }
  return success();
}

void Planner::mark(Operation *op, const Lag &lag, bool top) {
  if (!top && plan.named.contains(op))
    return;
  auto [it, isNew] = plan.lags.try_emplace(op, lag.first);
  if (!isNew && it->second <= lag.first)
    return;
  it->second = lag.first;
  plan.causes[op] = lag.second;
  for (Operation *need : getNeeds(op))
    mark(need, lag, false);
}

/// How far behind an op must be at least, because a named op that it needs is.
Planner::Lag Planner::lagOfOperands(Operation *op) {
  if (auto it = leastLag.find(op); it != leastLag.end())
    return it->second;
  Lag lag;
  for (Operation *need : getNeeds(op)) {
    Lag other = plan.named.contains(need) ? Lag{plan.lags[need], plan.causes[need]} : lagOfOperands(need);
    if (other.first > lag.first)
      lag = other;
  }
  return leastLag[op] = lag;
}

/// The rest of the slice of `op`, then `op`. An op of a smaller lag has its place in an earlier step.
void Planner::place(Operation *op, int64_t lag, const OrderEntry &entry) {
  if (plan.lags[op] != lag || plan.placeOf(op) >= 0)
    return;
  // Waits last: nobody waits longer than for what comes next.
  for (bool waits : {false, true})
    for (Operation *need : getNeeds(op))
      if (isa<WaitOp>(need) == waits && !plan.named.contains(need))
        place(need, lag, entry);
  PlanStep &step = plan.steps.emplace_back();
  step.lag = lag, step.op = op, step.entry = entry.name();
  if (auto dot = dyn_cast<DotOp>(op))
    open.push_back(dot);
}

/// Products are done in the order they are issued, so the wait for one retires all older ones.
LogicalResult Planner::placeAwait(const OrderEntry &entry) {
  auto *it = llvm::find_if(open, [&](DotOp dot) { return dot.getLabel() == entry.label; });
  if (it == open.end())
    return sweep.emitOpError() << entry.name() << " waits for nothing: product \"" << entry.label << "\" is "
                               << (llvm::any_of(plan.steps,
                                                [&](const PlanStep &step) {
                                                  return llvm::any_of(step.dots, [&](DotOp dot) {
                                                    return dot.getLabel() == entry.label;
                                                  });
                                                })
                                       ? "done"
                                       : "not issued before");
  PlanStep &step = plan.steps.emplace_back();
  step.kind = Kind::Await, step.entry = entry.name();
  step.dots.assign(open.begin(), std::next(it));
  open.erase(open.begin(), std::next(it));
  return success();
}

LogicalResult Planner::placeEntries() {
  for (auto [entry, target] : llvm::zip_equal(order, targets)) {
    switch (entry.verb) {
    case Verb::Take:
    case Verb::Give: {
      PlanStep &step = plan.steps.emplace_back();
      step.kind = entry.verb == Verb::Take ? Kind::Take : Kind::Give, step.entry = entry.name();
      break;
    }
    case Verb::Await:
      if (failed(placeAwait(entry)))
        return failure();
      break;
    case Verb::Pin: {
      Value value = target->getResult(0);
      if (entry.part == Part::Result)
        value = nearestCarried(value);
      place(value.getDefiningOp(), entry.lag, entry);
      PlanStep &step = plan.steps.emplace_back();
      step.kind = Kind::Pin, step.lag = entry.lag, step.pinned = value, step.entry = entry.name();
      break;
    }
    default:
      place(target, entry.lag, entry);
    }
  }
  if (open.empty())
    return success();
  return sweep.emitOpError("order leaves product \"")
         << open.front().getLabel().value_or("") << "\" in flight at the end of a step; add \"await "
         << open.front().getLabel().value_or("") << "\"";
}

/// Behind the last of its operands, in program order among those who are there for the same reason. What it waits for
/// in shared memory comes right in front of it.
void Planner::placeFollower(Operation *node) {
  int64_t lag = plan.lags[node], at = 0;
  auto behind = [&](Operation *need) { at = std::max(at, plan.readyAt(need) + 1); };
  for (Value input : SweepBody::getInputs(node))
    if (std::optional<SweepBody::Source> source = body.getSource(input);
        source && lag - plan.lags[source->op] + source->distance == 0)
      behind(source->op);
  if (auto it = after.find(node); it != after.end())
    llvm::for_each(it->second, behind);
  while (at > 0 && at < static_cast<int64_t>(plan.steps.size()) && plan.steps[at].entry.empty())
    ++at;
  auto insert = [&](Operation *op) {
    PlanStep step;
    step.lag = lag, step.op = op;
    plan.steps.insert(plan.steps.begin() + at++, std::move(step));
  };
  for (Operation *need : getNeeds(node))
    if (isa<WaitOp, AcquireOp>(need) && plan.lags[need] == lag && plan.placeOf(need) < 0)
      insert(need);
  insert(node);
}

/// Ops in no slice. A slot that one of them stores to is acquired when it does.
void Planner::placeFollowers() {
  for (bool slots : {false, true})
    for (Operation *node : nodes)
      if (isa<WaitOp, AcquireOp>(node) == slots && plan.placeOf(node) < 0)
        placeFollower(node);
}

/// Each behind the last reader of what was waited for: of a product, behind the wait for it.
LogicalResult Planner::placeReleases() {
  for (ReleaseOp release : releases) {
    auto waits = llvm::make_filter_range(body.block.getOps<WaitOp>(), [&](WaitOp wait) {
      return wait.getRing() == release.getRing() && wait.getItem() == release.getItem();
    });
    if (waits.empty())
      return release.emitOpError("releases an item that the sweep does not wait for");
    WaitOp wait = *waits.begin();
    int64_t lag = plan.lags[wait], at = plan.placeOf(wait);
    SmallVector<Operation *> users(wait->getUsers());
    for (size_t i = 0; i < users.size(); ++i) {
      if (isa<SliceOp>(users[i]))
        llvm::append_range(users, users[i]->getUsers());
      Operation *reader = body.block.findAncestorOpInBlock(*users[i]);
      int64_t readerLag = plan.lags[reader], ready = plan.readyAt(reader);
      if (std::pair(readerLag, ready) > std::pair(lag, at))
        lag = readerLag, at = ready;
    }
    while (at + 1 < static_cast<int64_t>(plan.steps.size()) && plan.steps[at + 1].kind == Kind::Release)
      ++at;
    PlanStep step;
    step.kind = Kind::Release, step.lag = lag, step.op = release;
    plan.steps.insert(plan.steps.begin() + at + 1, std::move(step));
  }
  return success();
}

FailureOr<SweepPlan> Planner::run() {
  if (failed(readBody()) || failed(resolve()) || failed(placeEntries()))
    return failure();
  placeFollowers();
  if (failed(checkPlan(body, plan, after)) || failed(placeReleases()))
    return failure();
  for (const PlanStep &step : plan.steps)
    if (auto wait = dyn_cast_or_null<WaitOp>(step.op))
      plan.rings.insert({wait.getRing(), step.lag});
  return std::move(plan);
}

FailureOr<SweepPlan> attn::planSweep(const SweepBody &body, ArrayRef<OrderEntry> order) {
  return Planner(body, order).run();
}
