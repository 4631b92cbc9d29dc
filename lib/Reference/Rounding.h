//===- Rounding.h - what rounding the terms of a sum costs ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of gradients are sums of terms that cancel: with one key, dP - delta
// is 0, but not in f32. The error of a plain implementation alone does not tell
// what a kernel may do, which rounds other things (it has lse and O in the
// precision they are stored in, and P of a score of -120 is exp2 of a difference
// of numbers near 173). So this counts what rounding each term once comes to:
//
//   rounding = factor * (2^-20 sum (1 + |lse|) term + u sqrt(sum term^2) + u common)
//
// with u half the unit of the type. The first is f32's part: an error of lse
// or of a long dot is common to all terms. The second is that of independent
// roundings of P and ds. The third is that of O in delta, common to a row of dQ.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_ROUNDING_H
#define ATTN_LIB_REFERENCE_ROUNDING_H

#include "attn/Reference/Element.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace attn {
namespace reference {

/// Of a block of sums (rows of a gradient), the worst of them; by column, since factors (columns of Q, K or dO) may be
/// of very different sizes.
class Rounding {
public:
  Rounding(int64_t sums, int64_t columns) : linear(sums), squares(sums), commons(sums), factors(columns) {}

  void addTerm(int64_t sum, double term, double lse) {
    if (!std::isfinite(term) || !std::isfinite(lse))
      return;
    linear[sum] += (1 + std::fabs(lse)) * term;
    squares[sum] += term * term;
  }
  void addCommon(int64_t sum, double common) { commons[sum] += std::isfinite(common) ? common : 0; }
  /// Rows [begin, end) of a head, which the terms are multiplied with.
  void addFactors(const View &view, int64_t b, int64_t h, int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s)
      for (size_t d = 0; d < factors.size(); ++d)
        if (const double x = std::fabs(loadFloat(view.type, view.at(b, h, s, d))); std::isfinite(x))
          factors[d] = std::max(factors[d], x);
  }
  std::vector<double> byColumn(double scale, ElementType type) const {
    const double unit = type == ElementType::bf16 ? 0x1p-9 : type == ElementType::f16 ? 0x1p-12 : 0;
    double worst = 0;
    for (size_t i = 0; i < linear.size(); ++i)
      worst = std::max(worst, 0x1p-20 * linear[i] + unit * (std::sqrt(squares[i]) + commons[i]));
    std::vector<double> result(factors);
    for (double &factor : result)
      factor *= std::fabs(scale) * worst;
    return result;
  }

private:
  std::vector<double> linear, squares, commons, factors;
};

} // namespace reference
} // namespace attn

#endif // ATTN_LIB_REFERENCE_ROUNDING_H
