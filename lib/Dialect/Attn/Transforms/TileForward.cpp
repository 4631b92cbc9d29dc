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

#include "InlineRegion.h"
#include "Signature.h"
#include "attn/Analysis/KeyRanges.h"
#include "attn/Analysis/SharedPlan.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
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

/// How raw scores become exponents of 2.
namespace {
struct ScaleRule {
  /// Factor applied to the scores first, 1 if none.
  float first;
  /// c: what a score is multiplied by in the exponent, together with the running maximum.
  float inExponent;
};
} // namespace

/// The scale goes into c only if that is exact in effect: the maximum of raw scores is the maximum of scaled ones only
/// for a positive scale; c times the masked score -2^100 must neither overflow nor come near the exponent of a visible
/// key, which bounds c on both sides. A score region wants scaled scores.
static ScaleRule chooseScaleRule(float scale, bool hasScoreRegion) {
  double c = double(scale) * llvm::numbers::log2e;
  if (!hasScoreRegion && c >= 0x1p-60 && c <= 0x1p20)
    return {1.0f, float(c)};
  return {scale, llvm::numbers::log2ef};
}

namespace {
/// Writes the nest of one attn.sdpa.
class ForwardTiler {
public:
  ForwardTiler(SdpaOp op, DestinationFunction &dest, ScheduleAttr schedule, Family family, bool noRanges)
      : op(op), dest(dest), tile{schedule.getTileQueries(), schedule.getTileKeys()}, family(family), noRanges(noRanges),
        b(op.getLoc(), op.getContext()), outer(op.getLoc(), op.getContext()) {}

  LogicalResult run();

private:
  LogicalResult buildTile(ValueRange ivs);
  Value buildScores(Value key, Value scores, Value row);
  Value buildVisible(RegionInliner &inliner, Value key, Value row);
  void buildEpilogue(ValueRange sweep, Value row);
  RangeMode chooseRangeMode();

  Value i32(int64_t c) { return arith::ConstantOp::create(b, b.getI32IntegerAttr(c)); }
  Value toI32(Value index) { return arith::IndexCastOp::create(b, b.getI32Type(), index); }
  Value dense(RankedTensorType type, double c) {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, b.getF32FloatAttr(c).getValue()));
  }
  Value spreadRows(Value rows, RankedTensorType like) {
    auto element = cast<RankedTensorType>(rows.getType()).getElementType();
    return SpreadOp::create(b, RankedTensorType::get(like.getShape(), element), rows, 1);
  }
  /// A tile of an operand: storage type as loaded on a GPU, f32 on the CPU.
  Value load(StringRef label, Value source, ValueRange at, int64_t rows, int64_t columns);
  /// The CPU has no instruction to fill: its head dims stay as they are, multiples of 8.
  int64_t pad(int64_t headDim) const {
    return family == Family::Cpu ? headDim : paddedHeadDim(headDim, family == Family::Wgmma);
  }

  SdpaOp op;
  DestinationFunction &dest;
  TileShape tile;
  Family family;
  bool noRanges;
  ImplicitLocOpBuilder b;
  /// In front of the sweep, for what does not change during it.
  ImplicitLocOpBuilder outer;

  SmallVector<MaskAtom> atoms;
  ScaleRule scale;
  int64_t dimK, dimV;
  RankedTensorType scoreType, outType, rowType;
  Value q, k, v;
  Value batch, head, queryLength, keyLength, groupSize;
};
} // namespace

Value ForwardTiler::load(StringRef label, Value source, ValueRange at, int64_t rows, int64_t columns) {
  Type element = cast<MemRefType>(source.getType()).getElementType();
  Value loaded = LoadOp::create(b, RankedTensorType::get({rows, columns}, element), source, at, b.getStringAttr(label));
  if (family != Family::Cpu || element.isF32())
    return loaded;
  return arith::ExtFOp::create(b, RankedTensorType::get({rows, columns}, b.getF32Type()), loaded);
}

