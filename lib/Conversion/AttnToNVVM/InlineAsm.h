//===- InlineAsm.h - PTX written out ---------------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For what has no intrinsic, or must be one indivisible step of the back end: an instruction under a predicate, a loop
// that waits, all instructions of a product.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CONVERSION_ATTNTONVVM_INLINEASM_H
#define ATTN_LIB_CONVERSION_ATTNTONVVM_INLINEASM_H

#include "Lowering.h"

#include <string>

namespace attn::nvvm {

/// One llvm.inline_asm with side effects. Operands are numbered $0, $1, ... in this order: outputs, inputs that share
/// the register of an output (`tie`), other inputs. So they are named in this order, and the text can be written while
/// they are.
class InlineAsm {
public:
  explicit InlineAsm(const Emit &e) : e(e) {}

  /// `count` new values of a type; the first is $0.
  void output(mlir::Type type, int64_t count);
  /// Values that come back changed: outputs first in the list, in place.
  void tie(mlir::ValueRange values);
  /// The name of an input: "$5".
  std::string use(mlir::Value value);
  /// Text so far; several calls add up, a line each.
  InlineAsm &operator<<(const llvm::Twine &line);

  /// `touchesMemory`: loads and stores are not moved over it.
  llvm::SmallVector<mlir::Value> build(bool touchesMemory = true);

private:
  const Emit &e;
  llvm::SmallVector<mlir::Type> outputs;
  llvm::SmallVector<mlir::Value> inputs;
  std::string text, outputConstraints, inputConstraints;
};

} // namespace attn::nvvm

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_INLINEASM_H
