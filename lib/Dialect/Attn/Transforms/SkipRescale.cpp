//===- SkipRescale.cpp - leave accumulators alone while maxima hardly grow
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The running maximum only keeps exponents small; any number near it does as well. As long as no row of a warp has
// grown by more than `skip` powers of two, the warp keeps the maximum it has, its factor is 1 and its accumulator
// stays as it is. P then reaches 2^skip in place of 1: at most 2^15, since P is rounded to 16 bits for its product and
// f16 ends at 65504. The sums, in f32, have room.
//
//   m1    = maxnumf m, mc                     mw    = maxnumf m, mc
//   alpha = exp2(m - m1)                      grow  = any(mw - m > skip)        one vote of the warp
//   os    = o * spread(alpha)                 m1    = select grow, mw, m
//   o1    = dot p, v plus os                  alpha = exp2(m - m1)
//                                             os    = if grow { o * spread(alpha) } else { o }
//
// The row sum keeps its factor: it is one number a row, and exactly 1 when nothing grew, so m, O and the sum agree.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "KernelRemark.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/DebugLog.h"

namespace attn {
#define GEN_PASS_DEF_SKIPRESCALEPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-skip-rescale"

namespace {
/// An accumulator that each step rescales before it adds to it.
struct Rescale {
  DotOp dot;
  arith::MulFOp scaled; ///< carried * spread(alpha)
  SpreadOp factor;
  arith::MaxNumFOp max; ///< the new maximum, m1 above
  BlockArgument m;      ///< the old one
};

struct SkipRescale : attn::impl::SkipRescalePassBase<SkipRescale> {
  using SkipRescalePassBase::SkipRescalePassBase;
  void runOnOperation() override;
};
} // namespace

/// The carried value that `yielded` becomes in the next step.
static BlockArgument carriedAs(SweepOp sweep, Value yielded) {
  for (auto [argument, value] : llvm::zip_equal(sweep.getBody().getArguments().drop_front(2),
                                                sweep.getBody().front().getTerminator()->getOperands()))
    if (value == yielded)
      return argument;
  return {};
}

/// Matches the left column of the picture, from the product up.
static std::optional<Rescale> matchRescale(SweepOp sweep, DotOp dot) {
  BlockArgument o = carriedAs(sweep, dot.getResult());
  auto scaled = dot.getAcc() ? dot.getAcc().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  if (!o || !scaled || !scaled->hasOneUse() || (scaled.getLhs() != o && scaled.getRhs() != o))
    return std::nullopt;
  Value by = scaled.getLhs() == o ? scaled.getRhs() : scaled.getLhs();
  auto factor = by.getDefiningOp<SpreadOp>();
  auto alpha = factor ? factor.getX().getDefiningOp<math::Exp2Op>() : math::Exp2Op();
  auto difference = alpha ? alpha.getOperand().getDefiningOp<arith::SubFOp>() : arith::SubFOp();
  auto max = difference ? difference.getRhs().getDefiningOp<arith::MaxNumFOp>() : arith::MaxNumFOp();
  if (!max)
    return std::nullopt;
  BlockArgument m = carriedAs(sweep, max);
  if (!m || difference.getLhs() != m || (max.getLhs() != m && max.getRhs() != m))
    return std::nullopt;
  return Rescale{dot, scaled, factor, max, m};
}

/// Whether a row of this warp has grown by more than `skip`; the maximum stays where it is if none has.
static Value makeVote(Rescale &rescale, int64_t skip) {
  Location loc = rescale.max.getLoc();
  OpBuilder builder(rescale.max);
  builder.setInsertionPointAfter(rescale.max);
  auto type = cast<RankedTensorType>(rescale.m.getType());
  auto grown = arith::SubFOp::create(builder, loc, rescale.max, rescale.m);
  auto threshold = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), skip)));
  auto above = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, grown, threshold);
  auto vote = AnyOp::create(builder, loc, builder.getI1Type(), above);
  auto kept = arith::SelectOp::create(builder, loc, vote, rescale.max, rescale.m);
  rescale.max.getResult().replaceUsesWithIf(
      kept, [&](OpOperand &use) { return use.getOwner() != grown && use.getOwner() != kept; });
  return vote;
}

/// carried * spread(alpha), only if a row has grown.
static void makeBranch(Rescale &rescale, Value vote) {
  arith::MulFOp scaled = rescale.scaled;
  OpBuilder builder(scaled);
  Value kept = scaled.getLhs() == rescale.factor ? scaled.getRhs() : scaled.getLhs();
  auto branch = scf::IfOp::create(builder, scaled.getLoc(), scaled->getResultTypes(), vote, /*withElseRegion=*/true);
  scaled.getResult().replaceAllUsesWith(branch.getResult(0));
  scaled->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  if (rescale.factor->hasOneUse())
    rescale.factor->moveBefore(scaled);
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, scaled.getLoc(), scaled.getResult());
  builder.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(builder, scaled.getLoc(), kept);
}

/// Every accumulator of the sweep that a growing maximum rescales; how many there are.
static int64_t skipRescales(SweepOp sweep, int64_t skip) {
  SmallVector<Rescale> rescales;
  for (DotOp dot : sweep.getBody().getOps<DotOp>()) {
    if (std::optional<Rescale> rescale = matchRescale(sweep, dot))
      rescales.push_back(*rescale);
    else
      LDBG() << "no accumulator rescaled by a maximum: " << dot;
  }
  llvm::SmallDenseMap<Operation *, Value> votes; // one a maximum, however many accumulators follow it
  for (Rescale &rescale : rescales) {
    Value &vote = votes[rescale.max];
    if (!vote)
      vote = makeVote(rescale, skip);
    makeBranch(rescale, vote);
    remark::passed(rescale.dot.getLoc(), inKernel(rescale.dot, "skip", DEBUG_TYPE))
        << "accumulator is rescaled for rows that grow by more powers of two than " << remark::metric("skip", skip);
  }
  return rescales.size();
}

void SkipRescale::runOnOperation() {
  for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
    ScheduleAttr schedule = kernel.getScheduleAttr();
    const int64_t skip = schedule ? schedule.getSkip() : 0;
    if (skip == 0)
      continue;
    int64_t found = 0;
    kernel.walk([&](SweepOp sweep) { found += skipRescales(sweep, skip); });
    if (found == 0)
      remark::missed(kernel.getLoc(), inKernel(kernel, "skip", DEBUG_TYPE))
          << "the schedule skips rescaling, but no accumulator is rescaled by a running maximum";
  }
}
