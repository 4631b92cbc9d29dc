//===- Input.h - reading a module from text nobody vouches for ----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_COMPILE_INPUT_H
#define ATTN_COMPILE_INPUT_H

#include "attn/Dialect/Attn/Transforms/Stage.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <optional>

namespace attn {
/// Reads and parses a file ("-" is standard input). Refuses, with one diagnostic, what the parser would not survive:
/// brackets nested so deep that its recursion overflows the stack, megabytes of anything, bytes that are not text.
mlir::OwningOpRef<mlir::ModuleOp> readModule(llvm::StringRef path, mlir::MLIRContext *context);

/// The stage a module is at, by the ops in it; nothing if there is nothing to compile.
std::optional<Stage> detectStage(mlir::ModuleOp module);
} // namespace attn

#endif // ATTN_COMPILE_INPUT_H
