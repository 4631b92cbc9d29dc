//===- Panels.h - a small matrix product ------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference is only useful if people wait for it, so its two products are
// register-blocked. Each sum still runs over its terms in their order, in one
// accumulator: what is computed is the naive triple loop's result, bit for bit.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_PANELS_H
#define ATTN_LIB_REFERENCE_PANELS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace attn {
namespace reference {

/// A depth x columns matrix stored as panels of 8 columns, each panel
/// depth x 8, the last one padded with zeros:
///
///     panel 0: b[0][0..7] b[1][0..7] ...   panel 1: b[0][8..15] ...
template <typename T> class Panels {
public:
  static constexpr int64_t width = 8;

  template <typename Get> void pack(int64_t newDepth, int64_t newColumns, Get get) {
    depth = newDepth;
    columns = newColumns;
    const int64_t numPanels = (columns + width - 1) / width;
    data.resize(numPanels * depth * width);
    for (int64_t p = 0; p < numPanels; ++p)
      for (int64_t d = 0; d < depth; ++d)
        for (int64_t c = 0; c < width; ++c) {
          const int64_t column = p * width + c;
          data[(p * depth + d) * width + c] = column < columns ? static_cast<T>(get(d, column)) : T(0);
        }
  }

  /// c (rows x columns, row stride ldc) += a (rows x depth, row stride lda) * this.
  void multiplyInto(const T *a, int64_t lda, int64_t rows, T *c, int64_t ldc) const {
    for (int64_t first = 0; first < columns; first += width) {
      const T *panel = data.data() + first * depth;
      const int64_t used = std::min(width, columns - first);
      for (int64_t row = 0; row < rows; row += 4) {
        const int64_t usedRows = std::min<int64_t>(4, rows - row);
        if (usedRows == 4)
          block<4>(a + row * lda, lda, panel, c + row * ldc + first, ldc, used);
        else
          for (int64_t r = row; r < rows; ++r)
            block<1>(a + r * lda, lda, panel, c + r * ldc + first, ldc, used);
      }
    }
  }

private:
  template <int R> void block(const T *a, int64_t lda, const T *panel, T *c, int64_t ldc, int64_t used) const {
    T sum[R][width];
    for (int r = 0; r < R; ++r)
      for (int64_t i = 0; i < width; ++i)
        sum[r][i] = i < used ? c[r * ldc + i] : T(0);
    for (int64_t d = 0; d < depth; ++d)
      for (int r = 0; r < R; ++r)
        for (int64_t i = 0; i < width; ++i)
          sum[r][i] += a[r * lda + d] * panel[d * width + i];
    for (int r = 0; r < R; ++r)
      for (int64_t i = 0; i < used; ++i)
        c[r * ldc + i] = sum[r][i];
  }

  std::vector<T> data;
  int64_t depth = 0, columns = 0;
};

} // namespace reference
} // namespace attn

#endif // ATTN_LIB_REFERENCE_PANELS_H
