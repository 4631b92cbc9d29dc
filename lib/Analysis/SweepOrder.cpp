//===- SweepOrder.cpp - the entries of a schedule's order
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/SweepOrder.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace attn;
using Verb = OrderEntry::Verb;
using Part = OrderEntry::Part;

std::string OrderEntry::name() const { return "order entry " + std::to_string(place) + " (\"" + text + "\")"; }

static FailureOr<OrderEntry> parseEntry(StringRef text, int64_t place, function_ref<InFlightDiagnostic()> emitError) {
  OrderEntry entry;
  entry.text = text.str(), entry.place = place;
  auto [what, behind] = text.split('@');
  if (text.contains('@') && (behind.getAsInteger(10, entry.lag) || entry.lag < 0))
    return emitError() << entry.name() << " expects a number of steps behind '@'";
  if (entry.lag > 1)
    return emitError() << entry.name() << " works " << entry.lag
                       << " steps behind; a sweep is rotated by one step at most";

  auto [word, label] = what.split(' ');
  if (!what.contains(' ')) {
    label = word;
    entry.verb = llvm::StringSwitch<Verb>(word).Case("take", Verb::Take).Case("give", Verb::Give).Default(Verb::Issue);
  } else {
    auto verb = llvm::StringSwitch<std::optional<Verb>>(word)
                    .Case("await", Verb::Await)
                    .Case("get", Verb::Get)
                    .Case("put", Verb::Put)
                    .Case("st", Verb::Store)
                    .Case("pin", Verb::Pin)
                    .Default(std::nullopt);
    if (!verb)
      return emitError() << entry.name() << " starts with an unknown verb '" << word
                         << "'; there are await, get, put, st and pin";
    entry.verb = *verb;
  }
  if (!entry.places() && entry.lag)
    return emitError() << entry.name() << " takes no '@': it waits for what was issued before it";
  if (entry.verb == Verb::Take || entry.verb == Verb::Give)
    return entry;

  auto [name, part] = label.split('.');
  if (label.contains('.')) {
    auto known = llvm::StringSwitch<std::optional<Part>>(part).Case("in", Part::In).Case("acc", Part::Acc).Default({});
    if (!known || (entry.verb != Verb::Issue && entry.verb != Verb::Pin))
      return emitError() << entry.name() << ": only X.in and X.acc, alone or pinned, name a part";
    entry.part = *known;
  }
  if (name.empty())
    return emitError() << entry.name() << " names nothing";
  entry.label = name.str();
  return entry;
}

FailureOr<SmallVector<OrderEntry>> attn::parseOrder(ArrayRef<StringAttr> order,
                                                    function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<OrderEntry> entries;
  bool taken = false;
  for (StringAttr text : order) {
    FailureOr<OrderEntry> entry = parseEntry(text.getValue(), entries.size() + 1, emitError);
    if (failed(entry))
      return failure();
    if (entry->verb == Verb::Take || entry->verb == Verb::Give) {
      if (taken == (entry->verb == Verb::Take))
        return emitError() << "order expects \"take\" and \"give\" in turn, got two \"" << entry->text
                           << "\", the second as entry " << entry->place;
      taken = !taken;
    }
    entries.push_back(std::move(*entry));
  }
  if (taken)
    return emitError() << "order takes a turn that it does not give";
  return entries;
}

//===----------------------------------------------------------------------===//
// What entries are about
//===----------------------------------------------------------------------===//

static StringAttr labelOf(Operation *op) { return op->getAttrOfType<StringAttr>("label"); }

static StringAttr ringLabel(Value ring) {
  auto alloc = ring.getDefiningOp<AllocOp>();
  return alloc ? alloc.getLabelAttr() : StringAttr();
}

std::string attn::describe(Operation *op) {
  StringAttr label = labelOf(op);
  if (auto wait = dyn_cast<WaitOp>(op))
    label = ringLabel(wait.getRing());
  std::string text = op->getName().getStringRef().str();
  return label ? text + " \"" + label.str() + "\"" : text;
}

/// Does the op do what a verb other than Issue asks for?
static bool fits(Operation *op, const OrderEntry &entry) {
  auto wait = dyn_cast<WaitOp>(op);
  if (wait && entry.verb == Verb::Get)
    return ringLabel(wait.getRing()) == entry.label;
  auto commit = dyn_cast<CommitOp>(op);
  if (commit && entry.verb == Verb::Put)
    return ringLabel(commit.getRing()) == entry.label;
  auto store = dyn_cast<StoreOp>(op);
  if (!store || entry.verb != Verb::Store)
    return false;
  Operation *value = store.getValue().getDefiningOp();
  return store.getLabel() == entry.label || (value && labelOf(value) == StringRef(entry.label));
}

FailureOr<Operation *> attn::findTarget(const SweepBody &body, const OrderEntry &entry) {
  SweepOp sweep = body.sweep;
  auto error = [&]() -> InFlightDiagnostic { return sweep.emitOpError() << entry.name() << " "; };
  SmallVector<Operation *> found, labelled;
  bool byLabel = entry.verb == Verb::Issue || entry.verb == Verb::Await || entry.verb == Verb::Pin;
  for (Operation &op : body.block.without_terminator()) {
    StringAttr label = isa<StoreOp>(op) ? StringAttr() : labelOf(&op);
    if (label)
      labelled.push_back(&op);
    if (byLabel ? label && label == StringRef(entry.label) : fits(&op, entry))
      found.push_back(&op);
  }
  if (found.size() > 1)
    return error() << "could mean any of " << found.size() << " ops";
  if (found.empty() && byLabel) {
    InFlightDiagnostic diag = error() << "names no op of the sweep; labelled are:";
    for (Operation *op : labelled)
      diag << " " << labelOf(op).getValue();
    return diag;
  }
  if (found.empty())
    return error() << "names a " << (entry.verb == Verb::Store ? "value" : "ring") << " that the sweep does not "
                   << (entry.verb == Verb::Get   ? "wait for"
                       : entry.verb == Verb::Put ? "commit"
                                                 : "store");
  Operation *op = found.front();
  if (entry.part == Part::Result)
    return op;
  auto dot = dyn_cast<DotOp>(op);
  Value operand = entry.part == Part::In ? op->getOperand(0) : dot ? dot.getAcc() : Value();
  std::optional<SweepBody::Source> source = operand ? body.getSource(operand) : std::nullopt;
  if (!source || source->distance)
    return error() << "names an operand that the step does not compute";
  return source->op;
}

SmallVector<StringAttr> attn::synchronousOrder(SweepOp sweep) {
  SmallVector<StringAttr> order;
  for (DotOp dot : sweep.getBody().getOps<DotOp>())
    if (StringAttr label = dot.getLabelAttr()) {
      order.push_back(label);
      order.push_back(StringAttr::get(label.getContext(), "await " + label.getValue()));
    }
  return order;
}
