//===- RoleTrace.cpp - what a role does, run on made-up sizes
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/RoleTrace.h"

#include "attn/Analysis/SharedAllocs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>
#include <set>

using namespace mlir;
using namespace attn;

/// Ops a run may take: some hundred steps of a sweep.
static constexpr int64_t kMaxOps = 1 << 16;

namespace {
/// An item of a ring: its alloc and its number.
using Item = std::pair<Operation *, int64_t>;

/// What is known of a value: a number, whose slot a buf is, or which product a pending belongs to.
struct Known {
  IntegerAttr number;
  Item item = {nullptr, 0};
  int64_t product = -1;
};

/// A product under way.
struct Product {
  int64_t id;
  DotOp op;
  SmallVector<Item> reads;
};

/// Where a buf that leaves via tma stands.
enum class BufState { Free, Stored, Published, Copied, Drained };

class RoleRun {
public:
  RoleRun(RoleTrace &trace, RoleOp role, const TrialSizes &sizes, SharedWords &words)
      : trace(trace), role(role), kernel(role->getParentOfType<KernelOp>()), allocs(kernel), sizes(sizes),
        words(words) {}
  void run(int64_t group);

private:
  // Numbers
  std::optional<int64_t> number(Value value) const;
  void set(Value value, int64_t number) { known[value] = {IntegerAttr::get(value.getType(), number)}; }
  void bind(ValueRange to, ValueRange from);
  void fold(Operation *op);
  void takeSize(memref::DimOp op);

  // Control flow; false: it cannot be followed.
  bool walk(Block &block);
  bool step(Operation *op);
  bool loop(scf::ForOp op);
  bool loop(scf::WhileOp op);
  bool loop(SweepOp op);
  bool branch(scf::IfOp op);

  // Rings, products and bufs
  bool visible(Operation *op);
  bool event(RoleEvent::Kind kind, Operation *op, Value ring, Value item, Item &named);
  void readItems(Operation *op);
  void release(Operation *op, const Item &item);
  void issue(DotOp dot);
  void await(AwaitOp op);
  BufState *bufOf(Value value);
  void moveBufs(std::initializer_list<BufState> from, BufState to);
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
  TrialSizes sizes;
  SharedWords &words;
  int64_t ops = 0, fetched = 0, products = 0;
  bool starved = false; ///< it reads a word that nobody stores, so it never comes to the end
  llvm::DenseMap<Value, Known> known;
  std::map<Item, int64_t> acquired; ///< and how many bufs of it are still to fill
  std::map<Item, Operation *> waited;
  SmallVector<Product> open; ///< products under way, oldest first
  llvm::MapVector<Operation *, BufState> bufs;
};
} // namespace

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::optional<int64_t> RoleRun::number(Value value) const {
  auto found = known.find(value);
  if (found == known.end() || !found->second.number)
    return std::nullopt;
  return found->second.number.getValue().getSExtValue();
}

void RoleRun::bind(ValueRange to, ValueRange from) {
  SmallVector<std::optional<Known>> values; // all are read before any is written: loops swap
  for (Value value : from) {
    auto found = known.find(value);
    values.push_back(found == known.end() ? std::nullopt : std::optional<Known>(found->second));
  }
  for (auto [value, what] : llvm::zip_equal(to, values)) {
    if (what)
      known[value] = *what;
    else
      known.erase(value);
  }
}

/// Sizes of the kernel's operands: batch 1; the first operand has as many rows as there are queries.
void RoleRun::takeSize(memref::DimOp op) {
  std::optional<int64_t> dim = number(op.getIndex());
  auto operand = dyn_cast<BlockArgument>(op.getSource());
  auto type = dyn_cast<MemRefType>(op.getSource().getType());
  if (!dim || !operand || !type || *dim >= type.getRank())
    return;
  if (!type.isDynamicDim(*dim))
    return set(op, type.getDimSize(*dim));
  set(op, *dim == 0 ? 1 : *dim == 1 ? sizes.heads : operand.getArgNumber() == 0 ? sizes.queries : sizes.keys);
}

void RoleRun::fold(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isIntOrIndex())
    return;
  Value result = op->getResult(0);
  known.erase(result);
  if (!isa<arith::ArithDialect>(op->getDialect()))
    return;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    auto found = known.find(operand);
    if (found == known.end() || !found->second.number)
      return;
    operands.push_back(found->second.number);
  }
  // All operands are known, so nothing is rewritten in place.
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return;
  if (auto value = dyn_cast<Value>(results[0]))
    return bind(result, value);
  if (auto value = dyn_cast<IntegerAttr>(cast<Attribute>(results[0])))
    known[result] = {value};
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

bool RoleRun::loop(scf::ForOp op) {
  auto begin = number(op.getLowerBound()), end = number(op.getUpperBound()), by = number(op.getStep());
  if (!begin || !end || !by || *by < 1)
    return false;
  bind(op.getRegionIterArgs(), op.getInitArgs());
  for (int64_t i = *begin; i < *end; i += *by) {
    set(op.getInductionVar(), i);
    if (!walk(*op.getBody()))
      return false;
    bind(op.getRegionIterArgs(), op.getYieldedValues());
  }
  bind(op.getResults(), op.getRegionIterArgs());
  return true;
}

