//===- Attention.h - naive attention, the judge of every kernel -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_ATTENTION_H
#define ATTN_REFERENCE_ATTENTION_H

#include "attn/Reference/Element.h"
#include "attn/Reference/Program.h"

#include <functional>
#include <optional>

namespace attn {
namespace reference {

/// A mask known by name. With d = 0 (top left) or Sk - Sq (bottom right), query
/// q stands at key q + d and sees the keys from q + d - left to q + d + right.
/// -1 is unbounded; causal is left = -1, right = 0.
struct NamedMask {
  int64_t left = -1;
  int64_t right = -1;
  bool bottomRight = false;
};

/// Forward attention. q is (B, Hq, Sq, D), k (B, Hkv, Sk, D), v (B, Hkv, Sk,
/// Dv), with Hq a multiple of Hkv: query head h reads key head h / (Hq / Hkv).
///   s = scale * q . k, then the score region, then the masks
///   o = softmax(s) v, lse = log(sum(exp(s)))
/// A row that sees no key has o = 0 and lse = -inf. A key that is not seen is
/// not read, so what it holds (NaN, say) cannot matter.
struct Problem {
  View q, k, v;
  double scale = 1;
  std::vector<NamedMask> masks; ///< a key must pass all of them
  const Program *score = nullptr;
  const Program *visible = nullptr;

  int64_t batch() const { return q.dim(0); }
  int64_t queryHeads() const { return q.dim(1); }
  int64_t keyHeads() const { return k.dim(1); }
  int64_t queries() const { return q.dim(2); }
  int64_t keys() const { return k.dim(2); }
  int64_t headDim() const { return q.dim(3); }
  int64_t valueDim() const { return v.dim(3); }

  /// Keys that the named masks let query row q see: [first, second).
  std::pair<int64_t, int64_t> keyRange(int64_t q) const;
  /// Pairs of query and key the named masks let through, in one head.
  double visiblePairs() const;
  /// Why the shapes do not fit together, or "".
  std::string check() const;
};

/// Rows [begin, end) of one query head.
struct RowBlock {
  int64_t b = 0, h = 0, begin = 0, end = 0;
  int64_t rows() const { return end - begin; }
};

/// What a block of rows comes to: rows of o or of a gradient.
struct RowResult {
  std::vector<double> exact;    ///< in double
  std::vector<double> plain;    ///< as a plain implementation in q's type has it
  std::vector<double> lse;      ///< of each row, in double; natural logarithm. Empty for gradients
  std::vector<double> plainLse; ///< of the plain implementation
  std::vector<double> rounding; ///< of gradients, by column: what rounding each term of a sum once comes to
};

/// Exact rows, and the rows of the yardstick of accuracy: attention written
/// straightforwardly in q's type. There, scores are rounded to that type after
/// scaling and again after the score region, weights after normalisation, and
/// outputs at the end; sums have f32 accuracy or better, as tensor cores do.
RowResult compute(const Problem &problem, const RowBlock &block);

/// All rows cut into blocks of at most `rows`.
std::vector<RowBlock> allBlocks(const Problem &problem, int64_t rows = 64);

/// Runs `work(i)` for i in [0, count) on `threads` threads (0: one per core).
void parallelFor(int64_t count, int threads, const std::function<void(int64_t)> &work);

/// The yardstick of speed: the textbook loops in single precision over dense
/// q, k, v (row-major in the logical order), rows spread over threads. Only keys
/// the named masks let through are visited; score and mask regions are ignored.
/// Writes o (B, Hq, Sq, Dv) and lse (B, Hq, Sq).
void naiveFloat(const Problem &shape, const float *q, const float *k, const float *v, float *o, float *lse,
                int threads);

/// The same for the backward: all tensors dense, dQ, dK and dV are written.
struct FloatGradients {
  const float *q, *k, *v, *o, *lse, *dO;
  float *dQ, *dK, *dV;
};
void naiveFloatGradients(const Problem &shape, const FloatGradients &tensors, int threads);

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_ATTENTION_H
