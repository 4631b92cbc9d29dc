//===- Scores.cpp - from raw products to masked scores, forward and backward
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scores.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// The scale goes into c only if that is exact in effect: the maximum of raw scores is the maximum of scaled ones only
/// for a positive scale; c times the masked score -2^100 must neither overflow nor come near the exponent of a visible
/// key, which bounds c on both sides. A score region wants scaled scores.
ScaleRule attn::chooseScaleRule(float scale, bool hasScoreRegion) {
  double c = double(scale) * llvm::numbers::log2e;
  if (!hasScoreRegion && c >= 0x1p-60 && c <= 0x1p20)
    return {1.0f, float(c)};
  return {scale, llvm::numbers::log2ef};
}

RangeMode attn::chooseRangeMode(AttentionOp op, bool noRanges, StringRef category) {
  if (noRanges)
    return RangeMode::Off;
  if (op.getVisible().empty())
    return RangeMode::Full;
  Operation *yield = op.getVisible().front().getTerminator();
  Operation *what = yield->getOperand(0).getDefiningOp();
  auto func = op->getParentOfType<FunctionOpInterface>();
  remark::missed(what ? what->getLoc() : yield->getLoc(),
                 remark::RemarkOpts::name("mask not analysed").category(category).function(func.getName()))
      << "every visited tile is masked: ranges come from named masks only";
  return RangeMode::NoPlain;
}

IntegerAttr attn::getKeyEdge(MLIRContext *context, ArrayRef<MaskAtom> atoms, RangeMode mode) {
  bool cutOnce = mode == RangeMode::Full && llvm::none_of(atoms, [](const MaskAtom &atom) { return atom.isUpper(); });
  return cutOnce ? Builder(context).getI64IntegerAttr(1) : IntegerAttr();
}

static int64_t countRows(const ScorePlace &place) {
  return place.rowsAre == RowsAre::Keys ? place.tile.keys : place.tile.queries;
}
static int64_t countColumns(const ScorePlace &place) {
  return place.rowsAre == RowsAre::Keys ? place.tile.queries : place.tile.keys;
}

ScoreBuilder::ScoreBuilder(ImplicitLocOpBuilder &outer, ImplicitLocOpBuilder &inner, const ScoreRules &rules,
                           const ScorePlace &place)
    : outer(outer), inner(inner), rules(rules), place(place),
      inliner(outer, inner, countRows(place), countColumns(place)) {}

Value ScoreBuilder::spreadRows(Value rows) {
  return inliner.spread({rows, Extent::Rows}, Extent::Tile, inner.getLoc());
}

Value ScoreBuilder::spreadColumns(Value columns) {
  return inliner.spread({columns, Extent::Cols}, Extent::Tile, inner.getLoc());
}

Value ScoreBuilder::buildScores(Value raw) {
  scaled = raw;
  if (rules.scale.first != 1.0f) {
    auto type = cast<RankedTensorType>(raw.getType());
    auto factor = DenseElementsAttr::get(type, inner.getF32FloatAttr(rules.scale.first).getValue());
    scaled = arith::MulFOp::create(inner, raw, arith::ConstantOp::create(inner, factor));
  }
  Value scores = rules.score ? inlineRegion(*rules.score, scaled) : scaled;
  visible = buildVisible();
  if (scores && rules.visible) {
    Value allowed = inlineRegion(*rules.visible, {});
    if (!allowed)
      return {};
    visible = visible ? arith::AndIOp::create(inner, visible, allowed).getResult() : allowed;
  }
  return scores && visible ? MaskOp::create(inner, scores, visible, /*otherwise=*/FloatAttr()).getResult() : scores;
}

/// `score` and `dz` are null where the region takes none.
Value ScoreBuilder::inlineRegion(Region &region, Value score, Value dz) {
  // Positions past the end are not clamped: what a region does with them cannot trap (C17), a gather clamps its
  // indices, and the result is masked, stays in a row that is never stored, or meets P = 0.
  Type i32 = inner.getI32Type();
  TileValue rows{CoordOp::create(outer, getType(i32, Extent::Rows), rowBase(), 0), Extent::Rows};
  TileValue columns{CoordOp::create(inner, getType(i32, Extent::Cols), columnBase(), 1), Extent::Cols};
  SmallVector<TileValue> arguments;
  if (score)
    arguments.push_back({score, Extent::Tile});
  arguments.append({{place.batch, Extent::Uniform}, {place.head, Extent::Uniform}});
  arguments.append({areKeys() ? columns : rows, areKeys() ? rows : columns});
  if (dz)
    arguments.push_back({dz, Extent::Tile});
  return inliner.inlineTile(region.front(), arguments, rules.captures);
}

