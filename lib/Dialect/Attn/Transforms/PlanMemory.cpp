//===- PlanMemory.cpp - place every buffer in shared memory
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allocs that share bytes (`over`) form one range as large as the largest of them; ranges follow one another, swizzled
// ones first, and behind them the barriers of rings:
//
//   0            32768               65536              98304               131072
//   | Q, then O  | K slot 0 | slot 1 | V slot 0 | slot 1 | Q full | Q empty | K full full | K empty empty | ..
//
// An alloc inside a role is one per group: the range holds `groups` of them side by side.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "KernelRemark.h"

#include "attn/Analysis/SharedAllocs.h"
#include "attn/Analysis/Swizzle.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "attn/Facts/Facts.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-plan-memory"

namespace {
/// Bytes that several allocs use one after another.
struct SharedRange {
  SmallVector<AllocOp> allocs;
  int64_t bytes = 0, align = facts::kBankBytes, offset = 0;
};
/// All of a kernel.
struct SharedPlan {
  SmallVector<SharedRange> ranges;
  SmallVector<std::pair<AllocOp, int64_t>> barriers; ///< offsets
  int64_t barrierBegin = 0, barrierBytes = 0, bytes = 0;
};
} // namespace

/// The ranges of a kernel, in the order of their first allocs, placed one behind the other.
static FailureOr<SharedPlan> placeAllocs(KernelOp kernel, bool barriers) {
  SharedAllocs allocs(kernel);
  llvm::MapVector<Operation *, SharedRange> ranges;
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](AllocOp alloc) -> WalkResult {
    if (AllocOp first = alloc.getLabel() ? allocs.lookup(*alloc.getLabel()) : alloc; first != alloc) {
      InFlightDiagnostic diag = alloc.emitOpError("expects a label of its own, got \"") << *alloc.getLabel() << '"';
      diag.attachNote(first.getLoc()) << "the first one is here";
      return WalkResult::interrupt();
    }
    AllocOp root = allocs.getRoot(alloc);
    if (!root) {
      alloc.emitOpError("expects 'over' to lead to another alloc of the kernel, got \"") << *alloc.getOver() << '"';
      return WalkResult::interrupt();
    }
    SharedRange &range = ranges[root];
    range.allocs.push_back(alloc);
    range.bytes = std::max(range.bytes, getSharedBytes(alloc));
    range.align = std::max(range.align, getSharedAlignment(alloc));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();

  SharedPlan plan;
  // The stricter first: nothing is lost between two of them.
  for (int64_t align : {kSwizzleBytes, facts::kBankBytes})
    for (auto &[root, range] : ranges) {
      if (range.align != align)
        continue;
      range.offset = llvm::alignTo(plan.bytes, align);
      plan.bytes = range.offset + range.bytes;
      plan.ranges.push_back(range);
    }
  if (!barriers)
    return plan;
  int64_t end = plan.barrierBegin = llvm::alignTo(plan.bytes, facts::kBarrierBytes);
  kernel.walk([&](AllocOp alloc) {
    if (int64_t bytes = getBarrierBytes(alloc)) {
      plan.barriers.emplace_back(alloc, end);
      end += bytes;
    }
  });
  plan.barrierBytes = end - plan.barrierBegin;
  plan.bytes = llvm::alignTo(end, facts::kBankBytes);
  return plan;
}

/// Products read a tile eight rows of 16 bytes at a time (ldmatrix): once if the rows lie in different banks.
static void checkBanks(AllocOp alloc) {
  Type type = alloc.getResult().getType();
  ArrayRef<Type> bufs = type;
  if (auto ring = dyn_cast<RingType>(type))
    bufs = ring.getBufs();
  for (Type each : bufs) {
    auto buf = cast<BufType>(each);
    RankedTensorType tile = buf.getTile();
    if (tile.getRank() != 2 || tile.getDimSize(0) < 8)
      continue;
    int64_t rowBytes = tile.getDimSize(1) * tile.getElementTypeBitWidth() / 8;
    TileLayout layout{tile.getDimSize(0), rowBytes, buf.getSwizzle()};
    int64_t passes = bankPasses(8, kChunkBytes, [&](int64_t row) { return layout.address(row, 0); });
    if (passes > 1)
      remark::missed(alloc.getLoc(), inKernel(alloc, "banks", DEBUG_TYPE))
          << "eight rows of the tile collide in the banks: " << remark::metric("buf", describeAlloc(alloc))
          << remark::metric("passes", passes);
  }
}

