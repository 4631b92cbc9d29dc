//===- VerifyStage.cpp - check what a stage promises
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function per stage. A broken promise names the pass that should have kept it; what a user can do wrong is told
// earlier, by verifiers and passes.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Analysis/InFlight.h"
#include "attn/Analysis/OutputWrites.h"
#include "attn/Analysis/PendingDots.h"
#include "attn/Analysis/RingProtocol.h"
#include "attn/Analysis/SharedAllocs.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {
#define GEN_PASS_DEF_VERIFYSTAGEPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-verify-stage"

namespace {
class Checker {
public:
  Checker(ModuleOp module, Stage stage) : module(module), stage(stage) {}
  LogicalResult run();

private:
  void spec();
  void tiled();
  void mapped();
  void partitioned();
  void lowered(ArrayRef<StringRef> dialects, StringRef pass);

  void target();
  void outputs();
  void kernelBody(KernelOp kernel);
  void roles(KernelOp kernel);
  void memory(KernelOp kernel);
  void rings(RoleOp role);
  void protocol(KernelOp kernel);

  /// Reports a broken promise.
  void broken(Operation *op, StringRef pass, const Twine &what) {
    op->emitOpError("breaks what stage ")
        << getStageInfo(stage).name << " promises: " << what << "; " << pass << " should have seen to it";
    ok = false;
  }
  /// Reports every op of the given types.
  template <typename... Ops> void none(StringRef pass) {
    module.walk([&](Operation *op) {
      if (isa<Ops...>(op))
        broken(op, pass, "no " + op->getName().getStringRef() + " is left");
    });
  }
  void noFragments(StringRef pass);

  ModuleOp module;
  Stage stage;
  bool ok = true;
};
} // namespace

/// Calls `check` for every value a region of `op` defines.
static void forEachValue(Operation *op, llvm::function_ref<void(Value, Operation *)> check) {
  op->walk([&](Operation *inner) {
    for (Value result : inner->getResults())
      check(result, inner);
    for (Region &region : inner->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          check(argument, inner);
  });
}

static bool hasFragment(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa_and_nonnull<FragAttr>(type.getEncoding());
}

void Checker::target() {
  if (!module->getAttrOfType<TargetAttr>(AttnDialect::kTargetAttr))
    broken(module, "attn-set-target", "the module names its machine in " + AttnDialect::kTargetAttr);
}

void Checker::outputs() {
  for (auto function : module.getOps<func::FuncOp>())
    for (BlockArgument output : getUnwrittenOutputs(function)) {
      auto name = function.getArgAttrOfType<StringAttr>(output.getArgNumber(), AttnDialect::kNameAttr);
      broken(function, "whoever wrote it",
             "some store writes output " +
                 (name ? "'" + name.getValue().str() + "'" : std::to_string(output.getArgNumber())));
    }
}

void Checker::noFragments(StringRef pass) {
  forEachValue(module, [&](Value value, Operation *op) {
    if (hasFragment(value))
      broken(op, pass, "tiles are not spread over registers yet");
  });
}

void Checker::spec() {
  module.walk([&](Operation *op) {
    if (isa<AttnDialect>(op->getDialect()) && !isa<AttentionOp, GatherOp, YieldOp>(op))
      broken(op, "whoever wrote it", "no tile, kernel or buffer is there yet");
  });
}

void Checker::tiled() {
  target();
  outputs();
  none<SdpaOp>("attn-tile-forward");
  none<SdpaGradOp>("attn-tile-backward");
  none<KernelOp, LaunchOp, TilesOp, RoleOp, AllocOp>("whoever wrote it");
  noFragments("whoever wrote it");
  for (auto function : module.getOps<func::FuncOp>()) {
    auto hasNone = [&](scf::ForallOp nest) {
      return !nest->hasAttr(AttnDialect::kScheduleAttr) && !function->hasAttr(AttnDialect::kScheduleAttr);
    };
    if (llvm::any_of(function.getOps<scf::ForallOp>(), hasNone))
      broken(function, "attn-choose-schedule", "its loops say which schedule they were built from");
  }
}

void Checker::mapped() {
  target();
  outputs();
  none<SdpaOp>("attn-tile-forward");
  none<SdpaGradOp>("attn-tile-backward");
  none<scf::ForallOp>("attn-map-to-grid");
  none<RoleOp, AllocOp>("whoever wrote it");
  noFragments("whoever wrote it");
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    if (!kernel.getScheduleAttr())
      broken(kernel, "attn-map-to-grid", "a kernel keeps its schedule");
    if (kernel.getBody().getOps<TilesOp>().empty())
      broken(kernel, "attn-map-to-grid", "a kernel walks a grid of tiles");
  }
  module.walk([&](LaunchOp launch) {
    auto kernel = module.lookupSymbol<KernelOp>(launch.getKernel());
    if (!kernel)
      return broken(launch, "attn-map-to-grid", "a launch names a kernel of the module");
    if (launch.getArgs().getTypes() != kernel.getBody().getArgumentTypes())
      broken(launch, "attn-map-to-grid", "a launch passes what its kernel takes");
  });
}

