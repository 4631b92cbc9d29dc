//===- ScheduleSweep.cpp - overlap the steps of a sweep as the schedule's order says
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Analysis/SweepPlan.h decides what stands where; here the sweep is written out. With a lag of 1, for n steps:
//
//   prologue    newest actions of step 0
//   sweep       u = 0 .. n - 2:   newest actions of step u + 1, lagging ones of step u
//   epilogue    lagging actions of step n - 1
//
// An action at lag l in round u works on step u + lag - l, so t is that and j as many blocks back along the sweep:
// addresses and items are computed again from them. The range loses the block that the prologue does; it may become
// empty. What travels a round or more is carried.
//
// The sweep of the role that fills the rings is rotated alike: loads in the order and with the lags of the waits, so
// that no load waits for a slot that an earlier wait would have freed.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "KernelRemark.h"
#include "RotateSweep.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/DebugLog.h"

namespace attn {
#define GEN_PASS_DEF_SCHEDULESWEEPPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-schedule-sweep"

/// More than this a thread, and a value that travels is worth a word.
constexpr int64_t kManyRegisters = 32;

/// `X.in` of a reduction is what each thread has seen, before the lanes meet: the reduction in two halves.
static void splitReductions(SweepOp sweep, ArrayRef<OrderEntry> order) {
  for (ReduceOp reduce : llvm::make_early_inc_range(sweep.getBody().getOps<ReduceOp>())) {
    auto names = [&](const OrderEntry &entry) {
      return entry.part == OrderEntry::Part::In && reduce.getLabel() == entry.label;
    };
    auto tile = cast<RankedTensorType>(reduce.getX().getType());
    auto frag = dyn_cast_or_null<FragAttr>(tile.getEncoding());
    if (!frag || frag.getForm() != Form::Tile || reduce.getResult().getType().getRank() != 1 ||
        llvm::none_of(order, names))
      continue;
    OpBuilder builder(reduce);
    auto quads =
        RankedTensorType::get({tile.getDimSize(0), 4}, tile.getElementType(),
                              FragAttr::get(tile.getContext(), frag.getWarpsM(), frag.getWarpsN(), Form::Quads));
    Value seen = ReduceOp::create(builder, reduce.getLoc(), quads, reduce.getKind(), reduce.getX(), StringAttr());
    reduce.getXMutable().set(seen);
  }
}

static void remarkPlan(SweepOp sweep, const SweepPlan &plan, ArrayRef<OrderEntry> order, ArrayRef<Crossing> crossings) {
  std::string text;
  for (const OrderEntry &entry : order)
    text += (text.empty() ? "" : ", ") + entry.text;
  int64_t registers = 0;
  for (const Crossing &crossing : crossings)
    registers += crossing.registers;
  remark::passed(sweep.getLoc(), inKernel(sweep, "order", DEBUG_TYPE))
      << "scheduled: " << remark::metric("order", text) << remark::metric("lag", plan.lag)
      << remark::metric("carried", crossings.size()) << remark::metric("registers", registers);
  for (const Crossing &crossing : crossings) {
    Operation *op = crossing.value.getDefiningOp();
    if (crossing.registers > kManyRegisters && !plan.named.contains(op))
      remark::missed(op->getLoc(), inKernel(op, "carried", DEBUG_TYPE))
          << "a value without an entry in the order travels to a later step: "
          << remark::metric("op", op->getName().getStringRef()) << remark::metric("registers", crossing.registers);
  }
}

namespace {
/// A sweep to be rotated, once every sweep of the kernel has its plan.
struct Planned {
  std::unique_ptr<SweepBody> body;
  SweepPlan plan;
  SmallVector<OrderEntry> order; ///< empty: fills rings only
};

struct ScheduleSweep : attn::impl::ScheduleSweepPassBase<ScheduleSweep> {
  using ScheduleSweepPassBase::ScheduleSweepPassBase;
  void runOnOperation() override;
  LogicalResult schedule(KernelOp kernel);
};
} // namespace

LogicalResult ScheduleSweep::schedule(KernelOp kernel) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  SmallVector<SweepOp> computing, filling;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>())
    role.walk([&](SweepOp sweep) {
      bool computes = !sweep.getBody().getOps<DotOp>().empty();
      (computes ? computing : filling).push_back(sweep);
    });

  SmallVector<Planned, 0> all;
  llvm::MapVector<Value, int64_t> rings;
  for (SweepOp sweep : computing) {
    SmallVector<StringAttr> text;
    if (schedule)
      text.assign(schedule.getOrder().begin(), schedule.getOrder().end());
    if (text.empty())
      text = synchronousOrder(sweep);
    FailureOr<SmallVector<OrderEntry>> order = parseOrder(text, [&] { return sweep.emitOpError(); });
    if (failed(order))
      return failure();
    splitReductions(sweep, *order);
    auto body = std::make_unique<SweepBody>(sweep);
    FailureOr<SweepPlan> plan = planSweep(*body, *order);
    if (failed(plan))
      return failure();
    for (auto [ring, lag] : plan->rings) {
      auto [it, isNew] = rings.insert({ring, lag});
      if (!isNew && it->second != lag)
        return sweep.emitOpError("waits for a ring with lag ") << lag << ", another sweep with lag " << it->second;
    }
    all.push_back({std::move(body), std::move(*plan), std::move(*order)});
  }
  for (SweepOp sweep : filling) {
    auto isPlanned = [&](AcquireOp acquire) { return rings.contains(acquire.getRing()); };
    if (llvm::none_of(sweep.getBody().getOps<AcquireOp>(), isPlanned))
      continue;
    auto body = std::make_unique<SweepBody>(sweep);
    FailureOr<SweepPlan> plan = planFills(*body, rings);
    if (failed(plan))
      return failure();
    if (!plan->steps.empty())
      all.push_back({std::move(body), std::move(*plan), {}});
  }

  for (Planned &planned : all) {
    SweepOp sweep = planned.body->sweep;
    LDBG() << "rotate by " << planned.plan.lag << ": " << sweep->getLoc();
    Rotation rotation(*planned.body, planned.plan);
    if (!planned.order.empty())
      remarkPlan(sweep, planned.plan, planned.order, rotation.getCrossings());
    rotation.run();
  }
  return success();
}

void ScheduleSweep::runOnOperation() {
  for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
    TargetAttr target = requireTarget(kernel);
    if (!target)
      return signalPassFailure();
    if (target.getFamily() == Family::Wgmma && failed(schedule(kernel)))
      return signalPassFailure();
  }
}
