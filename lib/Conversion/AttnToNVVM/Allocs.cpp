//===- Allocs.cpp - shared memory as addresses
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An alloc in front of the roles is the block's; one inside a role is every group's, side by side:
//
//   offset            + stride
//   | of group 0      | of group 1      | ...
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "attn/Analysis/SharedAllocs.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
struct AllocLowering : Lowering<AllocOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(AllocOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    const KernelState &state = kernels.of(op);
    Value data = e.add(state.smem, *op.getOffset());
    if (state.groups > 1)
      data = e.add(data, e.mul(state.group, getGroupStride(op)));
    if (!isa<RingType>(op.getType())) {
      rewriter.replaceOp(op, data);
      return success();
    }
    Value barriers = op.getBarriers() ? e.add(state.smem, *op.getBarriers()) : data;
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>{data, barriers}});
    return success();
  }
};
} // namespace

LogicalResult attn::nvvm::checkAlloc(Operation *op) {
  auto alloc = dyn_cast<AllocOp>(op);
  if (alloc && !alloc.getOffset())
    return alloc.emitOpError("has no offset; run attn-plan-memory first");
  return success();
}

void attn::nvvm::populateAllocPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<AllocLowering>(types, kernels, patterns.getContext());
}
