//===- Rings.cpp - rings as cp.async groups and the block's barrier
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On mma_sync every thread copies its share of an item and commits it as one group (Copies.cpp), so
//
//   wait [n] leaves k    cp.async.wait_group k   this thread's share of item n has landed
//                        bar.sync 0              so has everybody's; and everybody is done with what came before
//   acquire, release     nothing                 item n - depth was read before the barrier of the last wait
//
// Item n lives in slot n % depth.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
struct AcquireLowering : Lowering<AcquireOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(AcquireOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op,
        Ring::get(op.getRing().getType(), adaptor.getRing()).bufs({rewriter, op.getLoc()}, only(adaptor.getItem())));
    return success();
  }
};

struct WaitLowering : Lowering<WaitOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(WaitOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    // Of waits in a row the last one that leaves the fewest open speaks for all.
    auto next = dyn_cast<WaitOp>(op->getNextNode());
    if (!next || *next.getLeaves() > *op.getLeaves()) {
      NVVM::CpAsyncWaitGroupOp::create(rewriter, op.getLoc(), int32_t(*op.getLeaves()));
      NVVM::Barrier0Op::create(rewriter, op.getLoc());
    }
    rewriter.replaceOp(
        op,
        Ring::get(op.getRing().getType(), adaptor.getRing()).bufs({rewriter, op.getLoc()}, only(adaptor.getItem())));
    return success();
  }
};

struct ReleaseLowering : Lowering<ReleaseOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(ReleaseOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

LogicalResult attn::nvvm::checkCpAsyncRing(Operation *op) {
  if (auto wait = dyn_cast<WaitOp>(op))
    if (!wait.getLeaves())
      return wait.emitOpError("does not say how many newer copies it leaves open; run attn-count-waits first");
  return success();
}

void attn::nvvm::populateCpAsyncRingPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<AcquireLowering, WaitLowering, ReleaseLowering>(types, kernels, patterns.getContext());
}
