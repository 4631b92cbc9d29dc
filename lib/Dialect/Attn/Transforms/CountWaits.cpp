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

#include "KernelRemark.h"

#include "attn/Analysis/InFlight.h"
#include "attn/Analysis/RingProtocol.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
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

/// Reports what is wrong with the rings of a kernel.
static LogicalResult report(ArrayRef<RingProblem> problems) {
  for (const RingProblem &problem : problems)
    problem.op->emitOpError(problem.message);
  return success(problems.empty());
}

void CountWaits::runOnOperation() {
  Builder builder(&getContext());
  getOperation().walk([&](KernelOp kernel) {
    if (!hasSeveralRoles(kernel))
      return;
    RingCheck check = checkRingProtocol(kernel);
    if (failed(report(check.problems)))
      signalPassFailure();
    else if (!check.unchecked.empty())
      remark::missed(kernel.getLoc(), inKernel(kernel, "rings", DEBUG_TYPE))
          << "rings not checked: " << remark::reason("{0}", check.unchecked);
  });
  getOperation().walk([&](RoleOp role) {
    if (hasSeveralRoles(role->getParentOfType<KernelOp>()))
      return WalkResult::advance();
    InFlight inFlight(role);
    if (failed(report(inFlight.getProblems()))) {
      signalPassFailure();
      return WalkResult::interrupt();
    }
    role.walk([&](WaitOp wait) {
      if (std::optional<int64_t> leaves = inFlight.getLeaves(wait)) {
        wait.setLeavesAttr(builder.getI64IntegerAttr(*leaves));
        remark::analysis(wait.getLoc(), inKernel(wait, "wait", DEBUG_TYPE))
            << "copies that may stay open: " << remark::metric("leaves", *leaves);
      }
    });
    return WalkResult::advance();
  });
}
