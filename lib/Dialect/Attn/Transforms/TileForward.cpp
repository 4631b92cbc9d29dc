//===- TileForward.cpp - rewrite attention into loops over tiles with online softmax
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One nest over (batch, head, query tile); in it a sweep over key tiles that carries the unnormalised output O, the
// running maximum m and the running sum l of every row:
//
//   S = scores(Q K^T)            m' = max(m, c rowmax S)      a = 2^(m - m')
//   P = 2^(c S - m')             l' = a l + rowsum P          O' = a O + P V           at the end O / l
//
// c turns the exponent into base 2. Without a score region it also holds the scale, so that S stays raw and one fma and
// one exp2 make an element of P. m is kept in units of the exponent and as it was rounded: P, l and O of every tile are
// then relative to exactly the same number, and the rounding of c rowmax S (large for large scores) cancels in O / l.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "NestBuilder.h"
#include "Scores.h"
#include "Signature.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

namespace attn {
#define GEN_PASS_DEF_TILEFORWARDPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-tile-forward"

namespace {
/// Writes the nest of one attn.sdpa.
class ForwardTiler : NestBuilder {
public:
  ForwardTiler(SdpaOp op, DestinationFunction &dest, ScheduleAttr schedule, Family family, bool noRanges)
      : NestBuilder(op.getLoc(), family), op(op), dest(dest), tile{schedule.getTileQueries(), schedule.getTileKeys()},
        noRanges(noRanges), outer(op.getLoc(), op.getContext()) {}

  LogicalResult run();

private:
  LogicalResult buildTile(ValueRange ivs);
  void buildEpilogue(ValueRange sweep, Value row);

  Value spreadRows(Value rows, RankedTensorType like) {
    auto element = cast<RankedTensorType>(rows.getType()).getElementType();
    return SpreadOp::create(b, RankedTensorType::get(like.getShape(), element), rows, 1);
  }

  SdpaOp op;
  DestinationFunction &dest;
  TileShape tile;
  bool noRanges;
  /// In front of the sweep, for what does not change during it.
  ImplicitLocOpBuilder outer;

