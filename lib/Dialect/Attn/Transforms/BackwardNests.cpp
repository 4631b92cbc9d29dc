//===- BackwardNests.cpp - the nests of a backward function
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardNests.h"

#include "NestBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

namespace {
/// What the nests have in common.
class BackwardNest : protected NestBuilder {
public:
  BackwardNest(OpBuilder &builder, Location loc, const BackwardFunction &f, Family family, ScheduleAttr schedule)
      : NestBuilder(loc, family), f(f), schedule(schedule), tile{schedule.getTileQueries(), schedule.getTileKeys()},
        outer(loc, loc.getContext()) {
    b.restoreInsertionPoint(builder.saveInsertionPoint());
    dimK = pad(cast<MemRefType>(f.q.getType()).getDimSize(3));
    dimV = pad(cast<MemRefType>(f.v.getType()).getDimSize(3));
  }

protected:
  /// The nest over (batch, heads, tiles of `rows` of `length`); from here on `b` is in it.
  void open(StringRef name, Value heads, Value length, int64_t rows, TargetAttr target = {});
  /// A sweep that carries `init`; `outer` is in front of it, `b` in it.
  Block *openSweep(SweepOrder order, const KeyRange<Value> &range, IntegerAttr edge, ValueRange init);

  /// P of raw scores, for L of `extent`.
  Value buildP(ScoreBuilder &scores, Value raw, Value minusL, Extent extent);
  /// dS, or null after an error.
  Value buildDS(ScoreBuilder &scores, Value p, Value dp, Value d, Extent extent);
  /// The scale is left out of dS.
  Value scaled(Value gradient) {
    auto type = cast<RankedTensorType>(gradient.getType());
    return arith::MulFOp::create(b, gradient, dense(type, f.scale));
  }

  Value spread(ScoreBuilder &scores, Value value, Extent extent) {
    return extent == Extent::Rows ? scores.spreadRows(value) : scores.spreadColumns(value);
  }

  const BackwardFunction &f;
  ScheduleAttr schedule;
  TileShape tile;
  ImplicitLocOpBuilder outer;
  SweepOp sweep;
  int64_t dimK, dimV;
  Value batch, head, number; ///< of the nest
};

class PreNest : BackwardNest {
public:
  using BackwardNest::BackwardNest;
  void build(TargetAttr target);
};

class PostNest : BackwardNest {
public:
  using BackwardNest::BackwardNest;
  void build(TargetAttr target);
};

class KeyNest : BackwardNest {
public:
  using BackwardNest::BackwardNest;
  LogicalResult build();

private:
  void addToQ(Value ds, ValueRange at);

  bool makesK = schedule.makes("dK"), makesV = schedule.makes("dV"), makesQ = schedule.makes("dQ");
  Value kTile, vTile;
};

class QueryNest : BackwardNest {
public:
  using BackwardNest::BackwardNest;
  LogicalResult build();
};
} // namespace

void BackwardNest::open(StringRef name, Value heads, Value length, int64_t rows, TargetAttr target) {
  Value perTile = arith::ConstantIndexOp::create(b, rows);
  Value tiles = arith::CeilDivUIOp::create(b, length, perTile);
  auto nest = scf::ForallOp::create(b, ArrayRef<OpFoldResult>{f.batches, heads, tiles}, ValueRange(),
                                    /*mapping=*/std::nullopt);
  nest->setAttr(AttnDialect::kNestAttr, b.getStringAttr(name));
  nest->setAttr(AttnDialect::kScheduleAttr, schedule);
  if (target)
    nest->setAttr(AttnDialect::kTargetAttr, target);
  b.setInsertionPoint(nest.getTerminator());
  batch = toI32(nest.getInductionVars()[0]);
  head = toI32(nest.getInductionVars()[1]);
  number = toI32(nest.getInductionVars()[2]);
}

