//===- Operands.h - the tensors of one run ----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUN_OPERANDS_H
#define ATTN_RUN_OPERANDS_H

#include "Options.h"
#include "attn/Reference/Attention.h"
#include "attn_rt/attn_rt.h"

#include <memory>
#include <optional>

namespace attn {
namespace run {

/// One operand in host memory, with unused bytes around and between its
/// elements. In outputs every byte starts as 0xff, a NaN in each float type, so
/// that both an element left out and a byte written outside can be told:
///
///     | guard | offset | row 0 | pad | row 1 | pad | ... | guard |
class Operand {
public:
  std::string name;
  attn_role role;
  reference::ElementType type;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides; ///< in elements

  /// Gives it memory: `order` lists dims from outermost to innermost, `rowPad`
  /// and `offset` as in Options.
  void allocate(const std::vector<size_t> &order, int64_t rowPad, int64_t offset);

  int64_t numElements() const;
  bool isOutput() const { return role == ATTN_ROLE_OUT; }
  /// The whole buffer and where the first element lies in it, in bytes.
  char *buffer() const { return aligned; }
  size_t bufferBytes() const { return bytes; }
  size_t origin() const { return start; }
  reference::View view() const { return {aligned + start, type, dims, strides}; }
  /// What the runtime takes, for a buffer copied to `base`.
  attn_tensor tensor(void *base) const;

  /// Row-major elements in and out.
  void assign(const std::vector<char> &rowMajor);
  std::vector<char> rowMajor() const;
  /// First byte that belongs to no element and is not 0xff any more; its
  /// distance from the first element. Nothing if all is as it was.
  std::optional<int64_t> strayWrite() const;

private:
  template <typename Visit> void eachElement(Visit visit) const;

  std::unique_ptr<char[]> memory;
  char *aligned = nullptr;
  size_t bytes = 0, start = 0;
};

/// All operands of a manifest, in its order, allocated and filled.
struct Operands {
  std::vector<Operand> all;
  std::map<std::string, int64_t> sizes; ///< named sizes
  /// Where q, k, v and o stand, two of which may be one operand; lse only if the kernel has it. The manifest's meaning
  /// says which is which; one that does not has its inputs and outputs in this order.
  size_t q = 0, k = 0, v = 0, o = 0;
  std::optional<size_t> lse;

  reference::Captures captures() const;
  reference::Problem problem() const;
};

/// Sizes come from --in files, then --shape, then defaults.
Operands makeOperands(const attn_kernel *kernel, const Options &options);

} // namespace run
} // namespace attn

#endif // ATTN_RUN_OPERANDS_H
