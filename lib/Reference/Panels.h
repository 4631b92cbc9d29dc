//===- Panels.h - a small matrix product ------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference is only useful if people wait for it, so its two products are
// register-blocked and use the machine's widest vectors. Each sum still runs over
// its terms in their order, in one accumulator, a multiplication and an addition
// apart: what is computed is the naive triple loop's result, bit for bit, on any
// machine.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_PANELS_H
#define ATTN_LIB_REFERENCE_PANELS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace attn {
namespace reference {

constexpr int64_t panelWidth = 8;
/// Rows taken at a time: as many sums in flight as hide the latency of an addition.
constexpr int64_t panelRows = 8;

/// c (panelRows x `used` columns, row stride ldc) += a (panelRows x depth, row stride lda) * panel (depth x 8).
void multiplyPanel(const double *a, int64_t lda, const double *panel, int64_t depth, double *c, int64_t ldc,
                   int64_t used);
void multiplyPanel(const float *a, int64_t lda, const float *panel, int64_t depth, float *c, int64_t ldc, int64_t used);

/// A depth x columns matrix stored as panels of 8 columns, each panel
/// depth x 8, the last one padded with zeros:
///
///     panel 0: b[0][0..7] b[1][0..7] ...   panel 1: b[0][8..15] ...
template <typename T> class Panels {
public:
  static constexpr int64_t width = panelWidth;

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
      int64_t row = 0;
      for (; row + panelRows <= rows; row += panelRows)
        multiplyPanel(a + row * lda, lda, panel, depth, c + row * ldc + first, ldc, used);
      for (; row < rows; ++row)
        for (int64_t i = 0; i < used; ++i) {
          T sum = c[row * ldc + first + i];
          for (int64_t d = 0; d < depth; ++d)
            sum += a[row * lda + d] * panel[d * width + i];
          c[row * ldc + first + i] = sum;
        }
    }
  }

private:
  std::vector<T> data;
  int64_t depth = 0, columns = 0;
};

} // namespace reference
} // namespace attn

#endif // ATTN_LIB_REFERENCE_PANELS_H
