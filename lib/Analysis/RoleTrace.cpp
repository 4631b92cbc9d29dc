//===- RoleTrace.cpp - what a role does, run on made-up sizes
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/RoleTrace.h"

#include "attn/Analysis/SharedAllocs.h"
#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;
using namespace attn;

namespace {
/// An item of a ring: its alloc and its number.
using Item = std::pair<Operation *, int64_t>;

/// A product under way, and the items it reads.
struct Product {
  DotOp op;
  SmallVector<Item> reads;
};

/// Where a buf that leaves via tma stands.
enum class BufState { Free, Stored, Published, Copied, Drained };

class RoleRun : IntegerRun {
public:
  RoleRun(RoleTrace &trace, RoleOp role, const TrialSizes &sizes, SharedWords &words)
      : IntegerRun(sizes), trace(trace), role(role), kernel(role->getParentOfType<KernelOp>()), allocs(kernel),
        words(words) {}
  void run(int64_t group);

private:
  bool visit(Operation *op) override;
  bool visitRing(Operation *op);
  bool visitWord(Operation *op);

  bool event(RoleEvent::Kind kind, Operation *op, Value ring, Value item, Item &named);
  void holdItem(ValueRange bufs, const Item &item);
  std::optional<Item> itemOf(Value buf) const;
  void readItems(Operation *op);
  void release(Operation *op, const Item &item);
  BufState *bufOf(Value value);
  void moveBufs(BufState from, BufState to);
  void useBufs(Operation *op);

  std::string name(const Item &item) const {
    return "item " + std::to_string(item.second) + " of ring \"" +
           cast<AllocOp>(item.first).getLabel().value_or("").str() + "\"";
  }
  void problem(Operation *op, const Twine &message) {
    if (llvm::none_of(trace.problems, [&](const RingProblem &known) { return known.op == op; }))
      trace.problems.push_back({op, message.str()});
  }

  RoleTrace &trace;
  RoleOp role;
  KernelOp kernel;
  SharedAllocs allocs;
  SharedWords &words;
  int64_t fetched = 0;
  bool starved = false;             ///< it reads a word that nobody stores, so it never comes to the end
  SmallVector<Item> tokens;         ///< items that values stand for
  std::map<Item, int64_t> acquired; ///< and how many bufs of it are still to fill
  std::map<Item, Operation *> waited;
  llvm::MapVector<Operation *, Product> open; ///< products under way
  llvm::MapVector<Operation *, BufState> bufs;
};
} // namespace

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// Notes what an op does to an item; false if its number is not known.
bool RoleRun::event(RoleEvent::Kind kind, Operation *op, Value ring, Value item, Item &named) {
  auto value = number(item);
  if (!value || !ring.getDefiningOp<AllocOp>())
    return false;
  named = {ring.getDefiningOp(), *value};
  if (*value < 0)
    problem(op, "names " + name(named) + "; items count from 0");
  trace.events.push_back({kind, op, named.first, *value});
  return true;
}

void RoleRun::holdItem(ValueRange bufs, const Item &item) {
  for (Value buf : bufs)
    setToken(buf, tokens.size());
  tokens.push_back(item);
}

std::optional<Item> RoleRun::itemOf(Value buf) const {
  std::optional<int64_t> found = token(buf);
  return found ? std::optional<Item>(tokens[*found]) : std::nullopt;
}

void RoleRun::readItems(Operation *op) {
  for (Value operand : op->getOperands()) {
    std::optional<Item> item = itemOf(operand);
    if (item && !waited.count(*item) && !acquired.count(*item))
      problem(op, "reads " + name(*item) + " after its release");
  }
}

void RoleRun::release(Operation *op, const Item &item) {
  for (auto &[dot, product] : open)
    if (llvm::is_contained(product.reads, item))
      problem(op, "releases " + name(item) + ", which product \"" + product.op.getLabel().value_or("") +
                      "\" may still read: no await in between");
  AllocOp root = allocs.getRoot(cast<AllocOp>(item.first));
  for (auto &[buf, state] : bufs)
    if ((state == BufState::Copied || state == BufState::Drained) && allocs.getRoot(cast<AllocOp>(buf)) == root)
      problem(op, "releases " + name(item) + ", whose bytes a copy out of buf \"" +
                      cast<AllocOp>(buf).getLabel().value_or("") + "\" may still read: no drain and sync in between");
  if (!waited.erase(item))
    problem(op, "releases " + name(item) + ", which is not waited for, or released before");
}

bool RoleRun::visitRing(Operation *op) {
  Item item;
  if (auto acquire = dyn_cast<AcquireOp>(op)) {
    if (!event(RoleEvent::Acquire, op, acquire.getRing(), acquire.getItem(), item))
      return false;
    acquired[item] = acquire.getBufs().size();
    holdItem(acquire.getBufs(), item);
    return true;
  }
  if (auto copy = dyn_cast<CopyOp>(op)) {
    std::optional<Item> slot = itemOf(copy.getDest());
    if (!slot)
      return false;
    auto left = acquired.find(*slot);
    if (left == acquired.end()) {
      problem(op, "fills " + name(*slot) + " again, or before it is acquired");
    } else if (--left->second == 0) {
      acquired.erase(left);
      trace.events.push_back({RoleEvent::Fill, op, slot->first, slot->second});
    }
    return true;
  }
  if (auto commit = dyn_cast<CommitOp>(op)) {
    if (!event(RoleEvent::Fill, op, commit.getRing(), commit.getItem(), item))
      return false;
    if (!acquired.erase(item))
      problem(op, "fills " + name(item) + " again, or before it is acquired");
    return true;
  }
  if (auto wait = dyn_cast<WaitOp>(op)) {
    if (!event(RoleEvent::Wait, op, wait.getRing(), wait.getItem(), item))
      return false;
    if (!waited.try_emplace(item, op).second)
      problem(op, "waits for " + name(item) + " again, before its release");
    holdItem(wait.getBufs(), item);
    return true;
  }
  auto done = cast<ReleaseOp>(op);
  if (!event(RoleEvent::Release, op, done.getRing(), done.getItem(), item))
    return false;
  release(op, item);
  return true;
}

