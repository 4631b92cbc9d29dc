//===- PlanMemory.cpp - place every buffer in shared memory
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Allocs that share bytes (`over`) form one region as large as the largest of them; regions follow one another:
//
//   0            32768               65536              98304
//   | Q, then O  | K slot 0 | slot 1 | V slot 0 | slot 1 |
//
// An alloc inside a role is one per group: the region holds `groups` of them side by side.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
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
  int64_t bytes = 0, align = 128, offset = 0;
};
} // namespace

/// Swizzles of every span repeat within 1024 bytes, so a region that starts there can be addressed by row and chunk.
static int64_t getAlignment(AllocOp alloc) {
  auto swizzled = [](Type buf) { return cast<BufType>(buf).getSwizzle() != 0; };
  Type type = alloc.getResult().getType();
  if (auto ring = dyn_cast<RingType>(type))
    return llvm::any_of(ring.getBufs(), swizzled) ? 1024 : 128;
  return swizzled(type) ? 1024 : 128;
}

static int64_t getBytes(AllocOp alloc) {
  Type type = alloc.getResult().getType();
  int64_t bytes = 0;
  if (auto ring = dyn_cast<RingType>(type))
    bytes = ring.getDepth() * ring.getSlotBytes();
  else
    bytes = llvm::alignTo(cast<BufType>(type).getBytes(), 128);
  auto role = alloc->getParentOfType<RoleOp>();
  return role ? bytes * role.getGroups() : bytes;
}

/// "Q": 1 x tensor<128x128xbf16>
static std::string describe(AllocOp alloc) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '"' << alloc.getLabel().value_or("unnamed") << "\": ";
  if (auto ring = dyn_cast<RingType>(alloc.getResult().getType()))
    llvm::interleave(
        ring.getBufs(), os, [&](Type buf) { os << ring.getDepth() << " x " << cast<BufType>(buf).getTile(); }, " + ");
  else
    os << cast<BufType>(alloc.getResult().getType()).getTile();
  return text;
}

/// The regions of a kernel, in the order of their first allocs, placed one behind the other.
static FailureOr<SmallVector<SharedRange>> makeRegions(KernelOp kernel) {
  llvm::StringMap<AllocOp> byLabel;
  WalkResult labels = kernel.walk([&](AllocOp alloc) -> WalkResult {
    if (alloc.getLabel() && !byLabel.try_emplace(*alloc.getLabel(), alloc).second) {
      InFlightDiagnostic diag = alloc.emitOpError("expects a label of its own, got \"") << *alloc.getLabel() << '"';
      diag.attachNote(byLabel[*alloc.getLabel()].getLoc()) << "the first one is here";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (labels.wasInterrupted())
    return failure();

  llvm::MapVector<Operation *, SharedRange> regions;
  WalkResult result = kernel.walk<WalkOrder::PreOrder>([&](AllocOp alloc) -> WalkResult {
    AllocOp root = alloc;
    llvm::SmallPtrSet<Operation *, 4> seen;
    while (root.getOver()) {
      AllocOp below = byLabel.lookup(*root.getOver());
      if (!below || !seen.insert(root).second)
        return alloc.emitOpError("expects 'over' to name another alloc of the kernel, got \"")
                   << *root.getOver() << '"',
               WalkResult::interrupt();
      root = below;
    }
    SharedRange &region = regions[root];
    region.allocs.push_back(alloc);
    region.bytes = std::max(region.bytes, getBytes(alloc));
    region.align = std::max(region.align, getAlignment(alloc));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();

  SmallVector<SharedRange> placed;
  int64_t end = 0;
  for (auto &[root, region] : regions) {
    region.offset = llvm::alignTo(end, region.align);
    end = region.offset + region.bytes;
    placed.push_back(region);
  }
  return placed;
}

static LogicalResult planKernel(KernelOp kernel, TargetAttr target) {
  int64_t warps = 0;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>())
    warps = std::max<int64_t>(warps, role.getFirstWarp() + role.getWarps());
  if (!warps)
    return kernel.emitOpError("has no roles to plan for; run attn-partition-roles first");
  FailureOr<SmallVector<SharedRange>> regions = makeRegions(kernel);
  if (failed(regions))
    return failure();

  int64_t bytes = regions->empty() ? 0 : regions->back().offset + regions->back().bytes;
  if (bytes > target.getSmem()) {
    InFlightDiagnostic diag = kernel.emitOpError("needs ") << bytes << " bytes of shared memory, a block on "
                                                           << target.getChip() << " may use " << target.getSmem();
    for (SharedRange &region : *regions)
      for (AllocOp alloc : region.allocs)
        diag.attachNote(alloc.getLoc()) << "at " << region.offset << ", " << getBytes(alloc)
                                        << " bytes: " << describe(alloc);
    return diag;
  }

  Builder builder(kernel.getContext());
  std::string plan;
  for (SharedRange &region : *regions)
    for (AllocOp alloc : region.allocs) {
      alloc.setOffsetAttr(builder.getI64IntegerAttr(region.offset));
      plan += (plan.empty() ? "" : "; ") + std::to_string(region.offset) + " + " + std::to_string(getBytes(alloc)) +
              " " + describe(alloc);
    }
  kernel.setSmemBytesAttr(builder.getI64IntegerAttr(bytes));
  kernel.setThreadsAttr(builder.getI64IntegerAttr(32 * warps));
  remark::passed(kernel.getLoc(), remark::RemarkOpts::name("plan").category(DEBUG_TYPE))
      << remark::metric("smem_bytes", bytes) << remark::metric("threads", 32 * warps) << remark::metric("plan", plan);

  // What the schedule hoped for, and what the SM has; the driver keeps 1024 bytes of every block.
  int64_t blocks = kernel.getScheduleAttr() ? kernel.getScheduleAttr().getBlocks() : 1;
  if (target.getSmemSm() && blocks * (bytes + 1024) > target.getSmemSm())
    remark::missed(kernel.getLoc(), remark::RemarkOpts::name("blocks").category(DEBUG_TYPE))
        << "shared memory of an SM does not hold the blocks of the schedule: " << remark::metric("blocks", blocks)
        << remark::metric("need", blocks * (bytes + 1024)) << remark::metric("smem_sm", target.getSmemSm());
  return success();
}

namespace {
struct PlanMemory : attn::impl::PlanMemoryPassBase<PlanMemory> {
  using PlanMemoryPassBase::PlanMemoryPassBase;
  void runOnOperation() override;
};
} // namespace

void PlanMemory::runOnOperation() {
  auto target = getOperation()->getAttrOfType<TargetAttr>(AttnDialect::kTargetAttr);
  for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
    if (!target) {
      kernel.emitOpError("needs a target on its module, got none; run attn-set-target first");
      return signalPassFailure();
    }
    LDBG() << "plan " << kernel.getSymName();
    if (failed(planKernel(kernel, target)))
      return signalPassFailure();
  }
}
