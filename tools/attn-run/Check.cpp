//===- Check.cpp - compares outputs with the reference --------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "Failure.h"
#include "Launch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

namespace attn {
namespace run {
namespace {

using namespace reference;

/// Multiplications the reference may do by default: a few seconds on two cores.
constexpr double budget = 2e10;

/// Outputs of a block's rows as doubles.
std::vector<double> outputRows(const View &view, const RowBlock &block) {
  std::vector<double> values;
  const bool isLse = view.dims.size() == 3;
  for (int64_t row = block.begin; row < block.end; ++row)
    if (isLse)
      values.push_back(loadFloat(view.type, view.at({block.b, block.h, row})));
    else
      for (int64_t d = 0; d < view.dim(3); ++d)
        values.push_back(loadFloat(view.type, view.at(block.b, block.h, row, d)));
  return values;
}

bool hasNan(const std::vector<double> &values) {
  return std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); });
}

bool hasNan(const View &view, const RowBlock &block) { return hasNan(outputRows(view, block)); }

/// Every n-th block so that about `rows` rows are left, the last block always.
std::vector<RowBlock> spread(const std::vector<RowBlock> &blocks, int64_t rows) {
  const double wanted = std::max(1.0, static_cast<double>(rows) / 64);
  if (wanted >= static_cast<double>(blocks.size()))
    return blocks;
  std::vector<RowBlock> some;
  const double step = static_cast<double>(blocks.size()) / wanted;
  for (double at = 0; at < static_cast<double>(blocks.size()) - 1; at += step)
    some.push_back(blocks[static_cast<size_t>(at)]);
  some.push_back(blocks.back());
  return some;
}

/// The blocks to look at: of all, those that --check-rows or else the time for rows of `rowCost` multiplications
/// allows.
template <typename IsSuspicious>
std::vector<RowBlock> choose(const std::vector<RowBlock> &all, double rowCost, const Options &options,
                             IsSuspicious isSuspicious) {
  int64_t rows = options.checkRows;
  if (rows == 0)
    rows = static_cast<int64_t>(std::max(4096.0, budget / (rowCost + 1)));
  std::vector<RowBlock> blocks = spread(all, rows);
  if (blocks.size() == all.size())
    return blocks;
  // An element never written is still a NaN; those must not slip through.
  for (const RowBlock &block : all)
    if (blocks.size() < all.size() && blocks.size() < 4096 && isSuspicious(block))
      blocks.push_back(block);
  return blocks;
}

void merge(Judge &to, const Judge &from) { to.merge(from); }
void merge(std::pair<Judge, Judge> &to, const std::pair<Judge, Judge> &from) {
  to.first.merge(from.first);
  to.second.merge(from.second);
}

/// What judge(block, verdict) makes of all blocks, each from a `fresh` verdict, on all threads.
template <typename Verdict, typename Work>
Verdict judged(const std::vector<RowBlock> &blocks, const Options &options, const Verdict &fresh, Work judge) {
  Verdict all = fresh;
  std::mutex mutex;
  parallelFor(static_cast<int64_t>(blocks.size()), options.threads, [&](int64_t i) {
    Verdict one = fresh;
    judge(blocks[i], one);
    std::lock_guard<std::mutex> lock(mutex);
    merge(all, one);
  });
  return all;
}

std::vector<float> denseFloats(const View &view) {
  std::vector<float> values;
  values.reserve(static_cast<size_t>(view.dim(0) * view.dim(1) * view.dim(2) * view.dim(3)));
  for (int64_t b = 0; b < view.dim(0); ++b)
    for (int64_t h = 0; h < view.dim(1); ++h)
      for (int64_t s = 0; s < view.dim(2); ++s)
        for (int64_t d = 0; d < view.dim(3); ++d)
          values.push_back(static_cast<float>(loadFloat(view.type, view.at(b, h, s, d))));
  return values;
}

} // namespace

bool Checked::passes() const {
  return std::all_of(outputs.begin(), outputs.end(), [](const Output &output) { return output.worst.ratio <= 1; });
}

