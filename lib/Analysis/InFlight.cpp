//===- InFlight.cpp - copies under way and slots in use
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A state is what is true at one point of one path: the queue of open copy groups, the items in slots, the reads that
// no sync has closed. Items are base + offset, where base is an SSA value or absent; a loop's own items are relative to
// its counter t, so that going round the loop shifts them by one and the states repeat after a trip or two:
//
//   in front of the loop   K[0] V[0]                      lower bound 0: K[t] V[t]
//   end of the body        K[t + 1] V[t + 1]              next trip:     K[t] V[t]       the same: fixed point
//   behind the loop        K[n] V[n]                      n the upper bound, where the next loop's t starts
//
// A fetch ahead is guarded: `copy .. fills K[t + 1] if t + 1 < n`. Behind a loop that ends at n such an item is not
// there, and its slot is free; its group is open all the same, since an unwanted copy is an empty group.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/InFlight.h"

#include "InFlightState.h"
#include "attn/Analysis/SharedAllocs.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::inflight;

namespace {
/// Trips after which a loop must repeat itself, and states a point may have. Pipelines are a few items deep.
constexpr int kMaxTrips = 32;
constexpr size_t kMaxStates = 64;
} // namespace

namespace attn {
class RoleWalk {
public:
  RoleWalk(InFlight &result, RoleOp role) : result(result) {
    KernelOp kernel = role->getParentOfType<KernelOp>();
    Operation *scope = kernel ? kernel.getOperation() : role.getOperation();
    SharedAllocs allocs(scope);
    scope->walk([&](AllocOp alloc) {
      AllocOp root = allocs.getRoot(alloc);
      regions[alloc] = root ? root : alloc;
    });
  }

  States walk(Block &block, States states);

private:
  void step(Operation *op, State &state);
  States walkLoop(Block &body, Value counter, Number first, Number end, bool atLeastOnce, States states);
  void problem(Operation *op, const Twine &message) {
    for (const RingProblem &known : result.problems)
      if (known.op == op)
        return;
    result.problems.push_back({op, message.str()});
  }

  void fill(CopyOp copy, State &state);
  void wait(WaitOp wait, State &state);
  void release(ReleaseOp release, State &state);
  void storeToBuf(Operation *op, AllocOp buf, State &state);
  void readBuf(Operation *op, AllocOp buf, State &state);

  InFlight &result;
  /// The alloc that stands for the bytes of an alloc.
  llvm::DenseMap<Operation *, Operation *> regions;
};
} // namespace attn

static std::string name(const Item &item) {
  return "an item of ring \"" + cast<AllocOp>(item.ring).getLabel().value_or("").str() + "\"";
}

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

void RoleWalk::fill(CopyOp copy, State &state) {
  Item item{copy.getRing().getDefiningOp(), Number::of(copy.getItem())};
  int64_t depth = cast<RingType>(copy.getRing().getType()).getDepth();
  auto sameSlot = [&](const Item &other) {
    // Numbers that cannot be compared may share a slot.
    return other.ring == item.ring &&
           (other.number.base != item.number.base || (other.number.offset - item.number.offset) % depth == 0);
  };
  for (auto &[other, slot] : state.slots)
    if (sameSlot(other))
      problem(copy, "overwrites " + name(other) + " that is not released yet");
  for (const Item &other : state.released)
    if (sameSlot(other))
      problem(copy, "overwrites " + name(other) + " that other warps may still read: no sync since its release");
  for (Operation *buf : llvm::concat<Operation *const>(state.written, state.beingCopied))
    if (regions.lookup(buf) == regions.lookup(item.ring))
      problem(copy, "overwrites a buf in the same bytes that other warps may still use: no sync in between");
  state.slots[item] = {/*waited=*/false, boundOf(copy)};
  if (copy.getVia() == Transport::CpAsync)
    state.queue.push_back(item);
}

void RoleWalk::wait(WaitOp wait, State &state) {
  Item item{wait.getRing().getDefiningOp(), Number::of(wait.getItem())};
  auto slot = state.slots.find(item);
  if (slot == state.slots.end()) {
    problem(wait, "waits for " + name(item) + " that no copy fills before");
  } else {
    slot->second.waited = true;
    auto group = llvm::find(state.queue, item);
    // An older wait may have seen this group done already; then all that are open are younger.
    int64_t younger = group == state.queue.end() ? state.queue.size() : std::distance(group, state.queue.end()) - 1;
    if (group != state.queue.end())
      state.queue.erase(state.queue.begin(), group + 1);
    auto [least, inserted] = result.leaves.try_emplace(wait, younger);
    if (!inserted)
      least->second = std::min(least->second, younger);
  }
  state.sync();
}

void RoleWalk::release(ReleaseOp release, State &state) {
  Item item{release.getRing().getDefiningOp(), Number::of(release.getItem())};
  auto slot = state.slots.find(item);
  if (slot == state.slots.end() || !slot->second.waited)
    return problem(release, "releases " + name(item) + " that is not waited for, or released before");
  state.slots.erase(slot);
  state.released.insert(item);
}

void RoleWalk::storeToBuf(Operation *op, AllocOp buf, State &state) {
  Operation *region = regions.lookup(buf);
  for (auto &[item, slot] : state.slots)
    if (regions.lookup(item.ring) == region)
      problem(op, "stores over " + name(item) + " that is not released yet");
  for (const Item &item : state.released)
    if (regions.lookup(item.ring) == region)
      problem(op, "stores over " + name(item) + " that other warps may still read: no sync since its release");
  for (Operation *read : state.beingCopied)
    if (regions.lookup(read) == region)
      problem(op, "stores into bytes that other warps may still read: no sync in between");
  state.written.insert(buf);
}