//===----------------------------------------------------------------------===//
// partitioned
//===----------------------------------------------------------------------===//

/// K1: in front of the roles only sizes, rings and constants.
void Checker::kernelBody(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front()) {
    if (isa<RoleOp, arith::ConstantOp>(op))
      continue;
    if (llvm::any_of(op.getResultTypes(), [](Type type) { return isa<TensorType>(type); }))
      broken(&op, "attn-partition-roles", "tiles are computed in roles only");
  }
}

/// Every warp has a role (one only: that is U1, which the op checks), and every tensor in a role is spread over its
/// warps.
void Checker::roles(KernelOp kernel) {
  llvm::SmallVector<bool> taken(kernel.getThreads().value_or(0) / 32);
  for (RoleOp role : kernel.getBody().getOps<RoleOp>()) {
    for (int64_t warp = role.getFirstWarp(), end = warp + role.getWarps(); warp < end; ++warp) {
      if (warp >= static_cast<int64_t>(taken.size())) {
        broken(role, "attn-plan-memory", "the block has threads for all warps of its roles");
        break;
      }
      taken[warp] = true;
    }
    forEachValue(role, [&](Value value, Operation *op) {
      if (isa<TensorType>(value.getType()) && !hasFragment(value))
        broken(op, "attn-assign-fragments", "every tensor in a role is spread over registers");
    });
    role.walk([&](DotOp dot) {
      if (!isa<BufType>(dot.getB().getType()))
        broken(dot, "attn-partition-roles", "a product reads B from shared memory");
    });
    if (!hasSeveralRoles(kernel))
      rings(role);
  }
  if (taken.empty() || llvm::is_contained(taken, false))
    broken(kernel, "attn-partition-roles", "every warp of the block has a role");
}

/// A1, A2.
void Checker::memory(KernelOp kernel) {
  if (!kernel.getSmemBytes() || !kernel.getThreads())
    return broken(kernel, "attn-plan-memory", "a kernel says smem_bytes and threads");
  TargetAttr target = getTarget(kernel);
  if (target && target.getSmem() && *kernel.getSmemBytes() > static_cast<uint64_t>(target.getSmem()))
    broken(kernel, "attn-plan-memory", "a block fits the target's shared memory");
  SharedAllocs allocs(kernel);
  SmallVector<AllocOp> placed;
  /// Barriers come behind all data, each ring's behind those before.
  int64_t dataEnd = 0, barrierEnd = 0;
  kernel.walk([&](AllocOp alloc) {
    int64_t align = getSharedAlignment(alloc);
    if (!alloc.getOffset())
      return broken(alloc, "attn-plan-memory", "every alloc has an offset");
    if (*alloc.getOffset() % align)
      return broken(alloc, "attn-plan-memory", "its offset is a multiple of " + Twine(align));
    int64_t begin = *alloc.getOffset(), end = begin + getSharedBytes(alloc);
    if (end > static_cast<int64_t>(*kernel.getSmemBytes()))
      broken(alloc, "attn-plan-memory", "every alloc ends within smem_bytes");
    for (AllocOp other : placed) {
      int64_t otherBegin = *other.getOffset(), otherEnd = otherBegin + getSharedBytes(other);
      if (begin < otherEnd && otherBegin < end && allocs.getRoot(alloc) != allocs.getRoot(other))
        broken(alloc, "attn-plan-memory", "only allocs joined by 'over' share bytes");
    }
    placed.push_back(alloc);
    dataEnd = std::max(dataEnd, end);
  });
  if (!target || target.getFamily() != Family::Wgmma)
    return;
  kernel.walk([&](AllocOp alloc) {
    int64_t bytes = getBarrierBytes(alloc);
    if (!bytes)
      return;
    if (!alloc.getBarriers())
      return broken(alloc, "attn-plan-memory", "a ring of the kernel has barriers");
    int64_t begin = *alloc.getBarriers(), end = begin + bytes;
    if (begin < std::max(dataEnd, barrierEnd) || end > static_cast<int64_t>(*kernel.getSmemBytes()))
      broken(alloc, "attn-plan-memory", "barriers lie behind all data and other barriers, within smem_bytes");
    barrierEnd = end;
  });
}

