//===- Signature.h - a function on tensors as a function on memrefs -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_SIGNATURE_H
#define ATTN_TRANSFORMS_SIGNATURE_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace attn {

/// What a spec function has become: tensors are memrefs, results are destination arguments behind the others.
struct DestinationFunction {
  mlir::func::FuncOp func;
  /// Arguments and constants of the spec function to their counterparts here, results of the op to their destinations
  /// (none for one that the spec does not return).
  mlir::IRMapping values;
};

/// A tensor of an attention op by the name users know it by.
struct NamedValue {
  llvm::StringRef name;
  mlir::Value value;
};

/// Operands of `op` but captures: q, k, v; backward also o, lse, do and, if it is there, dlse.
llvm::SmallVector<NamedValue> getNamedOperands(AttentionOp op);
/// Results: o, lse; backward dq, dk, dv.
llvm::SmallVector<NamedValue> getNamedResults(AttentionOp op);

/// The memref of a tensor argument: any strides and any offset, but the last dimension is dense. An i1 tensor is passed
/// as one byte an element, 0 or 1.
mlir::MemRefType getArgumentMemRef(mlir::RankedTensorType type);

/// Makes the memref form of the function around `op`, with an empty body (arguments and return only), in front of it:
/// same name and attributes, every argument with `attn.name` and `attn.role`, the function with `attn.meaning`. The
/// spec function is left to the caller to erase.
///
/// Names: an `attn.name` written in the spec wins; else q, k, v, o, lse and so on by what the op does with the
/// argument, and capture0, capture1, ... for the rest. Roles: in, out, capture (a tensor that regions read), scalar.
///
/// Fails, with one error, if the function is more than this one op on its arguments.
mlir::FailureOr<DestinationFunction> makeDestinationFunction(AttentionOp op);

/// The names that the matrices which products read or make get there, in the order of operands and results, each once.
llvm::SmallVector<mlir::StringAttr> getMatrixNames(AttentionOp op);

} // namespace attn

#endif // ATTN_TRANSFORMS_SIGNATURE_H