void RoleWalk::readBuf(Operation *op, AllocOp buf, State &state) {
  if (state.written.count(buf))
    problem(op, "reads what other warps may not have stored yet: no sync in between");
  state.beingCopied.insert(buf);
}

void RoleWalk::step(Operation *op, State &state) {
  for (Value operand : op->getOperands()) {
    auto source = operand.getDefiningOp<WaitOp>();
    if (!source)
      continue;
    Item item{source.getRing().getDefiningOp(), Number::of(source.getItem())};
    auto slot = state.slots.find(item);
    if (slot == state.slots.end() || !slot->second.waited)
      problem(op, "reads " + name(item) + " after its release");
  }
  if (auto copy = dyn_cast<CopyOp>(op)) {
    if (copy.getRing())
      fill(copy, state);
    else if (auto source = copy.getSource().getDefiningOp<AllocOp>())
      readBuf(op, source, state);
    else if (auto dest = copy.getDest().getDefiningOp<AllocOp>())
      storeToBuf(op, dest, state);
  } else if (auto waiting = dyn_cast<WaitOp>(op)) {
    wait(waiting, state);
  } else if (auto done = dyn_cast<ReleaseOp>(op)) {
    release(done, state);
  } else if (isa<SyncOp>(op)) {
    state.sync();
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    if (auto dest = store.getDest().getDefiningOp<AllocOp>())
      storeToBuf(op, dest, state);
  } else {
    for (Value operand : op->getOperands())
      if (auto source = operand.getDefiningOp<AllocOp>(); source && isa<BufType>(operand.getType()))
        readBuf(op, source, state);
  }
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

States RoleWalk::walkLoop(Block &body, Value counter, Number first, Number end, bool atLeastOnce, States states) {
  Number t{counter.getAsOpaquePointer(), 0};
  llvm::SmallPtrSet<Operation *, 4> rings, ending; // numbered by t; those of which nothing is fetched beyond `end`
  auto count = [&](Value ring, Value item) {
    if (ring && Number::of(item).base == t.base)
      rings.insert(ring.getDefiningOp());
  };
  body.walk([&](Operation *op) {
    if (auto copy = dyn_cast<CopyOp>(op)) {
      count(copy.getRing(), copy.getItem());
      if (copy.getRing() && boundOf(copy) == end)
        ending.insert(copy.getRing().getDefiningOp());
    } else if (auto wait = dyn_cast<WaitOp>(op))
      count(wait.getRing(), wait.getItem());
    else if (auto release = dyn_cast<ReleaseOp>(op))
      count(release.getRing(), release.getItem());
  });
  auto renumberAll = [&](const States &in, Number from, Number to) {
    States out;
    for (const State &state : in)
      out.insert(renumber(state, rings, from, to));
    return out;
  };

  const States entries = renumberAll(states, first, t);
  States heads = entries, ends;
  for (int trip = 0;; ++trip) {
    if (trip == kMaxTrips || heads.size() > kMaxStates) {
      problem(body.getParentOp(), "has rings whose items do not repeat from one trip to the next");
      break;
    }
    // The end of a trip, as the next one sees it: t there is one more.
    ends = renumberAll(walk(body, heads), Number{t.base, 1}, t);
    size_t known = heads.size();
    heads.insert(ends.begin(), ends.end());
    if (heads.size() == known)
      break;
  }
  // No trip at all: not of the last loop of a sweep, while item 0, which is fetched without asking, waits (W1).
  States behind = std::move(ends);
  for (const State &state : entries)
    if (!atLeastOnce && llvm::none_of(state.slots, [&](const auto &held) {
          return held.first.number == t && ending.contains(held.first.ring) && !held.second.waited &&
                 !held.second.below;
        }))
      behind.insert(state);
  States left;
  for (const State &state : renumberAll(behind, t, end))
    left.insert(withoutUnwanted(state, end));
  return left;
}

States RoleWalk::walk(Block &block, States states) {
  for (Operation &op : block) {
    if (auto sweep = dyn_cast<SweepOp>(op)) {
      Block &body = sweep.getBody().front();
      states = walkLoop(body, body.getArgument(0), Number{}, endOf(sweep), /*atLeastOnce=*/true, std::move(states));
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      states = walkLoop(*loop.getBody(), loop.getInductionVar(), Number::of(loop.getLowerBound()),
                        Number::of(loop.getUpperBound()), /*atLeastOnce=*/false, std::move(states));
      continue;
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      States joined = walk(*branch.thenBlock(), states);
      if (branch.elseBlock())
        states = walk(*branch.elseBlock(), std::move(states));
      joined.insert(states.begin(), states.end());
      states = std::move(joined);
      continue;
    }
    for (Region &region : op.getRegions()) // tiles: one a block
      for (Block &inner : region)
        states = walk(inner, std::move(states));
    States after;
    for (State state : states) {
      step(&op, state);
      after.insert(std::move(state));
    }
    states = std::move(after);
  }
  return states;
}

InFlight::InFlight(RoleOp role) {
  States ends = RoleWalk(*this, role).walk(role.getBody().front(), {State()});
  if (!problems.empty())
    return;
  for (const State &state : ends)
    for (auto &[item, slot] : state.slots)
      if (slot.waited) {
        problems.push_back({item.ring, "has an item that is waited for and never released"});
        return;
      }
}

std::optional<int64_t> InFlight::getLeaves(WaitOp wait) const {
  auto found = leaves.find(wait);
  if (found == leaves.end())
    return std::nullopt;
  return found->second;
}
