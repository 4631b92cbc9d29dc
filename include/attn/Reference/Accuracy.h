//===- Accuracy.h - the rule that tells right from wrong -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_ACCURACY_H
#define ATTN_REFERENCE_ACCURACY_H

#include "attn/Reference/Attention.h"

namespace attn {
namespace reference {

/// Judges a kernel's rows, a block (of at most 64 rows of one head) at a time,
/// so that large rows elsewhere cannot hide a wrong small one.
///
/// With `ref` the exact rows, `plain` the rows of a plain implementation in the
/// output's type and max over the block:
///
///   max|o - ref| <= 2 max|plain - ref| + noise
///   rms(o - ref) <= 2 rms(plain - ref) + unit * rms(ref)
///
/// noise is the last bit of the output's type, measured as
/// 2 max|round(ref + 0.3) - 0.3 - ref|, and unit is 2^-7 for bf16, 2^-10 for
/// f16. The second line is what an output of zeros cannot pass however small
/// the values are. For f32, plain rows can be luckier than the type allows
/// (one key has no error at all), while a kernel's exp2 and its own order of
/// summation cost it a few units in the last place: there, noise is
/// 2^-19 max|ref| + 2^-22, and unit 2^-19.
///
/// Elements of gradients are sums of terms that may cancel. What rounding each
/// term once comes to in a column (RowResult::rounding) is allowed besides: in the
/// first line, and half of its root mean square in the second.
///
/// lse: |lse - ref| <= 1e-5 max(1, |ref|), infinities equal.
/// A NaN or an infinity on one side alone is wrong.
class Judge {
public:
  explicit Judge(ElementType outputType) : type(outputType) {}

  /// `o` is rows x Dv; `lse` may be null.
  void add(const RowBlock &block, const RowResult &expected, const double *o, const double *lse);
  void merge(const Judge &other);

  struct Worst {
    double error = 0; ///< largest |got - expected| of the worst block
    double bound = 0; ///< what the rule allows there
    double ratio = 0; ///< > 1 is wrong; infinite for a NaN mismatch
    RowBlock block;   ///< where
    std::string what; ///< empty, or what beyond the maximum was wrong there
  };
  const Worst &output() const { return o; }
  const Worst &lse() const { return l; }
  int64_t rows() const { return numRows; }
  bool passes() const { return o.ratio <= 1 && l.ratio <= 1; }

private:
  ElementType type;
  Worst o, l;
  int64_t numRows = 0;
};

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_ACCURACY_H
