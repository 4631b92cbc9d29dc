//===- Operands.h - what a launch is given ------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_MANIFEST_OPERANDS_H
#define ATTN_LIB_TARGET_MANIFEST_OPERANDS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"

#include <tuple>

namespace attn::manifest {
struct Operand {
  unsigned number; ///< of the argument
  mlir::Type type;
  std::string name, role;
  llvm::SmallVector<std::string> sizeNames; ///< of each dimension; empty: it has none
};

/// The arguments of a host function by what `attn.meaning` says they are, and what attention itself adds to a manifest:
/// which operand gives which size, what an empty input means.
class Operands {
public:
  /// Fails, with a diagnostic, on arguments without name, role or meaning.
  static mlir::FailureOr<Operands> read(mlir::func::FuncOp host);

  /// The operand that `value` is, in this function or another way of computing the same; null for other values.
  const Operand *find(mlir::Value value) const;
  const Operand *find(llvm::StringRef name) const;
  bool hasSize(llvm::StringRef name) const;
  /// Whether one size is a multiple of another in every launch (`require` says so).
  bool isMultiple(llvm::StringRef size, llvm::StringRef of) const;

  llvm::json::Value operandsJson() const;
  llvm::json::Value sizesJson() const;
  llvm::json::Value requireJson() const;
  llvm::json::Value emptyJson() const;

private:
  explicit Operands(mlir::func::FuncOp host) : host(host) {}
  mlir::LogicalResult collect();
  mlir::LogicalResult order(mlir::DictionaryAttr meaning);
  mlir::FailureOr<Operand *> findPart(mlir::DictionaryAttr meaning, llvm::StringRef name, llvm::StringRef role,
                                      int64_t rank, bool optional);
  void nameSizes(Operand &operand, std::initializer_list<llvm::StringRef> names);

  mlir::func::FuncOp host;
  bool isGradient = false;
  llvm::SmallVector<Operand> all;
  /// Where each size is read: name, operand, dimension. In the order they are printed.
  llvm::SmallVector<std::tuple<std::string, std::string, int64_t>> sizes;
};
} // namespace attn::manifest

#endif // ATTN_LIB_TARGET_MANIFEST_OPERANDS_H
