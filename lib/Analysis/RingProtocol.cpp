//===- RingProtocol.cpp - do roles that share rings understand each other
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/RingProtocol.h"

#include "attn/Analysis/RoleTrace.h"
#include "attn/Analysis/SharedAllocs.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

#include <map>

using namespace mlir;
using namespace attn;

namespace {
/// One group of a role, on its way through its events.
struct Party {
  RoleOp role;
  int64_t group, warps;
  RoleTrace trace;
  size_t next = 0;

  bool isDone() const { return next == trace.events.size(); }
};

/// What barriers know of an item.
struct ItemState {
  Operation *filledBy = nullptr, *releasedBy = nullptr;
  bool read = false;
  int64_t released = 0;              ///< by so many warps
  int64_t parts = 0;                 ///< of an exchange: filled by so many groups
  llvm::SmallSet<int64_t, 4> groups; ///< of an exchange: those that wait for it
};

/// All parties of a kernel, run side by side.
class Trial {
public:
  Trial(KernelOp kernel, const TrialSizes &sizes, SmallVectorImpl<RingProblem> &problems);
  /// False if a role was cut; `whyCut` says which.
  bool run();
  std::string whyCut() const;

private:
  bool step(Party &party);
  bool step(Party &party, const RoleEvent &event);
  bool stepExchange(Party &party, const RoleEvent &event);
  void checkMet(const Party &party, const RoleEvent &event);
  bool explainWait(const Party &party);
  void explain();
  void checkEnd();

  AllocOp ringOf(Operation *ring) const { return cast<AllocOp>(ring); }
  int64_t depthOf(Operation *ring) const { return cast<RingType>(ringOf(ring).getResult().getType()).getDepth(); }
  int64_t readersOf(Operation *ring) const { return ringOf(ring).getReaders().value_or(0); }
  std::string name(Operation *ring, int64_t item) const {
    return "item " + std::to_string(item) + " of ring \"" + ringOf(ring).getLabel().value_or("").str() + "\"";
  }
  void problem(Operation *op, const Twine &message) {
    if (llvm::none_of(problems, [&](const RingProblem &known) { return known.op == op; }))
      problems.push_back({op, message.str()});
  }

  SmallVectorImpl<RingProblem> &problems;
  std::vector<Party> parties;
  std::map<std::pair<Operation *, int64_t>, ItemState> items;
  llvm::DenseMap<std::pair<Operation *, int64_t>, int64_t> turns; ///< given and not taken, by role and group
};
} // namespace

Trial::Trial(KernelOp kernel, const TrialSizes &sizes, SmallVectorImpl<RingProblem> &problems) : problems(problems) {
  SharedWords words; // a role that stores words comes before those that read them
  for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
    int64_t groups = role.getGroups();
    for (int64_t group = 0; group < groups; ++group) {
      parties.push_back(
          {role, group, static_cast<int64_t>(role.getWarps()) / groups, RoleTrace(role, group, sizes, words)});
      for (const RingProblem &known : parties.back().trace.problems)
        problem(known.op, known.message);
    }
    turns[{role, 0}] = 1;
  }
}

/// Whether the event can happen now; if so it does.
bool Trial::step(Party &party, const RoleEvent &event) {
  Operation *role = party.role;
  int64_t groups = party.role.getGroups();
  switch (event.kind) {
  case RoleEvent::Take:
    return turns[{role, party.group}] > 0 && turns[{role, party.group}]-- > 0;
  case RoleEvent::Give:
    if (int64_t &turn = turns[{role, (party.group + 1) % groups}]; ++turn > 1) {
      problem(event.op, "gives a turn to a group that has not taken the one before");
      turn = 1; // told once: later turns would only be late by this one
    }
    return true;
  default:
    break;
  }
  if (isExchange(ringOf(event.ring)) && event.kind != RoleEvent::Release)
    return stepExchange(party, event);
  ItemState &item = items[{event.ring, event.item}];
  switch (event.kind) {
  case RoleEvent::Acquire: {
    if (event.item < depthOf(event.ring))
      return true;
    auto before = items.find({event.ring, event.item - depthOf(event.ring)});
    return before != items.end() && before->second.released >= readersOf(event.ring);
  }
  case RoleEvent::Fill:
    if (item.filledBy)
      problem(event.op, "fills " + name(event.ring, event.item) + " a second time");
    item.filledBy = event.op;
    return true;
  case RoleEvent::Wait:
    item.read |= item.filledBy != nullptr;
    return item.filledBy;
  case RoleEvent::Release:
    item.releasedBy = event.op;
    item.released += party.warps;
    return true;
  default:
    llvm_unreachable("turns are done");
  }
}

