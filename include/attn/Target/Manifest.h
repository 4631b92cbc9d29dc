//===- Manifest.h - the host function, printed for the runtime ----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TARGET_MANIFEST_H
#define ATTN_TARGET_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace attn {
/// The files that hold a kernel, relative to the manifest; an empty name is left out.
struct KernelFiles {
  std::string ptx, cubin, code;
};

/// Prints the manifest of a module from `mapped` on: its one host function, a straight line of sizes and launches, and
/// the alternatives of that function become the JSON that the runtime follows (docs/Manifest.md). Fails, with a
/// diagnostic, on host functions that the manifest has no words for.
mlir::LogicalResult writeManifest(mlir::ModuleOp module, llvm::function_ref<KernelFiles(llvm::StringRef)> filesOf,
                                  llvm::raw_ostream &os);

/// The kernels that the host function launches, in order, then those of its alternatives.
llvm::SmallVector<llvm::StringRef> getLaunchedKernels(mlir::ModuleOp module);

/// Letters, digits and underscores, no digit first: what names of operands and kernels must be.
bool isIdentifier(llvm::StringRef name);

/// What a launch needs to know of a kernel, wherever the stage keeps it: threads, bytes of dynamic shared memory, and
/// how many blocks an SM should hold.
struct LaunchBounds {
  int64_t threads = 0, smemBytes = 0, blocksPerSm = 1;
};
LaunchBounds getLaunchBounds(mlir::ModuleOp module, llvm::StringRef kernel);
} // namespace attn

#endif // ATTN_TARGET_MANIFEST_H
