//===- EmitObject.h - llvm to a shared library for the CPU --------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TARGET_EMITOBJECT_H
#define ATTN_TARGET_EMITOBJECT_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attn {
/// What emitObject needs to know of the dialects it translates. Call before the context is made.
void registerObjectTranslations(mlir::DialectRegistry &registry);

/// Compiles the kernels of a module at the llvm stage into a shared library at `path`. The host function beside them
/// and the module itself stay as they are. Fails with a diagnostic.
mlir::LogicalResult emitObject(mlir::ModuleOp module, llvm::StringRef path);
} // namespace attn

#endif // ATTN_TARGET_EMITOBJECT_H
