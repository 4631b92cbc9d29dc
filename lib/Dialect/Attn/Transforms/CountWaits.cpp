//===- CountWaits.cpp - count the copies still open at every wait
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async groups complete in order, so waiting for one means allowing only the younger ones to be open. Each copy is
// one group, whatever its guard says. With two slots of K and V:
//
//   wait K[t]    open: K[t] V[t]              leaves 1
//   copy K[t+1]
//   wait V[t]    open: V[t] K[t+1]            leaves 1
//   copy V[t+1]
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Analysis/InFlight.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

namespace attn {
#define GEN_PASS_DEF_COUNTWAITSPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-count-waits"

namespace {
struct CountWaits : attn::impl::CountWaitsPassBase<CountWaits> {
  using CountWaitsPassBase::CountWaitsPassBase;
  void runOnOperation() override;
};
} // namespace

void CountWaits::runOnOperation() {
  Builder builder(&getContext());
  WalkResult result = getOperation().walk([&](RoleOp role) -> WalkResult {
    if (hasSeveralRoles(role->getParentOfType<KernelOp>()))
      return WalkResult::advance();
    InFlight inFlight(role);
    for (const RingProblem &problem : inFlight.getProblems())
      problem.op->emitOpError(problem.message);
    if (!inFlight.getProblems().empty())
      return WalkResult::interrupt();
    role.walk([&](WaitOp wait) {
      if (std::optional<int64_t> leaves = inFlight.getLeaves(wait)) {
        wait.setLeavesAttr(builder.getI64IntegerAttr(*leaves));
        remark::analysis(wait.getLoc(), remark::RemarkOpts::name("wait").category(DEBUG_TYPE))
            << "copies that may stay open: " << remark::metric("leaves", *leaves);
      }
    });
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
