//===- Operand.h - one tensor in guarded memory -----------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUN_OPERAND_H
#define ATTN_RUN_OPERAND_H

#include "attn/Reference/Element.h"
#include "attn_rt/attn_rt.h"

#include <memory>
#include <optional>
#include <set>

namespace attn {
namespace run {

/// "(2, ?, 64)": a dimension below 0 is not known.
std::string shapeText(const std::vector<int64_t> &dims);

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
  /// and `offset` as in Options; dims in `expanded` have one element for all.
  void allocate(const std::vector<size_t> &order, const std::set<size_t> &expanded, int64_t rowPad, int64_t offset);

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
  /// Rows [begin, end) of head h of batch b from float numbers, rounded to its type: elements of rank 4, one number a
  /// row of rank 3. Different rows may be stored from several threads at a time.
  void storeRows(int64_t b, int64_t h, int64_t begin, int64_t end, const std::vector<double> &numbers);
  /// First byte that belongs to no element and is not 0xff any more; its
  /// distance from the first element. Nothing if all is as it was.
  std::optional<int64_t> strayWrite() const;

private:
  template <typename Visit> void eachElement(Visit visit) const;

  std::unique_ptr<char[]> memory;
  char *aligned = nullptr;
  size_t bytes = 0, start = 0;
};

} // namespace run
} // namespace attn

#endif // ATTN_RUN_OPERAND_H
