//===- Gradient.h - naive backward attention, the judge of gradients ------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_GRADIENT_H
#define ATTN_REFERENCE_GRADIENT_H

#include "attn/Reference/Attention.h"

namespace attn {
namespace reference {

/// Backward attention: the gradients of  sum(dO * O) + sum(dLse * LSE)  by q, k
/// and v, for the forward's `problem`. With P = exp(s - lse) the weights:
///
///   dV = P^T dO      dP = dO V^T      delta = rowsum(dO * O) - dLse
///   ds = P * (dP - delta) * region'(s)      dQ = scale ds K      dK = scale ds^T Q
///
/// dK and dV are sums over the query heads that read a key head. A pair that is
/// not seen, or whose score is -inf, has P = ds = 0 whatever else it holds: a row
/// that sees no key has dQ = 0 and adds nothing to dK and dV.
struct GradientProblem {
  Problem forward;
  View dO;                  ///< (B, Hq, Sq, Dv), any strides
  std::optional<View> dLse; ///< (B, Hq, Sq)

  /// Why the shapes do not fit together or the score region has no derivative, or "".
  std::string check() const;
};

/// Gradients of any block of rows, from what is kept of each query row. Beside
/// the exact gradients stand those of a plain implementation in q's type, whose
/// forward is plain, too: P, dP and ds are rounded to that type, delta comes from
/// the rounded O, sums have f32 accuracy or better.
class Gradients {
public:
  /// Runs the forward on `threads` threads (0: one per core) and hands each block of its rows to `each`, from any of
  /// them. `problem` must pass check() and outlive this.
  Gradients(const GradientProblem &problem, int threads,
            const std::function<void(const RowBlock &, const RowResult &)> &each = nullptr);

  /// Rows of dQ: rows x D.
  RowResult dQ(const RowBlock &queries) const;
  /// Rows of dK and dV: rows x D, rows x Dv. The block's head is a key head.
  struct KeyRows {
    RowResult dK, dV;
  };
  KeyRows dKdV(const RowBlock &keys) const;

  /// All rows of dK and dV cut into blocks of at most `rows`.
  std::vector<RowBlock> allKeyBlocks(int64_t rows = 64) const;

  /// What the backward needs of a query row; [0] exact, [1] plain.
  struct Row {
    double lse[2], delta[2];
    double dONorm;     ///< length of its row of dO
    double deltaTerms; ///< root of the sum of squares of delta's terms
  };

private:
  const Row *rowsOf(const RowBlock &queries) const;

  const GradientProblem &problem;
  std::vector<Row> rows; ///< B x Hq x Sq
};

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_GRADIENT_H