/// A word that one role stores is a number in another.
bool RoleRun::visitWord(Operation *op) {
  readItems(op);
  if (auto put = dyn_cast<PutOp>(op)) {
    std::optional<Item> slot = itemOf(put.getDest());
    if (std::optional<int64_t> value = number(put.getValue()); value && slot)
      words[*slot] = *value;
    return true;
  }
  auto get = cast<GetOp>(op);
  std::optional<Item> slot = itemOf(get.getSource());
  auto word = slot ? words.find(*slot) : words.end();
  starved = slot && word == words.end();
  if (word == words.end())
    return false;
  set(get.getResult(), word->second);
  return true;
}

bool RoleRun::visit(Operation *op) {
  auto copy = dyn_cast<CopyOp>(op);
  if (isa<AcquireOp, CommitOp, WaitOp, ReleaseOp>(op) || (copy && copy.getRing()))
    return visitRing(op);
  if (isa<PutOp, GetOp>(op))
    return visitWord(op);
  if (auto fetch = dyn_cast<FetchOp>(op)) {
    set(fetch.getResult(), fetched++);
    return true;
  }
  if (auto turn = dyn_cast<TurnOp>(op)) {
    trace.events.push_back({turn.getKind() == TurnKind::Take ? RoleEvent::Take : RoleEvent::Give, op, nullptr, 0});
    return true;
  }
  readItems(op);
  if (auto slice = dyn_cast<SliceOp>(op)) { // a part of the item is the item
    if (std::optional<int64_t> item = token(slice.getSource()))
      setToken(slice.getResult(), *item);
    return true;
  }
  if (auto dot = dyn_cast<DotOp>(op); dot && dot.getAsync()) {
    Product product{dot, {}};
    for (Value operand : dot->getOperands())
      if (std::optional<Item> item = itemOf(operand))
        product.reads.push_back(*item);
    open[op] = std::move(product);
  } else if (auto await = dyn_cast<AwaitOp>(op)) {
    for (Value pending : await.getPendings())
      open.erase(pending.getDefiningOp());
  }
  useBufs(op);
  fold(op);
  return true;
}

//===----------------------------------------------------------------------===//
// Results on their way out
//===----------------------------------------------------------------------===//

/// The state of the buf of this role that `value` is.
BufState *RoleRun::bufOf(Value value) {
  auto alloc = value.getDefiningOp<AllocOp>();
  if (!alloc || !isa<BufType>(value.getType()))
    return nullptr;
  return &bufs.try_emplace(alloc, BufState::Free).first->second;
}

void RoleRun::moveBufs(BufState from, BufState to) {
  for (auto &[buf, state] : bufs)
    if (state == from)
      state = to;
}

void RoleRun::useBufs(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op)) {
    BufState *state = bufOf(store.getDest());
    if (!state)
      return;
    if (*state == BufState::Copied || *state == BufState::Drained)
      problem(op,
              *state == BufState::Copied
                  ? "stores into bytes that a copy may still read: no drain in between"
                  : "stores into bytes that a copy may still read, for all other warps know: no sync behind the drain");
    *state = BufState::Stored;
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    BufState *state = bufOf(copy.getSource());
    if (!state || copy.getVia() != Transport::Tma)
      return;
    if (*state != BufState::Published)
      problem(op, "copies what is not stored and published: no sync publish in between");
    *state = BufState::Copied;
  } else if (auto drain = dyn_cast<DrainOp>(op)) {
    if (drain.getLeaves() == 0)
      moveBufs(BufState::Copied, BufState::Drained);
  } else if (auto sync = dyn_cast<SyncOp>(op)) {
    if (sync.getPublish())
      moveBufs(BufState::Stored, BufState::Published);
    moveBufs(BufState::Drained, BufState::Free);
  }
}

void RoleRun::run(int64_t group) {
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (argument.getType().isIntOrIndex())
      set(argument, 1);
  set(role.getBody().getArgument(0), group);
  bool end = walk(kernel.getBody().front()) && walk(role.getBody().front());
  trace.complete = end || starved;
  if (!trace.complete)
    trace.whyCut = whyCut();
  if (!end)
    return;
  for (auto &[item, op] : waited)
    problem(op, "waits for " + name(item) + ", which is never released");
  for (auto &[buf, state] : bufs)
    if (state == BufState::Copied)
      problem(buf, "has a copy that is still open at the end of its role: no drain");
}

RoleTrace::RoleTrace(RoleOp role, int64_t group, const TrialSizes &sizes, SharedWords &words) {
  RoleRun(*this, role, sizes, words).run(group);
}