Checked checkForward(const Problem &problem, const Operands &operands, const Options &options) {
  const View o = operands.all[operands.o].view();
  const bool hasLse = operands.lse.has_value();
  const View lse = hasLse ? operands.all[*operands.lse].view() : View();
  // Scores once and weighted values twice, for exact and for plain rows.
  const double rowCost = static_cast<double>(problem.keys() * (problem.headDim() + 2 * problem.valueDim()));
  const std::vector<RowBlock> blocks = choose(allBlocks(problem), rowCost, options, [&](const RowBlock &block) {
    return hasNan(o, block) || (hasLse && hasNan(lse, block));
  });
  const Judge judge = judged(blocks, options, Judge(o.type), [&](const RowBlock &block, Judge &mine) {
    const std::vector<double> got = outputRows(o, block);
    const std::vector<double> gotLse = hasLse ? outputRows(lse, block) : std::vector<double>();
    mine.add(block, compute(problem, block), got.data(), hasLse ? gotLse.data() : nullptr);
  });
  Checked checked;
  checked.outputs.push_back({operands.all[operands.o].name, judge.output()});
  if (hasLse)
    checked.outputs.push_back({operands.all[*operands.lse].name, judge.lse(), /*relative=*/true});
  checked.rows = judge.rows();
  checked.rowsInAll = problem.batch() * problem.queryHeads() * problem.queries();
  return checked;
}

Checked checkBackward(const Problem &problem, const Gradients &gradients, const Operands &operands,
                      const Options &options) {
  const Operand &dQ = operands.all[operands.backward->dQ], &dK = operands.all[operands.backward->dK],
                &dV = operands.all[operands.backward->dV];
  const View q = dQ.view(), k = dK.view(), v = dV.view();
  const double dims = static_cast<double>(problem.headDim() + problem.valueDim());
  // Three products for rows of dQ, four for those of dK and dV, of which the group shares a key head.
  const double group = problem.keyHeads() ? static_cast<double>(problem.queryHeads() / problem.keyHeads()) : 0;
  const double queryCost = 4 * dims * static_cast<double>(problem.keys());
  const double keyCost = 6 * dims * group * static_cast<double>(problem.queries());
  const std::vector<RowBlock> queries =
      choose(allBlocks(problem), queryCost, options, [&](const RowBlock &block) { return hasNan(q, block); });
  const std::vector<RowBlock> keys = choose(gradients.allKeyBlocks(), keyCost, options, [&](const RowBlock &block) {
    return hasNan(k, block) || hasNan(v, block);
  });
  const Judge ofQ = judged(queries, options, Judge(q.type), [&](const RowBlock &block, Judge &mine) {
    mine.add(block, gradients.dQ(block), outputRows(q, block).data(), nullptr);
  });
  using Pair = std::pair<Judge, Judge>;
  const Pair ofKV = judged(keys, options, Pair(Judge(k.type), Judge(v.type)), [&](const RowBlock &block, Pair &mine) {
    const Gradients::KeyRows expected = gradients.dKdV(block);
    mine.first.add(block, expected.dK, outputRows(k, block).data(), nullptr);
    mine.second.add(block, expected.dV, outputRows(v, block).data(), nullptr);
  });
  Checked checked;
  checked.outputs = {{dQ.name, ofQ.output()}, {dK.name, ofKV.first.output()}, {dV.name, ofKV.second.output()}};
  checked.rows = ofQ.rows() + ofKV.first.rows();
  checked.rowsInAll =
      problem.batch() * (problem.queryHeads() * problem.queries() + problem.keyHeads() * problem.keys());
  return checked;
}

double timeNaive(const Problem &problem, const Operands &operands, const Options &options) {
  const std::vector<float> q = denseFloats(problem.q), k = denseFloats(problem.k), v = denseFloats(problem.v);
  std::vector<float> o = denseFloats(operands.all[operands.o].view()), lse(o.size() + 1), dO, dQ, dK, dV;
  std::function<void()> run = [&] {
    naiveFloat(problem, q.data(), k.data(), v.data(), o.data(), lse.data(), options.threads);
  };
  if (operands.backward) {
    run(); // for lse
    dO = denseFloats(operands.all[operands.backward->dO].view());
    dQ.resize(q.size());
    dK.resize(k.size());
    dV.resize(v.size());
    run = [&] {
      naiveFloatGradients(
          problem, {q.data(), k.data(), v.data(), o.data(), lse.data(), dO.data(), dQ.data(), dK.data(), dV.data()},
          options.threads);
    };
  }
  Timing timing;
  for (int i = -1; i < std::min(options.repeat, 5); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (i >= 0)
      timing.milliseconds.push_back(took.count());
  }
  return timing.median();
}

} // namespace run
} // namespace attn