  ScaleRule scale;
  int64_t dimK, dimV;
  RankedTensorType scoreType, outType, rowType;
  Value q, k, v;
  Value batch, head, queryLength, keyLength, groupSize;
};
} // namespace

LogicalResult ForwardTiler::run() {
  q = dest.values.lookup(op.getQ());
  k = dest.values.lookup(op.getK());
  v = dest.values.lookup(op.getV());
  dimK = pad(cast<MemRefType>(q.getType()).getDimSize(3));
  dimV = pad(cast<MemRefType>(v.getType()).getDimSize(3));
  scoreType = f32({tile.queries, tile.keys});
  outType = f32({tile.queries, dimV});
  rowType = f32({tile.queries});
  scale = chooseScaleRule(op.getScale().convertToFloat(), !op.getScore().empty());

  b.setInsertionPoint(dest.func.front().getTerminator());
  Value numBatch = dim(q, 0), numHeads = dim(q, 1), queries = dim(q, 2), keyHeads = dim(k, 1), keys = dim(k, 2);
  Value perTile = arith::ConstantIndexOp::create(b, tile.queries);
  Value queryTiles = arith::CeilDivUIOp::create(b, queries, perTile);
  queryLength = toI32(queries);
  keyLength = toI32(keys);
  // GQA: query head h reads key head h / (Hq / Hk)
  Value heads = toI32(numHeads), groups = toI32(keyHeads);
  groupSize = arith::DivUIOp::create(b, heads, groups);
  auto nest = scf::ForallOp::create(b, ArrayRef<OpFoldResult>{numBatch, numHeads, queryTiles}, ValueRange(),
                                    /*mapping=*/std::nullopt);
  b.setInsertionPoint(nest.getTerminator());
  return buildTile(nest.getInductionVars());
}

LogicalResult ForwardTiler::buildTile(ValueRange ivs) {
  batch = toI32(ivs[0]);
  head = toI32(ivs[1]);
  Value rowTile = toI32(ivs[2]);
  Value row = arith::MulIOp::create(b, rowTile, i32(tile.queries));
  Value keyHead = arith::DivUIOp::create(b, head, groupSize);
  RangeMode mode = chooseRangeMode(op, noRanges, DEBUG_TYPE);
  ScoreRules rules{getMaskAtoms(op.getMaskAttr()),
                   getRegionOrNull(op.getScore()),
                   getRegionOrNull(op.getVisible()),
                   /*scoreGrad=*/nullptr,
                   scale,
                   dest.values};
  // A sweep has a block (W1), though the host launches nothing where there are no keys.
  bool noKeys = cast<ShapedType>(op.getK().getType()).getDimSize(2) == 0;
  KeyRange<Value> range =
      buildKeyRange(b, op.getLoc(), rules.atoms, mode, tile, row, queryLength, noKeys ? i32(1) : keyLength);
  IntegerAttr edge = getKeyEdge(b.getContext(), rules.atoms, mode);
  Value qTile = load("Q", q, {batch, head, row}, {tile.queries, dimK});

  Value out0 = dense(outType, 0.0), max0 = dense(rowType, kMaskedScore * scale.inExponent), sum0 = dense(rowType, 0.0);
  Value cRows = dense(rowType, scale.inExponent), cTile = dense(scoreType, scale.inExponent);
  SmallVector<Value> init{out0, max0, sum0};
  auto sweep = SweepOp::create(b, TypeRange{outType, rowType, rowType}, SweepOrder::Descending, range.lo, range.hi,
                               range.plainLo, range.plainHi, edge, init);
  outer.setInsertionPoint(sweep);
  Type i32Type = b.getI32Type();
  Block *body = b.createBlock(&sweep.getBody(), {}, TypeRange{i32Type, i32Type, outType, rowType, rowType},
                              SmallVector<Location>(5, op.getLoc()));
  Value out = body->getArgument(2), max = body->getArgument(3), sum = body->getArgument(4);

  Value key = arith::MulIOp::create(b, body->getArgument(1), i32(tile.keys));
  Value kTile = load("K", k, {batch, keyHead, key}, {tile.keys, dimK});
  Value vTile = load("V", v, {batch, keyHead, key}, {tile.keys, dimV});
  Value raw = dot("S", qTile, kTile, /*transB=*/true);
  ScorePlace place{tile, RowsAre::Queries, MaskedEnds(), row, key, batch, head, queryLength, keyLength};
  Value scores = ScoreBuilder(outer, b, rules, place).buildScores(raw);
  if (!scores)
    return failure();

  Value tileMax = ReduceOp::create(b, rowType, ReduceKind::Max, scores, b.getStringAttr("max"));
  Value newMax = arith::MaxNumFOp::create(b, max, arith::MulFOp::create(b, tileMax, cRows));
  Value alpha = math::Exp2Op::create(b, arith::SubFOp::create(b, max, newMax));
  Value minusMax = arith::NegFOp::create(b, newMax);
  Value p = math::Exp2Op::create(b, math::FmaOp::create(b, scores, cTile, spreadRows(minusMax, scoreType)));
  Value tileSum = ReduceOp::create(b, rowType, ReduceKind::Sum, p, /*label=*/StringAttr());
  Value newSum = arith::AddFOp::create(b, arith::MulFOp::create(b, sum, alpha), tileSum);
  p = pack(p, vTile, "P");
  Value rescaled = arith::MulFOp::create(b, out, spreadRows(alpha, outType));
  Value newOut = dot("PV", p, vTile, /*transB=*/false, rescaled);
  YieldOp::create(b, ValueRange{newOut, newMax, newSum});

  b.setInsertionPointAfter(sweep);
  buildEpilogue(sweep.getResults(), row);
  return success();
}

/// Normalises and stores. Rows without a key kept m = -2^100 c: their O is 0 and their LSE -inf.
void ForwardTiler::buildEpilogue(ValueRange sweep, Value row) {
  Value out = sweep[0], max = sweep[1], sum = sweep[2];
  Value none = arith::CmpFOp::create(b, arith::CmpFPredicate::OLE, max, dense(rowType, kNoKeyBelow * scale.inExponent));
  // The maximum passes NaN over, the sum does not: a row of NaN saw keys.
  Value number = arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, sum, sum);
  none = arith::AndIOp::create(b, none, number);
  Value zero = dense(rowType, 0.0);
  Value inverse = arith::DivFOp::create(b, dense(rowType, 1.0), sum);
  inverse = arith::SelectOp::create(b, none, zero, inverse);
  Value normalised = arith::MulFOp::create(b, out, spreadRows(inverse, outType));
  // The select, not the factor 0, clears a dead row: its O may hold NaN from the value rows it was not to see.
  Value dead = spreadRows(none, outType), cleared = dense(outType, 0.0);
  Value result = arith::SelectOp::create(b, dead, cleared, normalised);
  store(result, dest.values.lookup(op.getO()), {batch, head, row});
  Value lseOut = dest.values.lookupOrNull(op.getLse());
  if (!lseOut)
    return;

  // ln(sum e^s) = ln 2 (m + log2 l)
  Value log2 = arith::AddFOp::create(b, max, math::Log2Op::create(b, sum));
  Value lse = arith::MulFOp::create(b, log2, dense(rowType, llvm::numbers::ln2f));
  lse = arith::SelectOp::create(b, none, dense(rowType, -INFINITY), lse);
  store(lse, lseOut, {batch, head, row});
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct TileForward : attn::impl::TileForwardPassBase<TileForward> {
  using TileForwardPassBase::TileForwardPassBase;

  LogicalResult tileFunction(SdpaOp op) {
    TargetAttr target = requireTarget(op);
    if (!target)
      return failure();
    ScheduleAttr schedule = op.getScheduleAttr();
    if (!schedule)
      return op.emitOpError("expects a schedule; run attn-choose-schedule first");

    FailureOr<DestinationFunction> dest = makeDestinationFunction(op);
    if (failed(dest))
      return failure();
    dest->func->setAttr(AttnDialect::kScheduleAttr, schedule);
    const bool everyTile = noRanges;
    if (failed(ForwardTiler(op, *dest, schedule, target.getFamily(), everyTile).run())) {
      dest->func.erase();
      return failure();
    }
    remark::passed(op.getLoc(), remark::RemarkOpts::name("tiled").category(DEBUG_TYPE).function(dest->func.getName()))
        << remark::metric("queries", schedule.getTileQueries()) << remark::metric("keys", schedule.getTileKeys());
    op->getParentOfType<func::FuncOp>().erase();
    return success();
  }

  void runOnOperation() override {
    SmallVector<SdpaOp> ops;
    getOperation().walk([&](SdpaOp op) { ops.push_back(op); });
    for (SdpaOp op : ops)
      if (failed(tileFunction(op)))
        return signalPassFailure();
  }
};
} // namespace
