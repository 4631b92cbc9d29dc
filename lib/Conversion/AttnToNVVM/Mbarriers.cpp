//===- Mbarriers.cpp - rings as pairs of mbarriers
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slot has two barriers in shared memory, behind those of the slots before it: full[0 .. depth), empty[0 .. depth).
// Item n lives in slot n % depth; it completes phase n / depth of both its barriers, and a wait for a phase names its
// parity:
//
//   acquire [n]   wait empty, the parity before: phase n / depth - 1, that item n - depth is released. On a fresh
//   barrier
//                 this passes
//   copy, commit  one arrival at full, which also counts the bytes of a copy
//   wait [n]      wait full, parity n / depth % 2
//   release [n]   lane 0 of each warp of the readers arrives at empty
//
//===----------------------------------------------------------------------===//

#include "InlineAsm.h"
#include "Slots.h"

#include "attn/Analysis/SharedAllocs.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
/// i32, 0 or 1: which phase of its slot an item completes, modulo 2.
Value parityOf(const Emit &e, const Ring &ring, Value item) {
  int64_t depth = ring.type.getDepth();
  return e.rem(depth > 1 ? e.div(item, depth) : item, 2);
}

/// Threads that come here go on when the phase of this parity is complete. The loop is inside: LLVM sees straight code.
void waitFor(const Emit &e, Value barrier, Value parity) {
  InlineAsm wait(e);
  std::string address = wait.use(barrier);
  wait << "{\n.reg .pred done;\nAGAIN:";
  wait << "mbarrier.try_wait.parity.shared::cta.b64 done, [" + address + "], " + wait.use(parity) + ";";
  wait << "@done bra DONE;\nbra AGAIN;\nDONE:\n}";
  wait.build();
}

struct AcquireLowering : Lowering<AcquireOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(AcquireOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    Ring ring = Ring::get(op.getRing().getType(), adaptor.getRing());
    Value item = only(adaptor.getItem());
    // Who fills a slot of an exchange has met all others since they were done with it (Analysis/RingProtocol.h).
    if (!isOfExchange(op))
      waitFor(e, ring.emptyBarrier(e, item), e.bitXor(parityOf(e, ring, item), e.i32(1)));
    rewriter.replaceOp(op, ring.bufs(e, item));
    return success();
  }
};

struct WaitLowering : Lowering<WaitOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(WaitOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    Ring ring = Ring::get(op.getRing().getType(), adaptor.getRing());
    Value item = only(adaptor.getItem());
    if (isOfExchange(op))
      meetGroups(e, kernels.of(op));
    else
      waitFor(e, ring.fullBarrier(e, item), parityOf(e, ring, item));
    rewriter.replaceOp(op, ring.bufs(e, item));
    return success();
  }
};

/// Whether every lane reads some of the slot by loads of its own: a vector, not a tile of products nor one word.
static bool isReadByLanes(RingType ring) {
  return llvm::any_of(ring.getBufs(), [](Type buf) {
    RankedTensorType tile = cast<BufType>(buf).getTile();
    return tile.getRank() == 1 && tile.getNumElements() > 1;
  });
}

struct ReleaseLowering : Lowering<ReleaseOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(ReleaseOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    if (isOfExchange(op)) {
      rewriter.eraseOp(op);
      return success();
    }
    Ring ring = Ring::get(op.getRing().getType(), adaptor.getRing());
    InlineAsm arrive(e);
    std::string barrier = arrive.use(ring.emptyBarrier(e, only(adaptor.getItem())));
    // Lane 0 speaks for the warp, so the warp meets first, where its other lanes may still be reading.
    if (isReadByLanes(ring.type))
      arrive << "bar.warp.sync 0xffffffff;";
    arrive << "{\n.reg .pred first;\nsetp.eq.u32 first, " + arrive.use(kernels.of(op).lane) + ", 0;";
    arrive << "@first mbarrier.arrive.shared::cta.b64 _, [" + barrier + "];\n}";
    arrive.build();
    rewriter.eraseOp(op);
    return success();
  }
};

struct CommitLowering : Lowering<CommitOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(CommitOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    if (isOfExchange(op)) {
      fenceStores(e);
      rewriter.eraseOp(op);
      return success();
    }
    Ring ring = Ring::get(op.getRing().getType(), adaptor.getRing());
    InlineAsm arrive(e);
    std::string barrier = arrive.use(ring.fullBarrier(e, only(adaptor.getItem())));
    arrive << "mbarrier.arrive.shared::cta.b64 _, [" + barrier + "];";
    arrive.build();
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

Value Ring::fullBarrier(const Emit &e, Value item) const {
  return e.add(barriers, e.mul(slot(e, item), facts::kBarrierBytes));
}
Value Ring::emptyBarrier(const Emit &e, Value item) const {
  return e.add(fullBarrier(e, item), type.getDepth() * facts::kBarrierBytes);
}

static constexpr llvm::StringLiteral kExchange = "exchange";

void attn::nvvm::markExchanges(KernelOp kernel) {
  kernel.walk([&](AllocOp alloc) {
    if (isa<RingType>(alloc.getType()) && isExchange(alloc))
      for (Operation *user : alloc->getUsers())
        user->setDiscardableAttr(kExchange, UnitAttr::get(user->getContext()));
  });
}

bool attn::nvvm::isOfExchange(Operation *op) { return op->hasAttr(kExchange); }

void attn::nvvm::initBarriers(const Emit &e, KernelOp kernel, const KernelState &state) {
  InlineAsm init(e);
  std::string smem = init.use(state.smem);
  init << "{\n.reg .pred one;\nsetp.eq.u32 one, " + init.use(state.thread) + ", 0;";
  kernel.walk([&](AllocOp alloc) {
    auto ring = dyn_cast<RingType>(alloc.getType());
    for (int64_t slot = 0; ring && alloc.getBarriers() && slot < 2 * ring.getDepth(); ++slot)
      init << "@one mbarrier.init.shared::cta.b64 [" + smem + "+" +
                  Twine(int64_t(*alloc.getBarriers()) + slot * facts::kBarrierBytes) + "], " +
                  Twine(slot < ring.getDepth() ? 1 : int64_t(*alloc.getReaders())) + ";";
  });
  init << "@one fence.mbarrier_init.release.cluster;\n}";
  init.build();
}

LogicalResult attn::nvvm::checkMbarrier(Operation *op) {
  if (auto alloc = dyn_cast<AllocOp>(op); alloc && isa<RingType>(alloc.getType())) {
    if (op->getParentOfType<RoleOp>())
      return op->emitOpError("stands in a role; a ring on this family is the block's");
    if (!alloc.getReaders())
      return op->emitOpError("does not say how many warps release an item");
    if (!alloc.getBarriers() && !isExchange(alloc))
      return op->emitOpError("has no barriers; run attn-plan-memory first");
  }
  if (auto commit = dyn_cast<CommitOp>(op); commit && !op->getParentOfType<RoleOp>().getElect()) {
    auto alloc = commit.getRing().getDefiningOp<AllocOp>();
    if (!alloc || !isExchange(alloc))
      return op->emitOpError("expects a role of one thread ('elect'), or a ring that the same role reads: an item is "
                             "filled by one arrival");
  }
  return success();
}

void attn::nvvm::populateMbarrierPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<AcquireLowering, WaitLowering, ReleaseLowering, CommitLowering>(types, kernels, patterns.getContext());
}