bool RoleRun::loop(scf::WhileOp op) {
  auto condition = cast<scf::ConditionOp>(op.getBeforeBody()->getTerminator());
  bind(op.getBeforeArguments(), op.getInits());
  while (true) {
    if (!walk(*op.getBeforeBody()))
      return false;
    auto more = number(condition.getCondition());
    if (!more)
      return false;
    if (!*more)
      break;
    bind(op.getAfterArguments(), condition.getArgs());
    if (!walk(*op.getAfterBody()))
      return false;
    bind(op.getBeforeArguments(), op.getAfterBody()->getTerminator()->getOperands());
  }
  bind(op.getResults(), condition.getArgs());
  return true;
}

bool RoleRun::loop(SweepOp op) {
  auto lo = number(op.getLo()), hi = number(op.getHi());
  if (!lo || !hi)
    return false;
  Block &body = op.getBody().front();
  ValueRange carried = ValueRange(body.getArguments()).drop_front(2);
  bind(carried, op.getInit());
  for (int64_t t = 0; t < *hi - *lo; ++t) {
    set(body.getArgument(0), t);
    set(body.getArgument(1), op.getOrder() == SweepOrder::Descending ? *hi - 1 - t : *lo + t);
    if (!walk(body))
      return false;
    bind(carried, body.getTerminator()->getOperands());
  }
  bind(op.getResults(), carried);
  return true;
}

/// A branch on tiles decides about tiles only.
bool RoleRun::branch(scf::IfOp op) {
  auto taken = number(op.getCondition());
  if (!taken) {
    for (Value result : op.getResults())
      known.erase(result);
    return !op.walk([](Operation *inner) {
                if (isa<AcquireOp, CopyOp, WaitOp, ReleaseOp, CommitOp, AwaitOp, TurnOp, DrainOp, SyncOp, FetchOp>(
                        inner))
                  return WalkResult::interrupt();
                return WalkResult::advance();
              }).wasInterrupted();
  }
  if (!*taken && !op.elseBlock())
    return true;
  if (!walk(*taken ? *op.thenBlock() : *op.elseBlock()))
    return false;
  bind(op.getResults(), (*taken ? op.thenYield() : op.elseYield()).getOperands());
  return true;
}

bool RoleRun::walk(Block &block) {
  return llvm::all_of(block, [&](Operation &op) { return op.hasTrait<OpTrait::IsTerminator>() || step(&op); });
}

bool RoleRun::step(Operation *op) {
  if (++ops > kMaxOps)
    return false;
  if (auto loopOp = dyn_cast<scf::ForOp>(op))
    return loop(loopOp);
  if (auto loopOp = dyn_cast<scf::WhileOp>(op))
    return loop(loopOp);
  if (auto sweep = dyn_cast<SweepOp>(op))
    return loop(sweep);
  if (auto branchOp = dyn_cast<scf::IfOp>(op))
    return branch(branchOp);
  if (isa<RoleOp>(op))
    return true;
  if (op->getNumRegions())
    return false;
  if (isa<AttnDialect>(op->getDialect()))
    return visible(op);
  if (auto dim = dyn_cast<memref::DimOp>(op))
    takeSize(dim);
  else if (StringRef what = op->getName().getStringRef(); what == "gpu.block_id")
    set(op->getResult(0), 0);
  else if (what == "gpu.grid_dim")
    set(op->getResult(0), sizes.blocks);
  else
    fold(op);
  return true;
}

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

void RoleRun::readItems(Operation *op) {
  for (Value operand : op->getOperands()) {
    auto found = known.find(operand);
    if (found == known.end() || !found->second.item.first)
      continue;
    const Item &item = found->second.item;
    if (!waited.count(item) && !acquired.count(item))
      problem(op, "reads " + name(item) + " after its release");
  }
}