static LogicalResult planKernel(KernelOp kernel, TargetAttr target) {
  int64_t warps = 0;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>())
    warps = std::max<int64_t>(warps, role.getFirstWarp() + role.getWarps());
  if (!warps)
    return kernel.emitOpError("has no roles to plan for; run attn-partition-roles first");
  FailureOr<SharedPlan> plan = placeAllocs(kernel, target.getFamily() == Family::Wgmma);
  if (failed(plan))
    return failure();

  int64_t bytes = plan->bytes;
  if (bytes > target.getSmem()) {
    InFlightDiagnostic diag = kernel.emitOpError("needs ") << bytes << " bytes of shared memory, a block on "
                                                           << target.getChip() << " may use " << target.getSmem();
    for (SharedRange &range : plan->ranges)
      for (AllocOp alloc : range.allocs)
        diag.attachNote(alloc.getLoc()) << "at " << range.offset << ", " << getSharedBytes(alloc)
                                        << " bytes: " << describeAlloc(alloc);
    if (plan->barrierBytes)
      diag.attachNote(kernel.getLoc()) << "at " << plan->barrierBegin << ", " << plan->barrierBytes
                                       << " bytes: barriers of the rings";
    return diag;
  }

  Builder builder(kernel.getContext());
  std::string text;
  auto add = [&](int64_t offset, int64_t bytes, const Twine &what) {
    text += (text.empty() ? Twine() : Twine("; ")).str() + (Twine(offset) + " + " + Twine(bytes) + " " + what).str();
  };
  for (SharedRange &range : plan->ranges)
    for (AllocOp alloc : range.allocs) {
      checkBanks(alloc);
      alloc.setOffsetAttr(builder.getI64IntegerAttr(range.offset));
      add(range.offset, getSharedBytes(alloc), describeAlloc(alloc));
    }
  for (auto [alloc, offset] : plan->barriers)
    alloc.setBarriersAttr(builder.getI64IntegerAttr(offset));
  if (plan->barrierBytes)
    add(plan->barrierBegin, plan->barrierBytes, "barriers");
  kernel.setSmemBytesAttr(builder.getI64IntegerAttr(bytes));
  kernel.setThreadsAttr(builder.getI64IntegerAttr(facts::kWarpLanes * warps));
  remark::passed(kernel.getLoc(), inKernel(kernel, "plan", DEBUG_TYPE))
      << remark::metric("smem_bytes", bytes) << remark::metric("threads", facts::kWarpLanes * warps)
      << remark::metric("plan", text);

  // What the schedule hoped for, and what the SM has; the driver keeps a part of every block.
  int64_t blocks = kernel.getScheduleAttr() ? kernel.getScheduleAttr().getBlocks() : 1;
  if (target.getSmemSm() && blocks * (bytes + facts::kReservedSmemPerBlock) > target.getSmemSm())
    remark::missed(kernel.getLoc(), inKernel(kernel, "blocks", DEBUG_TYPE))
        << "shared memory of an SM does not hold the blocks of the schedule: " << remark::metric("blocks", blocks)
        << remark::metric("need", blocks * (bytes + facts::kReservedSmemPerBlock))
        << remark::metric("smem_sm", target.getSmemSm());
  return success();
}

namespace {
struct PlanMemory : attn::impl::PlanMemoryPassBase<PlanMemory> {
  using PlanMemoryPassBase::PlanMemoryPassBase;
  void runOnOperation() override;
};
} // namespace

void PlanMemory::runOnOperation() {
  for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
    TargetAttr target = requireTarget(kernel);
    if (!target)
      return signalPassFailure();
    LDBG() << "plan " << kernel.getSymName();
    if (failed(planKernel(kernel, target)))
      return signalPassFailure();
  }
}
