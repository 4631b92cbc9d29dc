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

float dot(const float *x, const float *y, int64_t count) {
  float sum = 0;
  for (int64_t d = 0; d < count; ++d)
    sum += x[d] * y[d];
  return sum;
}

/// One query row: s = scale K q, p = softmax(s), o = p V. `weights` is scratch.
float naiveRow(const float *q, const float *k, const float *v, float *o, float *weights, int64_t first, int64_t last,
               int64_t headDim, int64_t valueDim, float scale) {
  float largest = -std::numeric_limits<float>::infinity();
  for (int64_t key = first; key < last; ++key) {
    weights[key] = dot(q, k + key * headDim, headDim) * scale;
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

void naiveFloatGradients(const Problem &shape, const FloatGradients &tensors, int threads) {
  const int64_t queries = shape.queries(), keys = shape.keys(), headDim = shape.headDim(), valueDim = shape.valueDim();
  const int64_t heads = shape.queryHeads(), keyHeads = shape.keyHeads(), group = keyHeads ? heads / keyHeads : 0;
  const float scale = static_cast<float>(shape.scale);
  // A key head at a time: nobody else adds to its dK and dV.
  parallelFor(shape.batch() * keyHeads, threads, [&](int64_t keyHead) {
    const float *k = tensors.k + keyHead * keys * headDim, *v = tensors.v + keyHead * keys * valueDim;
    float *dK = tensors.dK + keyHead * keys * headDim, *dV = tensors.dV + keyHead * keys * valueDim;
    std::fill(dK, dK + keys * headDim, 0.0f);
    std::fill(dV, dV + keys * valueDim, 0.0f);
    for (int64_t row = keyHead * group * queries; row < (keyHead + 1) * group * queries; ++row) {
      const float *q = tensors.q + row * headDim, *dO = tensors.dO + row * valueDim;
      float *dQ = tensors.dQ + row * headDim;
      std::fill(dQ, dQ + headDim, 0.0f);
      const float delta = dot(dO, tensors.o + row * valueDim, valueDim);
      const auto [first, last] = shape.keyRange(row % queries);
      for (int64_t key = first; key < last; ++key) {
        const float p = std::exp(dot(q, k + key * headDim, headDim) * scale - tensors.lse[row]);
        const float ds = p * (dot(dO, v + key * valueDim, valueDim) - delta) * scale;
        for (int64_t d = 0; d < headDim; ++d) {
          dQ[d] += ds * k[key * headDim + d];
          dK[key * headDim + d] += ds * q[d];
        }
        for (int64_t d = 0; d < valueDim; ++d)
          dV[key * valueDim + d] += p * dO[d];
      }
    }
  });
}

} // namespace reference
} // namespace attn
