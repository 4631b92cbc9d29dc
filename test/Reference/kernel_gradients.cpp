// What a good kernel computes passes the accuracy rule, in every type and however the terms cancel: scores from lse in
// f32, delta from the rounded O, P and ds rounded once, sums in f32.
// RUN: %cxx -std=c++17 -O2 -I%attn_src/include %s %attn_obj/lib/Reference/libAttnReference.a -pthread -o %t
// RUN: %t

#include "Check.h"
#include "attn/Reference/Accuracy.h"
#include "attn/Reference/Gradient.h"

using namespace attn::reference;

constexpr int64_t heads = 2;

/// Rows of a tensor of the problem's type, and what the kernel reads of them.
struct Rows {
  std::vector<char> data;
  View view;

  Rows(ElementType type, std::vector<int64_t> dims, uint32_t seed, double gain) {
    Tensor numbers(dims);
    numbers.scramble(seed);
    data.resize(numbers.data.size() * sizeInBytes(type));
    for (size_t i = 0; i < numbers.data.size(); ++i)
      storeFloat(type, data.data() + i * sizeInBytes(type), 1.7 * gain * numbers.data[i]);
    view = {data.data(), type, dims, denseStrides(dims)};
  }
  /// Column 0 of every row.
  void setFirst(double x) {
    for (size_t i = 0; i < data.size(); i += view.dim(3) * sizeInBytes(view.type))
      storeFloat(view.type, data.data() + i, x);
  }
  float at(int64_t h, int64_t s, int64_t d) const {
    return static_cast<float>(loadFloat(view.type, view.at(0, h, s, d)));
  }
};

struct Inputs {
  const char *what;
  double q, k, v; ///< gains
  double logit;   ///< of all scores; 0: as they come
  bool causal;
};

static void check(ElementType type, const Inputs &inputs, int64_t queries, int64_t keys, int64_t dim) {
  const uint32_t seed = static_cast<uint32_t>(queries * 131 + keys * 7 + dim);
  Rows q(type, {1, heads, queries, dim}, seed, inputs.q), k(type, {1, 1, keys, dim}, seed + 1, inputs.k);
  Rows v(type, {1, 1, keys, dim}, seed + 2, inputs.v), dO(type, {1, heads, queries, dim}, seed + 3, 1);
  if (inputs.logit != 0) {
    q.setFirst(std::sqrt(std::fabs(inputs.logit)));
    k.setFirst(-std::sqrt(std::fabs(inputs.logit) * static_cast<double>(dim)));
  }
  GradientProblem problem;
  problem.forward.q = q.view, problem.forward.k = k.view, problem.forward.v = v.view, problem.dO = dO.view;
  const float scale = 1 / std::sqrt(static_cast<float>(dim));
  problem.forward.scale = scale;
  if (inputs.causal)
    problem.forward.masks = {{-1, 0, true}};

  std::vector<float> o(heads * queries * dim), lse(heads * queries);
  const Gradients gradients(problem, 2, [&](const RowBlock &block, const RowResult &rows) {
    const int64_t first = block.h * queries + block.begin;
    for (int64_t i = 0; i < block.rows(); ++i)
      lse[first + i] = static_cast<float>(rows.lse[i]);
    for (size_t i = 0; i < rows.exact.size(); ++i)
      o[first * dim + i] = static_cast<float>(roundTo(type, rows.exact[i]));
  });

  std::vector<float> dQ(heads * queries * dim), dK(keys * dim), dV(keys * dim);
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t row = 0; row < queries; ++row) {
      const int64_t at = h * queries + row;
      float delta = 0;
      for (int64_t d = 0; d < dim; ++d)
        delta += o[at * dim + d] * dO.at(h, row, d);
      const auto range = problem.forward.keyRange(row);
      for (int64_t key = range.first; key < range.second; ++key) {
        float s = 0, dP = 0;
        for (int64_t d = 0; d < dim; ++d) {
          s += q.at(h, row, d) * k.at(0, key, d);
          dP += dO.at(h, row, d) * v.at(0, key, d);
        }
        const float p = std::exp2(std::fma(s, scale * 1.44269504f, -lse[at] * 1.44269504f));
        const float ds = static_cast<float>(roundTo(type, p * (dP - delta)));
        for (int64_t d = 0; d < dim; ++d) {
          dQ[at * dim + d] += ds * k.at(0, key, d);
          dK[key * dim + d] += ds * q.at(h, row, d);
          dV[key * dim + d] += static_cast<float>(roundTo(type, p)) * dO.at(h, row, d);
        }
      }
    }

  auto judge = [&](const char *name, const RowBlock &block, const RowResult &expected, const float *sums,
                   float factor) {
    std::vector<double> got(expected.exact.size());
    for (size_t i = 0; i < got.size(); ++i)
      got[i] = roundTo(type, sums[i] * factor);
    Judge verdict(type);
    verdict.add(block, expected, got.data(), nullptr);
    if (verdict.passes())
      return;
    std::printf("%s, %s, %lld x %lld x %lld: %s is %g times what is allowed %s\n", spelling(type), inputs.what,
                static_cast<long long>(queries), static_cast<long long>(keys), static_cast<long long>(dim), name,
                verdict.output().ratio, verdict.output().what.c_str());
    ++failures;
  };
  for (const RowBlock &block : allBlocks(problem.forward))
    judge("dQ", block, gradients.dQ(block), dQ.data() + (block.h * queries + block.begin) * dim, scale);
  for (const RowBlock &block : gradients.allKeyBlocks()) {
    const Gradients::KeyRows expected = gradients.dKdV(block);
    judge("dK", block, expected.dK, dK.data() + block.begin * dim, scale);
    judge("dV", block, expected.dV, dV.data() + block.begin * dim, 1);
  }
}

int main() {
  const Inputs all[] = {{"normal", 1, 1, 1, 0, false},       {"causal", 1, 1, 1, 0, true},
                        {"large", 5, 3, 3, 0, false},        {"sharp", 12, 1, 1, 0, false},
                        {"near -120", .1, .1, 1, 120, true}, {"near -10000", .1, .1, 1, 1e4, false}};
  for (ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32})
    for (const Inputs &inputs : all)
      for (const auto &[queries, keys] :
           {std::pair(1, 1), {1, 3}, {2, 2}, {5, 5}, {64, 64}, {130, 65}, {300, 3}, {3, 300}, {1, 147}})
        for (int64_t dim : {16, 64})
          check(type, inputs, queries, keys, dim);
  return finish();
}
