//===- Operands.h - the tensors of one run ----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUN_OPERANDS_H
#define ATTN_RUN_OPERANDS_H

#include "Operand.h"
#include "Options.h"
#include "attn/Reference/Attention.h"

namespace attn {
namespace run {

/// All operands of a manifest, in its order, allocated and filled.
struct Operands {
  std::vector<Operand> all;
  std::map<std::string, int64_t> sizes; ///< named sizes
  /// Where q, k, v and o stand, two of which may be one operand; lse only if the kernel has it. The manifest's meaning
  /// says which is which; one that does not has its inputs and outputs in this order.
  size_t q = 0, k = 0, v = 0, o = 0;
  std::optional<size_t> lse;
  /// Of a backward kernel, for which o and lse are inputs.
  struct Backward {
    size_t dO = 0, dQ = 0, dK = 0, dV = 0;
    std::optional<size_t> dLse;
  };
  std::optional<Backward> backward;

  reference::Captures captures() const;
  reference::Problem problem() const;
};

/// Sizes come from --in files, then --shape, then defaults.
Operands makeOperands(const attn_kernel *kernel, const Options &options);

} // namespace run
} // namespace attn

#endif // ATTN_RUN_OPERANDS_H