/// Every group fills its part, and at the wait all groups meet: that is the only barrier.
bool Trial::stepExchange(Party &party, const RoleEvent &event) {
  const int64_t groups = party.role.getGroups();
  ItemState &item = items[{event.ring, event.item}];
  if (event.kind == RoleEvent::Acquire) {
    checkMet(party, event);
  } else if (event.kind == RoleEvent::Fill) {
    if (++item.parts > groups)
      problem(event.op, "fills " + name(event.ring, event.item) + " a second time");
    item.filledBy = event.op;
  } else {
    item.groups.insert(party.group);
    item.read |= item.parts == groups;
    return item.parts == groups && static_cast<int64_t>(item.groups.size()) == groups;
  }
  return true;
}

/// Nobody waits for a slot of an exchange: of the items a group has waited for before it fills one, all groups must
/// have filled the last after they were done with what was in the slot.
void Trial::checkMet(const Party &party, const RoleEvent &event) {
  const int64_t before = event.item - depthOf(event.ring);
  if (before < 0)
    return;
  auto find = [&](const Party &who, RoleEvent::Kind kind, int64_t item) {
    return llvm::find_if(who.trace.events,
                         [&](const RoleEvent &e) { return e.kind == kind && e.ring == event.ring && e.item == item; });
  };
  const RoleEvent *met = nullptr;
  for (const RoleEvent &e : ArrayRef(party.trace.events).take_front(party.next))
    if (e.kind == RoleEvent::Wait && e.ring == event.ring)
      met = &e;
  for (const Party &other : parties)
    if (other.role == party.role &&
        (!met || find(other, RoleEvent::Release, before) >= find(other, RoleEvent::Fill, met->item)))
      problem(event.op, "fills the slot of " + name(event.ring, before) +
                            ", which another group may still read: of no item in between all groups wait for have all "
                            "filled their part since their release");
}

bool Trial::step(Party &party) {
  bool moved = false;
  while (!party.isDone() && step(party, party.trace.events[party.next])) {
    ++party.next;
    moved = true;
  }
  return moved;
}

/// Why `party` cannot go on, if the events of all tell: what it waits for is in none of them.
bool Trial::explainWait(const Party &party) {
  const RoleEvent &event = party.trace.events[party.next];
  if (event.kind == RoleEvent::Wait) {
    bool filled = false;
    for (const Party &other : parties)
      filled |= llvm::any_of(other.trace.events, [&](const RoleEvent &e) {
        return e.kind == RoleEvent::Fill && e.ring == event.ring && e.item == event.item;
      });
    if (!filled)
      problem(event.op, "waits for " + name(event.ring, event.item) + ", which no role fills");
    return !filled;
  }
  if (event.kind != RoleEvent::Acquire)
    return false;
  int64_t before = event.item - depthOf(event.ring), warps = 0, readers = readersOf(event.ring);
  for (const Party &other : parties)
    warps += other.warps * llvm::count_if(other.trace.events, [&](const RoleEvent &e) {
               return e.kind == RoleEvent::Release && e.ring == event.ring && e.item == before;
             });
  if (warps < readers)
    problem(event.op, "needs the slot of " + name(event.ring, before) + ", which " + Twine(warps) + " of its " +
                          Twine(readers) + " readers release");
  return warps < readers;
}

/// Nobody can go on, but not all are done.
void Trial::explain() {
  bool explained = false;
  for (const Party &party : parties)
    explained |= !party.isDone() && explainWait(party);
  for (const Party &party : parties) {
    if (explained || party.isDone())
      continue;
    const RoleEvent &event = party.trace.events[party.next];
    std::string what = "its turn";
    if (event.kind == RoleEvent::Wait)
      what = name(event.ring, event.item);
    else if (event.kind == RoleEvent::Acquire)
      what = "the slot of " + name(event.ring, event.item - depthOf(event.ring));
    problem(event.op, "waits forever for " + what + ": roles wait for each other in a circle");
    explained = true;
  }
}

void Trial::checkEnd() {
  for (auto &[key, item] : items) {
    auto [ring, number] = key;
    if (!item.filledBy)
      continue;
    if (!item.read)
      problem(item.filledBy, "fills " + name(ring, number) + ", which nobody reads");
    else if (item.released != readersOf(ring))
      problem(item.releasedBy ? item.releasedBy : item.filledBy,
              name(ring, number) + " is released by " + Twine(item.released) + " warps, its ring expects " +
                  Twine(readersOf(ring)) + " readers");
  }
}

bool Trial::run() {
  bool moved = true;
  while (moved) {
    moved = false;
    for (Party &party : parties)
      moved |= step(party);
  }
  // Whoever waits for a role that was not run to its end may wait for what comes later.
  bool complete = llvm::all_of(parties, [](const Party &party) { return party.trace.complete; });
  if (!problems.empty() || !complete)
    return complete;
  if (llvm::all_of(parties, [](const Party &party) { return party.isDone(); }))
    checkEnd();
  else
    explain();
  return complete;
}

