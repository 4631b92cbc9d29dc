//===- OneRole.cpp - the role that is the whole block
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On mma_sync all warps do the same: the role becomes straight code, and its group's barrier is the block's.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
struct RoleLowering : Lowering<RoleOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(RoleOp role, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Block &body = role.getBody().front();
    rewriter.eraseOp(body.getTerminator());
    Value group = Emit{rewriter, role.getLoc()}.i32(0);
    rewriter.inlineBlockBefore(&body, role, group);
    rewriter.eraseOp(role);
    return success();
  }
};

struct SyncLowering : Lowering<SyncOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(SyncOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::Barrier0Op>(op); // either scope: the one group is the block
    return success();
  }
};
} // namespace

void attn::nvvm::enterOneRole(const Emit &e, KernelOp, ValueRange, KernelState &state) {
  state.warp = e.div(state.thread, kWarpLanes);
}

LogicalResult attn::nvvm::checkOneRole(Operation *op) {
  auto role = dyn_cast<RoleOp>(op);
  if (!role)
    return success();
  const int64_t warps = *op->getParentOfType<KernelOp>().getThreads() / kWarpLanes;
  if (role.getFirstWarp() != 0 || int64_t(role.getWarps()) != warps || role.getGroups() != 1)
    return role.emitOpError("must be one group of all ")
           << warps << " warps of the block on this family, got " << role.getGroups() << " of warps "
           << role.getFirstWarp() << " + " << role.getWarps();
  return success();
}

void attn::nvvm::populateOneRolePatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<RoleLowering, SyncLowering>(types, kernels, patterns.getContext());
}
