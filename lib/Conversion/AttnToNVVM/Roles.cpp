//===- Roles.cpp - what which warps of a block do
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles follow one another by warp, and every branch is the same for all threads of a warp:
//
//   if (warp < 4) { setmaxnreg.dec; if (thread == 0) { producer } }
//   else          { setmaxnreg.inc; compute }
//
// The warp's number goes through a shuffle: from then on the assembler knows that it is uniform, and so are the group,
// the addresses and the descriptors that follow from it.
//
// Named barriers: 0 is the block's. A role of G groups takes 2 G from the next free one on: G for turns, then G for the
// groups. A turn is a barrier of two groups: the one that takes it waits, the one before arrives and goes on.
//
//===----------------------------------------------------------------------===//

#include "InlineAsm.h"
#include "Slots.h"

#include "attn/Analysis/RegisterEstimate.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "attn/Facts/Facts.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
constexpr int64_t kNamedBarriers = 16;

/// Named barriers a role takes, one for all its groups and two for each; one thread needs none.
int64_t namedBarriersOf(RoleOp role) { return role.getElect() ? 0 : 1 + 2 * role.getGroups(); }

bool takesTurns(RoleOp role) {
  return role.getGroups() > 1 && role.getBody().walk([](TurnOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

Value turnBarrier(const Emit &e, const KernelState &state, Value group) { return e.add(group, state.namedBarriers); }
Value groupBarrier(const Emit &e, const KernelState &state) {
  return e.add(state.group, state.namedBarriers + state.groups);
}
Value roleBarrier(const Emit &e, const KernelState &state) { return e.i32(state.namedBarriers + 2 * state.groups); }
/// Both groups of a turn.
int64_t turnThreads(const KernelState &state) { return 2 * state.threads(); }

struct RoleLowering : Lowering<RoleOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(RoleOp role, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = role.getLoc();
    const KernelState block = kernels.of(role);
    const int64_t first = role.getFirstWarp();
    Emit outside{rewriter, loc};

    // What follows this role is for the warps behind it.
    const bool last = !isa<RoleOp>(role->getNextNode());
    Value mine = last ? arith::ConstantIntOp::create(rewriter, loc, 1, 1).getResult()
                      : outside.less(block.warp, outside.i32(first + role.getWarps()));
    auto branch = scf::IfOp::create(rewriter, loc, mine, /*withElseRegion=*/!last);
    if (!last) {
      Operation *end = branch.elseBlock()->getTerminator();
      while (auto other = dyn_cast<RoleOp>(role->getNextNode()))
        rewriter.moveOpBefore(other, end);
      KernelState &rest = kernels.create(branch.getElseRegion());
      rest = block;
      rest.namedBarriers += namedBarriersOf(role);
    }

    rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
    Emit e{rewriter, loc};
    KernelState state = block;
    state.groups = role.getGroups();
    state.warps = role.getWarps() / state.groups;
    state.elected = role.getElect();
    Value warp = e.add(block.warp, -first), thread = e.add(block.thread, -first * kWarpLanes);
    state.group = state.groups > 1 ? e.div(warp, state.warps) : e.i32(0);
    state.warp = state.groups > 1 ? e.rem(warp, state.warps) : warp;
    state.thread = state.groups > 1 ? e.rem(thread, state.threads()) : thread;
    setRegisters(e, role, block.registers);
    if (takesTurns(role))
      openTurns(e, state);

    Block *into = branch.thenBlock();
    if (state.elected) {
      Value one = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, thread, e.i32(0));
      into = scf::IfOp::create(rewriter, loc, one, /*withElseRegion=*/false).thenBlock();
    }
    kernels.create(*into->getParent()) = state;
    Block &body = role.getBody().front();
    rewriter.eraseOp(body.getTerminator());
    rewriter.inlineBlockBefore(&body, into->getTerminator(), state.group);
    rewriter.eraseOp(role);
    return success();
  }

  static void setRegisters(const Emit &e, RoleOp role, int64_t atLaunch) {
    std::optional<int64_t> regs = role.getRegs();
    if (regs && *regs != atLaunch)
      NVVM::SetMaxRegisterOp::create(e.b, e.loc, *regs,
                                     *regs > atLaunch ? NVVM::SetMaxRegisterAction::increase
                                                      : NVVM::SetMaxRegisterAction::decrease);
  }

  /// Nobody is before group 0 the first time: it arrives at its own barrier.
  static void openTurns(const Emit &e, const KernelState &state) {
    InlineAsm arrive(e);
    arrive << "{\n.reg .pred mine;\nsetp.eq.u32 mine, " + arrive.use(state.group) + ", 0;";
    arrive << "@mine bar.arrive " + Twine(state.namedBarriers) + ", " + Twine(turnThreads(state)) + ";\n}";
    arrive.build();
  }
};

struct TurnLowering : Lowering<TurnOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(TurnOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    const KernelState &state = kernels.of(op);
    Value threads = e.i32(turnThreads(state));
    if (state.groups == 1) {
      // It is always its turn.
    } else if (op.getKind() == TurnKind::Take) {
      NVVM::BarrierOp::create(rewriter, e.loc, TypeRange(), turnBarrier(e, state, state.group), threads,
                              NVVM::BarrierReductionAttr(), Value());
    } else {
      Value next = e.add(state.group, 1);
      Value wraps = arith::CmpIOp::create(rewriter, e.loc, arith::CmpIPredicate::eq, next, e.i32(state.groups));
      Value id = turnBarrier(e, state, e.select(wraps, e.i32(0), next));
      LLVM::CallIntrinsicOp::create(rewriter, e.loc,
                                    rewriter.getStringAttr("llvm.nvvm.barrier.cta.arrive.aligned.count"),
                                    ValueRange{id, threads});
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct SyncLowering : Lowering<SyncOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(SyncOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    const KernelState &state = kernels.of(op);
    if (op.getPublish())
      fenceStores(e);
    if (op.getScope() == Scope::Block)
      NVVM::Barrier0Op::create(rewriter, e.loc);
    else if (!state.elected)
      NVVM::BarrierOp::create(rewriter, e.loc, TypeRange(), groupBarrier(e, state), e.i32(state.threads()),
                              NVVM::BarrierReductionAttr(), Value());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void attn::nvvm::fenceStores(const Emit &e) {
  NVVM::FenceProxyOp::create(e.b, e.loc, NVVM::ProxyKind::async_shared,
                             NVVM::SharedSpaceAttr::get(e.b.getContext(), NVVM::SharedSpace::shared_cta));
}

void attn::nvvm::meetGroups(const Emit &e, const KernelState &state) {
  NVVM::BarrierOp::create(e.b, e.loc, TypeRange(), roleBarrier(e, state), e.i32(state.groups * state.threads()),
                          NVVM::BarrierReductionAttr(), Value());
}

void attn::nvvm::enterRoles(const Emit &e, KernelOp kernel, ValueRange maps, KernelState &state) {
  state.warp = NVVM::ShflOp::create(e.b, e.loc, e.b.getI32Type(), e.i32(-1), e.div(state.thread, kWarpLanes), e.i32(0),
                                    e.i32(kWarpLanes - 1), NVVM::ShflKind::idx, UnitAttr());
  state.registers = launchRegs(getTarget(kernel).getRegs(), *kernel.getThreads());
  state.uniformBranches = true;
  initBarriers(e, kernel, state);
  prefetchMaps(e, maps, state);
  NVVM::Barrier0Op::create(e.b, e.loc);
}

/// Who asks for registers waits until they are free.
static LogicalResult checkRegisters(KernelOp kernel) {
  const int64_t perSM = getTarget(kernel).getRegs(), threads = *kernel.getThreads();
  const int64_t atLaunch = launchRegs(perSM, threads), pool = registerPool(perSM, threads);
  int64_t need = 0;
  for (RoleOp role : kernel.getBody().getOps<RoleOp>())
    need += role.getWarps() * kWarpLanes * role.getRegs().value_or(atLaunch);
  if (need <= pool)
    return success();
  return kernel.emitOpError("has roles that ask for ")
         << need << " registers together; a launch allots " << pool << ", " << atLaunch << " for each of " << threads
         << " threads, and the last to ask would wait forever";
}

static LogicalResult checkRole(RoleOp role) {
  const int64_t first = role.getFirstWarp(), warps = role.getWarps();
  Operation *before = role->getPrevNode(), *after = role->getNextNode();
  if (auto previous = dyn_cast_if_present<RoleOp>(before))
    if (first != int64_t(previous.getFirstWarp() + previous.getWarps()))
      return role.emitOpError("must start where the role before it ends, at warp ")
             << previous.getFirstWarp() + previous.getWarps() << ", got " << first;
  if (after && !isa<RoleOp>(after))
    return after->emitOpError("stands behind a role; only roles may");
  if (role.getRegs() && (first % facts::kGroupWarps || warps % facts::kGroupWarps))
    return role.emitOpError("asks for registers, which four warps do together; got warps ") << first << " + " << warps;
  if (!isa_and_present<RoleOp>(before) && failed(checkRegisters(role->getParentOfType<KernelOp>())))
    return failure();
  if (!llvm::isPowerOf2_64(warps / role.getGroups()))
    return role.emitOpError("expects groups of a power of two of warps, got ") << warps / role.getGroups();
  int64_t named = 1;
  for (RoleOp other : role->getParentOfType<KernelOp>().getBody().getOps<RoleOp>()) {
    named += namedBarriersOf(other);
    if (other == role)
      break;
  }
  if (named > kNamedBarriers)
    return role.emitOpError("needs the named barriers up to ") << named - 1 << ", a block has " << kNamedBarriers;
  return success();
}

LogicalResult attn::nvvm::checkRoles(Operation *op) {
  if (auto role = dyn_cast<RoleOp>(op))
    return checkRole(role);
  if (auto sync = dyn_cast<SyncOp>(op); sync && sync.getScope() == Scope::Block)
    for (RoleOp role : op->getParentOfType<KernelOp>().getBody().getOps<RoleOp>())
      if (role.getElect())
        return op->emitOpError("waits for the whole block, but role \"") << role.getName() << "\" is one thread";
  if (isa<TurnOp>(op) && op->getParentOfType<RoleOp>().getElect())
    return op->emitOpError("is for groups of warps, not for one thread");
  return success();
}

void attn::nvvm::populateRolePatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<RoleLowering, TurnLowering, SyncLowering>(types, kernels, patterns.getContext());
}
