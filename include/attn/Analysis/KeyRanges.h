//===- KeyRanges.h - which key tiles a query tile has to look at -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named masks become atoms, atoms become two ranges of key tiles for every query tile:
//
//   key tiles   lo      plainLo          plainHi     hi
//                |  mask   |    no mask     |   mask   |
//                +---------+----------------+----------+
//                 visited: a superset of the tiles with a visible key
//                           plain: a subset of the tiles whose every key is visible to every row
//
// Backward a tile of keys looks for the queries that see it. That is the same question with the two swapped: atoms
// name both sides, so `transposeAtoms` turns a bound on keys into one on queries, and all lengths trade places.
//
// One set of formulas serves the compiled code (i32 arithmetic built as IR) and the evaluator that tests check by brute
// force. lo < hi always: where no key is visible one tile is visited all the same, fully masked, so that no loop over
// key tiles is ever empty. lo <= plainLo <= plainHi <= hi.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_KEYRANGES_H
#define ATTN_ANALYSIS_KEYRANGES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

#include <cstdint>
#include <optional>

namespace attn {

/// Query and key lengths up to this are computed exactly in i32: the largest sum a formula forms is two of them.
constexpr int64_t kMaxLength = int64_t(1) << 30;

/// One side of a mask: query q may see key k only if `query * q + key * k + diagonal * (Sk - Sq) + constant >= 0`.
/// `key` is -1 (the atom bounds k from above) or 1 (from below); `query` and `diagonal` are -1, 0 or 1.
struct MaskAtom {
  int query = 0;
  int key = -1;
  int diagonal = 0;
  int64_t constant = 0;

  bool isUpper() const { return key < 0; }
  // The same atom as a bound on k: k <= slope * q + sign * (diagonal * (Sk - Sq) + constant), or k >= ...
  int sign() const { return isUpper() ? 1 : -1; }
  int slope() const { return sign() * query; }
};

/// The conjunction of `masks` (an array of #attn.causal and #attn.window, may be null) without `k < Sk`, which every
/// range and every mask adds by itself. Atoms that differ in the constant only are merged into the tighter one; a
/// window bound of kMaxLength or more bounds nothing.
llvm::SmallVector<MaskAtom> getMaskAtoms(mlir::ArrayAttr masks);

/// How much of the analysis to use.
enum class RangeMode {
  Full,    ///< visited and plain range from the atoms
  NoPlain, ///< a mask that was not analysed comes on top: every visited tile is masked
  Off,     ///< visit and mask every tile, for checking the analysis
};

/// A value per bound: an integer, or an SSA value.
template <typename V> struct KeyRange {
  V lo, hi, plainLo, plainHi;
};

/// Queries and keys of a tile.
struct TileShape {
  int64_t queries, keys;
  TileShape transposed() const { return {keys, queries}; }
};

/// Whether positions past the end have to be hidden by masks. In the forward keys have to be; queries are computed and
/// thrown away.
struct MaskedEnds {
  bool queries = false, keys = true;
  MaskedEnds transposed() const { return {keys, queries}; }
};

/// The range of the query tile that starts at `row` (below queryLength), in plain integers. None if some intermediate
/// value leaves i32, where the compiled code would wrap; never for lengths up to kMaxLength.
std::optional<KeyRange<int64_t>> evaluateKeyRange(llvm::ArrayRef<MaskAtom> atoms, RangeMode mode, TileShape tile,
                                                  int64_t row, int64_t queryLength, int64_t keyLength);

/// The atoms as bounds on the query for a key: `query` and `key` change places. Lengths do as well, and with them the
/// sign of the diagonal.
llvm::SmallVector<MaskAtom> transposeAtoms(llvm::ArrayRef<MaskAtom> atoms);

/// The range of query tiles of the key tile that starts at `key` (below keyLength). A tile of keys with some past the
/// end, if `ends` hides those, has no plain range; the last tile of queries is plain though it be cut, unless `ends`
/// hides queries.
std::optional<KeyRange<int64_t>> evaluateQueryRange(llvm::ArrayRef<MaskAtom> atoms, RangeMode mode, TileShape tile,
                                                    MaskedEnds ends, int64_t key, int64_t queryLength,
                                                    int64_t keyLength);

/// The same as i32 arithmetic. Without an atom that bounds k from below lo and plainLo are one SSA value; without a
/// plain range plainLo and plainHi are.
KeyRange<mlir::Value> buildKeyRange(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<MaskAtom> atoms,
                                    RangeMode mode, TileShape tile, mlir::Value row, mlir::Value queryLength,
                                    mlir::Value keyLength);

/// Likewise; plainHi and hi are one SSA value where nothing is masked at the end of the queries.
KeyRange<mlir::Value> buildQueryRange(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<MaskAtom> atoms,
                                      RangeMode mode, TileShape tile, MaskedEnds ends, mlir::Value key,
                                      mlir::Value queryLength, mlir::Value keyLength);

/// The bound that `atom` puts on k for the query `row` (for slope 1 it moves with the query): k <= bound, or k >=
/// bound.
mlir::Value buildBoundAt(mlir::OpBuilder &builder, mlir::Location loc, const MaskAtom &atom, mlir::Value row,
                         mlir::Value queryLength, mlir::Value keyLength);

} // namespace attn

#endif // ATTN_ANALYSIS_KEYRANGES_H
