//===- TensorMaps.h - operands described to the tensor memory accelerator -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_TENSORMAPS_H
#define ATTN_TRANSFORMS_TENSORMAPS_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "llvm/ADT/MapVector.h"

namespace attn {

/// The tensor maps a kernel takes: one more argument for each operand and tile that travels, made on the host in front
/// of every launch of the kernel.
class TensorMaps {
public:
  explicit TensorMaps(KernelOp kernel) : kernel(kernel) {}
  /// The kernel's argument for boxes of `buf` in `memref`. Fails, with an error at `op`, if no map describes them.
  mlir::FailureOr<mlir::Value> get(mlir::Operation *op, mlir::Value memref, BufType buf);

private:
  KernelOp kernel;
  llvm::MapVector<std::pair<mlir::Value, mlir::Type>, mlir::Value> maps;
};

} // namespace attn

#endif // ATTN_TRANSFORMS_TENSORMAPS_H