std::string Trial::whyCut() const {
  for (const Party &party : parties)
    if (!party.trace.complete)
      return "role \"" + RoleOp(party.role).getName().str() + "\" " + party.trace.whyCut;
  return "";
}

/// A ring is one role's to fill, and another's to read.
static void checkFillers(KernelOp kernel, SmallVectorImpl<RingProblem> &problems) {
  llvm::DenseMap<Operation *, RoleOp> fillers;
  kernel.walk([&](Operation *op) {
    Value ring;
    if (auto acquire = dyn_cast<AcquireOp>(op))
      ring = acquire.getRing();
    else if (auto commit = dyn_cast<CommitOp>(op))
      ring = commit.getRing();
    auto role = op->getParentOfType<RoleOp>();
    if (!ring || !role)
      return;
    auto alloc = ring.getDefiningOp<AllocOp>();
    if (RoleOp first = fillers.try_emplace(alloc, role).first->second; first != role)
      problems.push_back({op, "fills ring \"" + alloc.getLabel().value_or("").str() + "\", which role \"" +
                                  first.getName().str() + "\" fills too"});
  });
}

/// The dimension of the kernel's arguments that the row tiles are made of, as launches show; of the first argument
/// where there is no launch to ask.
static std::pair<unsigned, unsigned> findRows(KernelOp kernel) {
  std::optional<std::pair<unsigned, unsigned>> rows;
  auto module = kernel->getParentOfType<ModuleOp>();
  module.walk([&](LaunchOp launch) {
    if (launch.getKernel() != kernel.getSymName() || launch.getTiles().empty())
      return;
    SmallVector<Value> worklist{launch.getTiles().front()};
    while (!worklist.empty() && !rows) {
      Operation *op = worklist.pop_back_val().getDefiningOp();
      if (!op)
        continue;
      if (auto dim = dyn_cast<memref::DimOp>(op))
        if (std::optional<int64_t> index = dim.getConstantIndex())
          if (auto arg = llvm::find(launch.getArgs(), dim.getSource()); arg != launch.getArgs().end())
            rows = {std::distance(launch.getArgs().begin(), arg), *index};
      llvm::append_range(worklist, op->getOperands());
    }
  });
  return rows.value_or(std::pair(0u, 2u));
}

/// Arguments are (batch, heads, rows, columns) or start so. One batch; all but those at `rowsAt` have `keys` rows; the
/// first one, which has the queries, has twice as many heads if there are several.
static TrialSizes sizesFor(KernelOp kernel, std::pair<unsigned, unsigned> rowsAt, int64_t rows, int64_t keys,
                           int64_t heads, int64_t blocks) {
  TrialSizes sizes;
  sizes.blocks = blocks;
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (auto type = dyn_cast<MemRefType>(argument.getType()))
      for (unsigned dim = 0; dim < type.getRank(); ++dim) {
        std::pair at(argument.getArgNumber(), dim);
        sizes.dims[at] = at == rowsAt                            ? rows
                         : dim == 0                              ? 1
                         : dim > 1                               ? keys
                         : argument.getArgNumber() || heads == 1 ? heads
                                                                 : 2 * heads;
      }
  return sizes;
}

RingCheck attn::checkRingProtocol(KernelOp kernel) {
  RingCheck check;
  SmallVector<RingProblem> &problems = check.problems;
  checkFillers(kernel, problems);
  if (!problems.empty())
    return check;
  ScheduleAttr schedule = kernel.getScheduleAttr();
  int64_t rows = schedule ? schedule.getTileQueries() : 64, keys = schedule ? schedule.getTileKeys() : 64;
  // One tile with one block of keys; a few of each, with tails; many blocks of keys. Last, a grid so large that a block
  // gets one tile: kernels whose sizes are constants do not come to an end otherwise, however often one tries.
  auto rowsAt = findRows(kernel);
  const TrialSizes trials[] = {
      sizesFor(kernel, rowsAt, 1, 1, 2, 1), sizesFor(kernel, rowsAt, 2 * rows + 1, 2 * keys, 1, 1),
      sizesFor(kernel, rowsAt, rows, 7 * keys + 1, 1, 1), sizesFor(kernel, rowsAt, 3 * rows, 5 * keys, 1, 1 << 20)};
  bool complete = true, once = false;
  for (const TrialSizes &sizes : trials) {
    if (!complete && sizes.blocks == 1)
      continue;
    Trial trial(kernel, sizes, problems);
    if (problems.empty())
      complete = trial.run();
    if (!problems.empty())
      break;
    once |= complete;
    check.unchecked = once ? "" : trial.whyCut();
  }
  return check;
}
