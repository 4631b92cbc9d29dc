//===- GridNest.h - a nest over a grid, and the kernel it becomes -----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_GRIDNEST_H
#define ATTN_TRANSFORMS_GRIDNEST_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>

namespace attn {

/// A nest of a function and what its kernel is made of.
struct GridNest {
  mlir::scf::ForallOp loop;
  ScheduleAttr schedule; ///< the nest's own, else the function's
  std::string kernel;    ///< the name it gets
  SweepOp sweep;         ///< null: a tile is done in one go
  /// What the kernel takes of the function: arguments, then workspaces, each in their order.
  llvm::SmallVector<mlir::Value> arguments;
  llvm::SmallVector<mlir::Operation *> sizes; ///< what the function computes for it, in its order

  bool isPersistent() const { return schedule.getTiles() != Tiling::Single; }
  /// Where dynamic tiles are counted; null for the others.
  mlir::MemRefType getCounterType() const;
  /// Whether the last row tiles have the longest sweeps: walked first, they leave the short ones to fill the machine at
  /// the end.
  bool isHeaviestLast() const;
};

/// The nests of `func` in the order they run; nothing of the function is changed. Fails, with one error, if the
/// function is more than sizes, workspaces and nests that can be kernels, or a nest reads a workspace before any writes
/// it.
mlir::FailureOr<llvm::SmallVector<GridNest>> readNests(mlir::func::FuncOp func);

/// Makes the kernel of a nest: sizes, then the nest as `attn.tiles` with its body unchanged. Behind the arguments of
/// the nest stand the section and the counter, where its schedule wants them (`sectioned`).
KernelOp buildKernel(mlir::OpBuilder &builder, GridNest &nest, bool sectioned);

/// Bytes that the sweeps of one (head, batch) pair load, a number of the host; null if there is no sweep. A tile of
/// keys that walks the query heads of its group loads the queries of all of them.
mlir::Value buildSweptBytes(mlir::OpBuilder &builder, GridNest &nest);

} // namespace attn

#endif // ATTN_TRANSFORMS_GRIDNEST_H
