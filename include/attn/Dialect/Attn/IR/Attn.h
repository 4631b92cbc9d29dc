//===- Attn.h - the attn dialect ------------------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_ATTN_IR_ATTN_H
#define ATTN_DIALECT_ATTN_IR_ATTN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace attn {
/// What ordered operations write: no pass moves one over another.
struct ExecutionOrder : mlir::SideEffects::Resource::Base<ExecutionOrder> {
  llvm::StringRef getName() final { return "attn.execution_order"; }
};

/// What `attn.mask` puts in place of a hidden score: -2^100. A running maximum starts at its exponent. Finite, so no
/// loop guards against inf - inf; far below any real score, far above overflow after scaling.
constexpr float kMaskedScore = -0x1p100f;
/// A row whose maximal score is not above this has seen no key: -2^99.
constexpr float kNoKeyBelow = -0x1p99f;
} // namespace attn

#include "attn/Dialect/Attn/IR/AttnDialect.h.inc"
#include "attn/Dialect/Attn/IR/AttnEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnInterfaces.h.inc"
#include "attn/Dialect/Attn/IR/AttnTypes.h.inc"
#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/AttnOps.h.inc"

#endif // ATTN_DIALECT_ATTN_IR_ATTN_H
