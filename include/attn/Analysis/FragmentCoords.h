//===- FragmentCoords.h - where an element of a tile lives ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that knows how `#attn.frag` spreads a tile over registers. Everything that needs a coordinate (masks,
// score regions, reductions, stores, the operands of a dot) asks here.
//
// One atom is the accumulator of mma.sync.m16n8: 16 rows x 8 columns, four elements a lane (g = lane / 4, q = lane %
// 4):
//
//            column  2q      2q + 1
//   row g            e = 0   e = 1
//   row g + 8        e = 2   e = 3
//
// A warp owns rowAtoms x colAtoms atoms; a thread's vector holds them row atom by row atom: (a * colAtoms + j) * 4 + e.
// So a coordinate is (what the warp adds) + (what the lane adds) + (what the index in the vector adds), and the last is
// a constant: coordinates of a whole fragment are one value plus a constant vector.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_FRAGMENTCOORDS_H
#define ATTN_ANALYSIS_FRAGMENTCOORDS_H

#include "attn/Facts/Facts.h"

#include <cstdint>

namespace mlir {
class RankedTensorType;
} // namespace mlir

namespace attn {

using facts::kAtomCols, facts::kAtomRows, facts::kWarpLanes;
constexpr int64_t kAtomElements = 4;

/// What a lane adds to the row and the column of each of its elements.
constexpr int64_t laneRow(int64_t lane) { return lane / 4; }
constexpr int64_t laneCol(int64_t lane) { return 2 * (lane % 4); }

/// A fragment's shape and how warps tile it.
struct Fragment {
  enum class Form { Tile, Rows, Cols, Quads };

  int64_t rows = 0, cols = 0; ///< of the tile; Rows has no cols, Cols no rows, Quads 4 cols
  int64_t warpsM = 1, warpsN = 1;
  Form form = Form::Tile;

  /// The fragment of a tensor that carries `#attn.frag`.
  static Fragment of(mlir::RankedTensorType type);

  constexpr int64_t rowAtoms() const { return rows / (kAtomRows * warpsM); }
  constexpr int64_t colAtoms() const { return cols / (kAtomCols * warpsN); }

  /// Elements a thread holds.
  constexpr int64_t size() const {
    switch (form) {
    case Form::Tile:
      return rowAtoms() * colAtoms() * kAtomElements;
    case Form::Rows:
    case Form::Quads:
      return rowAtoms() * 2;
    case Form::Cols:
      return colAtoms() * 2;
    }
    return 0;
  }

  /// Rows between the first rows of two neighbouring warps, and columns likewise.
  constexpr int64_t warpRows() const { return rowAtoms() * kAtomRows; }
  constexpr int64_t warpCols() const { return colAtoms() * kAtomCols; }

  /// Which of the thread's rows (columns) element i lies in: its index in the Rows (Cols) form.
  constexpr int64_t rowIndex(int64_t i) const {
    if (form != Form::Tile)
      return form == Form::Cols ? 0 : i;
    return i / (colAtoms() * kAtomElements) * 2 + i % kAtomElements / 2;
  }
  constexpr int64_t colIndex(int64_t i) const {
    if (form != Form::Tile)
      return form == Form::Cols ? i : 0;
    return i / kAtomElements % colAtoms() * 2 + i % 2;
  }

  /// What the position in the vector adds to the row (column) of element i.
  constexpr int64_t rowOffset(int64_t i) const { return rowOfIndex(rowIndex(i)); }
  constexpr int64_t colOffset(int64_t i) const { return colOfIndex(colIndex(i)); }
  static constexpr int64_t rowOfIndex(int64_t index) { return index / 2 * kAtomRows + index % 2 * 8; }
  static constexpr int64_t colOfIndex(int64_t index) { return index / 2 * kAtomCols + index % 2; }

  /// Where row index r and column index c of the thread meet in its vector (Tile form).
  constexpr int64_t element(int64_t r, int64_t c) const {
    return (r / 2 * colAtoms() + c / 2) * kAtomElements + r % 2 * 2 + c % 2;
  }

  /// As A operand of m16n8k16: the first of the eight consecutive elements that row atom a, k-step s reads. In pairs
  /// they are its four registers: (g, k 2q), (g + 8, k 2q), (g, k 2q + 8), (g + 8, k 2q + 8).
  constexpr int64_t operandA(int64_t a, int64_t s) const { return (a * colAtoms() + 2 * s) * kAtomElements; }
};

/// The whole map, for tests and for reading: element i of lane `lane` in warp (wr, wc).
constexpr int64_t rowOf(const Fragment &f, int64_t wr, int64_t lane, int64_t i) {
  return wr * f.warpRows() + laneRow(lane) + f.rowOffset(i);
}
constexpr int64_t colOf(const Fragment &f, int64_t wc, int64_t lane, int64_t i) {
  return wc * f.warpCols() + laneCol(lane) + f.colOffset(i);
}

namespace detail {
constexpr Fragment k128x64{128, 64, 4, 1, Fragment::Form::Tile};
static_assert(k128x64.size() == 64 && k128x64.rowAtoms() == 2 && k128x64.colAtoms() == 8);
// Warp 3, lane 31 (g = 7, q = 3), last element: the tile's last corner.
static_assert(rowOf(k128x64, 3, 31, 63) == 127 && colOf(k128x64, 0, 31, 63) == 63);
static_assert(rowOf(k128x64, 0, 4, 2) == 9 && colOf(k128x64, 0, 5, 5) == 8 + 2 + 1);
static_assert(k128x64.element(k128x64.rowIndex(45), k128x64.colIndex(45)) == 45);
// Two neighbouring 8-column atoms of an accumulator are one 16-deep A operand.
static_assert(k128x64.operandA(1, 3) == 56 && colOf(k128x64, 0, 0, k128x64.operandA(1, 3) + 4) == 3 * 16 + 8);
static_assert(Fragment{128, 0, 4, 1, Fragment::Form::Rows}.size() == 4 &&
              Fragment{0, 64, 4, 1, Fragment::Form::Cols}.size() == 16 &&
              Fragment{128, 4, 4, 1, Fragment::Form::Quads}.size() == 4);
} // namespace detail
} // namespace attn

#endif // ATTN_ANALYSIS_FRAGMENTCOORDS_H
