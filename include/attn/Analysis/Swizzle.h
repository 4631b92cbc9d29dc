//===- Swizzle.h - where a byte of a shared-memory tile lives -------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile is cut into panels of `span` bytes a row; a panel is [rows][span]. Inside a panel the 16-byte chunks of a row
// are permuted by XOR so that whatever eight lanes touch together lies in eight different bank groups. Span 128:
//
//   row 0   0 1 2 3 4 5 6 7      row r stores chunk c at c ^ (r % 8)
//   row 1   1 0 3 2 5 4 7 6
//   row 2   2 3 0 1 6 7 4 5      a column of chunks (what ldmatrix reads) is a diagonal
//
// Spans 64 and 32 put 2 and 4 rows into 128 bytes, so the row enters as r * span / 128.
//
// The XOR touches only bits 4..6 of an address and depends on the row only modulo 8 rows (or fewer). So with a base
// aligned to 8 rows, address(r + 8k, ..) = address(r, ..) + 8k * span, and chunks c ^ x of one row are address ^ 16x:
// per-lane addresses are computed once, everything else is a constant to add or to XOR.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_SWIZZLE_H
#define ATTN_ANALYSIS_SWIZZLE_H

#include "attn/Facts/Facts.h"

#include <cstdint>

namespace attn {

constexpr int64_t kChunkBytes = 16;

struct TileLayout {
  int64_t rows, rowBytes; ///< of the tile
  int64_t span;           ///< bytes of a swizzled row; 0: one panel, rows as they are

  constexpr int64_t panelBytesPerRow() const { return span ? span : rowBytes; }
  constexpr int64_t panels() const { return rowBytes / panelBytesPerRow(); }
  constexpr int64_t panelBytes() const { return rows * panelBytesPerRow(); }
  constexpr int64_t chunksPerRow() const { return panelBytesPerRow() / kChunkBytes; } ///< of a panel
  constexpr int64_t bytes() const { return rows * rowBytes; }

  /// What row r XORs into the chunk number.
  constexpr int64_t rowXor(int64_t r) const { return span ? r * span / facts::kBankBytes % (span / kChunkBytes) : 0; }
  /// Rows per step of rowXor and steps until it repeats: xor = r / rowsPerXor() % xorSteps().
  constexpr int64_t rowsPerXor() const { return span ? facts::kBankBytes / span : 1; }
  constexpr int64_t xorSteps() const { return span ? span / kChunkBytes : 1; }

  /// Byte address of `byte` of row r, from the tile's base.
  constexpr int64_t address(int64_t r, int64_t byte) const {
    int64_t panel = byte / panelBytesPerRow(), inRow = byte % panelBytesPerRow();
    return panel * panelBytes() + r * panelBytesPerRow() + ((inRow / kChunkBytes) ^ rowXor(r)) * kChunkBytes +
           inRow % kChunkBytes;
  }
};

/// How many times over the busiest of the 32 four-byte banks is needed when `lanes` lanes access `width` bytes each, in
/// one phase (8 lanes of 16 bytes, 32 lanes of 4). 1: no conflict.
template <typename AddressOfLane> constexpr int64_t bankPasses(int64_t lanes, int64_t width, AddressOfLane address) {
  int64_t worst = 0;
  for (int64_t bank = 0; bank < 32; ++bank) {
    int64_t words = 0; // different words of this bank: equal words are one broadcast
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t b = 0; b < width; b += 4) {
        int64_t word = (address(lane) + b) / 4;
        bool seen = word % 32 != bank;
        for (int64_t l = 0; l <= lane && !seen; ++l)
          for (int64_t bb = 0; bb < width && !seen; bb += 4)
            seen = (l < lane || bb < b) && (address(l) + bb) / 4 == word;
        words += !seen;
      }
    worst = words > worst ? words : worst;
  }
  return worst;
}

namespace detail {
constexpr TileLayout kK{64, 256, 128};
static_assert(kK.panels() == 2 && kK.address(0, 128) == 64 * 128 && kK.address(3, 16) == 3 * 128 + (1 ^ 3) * 16);
static_assert(kK.address(11, 48) == kK.address(3, 48) + 8 * 128 && kK.address(5, 96) == (kK.address(5, 32) ^ 64));
} // namespace detail
} // namespace attn

#endif // ATTN_ANALYSIS_SWIZZLE_H