void RoleRun::release(Operation *op, const Item &item) {
  for (Product &product : open)
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

bool RoleRun::visible(Operation *op) {
  Item item;
  if (auto acquire = dyn_cast<AcquireOp>(op)) {
    if (!event(RoleEvent::Acquire, op, acquire.getRing(), acquire.getItem(), item))
      return false;
    acquired[item] = acquire.getBufs().size();
    for (Value buf : acquire.getBufs())
      known[buf] = {{}, item};
  } else if (auto wait = dyn_cast<WaitOp>(op)) {
    if (!event(RoleEvent::Wait, op, wait.getRing(), wait.getItem(), item))
      return false;
    if (!waited.try_emplace(item, op).second)
      problem(op, "waits for " + name(item) + " again, before its release");
    for (Value buf : wait.getBufs())
      known[buf] = {{}, item};
  } else if (auto done = dyn_cast<ReleaseOp>(op)) {
    if (!event(RoleEvent::Release, op, done.getRing(), done.getItem(), item))
      return false;
    release(op, item);
  } else if (auto copy = dyn_cast<CopyOp>(op); copy && copy.getRing()) {
    auto slot = known.find(copy.getDest());
    if (slot == known.end())
      return false;
    item = slot->second.item;
    auto left = acquired.find(item);
    if (left == acquired.end())
      problem(op, "fills " + name(item) + " again, or before it is acquired");
    else if (--left->second == 0) {
      acquired.erase(left);
      trace.events.push_back({RoleEvent::Fill, op, item.first, item.second});
    }
  } else if (auto commit = dyn_cast<CommitOp>(op)) {
    if (!event(RoleEvent::Fill, op, commit.getRing(), commit.getItem(), item))
      return false;
    if (!acquired.erase(item))
      problem(op, "fills " + name(item) + " again, or before it is acquired");
  } else if (auto put = dyn_cast<PutOp>(op)) {
    readItems(op);
    auto slot = known.find(put.getDest());
    if (auto value = number(put.getValue()); value && slot != known.end())
      words[slot->second.item] = *value;
  } else if (auto get = dyn_cast<GetOp>(op)) {
    readItems(op);
    known.erase(get.getResult());
    auto slot = known.find(get.getSource());
    auto word = slot == known.end() ? words.end() : words.find(slot->second.item);
    starved = slot != known.end() && word == words.end();
    if (word == words.end())
      return false;
    set(get.getResult(), word->second);
  } else if (auto fetch = dyn_cast<FetchOp>(op)) {
    set(fetch.getResult(), fetched++);
  } else if (auto turn = dyn_cast<TurnOp>(op)) {
    trace.events.push_back({turn.getKind() == TurnKind::Take ? RoleEvent::Take : RoleEvent::Give, op, nullptr, 0});
  } else if (auto dot = dyn_cast<DotOp>(op)) {
    readItems(op);
    issue(dot);
  } else if (auto awaitOp = dyn_cast<AwaitOp>(op)) {
    await(awaitOp);
  } else {
    readItems(op);
    useBufs(op);
    fold(op);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Products, and bufs on their way out
//===----------------------------------------------------------------------===//

void RoleRun::issue(DotOp dot) {
  if (!dot.getAsync())
    return;
  Product product{products++, dot, {}};
  for (Value operand : {dot.getA(), dot.getB()})
    if (auto found = known.find(operand); found != known.end() && found->second.item.first)
      product.reads.push_back(found->second.item);
  open.push_back(std::move(product));
  known[dot.getResult()] = {{}, {nullptr, 0}, open.back().id};
}

/// Products are done in the order they were issued: with the youngest of the listed ones all older ones are.
void RoleRun::await(AwaitOp op) {
  size_t end = 0;
  for (Value pending : op.getPendings()) {
    auto found = known.find(pending);
    int64_t id = found == known.end() ? -1 : found->second.product;
    auto at = llvm::find_if(open, [&](const Product &product) { return product.id == id; });
    if (at == open.end())
      return problem(op, "awaits a product that is done already");
    end = std::max<size_t>(end, at - open.begin() + 1);
  }
  int64_t younger = open.size() - end, leaves = op.getLeaves();
  if (leaves != younger)
    problem(op,
            "leaves " + Twine(leaves) + " products open, but " + Twine(younger) + " are younger than what it awaits");
  open.erase(open.begin(), open.begin() + end);
}

/// The state of the buf of this role that `value` is.
BufState *RoleRun::bufOf(Value value) {
  auto alloc = value.getDefiningOp<AllocOp>();
  if (!alloc || !isa<BufType>(value.getType()))
    return nullptr;
  return &bufs.try_emplace(alloc, BufState::Free).first->second;
}

void RoleRun::moveBufs(std::initializer_list<BufState> from, BufState to) {
  for (auto &[buf, state] : bufs)
    if (llvm::is_contained(from, state))
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
      moveBufs({BufState::Copied}, BufState::Drained);
  } else if (auto sync = dyn_cast<SyncOp>(op)) {
    if (sync.getPublish())
      moveBufs({BufState::Stored}, BufState::Published);
    moveBufs({BufState::Drained}, BufState::Free);
  }
}

void RoleRun::run(int64_t group) {
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (argument.getType().isIntOrIndex())
      set(argument, 1);
  set(role.getBody().getArgument(0), group);
  bool end = walk(kernel.getBody().front()) && walk(role.getBody().front());
  trace.complete = end || starved;
  if (!end)
    return;
  for (auto &[item, op] : waited)
    problem(op, "waits for " + name(item) + ", which is never released");
  for (Product &product : open)
    problem(product.op, "is never awaited");
  for (auto &[buf, state] : bufs)
    if (state == BufState::Copied)
      problem(buf, "has a copy that is still open at the end of its role: no drain");
}

RoleTrace::RoleTrace(RoleOp role, int64_t group, const TrialSizes &sizes, SharedWords &words) {
  RoleRun(*this, role, sizes, words).run(group);
}
