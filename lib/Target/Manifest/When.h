//===- When.h - the calls a function is for -----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_MANIFEST_WHEN_H
#define ATTN_LIB_TARGET_MANIFEST_WHEN_H

#include "Operands.h"

namespace attn::manifest {
/// `attn.when` of a host function: all of it must hold.
struct When {
  llvm::SmallVector<llvm::StringRef> aligned; ///< operands that a tensor map can describe
  llvm::StringRef size;                       ///< empty: no size is asked for
  int64_t from = 0, below = std::numeric_limits<int64_t>::max();

  /// The attribute of `host`, or no condition at all. Fails on words, operands and sizes nobody knows.
  static mlir::FailureOr<When> read(mlir::func::FuncOp host, const Operands &operands);

  bool isAlways() const { return aligned.empty() && size.empty(); }
  /// Whether it holds for every call that `other` holds for.
  bool takesAllOf(const When &other) const;
  llvm::json::Value toJson() const;
};
} // namespace attn::manifest

#endif // ATTN_LIB_TARGET_MANIFEST_WHEN_H
