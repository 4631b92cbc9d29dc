//===- Alternatives.cpp - one function for each schedule that calls may need
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Alternatives.h"

#include "ScheduleFit.h"
#include "Signature.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-choose-schedule"

/// The size of the manifest that alternatives ask for.
static constexpr StringLiteral kQueryLength = "q_len";

/// The calls a choice is for, as `attn.when`.
static DictionaryAttr buildWhen(AttentionOp op, const Choice &choice) {
  Builder b(op.getContext());
  NamedAttrList when;
  if (choice.target.getFamily() == Family::Wgmma) {
    SmallVector<StringAttr> names = getMatrixNames(op);
    when.set("aligned", b.getArrayAttr(SmallVector<Attribute>(names.begin(), names.end())));
  }
  if (!choice.queries.isAll()) {
    when.set("size", b.getStringAttr(kQueryLength));
    if (choice.queries.from)
      when.set("from", b.getI64IntegerAttr(choice.queries.from));
    if (choice.queries.below)
      when.set("below", b.getI64IntegerAttr(choice.queries.below));
  }
  return when.getDictionary(op.getContext());
}

/// A name for an alternative of @f that says what it is for.
static std::string nameAlternative(func::FuncOp func, const Choice &choice, SymbolTable &symbols) {
  std::string name = func.getName().str();
  if (choice.unaligned)
    name += "_unaligned";
  if (choice.queries.from)
    name += "_from_" + std::to_string(choice.queries.from);
  if (choice.queries.below)
    name += "_below_" + std::to_string(choice.queries.below);
  std::string unique = name;
  for (int64_t i = 2; symbols.lookup(unique); ++i)
    unique = name + "_" + std::to_string(i);
  return unique;
}

SmallVector<ScheduleAttr> attn::getSchedules(AttentionOp op) {
  if (auto grad = dyn_cast<SdpaGradOp>(op.getOperation())) {
    ArrayAttr schedules = grad.getSchedulesAttr();
    return schedules ? llvm::to_vector(schedules.getAsRange<ScheduleAttr>()) : SmallVector<ScheduleAttr>();
  }
  ScheduleAttr schedule = cast<SdpaOp>(op.getOperation()).getScheduleAttr();
  return schedule ? SmallVector<ScheduleAttr>{schedule} : SmallVector<ScheduleAttr>();
}

static void setSchedules(AttentionOp op, ArrayRef<ScheduleAttr> schedules) {
  if (auto grad = dyn_cast<SdpaGradOp>(op.getOperation()))
    grad.setSchedulesAttr(Builder(op.getContext()).getArrayAttr(SmallVector<Attribute>(schedules)));
  else
    cast<SdpaOp>(op.getOperation()).setScheduleAttr(schedules.front());
}

static void reportSchedule(AttentionOp op, ScheduleAttr schedule, const Choice &choice) {
  auto func = op->getParentOfType<func::FuncOp>();
  auto report = remark::passed(
      op.getLoc(),
      remark::RemarkOpts::name("schedule").category(DEBUG_TYPE).function(func ? func.getName() : StringRef()));
  report << remark::metric("rule", schedule.getFrom());
  if (!schedule.getGrads().empty())
    report << remark::metric(
        "grads",
        llvm::join(llvm::map_range(schedule.getGrads(), [](StringAttr grad) { return grad.getValue(); }), " "));
  report << remark::metric("tile_queries", schedule.getTileQueries())
         << remark::metric("tile_keys", schedule.getTileKeys())
         << remark::metric("warps", schedule.getNumWarps() * schedule.getGroups())
         << remark::metric("smem_bytes", getSharedBytes(schedule, OpSizes::of(op), choice.target));
  if (choice.queries.from)
    report << remark::metric("q_len_from", choice.queries.from);
  if (choice.queries.below)
    report << remark::metric("q_len_below", choice.queries.below);
  if (choice.unaligned)
    report << "for operands that no tensor map can describe";
}

void attn::applyChoice(AttentionOp op, const Choice &choice) {
  setSchedules(op, choice.schedules);
  for (ScheduleAttr schedule : choice.schedules)
    reportSchedule(op, schedule, choice);
}

void attn::applyChoices(AttentionOp op, func::FuncOp func, ArrayRef<Choice> choices) {
  SymbolTable symbols(func->getParentOp());
  SmallVector<AttentionOp> ops{op};
  Operation *last = func;
  for (const Choice &choice : choices.drop_front()) {
    auto copy = cast<func::FuncOp>(func->clone());
    copy.setName(nameAlternative(func, choice, symbols));
    copy->setAttr(AttnDialect::kAlternativeAttr, FlatSymbolRefAttr::get(func));
    symbols.insert(copy, std::next(last->getIterator()));
    last = copy;
    ops.push_back(*copy.getOps<AttentionOp>().begin());
  }
  TargetAttr target = getTarget(func);
  for (auto [index, op, choice] : llvm::enumerate(ops, choices)) {
    Operation *parent = op->getParentOp();
    if (choice.target != target)
      parent->setAttr(AttnDialect::kTargetAttr, choice.target);
    if (index + 1 != ops.size()) // the last one takes what is left
      parent->setAttr(AttnDialect::kWhenAttr, buildWhen(op, choice));
    applyChoice(op, choice);
  }
}
