//===- Lower.h - one kernel to loops over vectors -*- C++ -*-
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tile lies in memory. The lanes of a vector are query rows: a tile of R x C is stored as memref<C x R>, so that
// everything a row owns alone (its maximum, its sum, the rescaling of its output) is elementwise, no lane ever talks to
// another, and the dots are sums of broadcast(element of K or V) * vector(rows). Only the second operand of a dot keeps
// the order it has in global memory (`rowMajor`).
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_ATTNTOCPU_LOWER_H
#define ATTN_CONVERSION_ATTNTOCPU_LOWER_H

#include "Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include <memory>

namespace attn::cpu {

/// What the loops are shaped for.
struct Machine {
  int64_t lanes;     ///< f32 values in a vector register.
  int64_t registers; ///< Vector registers.
};

/// Memory of one tile. f32 stands for every float type narrower than that (values are rounded where they are made), i8
/// for i1.
struct Buffer {
  mlir::Value memref;
  bool rowMajor = false;
  bool carried = false;   ///< Belongs to a loop-carried value: never handed to another one.
  mlir::Value occupant{}; ///< The tile in it.
};

/// The type elements are computed in, and the type they are stored as.
mlir::Type getComputeType(mlir::Type element);
mlir::Type getStorageType(mlir::Type element);

class KernelLowering {
public:
  /// Emits into the (empty) entry block of `func`.
  KernelLowering(mlir::func::FuncOp func, Machine machine);
  ~KernelLowering();

  mlir::IRMapping &getScalars() { return scalars; }
  /// Lowers all ops of the kernel body but the terminator.
  mlir::LogicalResult lowerBody(mlir::Block &block);

private:
  struct NestEmitter;

  mlir::LogicalResult lowerBlock(mlir::Block &block, const BlockPlan &plan);
  mlir::LogicalResult lowerStep(unsigned index, const BlockPlan &plan);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp loop, unsigned index, const BlockPlan &plan);
  mlir::LogicalResult lowerYield(mlir::Operation *yield, mlir::ArrayRef<Buffer *> carried);

  // Nests.cpp: elementwise ops and reductions.
  mlir::LogicalResult lowerNest(unsigned index, const BlockPlan &plan);
  void copyTile(mlir::Value tile, Buffer *into, mlir::Location loc);
  mlir::LogicalResult lowerScalarGather(GatherOp gather);
  // Moves.cpp: tiles from and to global memory.
  mlir::LogicalResult lowerLoad(LoadOp load);
  mlir::LogicalResult lowerStore(StoreOp store);
  // Dots.cpp.
  mlir::LogicalResult lowerDot(DotOp dot, unsigned index, const BlockPlan &plan);

  // Buffers.cpp: memory of tiles.
  Buffer *acquire(mlir::RankedTensorType type, bool rowMajor = false);
  void release(Buffer *buffer);
  /// The buffer for a tile that step `index` makes: the one the loop carries it in, or that of an operand that dies,
  /// where each element is read before the same element is written; else another.
  Buffer *claim(mlir::Value tile, unsigned index, const BlockPlan &plan);
  bool isFree(Buffer *buffer, mlir::Value tile, unsigned index, const BlockPlan &plan);
  /// The buffer that holds the tile; a virtual tile is computed into one first.
  Buffer *getBuffer(mlir::Value tile, mlir::Location loc);
  void bind(mlir::Value tile, Buffer *buffer);
  void freeAll();

  mlir::func::FuncOp func;
  Machine machine;
  mlir::OpBuilder b;
  mlir::OpBuilder::InsertPoint allocs; ///< Start of the function: buffers live for the whole call.
  mlir::IRMapping scalars;
  std::vector<std::unique_ptr<Buffer>> buffers;
  llvm::SmallVector<Buffer *> pool;
  llvm::SmallVector<Buffer *> temporaries; ///< Of the step being lowered.
  llvm::DenseMap<mlir::Value, Buffer *> bufferOf;
  llvm::DenseMap<mlir::Value, Buffer *> carrierOf; ///< Where a loop would like the value to be at its end.
};

/// Refuses functions of math that are not computed here or that Reference cannot judge, naming those that are.
llvm::LogicalResult checkMath(mlir::Operation *op);
/// `exp2` of a vector of f32 within 1.3 units in the last place, by a polynomial; results below 2^-126 are 0.
mlir::Value emitExp2(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x);
/// Rounds f32 (scalar or vector) to the nearest value of a 16-bit float type; still f32.
mlir::Value emitRound(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Type narrow);
/// f32 that is a value of the 16-bit type already, to that type; any other type: as it is.
mlir::Value emitNarrow(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Type narrow);

/// Adds `name(params: !llvm.ptr, begin: i64, end: i64)`, which reads the arguments of `body` from an array of pointers
/// to their parts (each memref: pointer, strides but the last as i64, sizes as i32) and calls it. Beside it the text
/// `name_params`, a letter for each part.
void emitEntry(mlir::OpBuilder &b, mlir::func::FuncOp body, llvm::StringRef name);

} // namespace attn::cpu

#endif // ATTN_CONVERSION_ATTNTOCPU_LOWER_H
