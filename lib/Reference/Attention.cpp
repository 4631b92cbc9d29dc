//===- Attention.cpp - exact and plain attention rows ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Attention.h"
#include "Blocks.h"

#include <atomic>
#include <limits>
#include <optional>
#include <thread>

namespace attn {
namespace reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Weights and outputs of a block's rows from their dots, in one arithmetic.
template <typename T> class Rows {
public:
  /// `type` is what a plain implementation rounds to at every step.
  Rows(const Problem &problem, const RowBlock &block, const Window &window, ElementType type)
      : problem(problem), block(block), window(window), type(type) {
    if (problem.score)
      score.emplace(*problem.score);
    if (problem.visible)
      visible.emplace(*problem.visible);
  }

  /// Consumes `scores`; writes rows x Dv outputs and the rows' lse.
  void finish(std::vector<T> scores, std::vector<double> &o, std::vector<double> &lse) {
    for (int64_t row = 0; row < block.rows(); ++row)
      lse[row] = weigh(block.begin + row, scores.data() + row * window.keys());
    const std::vector<T> sums = gather(scores);
    for (size_t i = 0; i < sums.size(); ++i)
      o[i] = roundTo(type, sums[i]);
  }

private:
  /// Turns one row of dots into weights and returns its lse. The weight of a
  /// key that is not seen is -0.0: it adds nothing, and can be told from the
  /// weight of a seen key that underflowed.
  double weigh(int64_t q, T *row) {
    const auto [low, high] = problem.keyRange(q);
    const int64_t first = std::min(low - window.first, window.keys());
    const int64_t last = std::max(first, high - window.first);
    std::fill(row, row + first, T(-0.0));
    std::fill(row + last, row + window.keys(), T(-0.0));

    double largest = -infinity;
    seen.assign(window.keys(), true);
    for (int64_t at = first; at < last; at += chunkKeys) {
      const int count = static_cast<int>(std::min(chunkKeys, last - at));
      double scores[chunkKeys];
      bool isSeen[chunkKeys];
      for (int i = 0; i < count; ++i)
        scores[i] = roundScore(type, T(problem.scale) * row[at + i]);
      std::fill(isSeen, isSeen + count, true);
      if (score)
        score->score(block.b, block.h, q, window.first + at, count, scores);
      if (visible)
        visible->visible(block.b, block.h, q, window.first + at, count, isSeen);
      for (int i = 0; i < count; ++i) {
        // A score of -inf is as good as a mask.
        seen[at + i] = isSeen[i] && scores[i] != -infinity;
        row[at + i] = static_cast<T>(roundScore(type, scores[i]));
        if (seen[at + i])
          largest = std::max<double>(largest, row[at + i]);
      }
    }

    double sum = 0;
    bool any = false;
    for (int64_t i = first; i < last; ++i) {
      row[i] = seen[i] ? std::exp(row[i] - T(largest)) : T(-0.0);
      sum += row[i];
      any |= seen[i];
    }
    if (!any)
      return -infinity;
    for (int64_t i = first; i < last; ++i)
      if (seen[i])
        row[i] = static_cast<T>(roundTo(type, row[i] / T(sum)));
    return largest + std::log(sum);
  }

  /// Weights times values: rows x Dv.
  std::vector<T> gather(const std::vector<T> &weights) {
    const int64_t valueDim = problem.valueDim();
    std::vector<T> sums(block.rows() * valueDim);
    Panels<T> panels;
    for (int64_t first = 0; first < window.keys(); first += chunkKeys) {
      const int64_t keys = std::min(chunkKeys, window.keys() - first);
      auto value = [&](int64_t key, int64_t d) {
        return loadFloat(problem.v.type, problem.v.at(window.b, window.kvHead, window.first + first + key, d));
      };
      // 0 * NaN is NaN, so values that are not finite are added by hand, to
      // those rows only that see their key.
      std::vector<std::pair<int64_t, int64_t>> notFinite;
      panels.pack(keys, valueDim, [&](int64_t key, int64_t d) {
        const double x = value(key, d);
        if (std::isfinite(x))
          return x;
        notFinite.push_back({key, d});
        return 0.0;
      });
      panels.multiplyInto(weights.data() + first, window.keys(), block.rows(), sums.data(), valueDim);
      for (const auto &[key, d] : notFinite)
        for (int64_t row = 0; row < block.rows(); ++row) {
          const T weight = weights[row * window.keys() + first + key];
          if (!std::signbit(weight))
            sums[row * valueDim + d] += weight * static_cast<T>(value(key, d));
        }
    }
    return sums;
  }

  const Problem &problem;
  const RowBlock &block;
  const Window &window;
  const ElementType type;
  std::optional<Evaluator> score, visible;
  std::vector<char> seen;
};

} // namespace