Block *BackwardNest::openSweep(SweepOrder order, const KeyRange<Value> &range, IntegerAttr edge, ValueRange init) {
  sweep = SweepOp::create(b, init.getTypes(), order, range.lo, range.hi, range.plainLo, range.plainHi, edge, init);
  outer.setInsertionPoint(sweep);
  SmallVector<Type> types(2, b.getI32Type());
  llvm::append_range(types, init.getTypes());
  return b.createBlock(&sweep.getBody(), {}, types, SmallVector<Location>(types.size(), b.getLoc()));
}

Value BackwardNest::buildP(ScoreBuilder &scores, Value raw, Value minusL, Extent extent) {
  Value masked = scores.buildScores(raw);
  if (!masked)
    return {};
  Value c = dense(cast<RankedTensorType>(raw.getType()), f.rules.scale.inExponent);
  Value exponent = math::FmaOp::create(b, masked, c, spread(scores, minusL, extent));
  return math::Exp2Op::create(b, exponent);
}

Value BackwardNest::buildDS(ScoreBuilder &scores, Value p, Value dp, Value d, Extent extent) {
  Value difference = arith::SubFOp::create(b, dp, spread(scores, d, extent));
  return scores.buildScoreGrad(arith::MulFOp::create(b, p, difference));
}

//===----------------------------------------------------------------------===//
// pre: L and D
//===----------------------------------------------------------------------===//

void PreNest::build(TargetAttr target) {
  open("pre", f.queryHeads, f.queries, tile.queries, target);
  Value row = arith::MulIOp::create(b, number, i32(tile.queries));
  SmallVector<Value> at{batch, head, row};
  RankedTensorType rows = f32({tile.queries}), matrix = f32({tile.queries, dimV});
  auto positions = RankedTensorType::get({tile.queries}, b.getI32Type());

  auto loadF32 = [&](StringRef label, Value source) {
    Value loaded = load(label, source, at, matrix.getShape());
    return loaded.getType() == matrix ? loaded : arith::ExtFOp::create(b, matrix, loaded).getResult();
  };
  Value product = arith::MulFOp::create(b, loadF32("O", f.o), loadF32("dO", f.dout));
  Value d = ReduceOp::create(b, rows, ReduceKind::Sum, product, /*label=*/StringAttr());
  if (f.dlse)
    d = arith::SubFOp::create(b, d, load("dL", f.dlse, at, {tile.queries}));
  Value lse = load("L", f.lse, at, {tile.queries});
  Value l = arith::MulFOp::create(b, lse, dense(rows, llvm::numbers::log2ef));

  // An L of +inf makes every P 0: there is no key that such a row sees, or no such row. The tiles of other nests need
  // no mask for it, and a strongly negative LSE no care.
  Value dead = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, lse, dense(rows, -INFINITY));
  Value position = CoordOp::create(b, positions, row, 0);
  Value end = tensor::SplatOp::create(b, f.queryLength, positions);
  Value past = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, position, end);
  Value none = arith::OrIOp::create(b, dead, past);
  store(arith::SelectOp::create(b, none, dense(rows, INFINITY), l), f.lse2, at);
  store(arith::SelectOp::create(b, none, dense(rows, 0.0), d), f.dsum, at);
  if (f.dqsum) { // zeros lie the same in any order, and raw ones take no way round
    Value zeros = dense(f32({tile.queries, cast<MemRefType>(f.dqsum.getType()).getDimSize(3)}), 0.0);
    StoreOp::create(b, zeros, f.dqsum, at, /*label=*/StringAttr(), /*add=*/false, /*raw=*/true);
  }
}

//===----------------------------------------------------------------------===//
// post: dQ from where it was added up
//===----------------------------------------------------------------------===//

void PostNest::build(TargetAttr target) {
  open("post", f.queryHeads, f.queries, tile.queries, target);
  Value row = arith::MulIOp::create(b, number, i32(tile.queries));
  SmallVector<Value> at{batch, head, row};
  RankedTensorType type = f32({tile.queries, cast<MemRefType>(f.dqsum.getType()).getDimSize(3)});
  Value sum = LoadOp::create(b, type, f.dqsum, at, /*label=*/StringAttr(), /*raw=*/true);
  store(scaled(sum), f.dq, at);
}

