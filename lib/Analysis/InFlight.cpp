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
//===----------------------------------------------------------------------===//

#include "attn/Analysis/InFlight.h"

#include "attn/Analysis/SharedAllocs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace mlir;
using namespace attn;

namespace {
/// base + offset.
struct Number {
  const void *base = nullptr;
  int64_t offset = 0;

  static Number of(Value value);
  bool operator<(const Number &other) const { return std::tie(base, offset) < std::tie(other.base, other.offset); }
  bool operator==(const Number &other) const { return base == other.base && offset == other.offset; }
};

/// An item of a ring.
struct Item {
  Operation *ring; ///< its alloc
  Number number;

  bool operator<(const Item &other) const { return std::tie(ring, number) < std::tie(other.ring, other.number); }
  bool operator==(const Item &other) const { return ring == other.ring && number == other.number; }
};

enum class Slot { Filled, Waited };

struct State {
  std::vector<Item> queue;           ///< open groups of cp.async, oldest first
  std::map<Item, Slot> slots;        ///< filled and not released
  std::set<Item> released;           ///< released, and no sync since
  std::set<Operation *> written;     ///< bufs stored to, and no sync since
  std::set<Operation *> beingCopied; ///< bufs read, and no sync since

  auto tie() const { return std::tie(queue, slots, released, written, beingCopied); }
  bool operator<(const State &other) const { return tie() < other.tie(); }
  bool operator==(const State &other) const { return tie() == other.tie(); }

  /// Every warp has come this far.
  void sync() {
    released.clear();
    written.clear();
    beingCopied.clear();
  }
};
using States = std::set<State>;

/// Trips after which a loop must repeat itself, and states a point may have. Pipelines are a few items deep.
constexpr int kMaxTrips = 32;
constexpr size_t kMaxStates = 64;
} // namespace

Number Number::of(Value value) {
  Number number;
  while (true) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant))) {
      number.offset += constant.getSExtValue();
      return number;
    }
    if (auto add = value.getDefiningOp<arith::AddIOp>()) {
      if (matchPattern(add.getRhs(), m_ConstantInt(&constant))) {
        number.offset += constant.getSExtValue();
        value = add.getLhs();
        continue;
      }
    }
    if (auto sub = value.getDefiningOp<arith::SubIOp>()) {
      if (matchPattern(sub.getRhs(), m_ConstantInt(&constant))) {
        number.offset -= constant.getSExtValue();
        value = sub.getLhs();
        continue;
      }
    }
    number.base = value.getAsOpaquePointer();
    return number;
  }
}

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
  state.slots[item] = Slot::Filled;
  if (copy.getVia() == Transport::CpAsync)
    state.queue.push_back(item);
}

void RoleWalk::wait(WaitOp wait, State &state) {
  Item item{wait.getRing().getDefiningOp(), Number::of(wait.getItem())};
  auto slot = state.slots.find(item);
  if (slot == state.slots.end()) {
    problem(wait, "waits for " + name(item) + " that no copy fills before");
  } else {
    slot->second = Slot::Waited;
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
  if (slot == state.slots.end() || slot->second != Slot::Waited)
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
    if (slot == state.slots.end() || slot->second != Slot::Waited)
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

/// Items of the rings in `rings` with numbers from + x become to + x.
static State renumber(const State &state, const llvm::SmallPtrSetImpl<Operation *> &rings, Number from, Number to) {
  auto map = [&](Item item) {
    if (rings.contains(item.ring) && item.number.base == from.base)
      item.number = {to.base, item.number.offset - from.offset + to.offset};
    return item;
  };
  State mapped = state;
  mapped.slots.clear();
  mapped.released.clear();
  for (Item &item : mapped.queue)
    item = map(item);
  for (auto &[item, slot] : state.slots)
    mapped.slots[map(item)] = slot;
  for (const Item &item : state.released)
    mapped.released.insert(map(item));
  return mapped;
}

States RoleWalk::walkLoop(Block &body, Value counter, Number first, Number end, bool atLeastOnce, States states) {
  Number t{counter.getAsOpaquePointer(), 0};
  llvm::SmallPtrSet<Operation *, 4> rings;
  auto count = [&](Value ring, Value item) {
    if (ring && Number::of(item).base == t.base)
      rings.insert(ring.getDefiningOp());
  };
  body.walk([&](Operation *op) {
    if (auto copy = dyn_cast<CopyOp>(op))
      count(copy.getRing(), copy.getItem());
    else if (auto wait = dyn_cast<WaitOp>(op))
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

  States heads = renumberAll(states, first, t), ends;
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
  return renumberAll(atLeastOnce ? ends : heads, t, end);
}

States RoleWalk::walk(Block &block, States states) {
  for (Operation &op : block) {
    if (auto sweep = dyn_cast<SweepOp>(op)) {
      // t counts from 0; where it ends has no value of its own.
      Block &body = sweep.getBody().front();
      states = walkLoop(body, body.getArgument(0), Number{}, Number{&op, 0}, /*atLeastOnce=*/true, std::move(states));
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
      if (slot == Slot::Waited) {
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