LogicalResult ForwardTiler::run() {
  q = dest.values.lookup(op.getQ());
  k = dest.values.lookup(op.getK());
  v = dest.values.lookup(op.getV());
  dimK = pad(cast<MemRefType>(q.getType()).getDimSize(3));
  dimV = pad(cast<MemRefType>(v.getType()).getDimSize(3));
  scoreType = RankedTensorType::get({tile.queries, tile.keys}, b.getF32Type());
  outType = RankedTensorType::get({tile.queries, dimV}, b.getF32Type());
  rowType = RankedTensorType::get({tile.queries}, b.getF32Type());
  atoms = getMaskAtoms(op.getMaskAttr());
  scale = chooseScaleRule(op.getScale().convertToFloat(), !op.getScore().empty());

  b.setInsertionPoint(dest.func.front().getTerminator());
  auto dim = [&](Value memref, int64_t index) { return memref::DimOp::create(b, memref, index).getResult(); };
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

RangeMode ForwardTiler::chooseRangeMode() {
  if (noRanges)
    return RangeMode::Off;
  if (op.getVisible().empty())
    return RangeMode::Full;
  Operation *yield = op.getVisible().front().getTerminator();
  Operation *what = yield->getOperand(0).getDefiningOp();
  remark::missed(what ? what->getLoc() : yield->getLoc(),
                 remark::RemarkOpts::name("mask not analysed").category(DEBUG_TYPE).function(dest.func.getName()))
      << "every visited key tile is masked: ranges come from named masks only";
  return RangeMode::NoPlain;
}

LogicalResult ForwardTiler::buildTile(ValueRange ivs) {
  batch = toI32(ivs[0]);
  head = toI32(ivs[1]);
  Value rowTile = toI32(ivs[2]);
  Value row = arith::MulIOp::create(b, rowTile, i32(tile.queries));
  Value keyHead = arith::DivUIOp::create(b, head, groupSize);
  RangeMode mode = chooseRangeMode();
  // A sweep has a block (W1), though the host launches nothing where there are no keys.
  bool noKeys = cast<ShapedType>(op.getK().getType()).getDimSize(2) == 0;
  KeyRange<Value> range =
      buildKeyRange(b, op.getLoc(), atoms, mode, tile, row, queryLength, noKeys ? i32(1) : keyLength);
  // Where only the keys' end cuts the range on its right, one block at most is cut.
  bool cutOnce = mode == RangeMode::Full && llvm::none_of(atoms, [](const MaskAtom &atom) { return atom.isUpper(); });
  IntegerAttr edge = cutOnce ? b.getI64IntegerAttr(1) : IntegerAttr();
  Value qTile = load("Q", q, {batch, head, row}, tile.queries, dimK);

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
  Value kTile = load("K", k, {batch, keyHead, key}, tile.keys, dimK);
  Value vTile = load("V", v, {batch, keyHead, key}, tile.keys, dimV);
  Value raw = DotOp::create(b, scoreType, qTile, kTile, /*acc=*/Value(), b.getStringAttr("S"), /*async=*/false,
                            /*transB=*/true);
  Value scores = buildScores(key, raw, row);
  if (!scores)
    return failure();

  Value tileMax = ReduceOp::create(b, rowType, ReduceKind::Max, scores, b.getStringAttr("max"));
  Value newMax = arith::MaxNumFOp::create(b, max, arith::MulFOp::create(b, tileMax, cRows));
  Value alpha = math::Exp2Op::create(b, arith::SubFOp::create(b, max, newMax));
  Value minusMax = arith::NegFOp::create(b, newMax);
  Value p = math::Exp2Op::create(b, math::FmaOp::create(b, scores, cTile, spreadRows(minusMax, scoreType)));
  Value tileSum = ReduceOp::create(b, rowType, ReduceKind::Sum, p, /*label=*/StringAttr());
  Value newSum = arith::AddFOp::create(b, arith::MulFOp::create(b, sum, alpha), tileSum);
  if (Type storage = cast<RankedTensorType>(vTile.getType()).getElementType(); !storage.isF32())
    p = PackOp::create(b, RankedTensorType::get(scoreType.getShape(), storage), p, b.getStringAttr("P"));
  Value rescaled = arith::MulFOp::create(b, out, spreadRows(alpha, outType));
  Value newOut = DotOp::create(b, outType, p, vTile, rescaled, b.getStringAttr("PV"));
  YieldOp::create(b, ValueRange{newOut, newMax, newSum});

  b.setInsertionPointAfter(sweep);
  buildEpilogue(sweep.getResults(), row);
  return success();
}

/// Scale, score region, mask: in this order.
Value ForwardTiler::buildScores(Value key, Value scores, Value row) {
  if (scale.first != 1.0f)
    scores = arith::MulFOp::create(b, scores, dense(scoreType, scale.first));
  RegionInliner inliner(outer, b, tile);
  auto inlineRegion = [&](Region &region, SmallVector<TileValue> arguments) {
    // Positions past the end are not clamped: what a region does with them cannot trap (C17), a gather clamps its
    // indices, and the result is masked or never stored.
    auto rows = RankedTensorType::get({tile.queries}, b.getI32Type());
    auto columns = RankedTensorType::get({tile.keys}, b.getI32Type());
    Value qs = CoordOp::create(outer, rows, row, 0), ks = CoordOp::create(b, columns, key, 1);
    arguments.append({{batch, Extent::Uniform}, {head, Extent::Uniform}, {qs, Extent::Rows}, {ks, Extent::Cols}});
    return inliner.inlineTile(region.front(), arguments, dest.values);
  };
  if (!op.getScore().empty())
    scores = inlineRegion(op.getScore(), {{scores, Extent::Tile}});
  Value visible = buildVisible(inliner, key, row);
  if (scores && !op.getVisible().empty()) {
    Value allowed = inlineRegion(op.getVisible(), {});
    if (!allowed)
      return {};
    visible = arith::AndIOp::create(b, visible, allowed);
  }
  return scores ? MaskOp::create(b, scores, visible).getResult() : Value();
}

/// k < Sk and the named masks. Upper bounds meet in one limit per row, made in front of the sweep, so that an element
/// costs one comparison; without any, k < Sk is a matter of columns.
Value ForwardTiler::buildVisible(RegionInliner &inliner, Value key, Value row) {
  auto rows = RankedTensorType::get({tile.queries}, b.getI32Type());
  auto columns = RankedTensorType::get({tile.keys}, b.getI32Type());
  auto whole = [&](Value value, Extent extent) { return inliner.spread({value, extent}, Extent::Tile, op.getLoc()); };

  Value most, least;
  for (const MaskAtom &atom : atoms) {
    Value &limit = atom.isUpper() ? most : least;
    Value base = buildBoundAt(outer, op.getLoc(), atom, row, queryLength, keyLength);
    Value bound = atom.slope() ? CoordOp::create(outer, rows, base, 0).getResult()
                               : tensor::SplatOp::create(outer, base, rows).getResult();
    if (!limit)
      limit = bound;
    else if (atom.isUpper())
      limit = arith::MinSIOp::create(outer, limit, bound);
    else
      limit = arith::MaxSIOp::create(outer, limit, bound);
  }

  Value keys = CoordOp::create(b, columns, key, 1);
  Value visible;
  if (most) {
    Value lastKey = arith::SubIOp::create(outer, keyLength, arith::ConstantOp::create(outer, b.getI32IntegerAttr(1)));
    most = arith::MinSIOp::create(outer, most, tensor::SplatOp::create(outer, lastKey, rows));
    Value k = whole(keys, Extent::Cols), limit = whole(most, Extent::Rows);
    visible = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, k, limit);
  } else {
    Value end = tensor::SplatOp::create(b, keyLength, columns);
    visible = whole(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, keys, end), Extent::Cols);
  }
  if (least) {
    Value k = whole(keys, Extent::Cols), limit = whole(least, Extent::Rows);
    Value above = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, k, limit);
    visible = arith::AndIOp::create(b, visible, above);
  }
  return visible;
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
  Type storage = cast<MemRefType>(dest.o.getType()).getElementType();
  if (!storage.isF32())
    result = arith::TruncFOp::create(b, RankedTensorType::get(outType.getShape(), storage), result);
  StoreOp::create(b, result, dest.o, ValueRange{batch, head, row}, /*label=*/StringAttr());
  if (!dest.lse)
    return;

  // ln(sum e^s) = ln 2 (m + log2 l)
  Value log2 = arith::AddFOp::create(b, max, math::Log2Op::create(b, sum));
  Value lse = arith::MulFOp::create(b, log2, dense(rowType, llvm::numbers::ln2f));
  lse = arith::SelectOp::create(b, none, dense(rowType, -INFINITY), lse);
  StoreOp::create(b, lse, dest.lse, ValueRange{batch, head, row}, /*label=*/StringAttr());
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
