//===- NaiveFloat.cpp - the yardstick of speed ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops one would write first, left to the C++ compiler at -O3. Nobody
// tunes this file: a speed-up over it should mean the same next year.
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn {
namespace reference {
namespace {

/// One query row: s = scale K q, p = softmax(s), o = p V. `weights` is scratch.
float naiveRow(const float *q, const float *k, const float *v, float *o, float *weights, int64_t first, int64_t last,
               int64_t headDim, int64_t valueDim, float scale) {
  float largest = -std::numeric_limits<float>::infinity();
  for (int64_t key = first; key < last; ++key) {
    float sum = 0;
    for (int64_t d = 0; d < headDim; ++d)
      sum += q[d] * k[key * headDim + d];
    weights[key] = sum * scale;
    largest = std::max(largest, weights[key]);
  }
  float total = 0;
  for (int64_t key = first; key < last; ++key) {
    weights[key] = std::exp(weights[key] - largest);
    total += weights[key];
  }
  for (int64_t d = 0; d < valueDim; ++d)
    o[d] = 0;
  for (int64_t key = first; key < last; ++key)
    for (int64_t d = 0; d < valueDim; ++d)
      o[d] += weights[key] / total * v[key * valueDim + d];
  return first < last ? largest + std::log(total) : -std::numeric_limits<float>::infinity();
}

} // namespace

void naiveFloat(const Problem &shape, const float *q, const float *k, const float *v, float *o, float *lse,
                int threads) {
  const int64_t queries = shape.queries(), keys = shape.keys(), headDim = shape.headDim(), valueDim = shape.valueDim();
  const std::vector<RowBlock> blocks = allBlocks(shape);
  parallelFor(static_cast<int64_t>(blocks.size()), threads, [&](int64_t i) {
    const RowBlock &block = blocks[i];
    const int64_t keyHead = block.b * shape.keyHeads() + block.h / (shape.queryHeads() / shape.keyHeads());
    std::vector<float> weights(keys);
    for (int64_t row = block.begin; row < block.end; ++row) {
      const int64_t at = (block.b * shape.queryHeads() + block.h) * queries + row;
      const auto [first, last] = shape.keyRange(row);
      lse[at] =
          naiveRow(q + at * headDim, k + keyHead * keys * headDim, v + keyHead * keys * valueDim, o + at * valueDim,
                   weights.data(), first, last, headDim, valueDim, static_cast<float>(shape.scale));
    }
  });
}

} // namespace reference
} // namespace attn