/// The named masks, and the ends of both sides where they are to be masked. Bounds in one direction meet in one limit
/// per row, made in front of the sweep, so that an element costs one comparison; without any, the end of the columns is
/// a matter of columns. Null if nothing hides.
Value ScoreBuilder::buildVisible() {
  Type i32 = inner.getI32Type();
  RankedTensorType rows = getType(i32, Extent::Rows), columns = getType(i32, Extent::Cols);
  Value rowLength = areKeys() ? place.keyLength : place.queryLength;
  Value columnLength = areKeys() ? place.queryLength : place.keyLength;
  MaskedEnds ends = areKeys() ? place.ends.transposed() : place.ends; // "queries": rows, "keys": columns
  auto splat = [&](Value x) { return tensor::SplatOp::create(outer, x, rows).getResult(); };
  auto constant = [&](int64_t c) { return arith::ConstantOp::create(outer, outer.getI32IntegerAttr(c)).getResult(); };

  Value most, least;
  for (const MaskAtom &atom : areKeys() ? transposeAtoms(rules.atoms) : rules.atoms) {
    Value &limit = atom.isUpper() ? most : least;
    Value base = buildBoundAt(outer, outer.getLoc(), atom, rowBase(), rowLength, columnLength);
    Value bound = atom.slope() ? CoordOp::create(outer, rows, base, 0).getResult() : splat(base);
    if (!limit)
      limit = bound;
    else if (atom.isUpper())
      limit = arith::MinSIOp::create(outer, limit, bound);
    else
      limit = arith::MaxSIOp::create(outer, limit, bound);
  }

  // Rows past the end see nothing: their limit is out of reach.
  Value real;
  if (ends.queries) {
    Value positions = CoordOp::create(outer, rows, rowBase(), 0);
    real = arith::CmpIOp::create(outer, arith::CmpIPredicate::slt, positions, splat(rowLength));
    Value &limit = least ? least : most;
    if (limit) {
      Value never = splat(constant(least ? std::numeric_limits<int32_t>::max() : -1));
      limit = arith::SelectOp::create(outer, real, limit, never);
      real = {};
    }
  }

  Value positions = CoordOp::create(inner, columns, columnBase(), 1);
  Value visible;
  if (most) {
    if (ends.keys) {
      Value last = arith::SubIOp::create(outer, columnLength, constant(1));
      most = arith::MinSIOp::create(outer, most, splat(last));
    }
    Value position = spreadColumns(positions), limit = spreadRows(most);
    visible = arith::CmpIOp::create(inner, arith::CmpIPredicate::sle, position, limit);
  } else if (ends.keys) {
    Value end = tensor::SplatOp::create(inner, columnLength, columns);
    visible = spreadColumns(arith::CmpIOp::create(inner, arith::CmpIPredicate::slt, positions, end));
  }
  auto also = [&](Value condition) {
    visible = visible ? arith::AndIOp::create(inner, visible, condition).getResult() : condition;
  };
  if (least) {
    Value position = spreadColumns(positions), limit = spreadRows(least);
    also(arith::CmpIOp::create(inner, arith::CmpIPredicate::sge, position, limit));
  }
  if (real)
    also(spreadRows(real));
  return visible;
}

Value ScoreBuilder::buildScoreGrad(Value dz) {
  if (!rules.scoreGrad)
    return dz;
  Value ds = inlineRegion(*rules.scoreGrad, scaled, dz);
  if (!ds || !visible)
    return ds;
  // P is 0 where the mask hides; a derivative may be anything there, and 0 times infinity is no gradient.
  return MaskOp::create(inner, ds, visible, inner.getF32FloatAttr(0));
}
