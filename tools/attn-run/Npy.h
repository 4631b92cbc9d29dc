//===- Npy.h - arrays in NumPy's file format --------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUN_NPY_H
#define ATTN_RUN_NPY_H

#include "attn/Reference/Element.h"

namespace attn {
namespace run {

/// A row-major array as a .npy file holds it.
struct NpyArray {
  std::string descr; ///< NumPy's type code: "<f4", "<u2", ...
  std::vector<int64_t> dims;
  std::vector<char> bytes;

  /// Whether its elements can stand for `type`. NumPy has no bf16: its 16 bits
  /// come as u2 or as the V2 that ml_dtypes writes.
  bool holds(reference::ElementType type) const;
};

/// Refuses, naming the file, what is not a plain little-endian array.
NpyArray readNpy(const std::string &path);
/// Writes row-major `bytes`; bf16 as u2.
void writeNpy(const std::string &path, reference::ElementType type, const std::vector<int64_t> &dims,
              const std::vector<char> &bytes);

} // namespace run
} // namespace attn

#endif // ATTN_RUN_NPY_H