/// G1, G2, V1, V2 and what roles expect of each other, recomputed.
void Checker::protocol(KernelOp kernel) {
  if (failed(checkPendingDots(kernel)))
    ok = false;
  for (const RingProblem &problem : checkRingProtocol(kernel).problems) {
    problem.op->emitOpError(problem.message) << "; attn-partition-roles or attn-schedule-sweep should have ordered it";
    ok = false;
  }
}

/// V1, G2 and the order of fills and reads, recomputed.
void Checker::rings(RoleOp role) {
  InFlight inFlight(role);
  for (const RingProblem &problem : inFlight.getProblems()) {
    problem.op->emitOpError(problem.message) << "; attn-partition-roles should have ordered it";
    ok = false;
  }
  role.walk([&](WaitOp wait) {
    std::optional<int64_t> allowed = inFlight.getLeaves(wait);
    if (!allowed)
      return;
    if (!wait.getLeaves())
      broken(wait, "attn-count-waits", "a wait says how many copies it leaves open");
    else if (static_cast<int64_t>(*wait.getLeaves()) > *allowed)
      broken(wait, "attn-count-waits",
             "a wait leaves only younger copies open, here " + Twine(*allowed) + ", got " + Twine(*wait.getLeaves()));
  });
}

void Checker::partitioned() {
  target();
  outputs();
  none<SweepOp>("attn-split-sweeps");
  none<TilesOp>("attn-lower-tiles");
  for (KernelOp kernel : module.getOps<KernelOp>()) {
    if (kernel.getBody().getOps<RoleOp>().empty()) {
      broken(kernel, "attn-partition-roles", "a kernel has roles");
      continue;
    }
    kernelBody(kernel);
    memory(kernel);
    if (kernel.getThreads())
      roles(kernel);
    if (hasSeveralRoles(kernel))
      protocol(kernel);
  }
}

//===----------------------------------------------------------------------===//
// nvvm, llvm
//===----------------------------------------------------------------------===//

/// Beside the host functions, which the manifest is printed from, only `dialects`.
void Checker::lowered(ArrayRef<StringRef> dialects, StringRef pass) {
  module.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    if (isa<func::FuncOp>(op))
      return WalkResult::skip();
    if (!isa<ModuleOp>(op) && !llvm::is_contained(dialects, op->getName().getDialectNamespace())) {
      broken(op, pass, "device code is " + llvm::join(dialects, " and ") + " only");
      return WalkResult::skip();
    }
    return WalkResult::advance();
  });
  none<KernelOp>(pass);
}

LogicalResult Checker::run() {
  switch (stage) {
  case Stage::Spec:
    spec();
    break;
  case Stage::Tiled:
    tiled();
    break;
  case Stage::Mapped:
    mapped();
    break;
  case Stage::Partitioned:
    partitioned();
    break;
  case Stage::NVVM:
    lowered({"llvm", "nvvm"}, "convert-attn-to-nvvm");
    break;
  case Stage::LLVM:
    lowered({"llvm"}, "convert-attn-to-cpu");
    break;
  case Stage::PTX:
  case Stage::Object:
    break; // text and code, no IR
  }
  return success(ok);
}

namespace {
struct VerifyStage : attn::impl::VerifyStagePassBase<VerifyStage> {
  using VerifyStagePassBase::VerifyStagePassBase;
  void runOnOperation() override {
    const Stage at = stage;
    if (failed(Checker(getOperation(), at).run()))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