Window windowOf(const Problem &problem, const RowBlock &block) {
  // Both ends of the key range grow with the row.
  const int64_t first = problem.keyRange(block.begin).first, last = problem.keyRange(block.end - 1).second;
  return {block.b, block.h / (problem.queryHeads() / problem.keyHeads()), first, std::max(first, last)};
}

std::pair<int64_t, int64_t> Problem::keyRange(int64_t row) const {
  int64_t first = 0, last = keys();
  for (const NamedMask &mask : masks) {
    const int64_t diagonal = row + (mask.bottomRight ? keys() - queries() : 0);
    if (mask.left >= 0)
      first = std::max(first, diagonal - mask.left);
    if (mask.right >= 0)
      last = std::min(last, diagonal + mask.right + 1);
  }
  first = std::min(first, keys());
  return {first, std::max(first, last)};
}

double Problem::visiblePairs() const {
  double pairs = 0;
  for (int64_t row = 0; row < queries(); ++row) {
    const auto [first, last] = keyRange(row);
    pairs += static_cast<double>(last - first);
  }
  return pairs;
}

std::string Problem::check() const {
  for (const auto &[view, name] : {std::make_pair(&q, "q"), std::make_pair(&k, "k"), std::make_pair(&v, "v")})
    if (view->dims.size() != 4 || view->strides.size() != 4 || !isFloat(view->type))
      return std::string(name) + ": expected a float tensor of rank 4, got rank " + std::to_string(view->dims.size()) +
             " of " + spelling(view->type);
  auto equal = [](const char *what, int64_t expected, int64_t got) {
    return expected == got
               ? std::string()
               : std::string(what) + ": expected " + std::to_string(expected) + ", got " + std::to_string(got);
  };
  for (const std::string &wrong : {equal("batch of k", batch(), k.dim(0)), equal("batch of v", batch(), v.dim(0)),
                                   equal("heads of v", k.dim(1), v.dim(1)), equal("length of v", k.dim(2), v.dim(2)),
                                   equal("head dim of k", headDim(), k.dim(3))})
    if (!wrong.empty())
      return wrong;
  if (keyHeads() == 0 ? queryHeads() != 0 : queryHeads() % keyHeads() != 0)
    return "query heads " + std::to_string(queryHeads()) + " are not a multiple of key heads " +
           std::to_string(keyHeads());
  return "";
}

RowResult compute(const Problem &problem, const RowBlock &block) {
  RowResult result;
  result.exact.resize(block.rows() * problem.valueDim());
  result.plain.resize(result.exact.size());
  result.lse.assign(block.rows(), -infinity);
  result.plainLse = result.lse;
  if (block.rows() == 0)
    return result;
  const Window window = windowOf(problem, block);
  const ElementType type = problem.q.type;
  std::vector<double> exactDots = dots<double>(problem.q, block, problem.k, window);
  if (type == ElementType::f32)
    Rows<float>(problem, block, window, type)
        .finish(dots<float>(problem.q, block, problem.k, window), result.plain, result.plainLse);
  else
    Rows<double>(problem, block, window, type).finish(exactDots, result.plain, result.plainLse);
  Rows<double>(problem, block, window, ElementType::f64).finish(std::move(exactDots), result.exact, result.lse);
  return result;
}

std::vector<RowBlock> allBlocks(const Problem &problem, int64_t rows) {
  std::vector<RowBlock> blocks;
  for (int64_t b = 0; b < problem.batch(); ++b)
    for (int64_t h = 0; h < problem.queryHeads(); ++h)
      for (int64_t begin = 0; begin < problem.queries(); begin += rows)
        blocks.push_back({b, h, begin, std::min(begin + rows, problem.queries())});
  return blocks;
}

void parallelFor(int64_t count, int threads, const std::function<void(int64_t)> &work) {
  if (threads <= 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  std::atomic<int64_t> next{0};
  auto loop = [&] {
    for (int64_t i; (i = next++) < count;)
      work(i);
  };
  std::vector<std::thread> helpers;
  for (int64_t i = 1; i < std::min<int64_t>(threads, count); ++i)
    helpers.emplace_back(loop);
  loop();
  for (std::thread &helper : helpers)
    helper.join();
}

} // namespace reference
} // namespace attn
