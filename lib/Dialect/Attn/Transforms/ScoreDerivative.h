//===- ScoreDerivative.h - the derivative of a score region --------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_SCOREDERIVATIVE_H
#define ATTN_TRANSFORMS_SCOREDERIVATIVE_H

#include "mlir/IR/Region.h"

namespace attn {

/// Fills the empty region `derivative` with the derivative of the one block of `score`, (s, b, h, q, k) -> z, by
/// reverse mode: (s, b, h, q, k, dz) -> dz times dz/ds. Values from outside are used as `score` uses them.
///
/// Comparisons and numbers rounded to integers are constants: their slope is 0. Where a maximum or minimum meet, the
/// first operand counts; the slope of |x| at 0 is 0. A gradient of 0 stays 0 however steep what it goes through.
///
/// Fails, with an error at the op, if z depends on s through an op without a rule.
mlir::LogicalResult deriveScore(mlir::Region &score, mlir::Region &derivative);

} // namespace attn

#endif // ATTN_TRANSFORMS_SCOREDERIVATIVE_H
