//===- NestBuilder.h - what every nest over tiles is made with ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_NESTBUILDER_H
#define ATTN_TRANSFORMS_NESTBUILDER_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace attn {

/// Builds the pieces that forward and backward share: numbers, tiles from memory and back.
class NestBuilder {
protected:
  NestBuilder(mlir::Location loc, Family family) : family(family), b(loc, loc.getContext()) {}

  mlir::Value i32(int64_t c);
  mlir::Value toI32(mlir::Value index);
  mlir::Value dim(mlir::Value memref, int64_t index);
  mlir::Value dense(mlir::RankedTensorType type, double c);
  mlir::RankedTensorType f32(llvm::ArrayRef<int64_t> shape) {
    return mlir::RankedTensorType::get(shape, b.getF32Type());
  }

  /// A tile of an operand: its element type as loaded on a GPU, f32 on the CPU.
  mlir::Value load(llvm::StringRef label, mlir::Value source, mlir::ValueRange at, llvm::ArrayRef<int64_t> shape);
  /// Stores an f32 tile in the element type of `dest`.
  void store(mlir::Value tile, mlir::Value dest, mlir::ValueRange at);
  /// `tile` as the first operand of a product with `with`: rounded to its 16 bits on a GPU.
  mlir::Value pack(mlir::Value tile, mlir::Value with, llvm::StringRef label);
  mlir::Value dot(llvm::StringRef label, mlir::Value a, mlir::Value c, bool transB, mlir::Value acc = {});

  /// The head dimension of a tile. The CPU has no instruction to fill: its head dims stay as they are, multiples of 8.
  int64_t pad(int64_t headDim) const;

  Family family;
  mlir::ImplicitLocOpBuilder b;
};

} // namespace attn

#endif // ATTN_TRANSFORMS_NESTBUILDER_H
