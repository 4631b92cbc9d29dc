//===- KeyRanges.cpp - which key tiles a query tile has to look at
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/KeyRanges.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Masks to atoms
//===----------------------------------------------------------------------===//

/// Adds `atom`, or tightens the atom that differs from it in the constant only.
static void addAtom(SmallVectorImpl<MaskAtom> &atoms, MaskAtom atom) {
  for (MaskAtom &other : atoms) {
    if (other.query == atom.query && other.key == atom.key && other.diagonal == atom.diagonal) {
      other.constant = std::min(other.constant, atom.constant);
      return;
    }
  }
  atoms.push_back(atom);
}

/// q + off - left <= k <= q + off + right, where -1 is unbounded. No two positions are kMaxLength apart.
static void addBand(SmallVectorImpl<MaskAtom> &atoms, int64_t left, int64_t right, Align align) {
  int off = align == Align::BottomRight ? 1 : 0;
  if (right >= 0 && right < kMaxLength)
    addAtom(atoms, {/*query=*/1, /*key=*/-1, /*diagonal=*/off, /*constant=*/right});
  if (left >= 0 && left < kMaxLength)
    addAtom(atoms, {/*query=*/-1, /*key=*/1, /*diagonal=*/-off, /*constant=*/left});
}

SmallVector<MaskAtom> attn::getMaskAtoms(ArrayAttr masks) {
  SmallVector<MaskAtom> atoms;
  if (!masks)
    return atoms;
  for (Attribute mask : masks) {
    if (auto causal = dyn_cast<CausalAttr>(mask))
      addBand(atoms, /*left=*/-1, /*right=*/0, causal.getAlign());
    else if (auto window = dyn_cast<WindowAttr>(mask))
      addBand(atoms, window.getLeft(), window.getRight(), window.getAlign());
  }
  return atoms;
}

SmallVector<MaskAtom> attn::transposeAtoms(ArrayRef<MaskAtom> atoms) {
  SmallVector<MaskAtom> transposed;
  for (const MaskAtom &atom : atoms) {
    assert(atom.query && "a bound that does not move with the query is none on the query");
    transposed.push_back({atom.key, atom.query, -atom.diagonal, atom.constant});
  }
  return transposed;
}

//===----------------------------------------------------------------------===//
// Two machines for one set of formulas
//===----------------------------------------------------------------------===//

namespace {
/// Plain integers that notice when a value leaves i32.
struct IntArith {
  using V = int64_t;
  bool overflow = false;

  V check(V v) {
    overflow |= !llvm::isInt<32>(v);
    return v;
  }
  V constant(int64_t c) { return check(c); }
  V add(V a, V b) { return check(a + b); }
  V sub(V a, V b) { return check(a - b); }
  V min(V a, V b) { return std::min(a, b); }
  V max(V a, V b) { return std::max(a, b); }
  V mul(V a, V b) { return check(a * b); }
  V floorDiv(V a, V b) { return llvm::divideFloorSigned(a, b); }
  V ceilDiv(V a, V b) { return llvm::divideCeilSigned(a, b); }
  V selectGreater(V a, V b, V yes, V no) { return a > b ? yes : no; }
};

/// i32 operations, one constant op per value.
struct BuildArith {
  using V = Value;
  OpBuilder &b;
  Location loc;
  llvm::DenseMap<int64_t, Value> constants;

  BuildArith(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  V constant(int64_t c) {
    Value &value = constants[c];
    if (!value)
      value = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(c));
    return value;
  }
  bool isZero(V v) { return matchPattern(v, m_Zero()); }
  V add(V x, V y) { return isZero(y) ? x : arith::AddIOp::create(b, loc, x, y).getResult(); }
  V sub(V x, V y) { return isZero(y) ? x : arith::SubIOp::create(b, loc, x, y).getResult(); }
  V min(V x, V y) { return arith::MinSIOp::create(b, loc, x, y); }
  V max(V x, V y) { return arith::MaxSIOp::create(b, loc, x, y); }
  V mul(V x, V y) { return arith::MulIOp::create(b, loc, x, y); }
  V floorDiv(V x, V y) { return arith::FloorDivSIOp::create(b, loc, x, y); }
  V ceilDiv(V x, V y) { return arith::CeilDivSIOp::create(b, loc, x, y); }
  V selectGreater(V x, V y, V yes, V no) {
    Value greater = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, x, y);
    return arith::SelectOp::create(b, loc, greater, yes, no);
  }
};

