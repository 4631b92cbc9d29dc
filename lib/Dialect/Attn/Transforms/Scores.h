//===- Scores.h - from raw products to masked scores, forward and backward -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every nest computes the same scores: scale, score region, mask, in this order, then P = 2^(c S - x) for an x of the
// query. Nests differ in what lies along the rows of the tile:
//
//   queries on rows (forward, dQ)      keys on rows (dK, dV)
//
//              keys ->                            queries ->
//   queries  S = Q K^T                 keys     S = K Q^T
//
// Rows are the tile's own and do not change in a sweep; columns move with it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_SCORES_H
#define ATTN_TRANSFORMS_SCORES_H

#include "InlineRegion.h"
#include "attn/Analysis/KeyRanges.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {

/// How raw scores become exponents of 2.
struct ScaleRule {
  /// Factor applied to the scores first, 1 if none.
  float first;
  /// c: what a score is multiplied by in the exponent.
  float inExponent;
};

/// Forward and backward have to agree, so that both make the same P.
ScaleRule chooseScaleRule(float scale, bool hasScoreRegion);

/// What an op says about its scores.
struct ScoreRules {
  llvm::SmallVector<MaskAtom> atoms;
  mlir::Region *score = nullptr, *visible = nullptr, *scoreGrad = nullptr; ///< null where there is none
  ScaleRule scale;
  /// Values from outside the regions to their counterparts.
  const mlir::IRMapping &captures;
};

inline mlir::Region *getRegionOrNull(mlir::Region &region) { return region.empty() ? nullptr : &region; }

/// What lies along the rows of a tile of scores.
enum class RowsAre { Queries, Keys };

/// A tile of scores: first query and key, and the numbers that its masks and regions read (all i32).
struct ScorePlace {
  TileShape tile;
  RowsAre rowsAre;
  MaskedEnds ends;
  mlir::Value query, key;
  mlir::Value batch, head, queryLength, keyLength;
};

/// How much of the range analysis the sweeps of `op` may use; a remark of `category` says where a mask region ends it.
RangeMode chooseRangeMode(AttentionOp op, bool noRanges, llvm::StringRef category);

/// Where only the keys' end cuts a range of keys on its right, one block at most is cut: the `edge` of its sweep, or
/// null.
mlir::IntegerAttr getKeyEdge(mlir::MLIRContext *context, llvm::ArrayRef<MaskAtom> atoms, RangeMode mode);

class ScoreBuilder {
public:
  /// `outer` inserts in front of the sweep, `inner` in its body.
  ScoreBuilder(mlir::ImplicitLocOpBuilder &outer, mlir::ImplicitLocOpBuilder &inner, const ScoreRules &rules,
               const ScorePlace &place);

  /// Masked scores of the raw products `raw`, or null after an error.
  mlir::Value buildScores(mlir::Value raw);

  /// The gradient with respect to scaled scores of `dz`, that with respect to the result of the score region; 0 where
  /// the mask hides. After buildScores; null after an error.
  mlir::Value buildScoreGrad(mlir::Value dz);

  /// A value of the rows (columns) at all elements.
  mlir::Value spreadRows(mlir::Value rows);
  mlir::Value spreadColumns(mlir::Value columns);

  mlir::RankedTensorType getType(mlir::Type element, Extent extent = Extent::Tile) const {
    return mlir::cast<mlir::RankedTensorType>(inliner.typeAt(element, extent));
  }

private:
  mlir::Value buildVisible();
  mlir::Value inlineRegion(mlir::Region &region, mlir::Value score, mlir::Value dz = {});

  bool areKeys() const { return place.rowsAre == RowsAre::Keys; }
  mlir::Value rowBase() const { return areKeys() ? place.key : place.query; }
  mlir::Value columnBase() const { return areKeys() ? place.query : place.key; }

  mlir::ImplicitLocOpBuilder &outer, &inner;
  const ScoreRules &rules;
  ScorePlace place;
  RegionInliner inliner;
  mlir::Value scaled, visible; ///< by buildScores; `visible` is null where nothing hides
};

} // namespace attn

#endif // ATTN_TRANSFORMS_SCORES_H
