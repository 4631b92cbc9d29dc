//===- Check.h - compares outputs with the reference ------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUN_CHECK_H
#define ATTN_RUN_CHECK_H

#include "Operands.h"
#include "attn/Reference/Accuracy.h"

namespace attn {
namespace run {

struct Checked {
  reference::Judge judge;
  int64_t rowsInAll = 0;
  bool passes() const { return judge.passes(); }
};

/// Compares all rows, or where that would take long a spread of blocks of rows
/// and every block in which an output is a NaN.
Checked checkOutputs(const reference::Problem &problem, const Operands &operands, const Options &options);

/// Median milliseconds of Reference's textbook loops on the same inputs.
double timeNaive(const reference::Problem &problem, const Options &options);

} // namespace run
} // namespace attn

#endif // ATTN_RUN_CHECK_H