//===----------------------------------------------------------------------===//
// Keys on rows: dK, dV
//===----------------------------------------------------------------------===//

LogicalResult KeyNest::build() {
  open(makesQ ? "dkvq" : makesK && makesV ? "dkv" : makesK ? "dk" : "dv", f.keyHeads, f.keys, tile.keys);
  Value key = arith::MulIOp::create(b, number, i32(tile.keys));
  // A key past the end spoils nothing but its own row, which is never stored, unless rows are summed up for dQ. A query
  // past the end has P = 0, if the region leaves its score a number.
  MaskedEnds ends{/*queries=*/f.scored, /*keys=*/makesQ};
  Value queryLength = f.noQueries ? i32(1) : f.queryLength;
  KeyRange<Value> range =
      buildQueryRange(b, b.getLoc(), f.rules.atoms, f.mode, tile, ends, key, queryLength, f.keyLength);
  kTile = load("K", f.k, {batch, head, key}, {tile.keys, dimK});
  if (makesK)
    vTile = load("V", f.v, {batch, head, key}, {tile.keys, dimV});
  SmallVector<Value> zeros;
  if (makesK)
    zeros.push_back(dense(f32({tile.keys, dimK}), 0.0));
  if (makesV)
    zeros.push_back(dense(f32({tile.keys, dimV}), 0.0));

  // GQA: query heads [G h, G (h + 1)) read key head h.
  Value first = arith::MulIOp::create(b, head, f.groupSize);
  auto heads = scf::ForOp::create(b, i32(0), f.groupSize, i32(1), zeros);
  b.setInsertionPointToStart(heads.getBody());
  Value queryHead = arith::AddIOp::create(b, first, heads.getInductionVar());
  Block *body = openSweep(SweepOrder::Ascending, range, /*edge=*/{}, heads.getRegionIterArgs());
  Value query = arith::MulIOp::create(b, body->getArgument(1), i32(tile.queries));
  ScorePlace place{tile, RowsAre::Keys, ends, query, key, batch, queryHead, queryLength, f.keyLength};
  ScoreBuilder scores(outer, b, f.rules, place);

  SmallVector<Value> at{batch, queryHead, query};
  Value qTile = load("Q", f.q, at, {tile.queries, dimK}), doTile = load("dO", f.dout, at, {tile.queries, dimV});
  Value l = load("L", f.lse2, at, {tile.queries}), d = makesK ? load("D", f.dsum, at, {tile.queries}) : Value();
  Value raw = dot("S", kTile, qTile, /*transB=*/true);
  Value dp = makesK ? dot("dP", vTile, doTile, /*transB=*/true) : Value();
  Value p = buildP(scores, raw, arith::NegFOp::create(b, l), Extent::Cols);
  Value ds = p && makesK ? buildDS(scores, p, dp, d, Extent::Cols) : Value();
  if (!p || (makesK && !ds))
    return failure();
  if (makesV)
    p = pack(p, doTile, "P");
  if (makesK)
    ds = pack(ds, qTile, "dS");
  SmallVector<Value> grads(body->getArguments().drop_front(2));
  if (makesV)
    grads.back() = dot("dV", p, doTile, /*transB=*/false, grads.back());
  if (makesK)
    grads.front() = dot("dK", ds, qTile, /*transB=*/false, grads.front());
  if (makesQ)
    addToQ(ds, at);
  YieldOp::create(b, grads);
  b.setInsertionPointAfter(sweep);
  scf::YieldOp::create(b, sweep.getResults());

  b.setInsertionPointAfter(heads);
  if (makesK)
    store(scaled(heads.getResults().front()), f.dk, {batch, head, key});
  if (makesV)
    store(heads.getResults().back(), f.dv, {batch, head, key});
  return success();
}

