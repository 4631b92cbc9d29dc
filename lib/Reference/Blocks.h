//===- Blocks.h - products of a block of rows with its keys -----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the forward and the backward have in common: which keys a block of query
// rows may see, and the dots of its rows with rows of keys or values.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_BLOCKS_H
#define ATTN_LIB_REFERENCE_BLOCKS_H

#include "Panels.h"
#include "attn/Reference/Attention.h"

#include <cmath>

namespace attn {
namespace reference {

/// Keys taken at a time: K and V chunks that fit in the second-level cache.
constexpr int64_t chunkKeys = Evaluator::maxLanes;

/// Keys [first, last) of one key head.
struct Window {
  int64_t b, kvHead, first, last;
  int64_t keys() const { return last - first; }
};

/// The keys some row of a block may see, and the key head they belong to.
Window windowOf(const Problem &problem, const RowBlock &block);

/// A score too large for the type stays as it is: were it an infinity, the
/// plain row would be meaningless and excuse any error.
inline double roundScore(ElementType type, double score) {
  const double rounded = roundTo(type, score);
  return std::isinf(rounded) ? score : rounded;
}

/// Rows of a head of `view`: rows x columns.
template <typename T> std::vector<T> denseRows(const View &view, const RowBlock &block) {
  const int64_t columns = view.dim(3);
  std::vector<T> rows(block.rows() * columns);
  for (int64_t row = 0; row < block.rows(); ++row)
    for (int64_t d = 0; d < columns; ++d)
      rows[row * columns + d] = static_cast<T>(loadFloat(view.type, view.at(block.b, block.h, block.begin + row, d)));
  return rows;
}

/// Dots of a block's rows of `queries` with a window's rows of `keys`:
/// rows x window.keys().
template <typename T>
std::vector<T> dots(const View &queries, const RowBlock &block, const View &keys, const Window &window) {
  const int64_t depth = queries.dim(3);
  const std::vector<T> rows = denseRows<T>(queries, block);
  std::vector<T> result(block.rows() * window.keys());
  Panels<T> panels;
  for (int64_t first = 0; first < window.keys(); first += chunkKeys) {
    const int64_t count = std::min(chunkKeys, window.keys() - first);
    panels.pack(depth, count, [&](int64_t d, int64_t key) {
      return loadFloat(keys.type, keys.at(window.b, window.kvHead, window.first + first + key, d));
    });
    panels.multiplyInto(rows.data(), depth, block.rows(), result.data() + first, window.keys());
  }
  return result;
}

} // namespace reference
} // namespace attn

#endif // ATTN_LIB_REFERENCE_BLOCKS_H
