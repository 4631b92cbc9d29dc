//===- SplitSweeps.cpp - split every sweep into masked and plain loops
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sweep has one body and says where its masks do nothing. Here it becomes up to three loops, chained through the
// carried values in the order they run, and the loop over the plain range has no mask and so no coordinates:
//
//            lo        plainLo            plainHi      hi
//   tiles    |  masked  |      plain         | masked  |
//   ascending   loop 1        loop 2           loop 3      j = lo + t
//   descending  loop 3        loop 2           loop 1      j = hi - 1 - t
//
// Every loop counts t, the ordinal in the whole sweep, so what is numbered by t (the items of a ring) does not see the
// seams.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "KernelRemark.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"

namespace attn {
#define GEN_PASS_DEF_SPLITSWEEPSPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-split-sweeps"

/// max(a, b) or min(a, b), without an op where the text already shows the answer.
template <typename MinOrMax> static Value clamp(OpBuilder &builder, Location loc, Value value, Value bound) {
  if (value == bound)
    return value;
  if (auto same = value.getDefiningOp<MinOrMax>(); same && (same.getLhs() == bound || same.getRhs() == bound))
    return value;
  return builder.createOrFold<MinOrMax>(loc, value, bound);
}

namespace {
/// One of the loops: it runs up to ordinal `end` (not included), from where the one before it stopped.
struct Segment {
  StringRef name;
  Value end;
  bool plain;
};

struct SplitSweeps : attn::impl::SplitSweepsPassBase<SplitSweeps> {
  using SplitSweepsPassBase::SplitSweepsPassBase;
  void runOnOperation() override;
};
} // namespace

/// The loops of `sweep` in the order they run, empty ones (as far as the text shows) left out.
static SmallVector<Segment> getSegments(OpBuilder &builder, SweepOp sweep) {
  Location loc = sweep.getLoc();
  Value lo = sweep.getLo(), hi = sweep.getHi();
  auto count = [&](Value from, Value to) { return builder.createOrFold<arith::SubIOp>(loc, to, from); };

  bool hasMask = sweep.getBody().walk([](MaskOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (!hasMask)
    return {{"plain", count(lo, hi), true}};
  if (sweep.getPlainLo() == sweep.getPlainHi())
    return {{"masked", count(lo, hi), false}};

  // An empty plain range may be stated by any plainLo >= plainHi (W2). Clamped, the loops cut [lo, hi) without gap or
  // overlap whatever the plain range says.
  Value plainLo = sweep.getPlainLo();
  if (plainLo != lo)
    plainLo = clamp<arith::MinSIOp>(builder, loc, clamp<arith::MaxSIOp>(builder, loc, plainLo, lo), hi);
  // `edge 0`: no block lies between plainHi and hi.
  Value plainHi = sweep.getEdge() == 0 ? hi : sweep.getPlainHi();
  if (plainHi != hi)
    plainHi = clamp<arith::MinSIOp>(builder, loc, clamp<arith::MaxSIOp>(builder, loc, plainHi, plainLo), hi);

  SmallVector<Segment> segments;
  bool descending = sweep.getOrder() == SweepOrder::Descending;
  Value from = descending ? plainHi : lo, to = descending ? hi : plainLo;
  if (from != to)
    segments.push_back({descending ? "masked right" : "masked left", count(from, to), false});
  segments.push_back({"plain", descending ? count(plainLo, hi) : count(lo, plainHi), true});
  from = descending ? lo : plainHi, to = descending ? plainLo : hi;
  if (from != to)
    segments.push_back({descending ? "masked left" : "masked right", count(lo, hi), false});
  return segments;
}

/// In the plain range every mask is the identity, and what only fed masks is dead: coordinates, comparisons, gathers.
static void dropMasks(Block &body) {
  body.walk([](MaskOp mask) {
    mask.getResult().replaceAllUsesWith(mask.getX());
    mask.erase();
  });
  // Users before producers, so that one walk is enough.
  for (Operation &top : llvm::make_early_inc_range(llvm::reverse(body)))
    top.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
}

static void splitSweep(SweepOp sweep) {
  OpBuilder builder(sweep);
  Location loc = sweep.getLoc();
  bool descending = sweep.getOrder() == SweepOrder::Descending;
  SmallVector<Segment> segments = getSegments(builder, sweep);

  Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
  Value first = descending ? builder.createOrFold<arith::SubIOp>(loc, sweep.getHi(), one) : sweep.getLo();
  Value begin = arith::ConstantIntOp::create(builder, loc, 0, 32);
  SmallVector<Value> carried(sweep.getInit());
  std::string names;
  for (auto [index, segment] : llvm::enumerate(segments)) {
    auto fill = [&](OpBuilder &b, Location, Value t, ValueRange values) {
      Value j = descending ? arith::SubIOp::create(b, loc, first, t) : b.createOrFold<arith::AddIOp>(loc, first, t);
      IRMapping map;
      map.map(sweep.getBody().getArgument(0), t);
      map.map(sweep.getBody().getArgument(1), j);
      map.map(sweep.getBody().getArguments().drop_front(2), values);
      for (Operation &op : sweep.getBody().front().without_terminator())
        b.clone(op, map);
      SmallVector<Value> next;
      for (Value value : sweep.getBody().front().getTerminator()->getOperands())
        next.push_back(map.lookupOrDefault(value));
      scf::YieldOp::create(b, loc, next);
    };
    auto loop = scf::ForOp::create(builder, loc, begin, segment.end, one, carried, fill);
    if (segment.plain)
      dropMasks(*loop.getBody());
    begin = segment.end;
    carried.assign(loop.getResults().begin(), loop.getResults().end());
    names += (index ? ", " : "") + segment.name.str();
  }
  remark::passed(loc, inKernel(sweep, "sweep", DEBUG_TYPE)) << "split into loops: " << remark::metric("loops", names);
  sweep->replaceAllUsesWith(carried);
  sweep.erase();
}

void SplitSweeps::runOnOperation() {
  // Inner sweeps first: an outer one then clones plain loops.
  SmallVector<SweepOp> sweeps;
  getOperation().walk([&](SweepOp sweep) { sweeps.push_back(sweep); });
  for (SweepOp sweep : sweeps) {
    LDBG() << "split " << sweep->getLoc();
    splitSweep(sweep);
  }
}
