//===- Gradient.cpp - exact and plain gradients ----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Gradient.h"
#include "Pairs.h"
#include "Rounding.h"

namespace attn {
namespace reference {
namespace {

/// Rows of queries taken at a time where the keys are fixed.
constexpr int64_t chunkRows = 64;

/// sums (rows x columns) += weights (rows x depth) * matrix, which get(row, column) reads. 0 * NaN is NaN, so what is
/// not finite is added by hand, where the weight is not the -0.0 of an unseen pair. (An element of Q or K that is not
/// finite needs none of this: ds of the pairs that see it is a NaN already.)
template <typename T, typename Get>
void multiplyInto(const std::vector<T> &weights, int64_t rows, int64_t depth, int64_t columns, std::vector<T> &sums,
                  bool byHand, Get get) {
  Panels<T> panels;
  for (int64_t first = 0; first < depth; first += chunkKeys) {
    std::vector<std::pair<int64_t, int64_t>> notFinite;
    panels.pack(std::min(chunkKeys, depth - first), columns, [&](int64_t i, int64_t column) {
      const double x = get(first + i, column);
      if (std::isfinite(x))
        return x;
      notFinite.push_back({first + i, column});
      return 0.0;
    });
    panels.multiplyInto(weights.data() + first, depth, rows, sums.data(), columns);
    for (const auto &[i, column] : notFinite)
      for (int64_t row = 0; byHand && row < rows; ++row)
        if (const T weight = weights[row * depth + i]; !std::signbit(weight))
          sums[row * columns + column] += weight * static_cast<T>(get(i, column));
  }
}

template <typename T> std::vector<T> transposed(const std::vector<T> &matrix, int64_t rows, int64_t columns) {
  std::vector<T> result(matrix.size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      result[column * rows + row] = matrix[row * columns + column];
  return result;
}

template <typename T> std::vector<double> finished(const std::vector<T> &sums, double scale, ElementType type) {
  std::vector<double> result(sums.size());
  for (size_t i = 0; i < sums.size(); ++i)
    result[i] = roundTo(type, T(scale) * sums[i]);
  return result;
}

/// Rows of dQ in one arithmetic.
template <typename T>
std::vector<double> queryRows(const Problem &problem, const Pairs<T> &pairs, const RowBlock &block,
                              const Window &window, ElementType type) {
  std::vector<T> sums(block.rows() * problem.headDim());
  multiplyInto(pairs.ds, block.rows(), window.keys(), problem.headDim(), sums, /*byHand=*/false,
               [&](int64_t key, int64_t d) {
                 return loadFloat(problem.k.type, problem.k.at(window.b, window.kvHead, window.first + key, d));
               });
  return finished(sums, problem.scale, type);
}

/// Rows of dK and dV in one arithmetic, summed up over blocks of query rows.
template <typename T> class KeySums {
public:
  KeySums(const GradientProblem &gradient, int64_t keys, ElementType type)
      : gradient(gradient), keys(keys), type(type), dK(keys * gradient.forward.headDim()),
        dV(keys * gradient.forward.valueDim()) {}

  void add(const Pairs<T> &pairs, const RowBlock &block) {
    const View &q = gradient.forward.q, &dO = gradient.dO;
    multiplyInto(
        transposed(pairs.p, block.rows(), keys), keys, block.rows(), dO.dim(3), dV, /*byHand=*/true,
        [&](int64_t row, int64_t d) { return loadFloat(dO.type, dO.at(block.b, block.h, block.begin + row, d)); });
    multiplyInto(
        transposed(pairs.ds, block.rows(), keys), keys, block.rows(), q.dim(3), dK, /*byHand=*/false,
        [&](int64_t row, int64_t d) { return loadFloat(q.type, q.at(block.b, block.h, block.begin + row, d)); });
  }
  void finish(std::vector<double> &toK, std::vector<double> &toV) const {
    toK = finished(dK, gradient.forward.scale, type);
    toV = finished(dV, 1, type);
  }

private:
  const GradientProblem &gradient;
  const int64_t keys;
  const ElementType type;
  std::vector<T> dK, dV;
};

} // namespace

std::string GradientProblem::check() const {
  if (std::string wrong = forward.check(); !wrong.empty())
    return wrong;
  auto shape = [](const std::vector<int64_t> &dims) {
    std::string text;
    for (int64_t dim : dims)
      text += (text.empty() ? "" : " x ") + std::to_string(dim);
    return text;
  };
  auto expect = [&](const char *name, const View &view, std::vector<int64_t> dims) {
    return view.dims == dims && isFloat(view.type) ? std::string()
                                                   : std::string(name) + ": expected floats of shape " + shape(dims) +
                                                         ", got " + spelling(view.type) + " of " + shape(view.dims);
  };
  const std::vector<int64_t> rows = {forward.batch(), forward.queryHeads(), forward.queries()};
  if (std::string wrong = expect("do", dO, {rows[0], rows[1], rows[2], forward.valueDim()}); !wrong.empty())
    return wrong;
  if (std::string wrong = dLse ? expect("dlse", *dLse, rows) : ""; !wrong.empty())
    return wrong;
  return forward.score ? forward.score->notDifferentiable() : "";
}

Gradients::Gradients(const GradientProblem &problem, int threads,
                     const std::function<void(const RowBlock &, const RowResult &)> &each)
    : problem(problem), rows(problem.forward.batch() * problem.forward.queryHeads() * problem.forward.queries()) {
  const Problem &forward = problem.forward;
  const int64_t valueDim = forward.valueDim();
  const std::vector<RowBlock> blocks = allBlocks(forward);
  parallelFor(static_cast<int64_t>(blocks.size()), threads, [&](int64_t n) {
    const RowBlock &block = blocks[n];
    const RowResult result = compute(forward, block);
    const std::vector<double> dO = denseRows<double>(problem.dO, block);
    for (int64_t i = 0; i < block.rows(); ++i) {
      Row &row = rows[(block.b * forward.queryHeads() + block.h) * forward.queries() + block.begin + i];
      row = {{result.lse[i], result.plainLse[i]}, {0, 0}, 0, 0};
      for (int64_t d = i * valueDim; d < (i + 1) * valueDim; ++d) {
        row.delta[0] += dO[d] * result.exact[d];
        row.delta[1] += dO[d] * result.plain[d];
        row.dONorm += dO[d] * dO[d];
        row.deltaTerms += dO[d] * dO[d] * result.exact[d] * result.exact[d];
      }
      row.dONorm = std::sqrt(row.dONorm);
      row.deltaTerms = std::sqrt(row.deltaTerms);
      if (problem.dLse) {
        const double dLse = loadFloat(problem.dLse->type, problem.dLse->at({block.b, block.h, block.begin + i}));
        row.delta[0] -= dLse;
        row.delta[1] -= dLse;
      }
    }
    if (each)
      each(block, result);
  });
}

RowResult Gradients::dQ(const RowBlock &block) const {
  RowResult result;
  if (block.rows() == 0)
    return result;
  const Problem &forward = problem.forward;
  const ElementType type = forward.q.type, f64 = ElementType::f64;
  const Window window = windowOf(forward, block);
  const Row *kept = rowsOf(block);
  PairDots<double> dots(problem, block, window);
  const Pairs<double> exact(problem, block, window, f64, kept, dots);
  result.exact = queryRows(forward, exact, block, window, f64);
  Rounding rounding(block.rows(), forward.headDim());
  for (int64_t row = 0; row < block.rows(); ++row)
    for (int64_t pair = row * window.keys(); pair < (row + 1) * window.keys(); ++pair) {
      rounding.addTerm(row, exact.terms[pair], kept[row].lse[0]);
      rounding.addCommon(row, exact.reach[pair] * kept[row].deltaTerms);
    }
  rounding.addFactors(forward.k, window.b, window.kvHead, window.first, window.last);
  result.rounding = rounding.byColumn(forward.scale, type);
  if (type == ElementType::f32)
    result.plain = queryRows(forward, Pairs<float>(problem, block, window, type, kept, {problem, block, window}), block,
                             window, type);
  else
    result.plain =
        queryRows(forward, Pairs<double>(problem, block, window, type, kept, std::move(dots)), block, window, type);
  return result;
}

Gradients::KeyRows Gradients::dKdV(const RowBlock &keys) const {
  const Problem &forward = problem.forward;
  const ElementType type = forward.q.type, f64 = ElementType::f64;
  const Window window{keys.b, keys.h, keys.begin, keys.end};
  const int64_t group = forward.queryHeads() / forward.keyHeads();
  KeyRows result;
  KeySums<double> exact(problem, keys.rows(), f64), plain(problem, keys.rows(), type);
  KeySums<float> plainFloat(problem, keys.rows(), type);
  Rounding ofK(keys.rows(), forward.headDim()), ofV(keys.rows(), forward.valueDim());
  for (int64_t head = keys.h * group; head < (keys.h + 1) * group; ++head)
    for (int64_t begin = 0; begin < forward.queries(); begin += chunkRows) {
      const RowBlock block{keys.b, head, begin, std::min(begin + chunkRows, forward.queries())};
      const Window seen = windowOf(forward, block);
      if (seen.first >= window.last || seen.last <= window.first)
        continue;
      const Row *kept = rowsOf(block);
      PairDots<double> dots(problem, block, window);
      const Pairs<double> pairs(problem, block, window, f64, kept, dots);
      exact.add(pairs, block);
      for (int64_t row = 0; row < block.rows(); ++row)
        for (int64_t key = 0; key < keys.rows(); ++key) {
          const int64_t pair = row * keys.rows() + key;
          ofK.addTerm(key, pairs.terms[pair], kept[row].lse[0]);
          ofV.addTerm(key, pairs.p[pair], kept[row].lse[0]);
        }
      ofK.addFactors(forward.q, keys.b, head, begin, block.end);
      ofV.addFactors(problem.dO, keys.b, head, begin, block.end);
      if (type == ElementType::f32)
        plainFloat.add({problem, block, window, type, kept, {problem, block, window}}, block);
      else
        plain.add({problem, block, window, type, kept, std::move(dots)}, block);
    }
  exact.finish(result.dK.exact, result.dV.exact);
  result.dK.rounding = ofK.byColumn(forward.scale, type);
  result.dV.rounding = ofV.byColumn(1, type);
  if (type == ElementType::f32)
    plainFloat.finish(result.dK.plain, result.dV.plain);
  else
    plain.finish(result.dK.plain, result.dV.plain);
  return result;
}

const Gradients::Row *Gradients::rowsOf(const RowBlock &block) const {
  return rows.data() + (block.b * problem.forward.queryHeads() + block.h) * problem.forward.queries() + block.begin;
}

std::vector<RowBlock> Gradients::allKeyBlocks(int64_t size) const {
  const Problem &forward = problem.forward;
  std::vector<RowBlock> blocks;
  for (int64_t b = 0; b < forward.batch(); ++b)
    for (int64_t h = 0; h < forward.keyHeads(); ++h)
      for (int64_t begin = 0; begin < forward.keys(); begin += size)
        blocks.push_back({b, h, begin, std::min(begin + size, forward.keys())});
  return blocks;
}

} // namespace reference
} // namespace attn