/// Every tile of keys adds to the same rows of dQ. How they lie in memory is between the groups that add and `post`.
void KeyNest::addToQ(Value ds, ValueRange at) {
  auto type = f32({tile.queries, dimK});
  Value part = DotOp::create(b, type, ds, kTile, /*a2=*/Value(), /*b2=*/Value(), /*acc=*/Value(), b.getStringAttr("dQ"),
                             /*async=*/false, /*transA=*/true, /*transB=*/false);
  StoreOp::create(b, part, f.dqsum, at, b.getStringAttr("dQ"), /*add=*/true, /*raw=*/true);
}

//===----------------------------------------------------------------------===//
// Queries on rows: dQ
//===----------------------------------------------------------------------===//

LogicalResult QueryNest::build() {
  open("dq", f.queryHeads, f.queries, tile.queries);
  Value row = arith::MulIOp::create(b, number, i32(tile.queries));
  Value keyHead = arith::DivUIOp::create(b, head, f.groupSize);
  Value keyLength = f.noKeys ? i32(1) : f.keyLength;
  KeyRange<Value> range = buildKeyRange(b, b.getLoc(), f.rules.atoms, f.mode, tile, row, f.queryLength, keyLength);
  SmallVector<Value> at{batch, head, row};
  Value qTile = load("Q", f.q, at, {tile.queries, dimK}), doTile = load("dO", f.dout, at, {tile.queries, dimV});
  Value minusL = arith::NegFOp::create(b, load("L", f.lse2, at, {tile.queries}));
  Value d = load("D", f.dsum, at, {tile.queries});
  Value zero = dense(f32({tile.queries, dimK}), 0.0);

  Block *body = openSweep(SweepOrder::Descending, range, getKeyEdge(b.getContext(), f.rules.atoms, f.mode), zero);
  Value key = arith::MulIOp::create(b, body->getArgument(1), i32(tile.keys));
  ScorePlace place{tile, RowsAre::Queries, MaskedEnds(), row, key, batch, head, f.queryLength, keyLength};
  ScoreBuilder scores(outer, b, f.rules, place);
  Value kTile = load("K", f.k, {batch, keyHead, key}, {tile.keys, dimK});
  Value vTile = load("V", f.v, {batch, keyHead, key}, {tile.keys, dimV});
  Value raw = dot("S", qTile, kTile, /*transB=*/true);
  Value dp = dot("dP", doTile, vTile, /*transB=*/true);
  Value p = buildP(scores, raw, minusL, Extent::Rows);
  Value ds = p ? buildDS(scores, p, dp, d, Extent::Rows) : Value();
  if (!ds)
    return failure();
  Value sum = dot("dQ", pack(ds, kTile, "dS"), kTile, /*transB=*/false, body->getArgument(2));
  YieldOp::create(b, sum);
  b.setInsertionPointAfter(sweep);
  store(scaled(sweep.getResult(0)), f.dq, at);
  return success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

void attn::buildPreNest(OpBuilder &builder, Location loc, const BackwardFunction &f, ScheduleAttr schedule,
                        TargetAttr target) {
  PreNest(builder, loc, f, target ? target.getFamily() : f.family, schedule).build(target);
}

void attn::buildPostNest(OpBuilder &builder, Location loc, const BackwardFunction &f, ScheduleAttr schedule,
                         TargetAttr target) {
  PostNest(builder, loc, f, target ? target.getFamily() : f.family, schedule).build(target);
}

LogicalResult attn::buildKeyNest(OpBuilder &builder, Location loc, const BackwardFunction &f, ScheduleAttr schedule) {
  return KeyNest(builder, loc, f, f.family, schedule).build();
}

LogicalResult attn::buildQueryNest(OpBuilder &builder, Location loc, const BackwardFunction &f, ScheduleAttr schedule) {
  return QueryNest(builder, loc, f, f.family, schedule).build();
}