/// The formulas, in the words of the forward: for a tile of queries (`row`) that looks for keys.
template <typename Arith> struct RangeBuilder {
  using V = typename Arith::V;
  Arith &a;
  ArrayRef<MaskAtom> atoms;
  TileShape tile;
  V row, queryLength, keyLength;
  MaskedEnds ends = {};
  std::optional<V> off = {}, rowEnd = {};

  /// Sk - Sq: how far a bottom-right diagonal is shifted.
  V getOff() {
    if (!off)
      off = a.sub(keyLength, queryLength);
    return *off;
  }
  /// One past the last row of the tile that is a query. Rows behind it are computed and thrown away: they bound
  /// nothing.
  V getRowEnd() {
    if (!rowEnd)
      rowEnd = a.min(a.add(row, a.constant(tile.queries)), queryLength);
    return *rowEnd;
  }

  /// The bound that `atom` puts on k for the query q, plus `extra`.
  V boundAt(const MaskAtom &atom, V q, int64_t extra) {
    int shift = atom.sign() * atom.diagonal;
    int64_t c = atom.sign() * atom.constant + extra;
    // q and the diagonal first: q + (Sk - Sq) is a position in the keys, so the constant comes last and nothing wraps.
    V v = atom.slope() > 0 ? q : a.constant(0);
    if (atom.slope() < 0)
      v = a.sub(v, q);
    if (shift > 0)
      v = atom.slope() ? a.add(v, getOff()) : getOff();
    else if (shift < 0)
      v = a.sub(v, getOff());
    return a.add(v, a.constant(c));
  }

  /// The weakest or the strongest bound over the rows of the tile: a bound is monotone in q, so it is at one end.
  V boundOver(const MaskAtom &atom, bool weakest, int64_t extra) {
    bool largest = atom.isUpper() == weakest;
    if (atom.slope() == 0 || (atom.slope() > 0) != largest)
      return boundAt(atom, row, extra);
    return boundAt(atom, getRowEnd(), extra - atom.slope());
  }

  KeyRange<V> build(RangeMode mode) {
    V keys = a.constant(tile.keys), zero = a.constant(0);
    if (mode == RangeMode::Off)
      return {zero, a.ceilDiv(keyLength, keys), zero, zero};

    // Keys below `seenEnd` may be visible, keys in [fullBegin, fullEnd) are visible to every row.
    V seenEnd = keyLength, fullEnd = keyLength;
    std::optional<V> seenBegin, fullBegin;
    bool upper = llvm::any_of(atoms, [](const MaskAtom &atom) { return atom.isUpper(); });
    // Where nothing hides keys past the end, they fill their tile.
    if (!ends.keys && upper && mode == RangeMode::Full)
      fullEnd = a.mul(a.ceilDiv(keyLength, keys), keys);
    for (const MaskAtom &atom : atoms) {
      if (atom.isUpper()) {
        seenEnd = a.min(boundOver(atom, /*weakest=*/true, 1), seenEnd);
        if (mode == RangeMode::Full)
          fullEnd = a.min(boundOver(atom, /*weakest=*/false, 1), fullEnd);
        continue;
      }
      V seen = boundOver(atom, /*weakest=*/true, 0);
      seenBegin = seenBegin ? a.max(seen, *seenBegin) : seen;
      if (mode == RangeMode::Full) {
        V full = boundOver(atom, /*weakest=*/false, 0);
        fullBegin = fullBegin ? a.max(full, *fullBegin) : full;
      }
    }

    // Without an upper atom hi = ceil(Sk / keys) >= 1 already, and floor(Sk / keys) >= 0.
    V hi = a.ceilDiv(seenEnd, keys);
    if (upper)
      hi = a.max(hi, a.constant(1));
    V lo = zero;
    if (seenBegin) {
      V first = a.max(a.floorDiv(*seenBegin, keys), zero);
      lo = a.min(first, a.sub(hi, a.constant(1)));
    }
    if (mode == RangeMode::NoPlain)
      return {lo, hi, lo, lo};

    // floor(fullEnd) <= ceil(seenEnd) <= hi, and ceil(fullBegin) >= floor(seenBegin) >= lo; where seenBegin < 0 the
    // maximum with lo does it.
    V plainHi = ends.keys || upper ? a.floorDiv(fullEnd, keys) : hi, plainLo = lo;
    if (fullBegin)
      plainLo = a.min(a.max(a.ceilDiv(*fullBegin, keys), lo), hi);
    if ((fullBegin && ends.keys) || upper)
      plainHi = a.max(plainHi, plainLo);
    if (ends.queries) {
      V end = a.add(row, a.constant(tile.queries));
      plainLo = a.selectGreater(end, queryLength, hi, plainLo);
      plainHi = a.selectGreater(end, queryLength, hi, plainHi);
    }
    return {lo, hi, plainLo, plainHi};
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

std::optional<KeyRange<int64_t>> attn::evaluateKeyRange(ArrayRef<MaskAtom> atoms, RangeMode mode, TileShape tile,
                                                        int64_t row, int64_t queryLength, int64_t keyLength) {
  IntArith arith;
  RangeBuilder<IntArith> range{arith, atoms, tile, row, queryLength, keyLength};
  KeyRange<int64_t> result = range.build(mode);
  if (arith.overflow)
    return std::nullopt;
  return result;
}

KeyRange<Value> attn::buildKeyRange(OpBuilder &builder, Location loc, ArrayRef<MaskAtom> atoms, RangeMode mode,
                                    TileShape tile, Value row, Value queryLength, Value keyLength) {
  BuildArith arith(builder, loc);
  RangeBuilder<BuildArith> range{arith, atoms, tile, row, queryLength, keyLength};
  return range.build(mode);
}

std::optional<KeyRange<int64_t>> attn::evaluateQueryRange(ArrayRef<MaskAtom> atoms, RangeMode mode, TileShape tile,
                                                          MaskedEnds ends, int64_t key, int64_t queryLength,
                                                          int64_t keyLength) {
  IntArith arith;
  SmallVector<MaskAtom> transposed = transposeAtoms(atoms);
  RangeBuilder<IntArith> range{arith, transposed, tile.transposed(), key, keyLength, queryLength, ends.transposed()};
  KeyRange<int64_t> result = range.build(mode);
  if (arith.overflow)
    return std::nullopt;
  return result;
}

KeyRange<Value> attn::buildQueryRange(OpBuilder &builder, Location loc, ArrayRef<MaskAtom> atoms, RangeMode mode,
                                      TileShape tile, MaskedEnds ends, Value key, Value queryLength, Value keyLength) {
  BuildArith arith(builder, loc);
  SmallVector<MaskAtom> transposed = transposeAtoms(atoms);
  RangeBuilder<BuildArith> range{arith, transposed, tile.transposed(), key, keyLength, queryLength, ends.transposed()};
  return range.build(mode);
}

Value attn::buildBoundAt(OpBuilder &builder, Location loc, const MaskAtom &atom, Value row, Value queryLength,
                         Value keyLength) {
  BuildArith arith(builder, loc);
  RangeBuilder<BuildArith> range{arith, {}, {}, row, queryLength, keyLength};
  return range.boundAt(atom, row, /*extra=*/0);
}
