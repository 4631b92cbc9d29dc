//===- Accuracy.cpp - the rule that tells right from wrong -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Accuracy.h"

#include <cmath>
#include <limits>

namespace attn {
namespace reference {
namespace {

/// Rounding of one operation in the output's type, relative, with a factor of
/// two to spare.
double unitOf(ElementType type) {
  switch (type) {
  case ElementType::bf16:
    return 0x1p-7;
  case ElementType::f16:
    return 0x1p-10;
  default:
    return 0x1p-19;
  }
}

/// True if exactly one is a NaN, or they differ and one is infinite.
bool mismatch(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) != std::isnan(y);
  return (std::isinf(x) || std::isinf(y)) && x != y;
}

std::string place(const RowBlock &block, int64_t row) {
  return "at batch " + std::to_string(block.b) + " head " + std::to_string(block.h) + " row " +
         std::to_string(block.begin + row);
}

std::string number(double x) { return std::isnan(x) ? "NaN" : std::isinf(x) ? (x > 0 ? "inf" : "-inf") : "a number"; }

void keepWorse(Judge::Worst &worst, const Judge::Worst &other) {
  if (other.ratio > worst.ratio || worst.bound == 0)
    worst = other;
}

} // namespace

void Judge::add(const RowBlock &block, const RowResult &expected, const double *got, const double *gotLse) {
  const double infinity = std::numeric_limits<double>::infinity();
  const int64_t size = static_cast<int64_t>(expected.exact.size());
  const int64_t width = block.rows() ? size / block.rows() : 0;
  numRows += block.rows();

  double plainError = 0, noise = 0, largest = 0, squares = 0, plainSquares = 0, refSquares = 0, roundingSquares = 0;
  Worst now{0, 0, 0, block, ""};
  int64_t numbers = 0;
  auto rounding = [&](int64_t i) { return expected.rounding.empty() ? 0 : expected.rounding[i % width]; };
  auto judged = [&](int64_t i) { return std::isfinite(expected.exact[i]) && std::isfinite(got[i]); };
  for (int64_t i = 0; i < size; ++i) {
    const double ref = expected.exact[i];
    if (mismatch(got[i], ref) && now.what.empty()) {
      now.ratio = infinity;
      now.what = "got " + number(got[i]) + ", expected " + number(ref) + " " + place(block, i / width);
    }
    if (!judged(i))
      continue;
    ++numbers;
    squares += (got[i] - ref) * (got[i] - ref);
    refSquares += ref * ref;
    roundingSquares += rounding(i) * rounding(i);
    largest = std::max(largest, std::fabs(ref));
    noise = std::max(noise, 2 * std::fabs(roundTo(type, ref + 0.3) - 0.3 - ref));
    // Where the plain implementation overflows it excuses nothing.
    if (const double plain = std::fabs(expected.plain[i] - ref); std::isfinite(plain)) {
      plainError = std::max(plainError, plain);
      plainSquares += plain * plain;
    }
  }
  if (type == ElementType::f32)
    noise = 0x1p-19 * largest + 0x1p-22;
  // The element that comes closest to its bound, or goes furthest beyond it.
  double ratio = -1;
  for (int64_t i = 0; i < size; ++i) {
    const double error = std::fabs(got[i] - expected.exact[i]), bound = 2 * plainError + noise + rounding(i);
    if (judged(i) && error / bound > ratio) {
      ratio = error / bound;
      now.error = error;
      now.bound = bound;
    }
  }
  if (ratio < 0)
    now.bound = 2 * plainError + noise;
  if (now.what.empty()) {
    now.ratio = std::max(ratio, 0.0);
    if (numbers > 0) {
      const double rms = std::sqrt(squares / numbers);
      const double rmsBound = 2 * std::sqrt(plainSquares / numbers) + unitOf(type) * std::sqrt(refSquares / numbers) +
                              std::sqrt(roundingSquares / numbers) / 2;
      const double meanRatio = rms == 0 ? 0 : rms / rmsBound;
      if (meanRatio > 1 && meanRatio > now.ratio) {
        now.ratio = meanRatio;
        now.what = "mean error " + std::to_string(meanRatio) + " times what is allowed";
      }
    }
  }
  keepWorse(o, now);

  if (!gotLse)
    return;
  now = {0, 1e-5, 0, block, ""};
  for (int64_t row = 0; row < block.rows(); ++row) {
    const double ref = expected.lse[row];
    if (mismatch(gotLse[row], ref)) {
      now.ratio = infinity;
      now.what = "got " + number(gotLse[row]) + ", expected " + number(ref) + " " + place(block, row);
      break;
    }
    if (!std::isfinite(ref))
      continue;
    const double relative = std::fabs(gotLse[row] - ref) / std::max(1.0, std::fabs(ref));
    now.error = std::max(now.error, relative);
    now.ratio = std::max(now.ratio, relative / now.bound);
  }
  keepWorse(l, now);
}

void Judge::merge(const Judge &other) {
  keepWorse(o, other.o);
  if (other.l.bound != 0)
    keepWorse(l, other.l);
  numRows += other.numRows;
}

} // namespace reference
} // namespace attn
