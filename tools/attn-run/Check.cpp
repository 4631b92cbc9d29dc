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

Checked checkOutputs(const Problem &problem, const Operands &operands, const Options &options) {
  const View o = operands.all[operands.o].view();
  const bool hasLse = operands.lse.has_value();
  const View lse = hasLse ? operands.all[*operands.lse].view() : View();
  Checked checked{Judge(o.type), problem.batch() * problem.queryHeads() * problem.queries()};

  const std::vector<RowBlock> all = allBlocks(problem);
  int64_t rows = options.checkRows;
  if (rows == 0) {
    // Scores once and weighted values twice, for exact and for plain rows.
    const double rowCost = static_cast<double>(problem.keys() * (problem.headDim() + 2 * problem.valueDim()) + 1);
    rows = static_cast<int64_t>(std::max(4096.0, budget / rowCost));
  }
  std::vector<RowBlock> blocks = spread(all, rows);
  if (blocks.size() < all.size()) {
    // An element never written is still a NaN; those must not slip through.
    for (const RowBlock &block : all)
      if (blocks.size() < all.size() && (hasNan(outputRows(o, block)) || (hasLse && hasNan(outputRows(lse, block)))) &&
          blocks.size() < 4096)
        blocks.push_back(block);
  }

  std::mutex mutex;
  parallelFor(static_cast<int64_t>(blocks.size()), options.threads, [&](int64_t i) {
    const std::vector<double> got = outputRows(o, blocks[i]);
    const std::vector<double> gotLse = hasLse ? outputRows(lse, blocks[i]) : std::vector<double>();
    Judge one(o.type);
    one.add(blocks[i], compute(problem, blocks[i]), got.data(), hasLse ? gotLse.data() : nullptr);
    std::lock_guard<std::mutex> lock(mutex);
    checked.judge.merge(one);
  });
  return checked;
}

double timeNaive(const Problem &problem, const Options &options) {
  const std::vector<float> q = denseFloats(problem.q), k = denseFloats(problem.k), v = denseFloats(problem.v);
  const int64_t rows = problem.batch() * problem.queryHeads() * problem.queries();
  std::vector<float> o(static_cast<size_t>(rows * problem.valueDim())), lse(static_cast<size_t>(rows));
  Timing timing;
  for (int i = -1; i < std::min(options.repeat, 5); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    naiveFloat(problem, q.data(), k.data(), v.data(), o.data(), lse.data(), options.threads);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (i >= 0)
      timing.milliseconds.push_back(took.count());
  }
  return timing.median();
}

} // namespace run
} // namespace attn
