//===- Pairs.h - weights and score gradients of pairs -----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_PAIRS_H
#define ATTN_LIB_REFERENCE_PAIRS_H

#include "Blocks.h"
#include "attn/Reference/Gradient.h"

#include <limits>

namespace attn {
namespace reference {

/// q . k and dO . v of a block of query rows with a window of keys, rows x keys.
template <typename T> struct PairDots {
  std::vector<T> s, dP;
  PairDots(const GradientProblem &gradient, const RowBlock &block, const Window &window)
      : s(dots<T>(gradient.forward.q, block, gradient.forward.k, window)),
        dP(dots<T>(gradient.dO, block, gradient.forward.v, window)) {}
};

/// What a block of query rows and a window of keys weigh in each other's gradients, rows x keys, in one arithmetic.
template <typename T> class Pairs {
public:
  std::vector<T> p;          ///< weights; -0.0 where the key is not seen
  std::vector<T> ds;         ///< gradients of scaled dots; 0 where the key is not seen
  std::vector<double> terms; ///< typical size of what ds is a difference of
  std::vector<double> reach; ///< size of ds by delta

  /// `type` is what a plain implementation rounds to at every step (f64: exact); `rows` are those of the block.
  Pairs(const GradientProblem &gradient, const RowBlock &block, const Window &window, ElementType type,
        const Gradients::Row *rows, PairDots<T> dots)
      : p(std::move(dots.s)), ds(std::move(dots.dP)), terms(p.size()), reach(p.size()), block(block), window(window),
        type(type), problem(gradient.forward) {
    if (problem.score)
      score.emplace(*problem.score);
    if (problem.visible)
      visible.emplace(*problem.visible);
    for (int64_t key = window.first; key < window.last; ++key)
      vNorms.push_back(normOf(problem.v, window.b, window.kvHead, key));
    for (int64_t row = 0; row < block.rows(); ++row)
      for (int64_t at = 0; at < window.keys(); at += chunkKeys)
        weigh(row, at, static_cast<int>(std::min(chunkKeys, window.keys() - at)), rows[row]);
  }

private:
  T round(double x) const { return static_cast<T>(roundTo(type, x)); }

  /// `count` keys of one row, from their dots.
  void weigh(int64_t row, int64_t at, int count, const Gradients::Row &kept) {
    const int64_t q = block.begin + row, first = row * window.keys() + at;
    const int which = type == ElementType::f64 ? 0 : 1;
    const T lse = static_cast<T>(kept.lse[which]), delta = static_cast<T>(kept.delta[which]);
    const auto [low, high] = problem.keyRange(q);
    double scores[chunkKeys], slopes[chunkKeys];
    bool seen[chunkKeys];
    for (int i = 0; i < count; ++i) {
      const int64_t key = window.first + at + i;
      seen[i] = key >= low && key < high;
      scores[i] = roundScore(type, T(problem.scale) * p[first + i]);
      slopes[i] = 1;
    }
    if (score)
      score->score(block.b, block.h, q, window.first + at, count, scores, slopes);
    if (visible)
      visible->visible(block.b, block.h, q, window.first + at, count, seen);
    for (int i = 0; i < count; ++i) {
      T &weight = p[first + i], &gradient = ds[first + i];
      // A score of -inf is as good as a mask.
      if (!seen[i] || scores[i] == -std::numeric_limits<double>::infinity()) {
        weight = T(-0.0);
        gradient = 0;
        continue;
      }
      weight = std::exp(static_cast<T>(roundScore(type, scores[i])) - lse);
      const double typical = kept.dONorm * vNorms[at + i] / std::sqrt(static_cast<double>(problem.valueDim()));
      reach[first + i] = weight * std::fabs(slopes[i]);
      terms[first + i] = reach[first + i] * (std::fabs(gradient) + std::fabs(delta) + typical);
      weight = round(weight);
      gradient = round(weight * (round(gradient) - delta));
      if (score)
        gradient = round(gradient * static_cast<T>(slopes[i]));
    }
  }

  static double normOf(const View &view, int64_t b, int64_t h, int64_t s) {
    double sum = 0;
    for (int64_t d = 0; d < view.dim(3); ++d) {
      const double x = loadFloat(view.type, view.at(b, h, s, d));
      sum += x * x;
    }
    return std::sqrt(sum);
  }

  const RowBlock block;
  const Window window;
  const ElementType type;
  const Problem &problem;
  std::optional<Evaluator> score, visible;
  std::vector<double> vNorms;
};

} // namespace reference
} // namespace attn

#endif // ATTN_LIB_REFERENCE_PAIRS_H
