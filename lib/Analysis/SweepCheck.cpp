//===- SweepCheck.cpp - whether values are there when a rotated sweep uses them
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value defined at lag a and used at lag b, by way of d carried values, travels b - a + d steps: less than 0 is an
// error, 0 needs the definition earlier in the list, more becomes carried values. A slot of a ring cannot be carried.
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/SweepPlan.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace attn;
using Kind = PlanStep::Kind;

int64_t SweepPlan::placeOf(Operation *op) const {
  auto it = llvm::find_if(steps, [&](const PlanStep &step) { return step.kind == Kind::Op && step.op == op; });
  return it == steps.end() ? -1 : it - steps.begin();
}

int64_t SweepPlan::readyAt(Operation *op) const {
  auto dot = dyn_cast<DotOp>(op);
  if (!dot)
    return placeOf(op);
  auto it = llvm::find_if(steps, [&](const PlanStep &step) { return llvm::is_contained(step.dots, dot); });
  return it == steps.end() ? -1 : it - steps.begin();
}

/// The entry that placed an op, or the op, and the entry that put it a step behind.
static std::string nameOf(const SweepPlan &plan, const PlanStep &step) {
  if (!step.entry.empty())
    return step.entry;
  std::string cause = plan.causes.lookup(step.op);
  return describe(step.op) + (step.lag && !cause.empty() ? ", a step behind because " + cause + " is," : "");
}

/// That `user` comes after `need`, whose value (null: whose effect) of so many steps ago it uses.
static LogicalResult checkUse(SweepOp sweep, const SweepPlan &plan, const PlanStep &user, Operation *need, Value value,
                              int64_t distance) {
  int64_t at = plan.placeOf(user.op), ready = plan.readyAt(need), rounds = user.lag - plan.lags.lookup(need) + distance;
  std::string who = nameOf(plan, user);
  if (rounds > 0 && value && isa<BufType>(value.getType()))
    return sweep.emitOpError() << who << " reads, a step behind, the slot that " << describe(need)
                               << " got: give both the same '@'";
  if (rounds > 0 || (rounds == 0 && ready < at))
    return success();
  InFlightDiagnostic diag = sweep.emitOpError() << who << " needs ";
  if (value)
    diag << value.getType() << " of ";
  diag << describe(need);
  if (rounds == 0 && plan.placeOf(need) < at)
    diag << ", still in flight: " << plan.steps[ready].entry << " comes later in the same step";
  else
    diag << ", which " << nameOf(plan, plan.steps[plan.placeOf(need)]) << " computes "
         << (rounds ? "a step later" : "later in the same step");
  diag.attachNote(need->getLoc()) << "this value";
  return diag;
}

LogicalResult attn::checkPlan(const SweepBody &body, const SweepPlan &plan, const OrderBeside &after) {
  for (const PlanStep &step : plan.steps) {
    if (step.kind != Kind::Op)
      continue;
    for (Value input : SweepBody::getInputs(step.op))
      if (std::optional<SweepBody::Source> source = body.getSource(input))
        if (failed(checkUse(body.sweep, plan, step, source->op, source->value, source->distance)))
          return failure();
    if (auto it = after.find(step.op); it != after.end())
      for (Operation *need : it->second)
        if (failed(checkUse(body.sweep, plan, step, need, Value(), 0)))
          return failure();
  }
  return success();
}
