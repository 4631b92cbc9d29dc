//===- EmitPTX.h - nvvm to PTX text, in process -------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TARGET_EMITPTX_H
#define ATTN_TARGET_EMITPTX_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attn {
/// What emitPTX needs to know of the dialects it translates. Call before the context is made.
void registerPTXTranslations(mlir::DialectRegistry &registry);

/// The PTX of kernels (`llvm.func` with `nvvm.kernel`) of a module at the nvvm stage, one text for all, for the chip of
/// the module's `attn.target`. Other kernels are left out; the module is not changed. Needs nothing of CUDA. Fails,
/// with a diagnostic, on: a chip that Facts does not have or that has no PTX, an op that is neither llvm nor nvvm, one
/// that no PTX instruction computes.
mlir::FailureOr<std::string> emitPTX(mlir::ModuleOp module, llvm::ArrayRef<llvm::StringRef> kernels);
} // namespace attn

#endif // ATTN_TARGET_EMITPTX_H
