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
#include "attn/Reference/Gradient.h"

namespace attn {
namespace run {

struct Checked {
  struct Output {
    std::string name;
    reference::Judge::Worst worst;
    bool relative = false; ///< the errors are relative
  };
  std::vector<Output> outputs;
  int64_t rows = 0, rowsInAll = 0;
  bool passes() const;
};

/// Compares all rows, or where that would take long a spread of blocks of rows
/// and every block in which an output is a NaN.
Checked checkForward(const reference::Problem &problem, const Operands &operands, const Options &options);
Checked checkBackward(const reference::Problem &problem, const reference::Gradients &gradients,
                      const Operands &operands, const Options &options);

/// Median milliseconds of Reference's textbook loops on the same inputs.
double timeNaive(const reference::Problem &problem, const Operands &operands, const Options &options);

} // namespace run
} // namespace attn

#endif // ATTN_RUN_CHECK_H
