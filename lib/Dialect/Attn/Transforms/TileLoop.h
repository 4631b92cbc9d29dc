//===- TileLoop.h - a role's loop over tiles, taken apart -------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_TILELOOP_H
#define ATTN_TRANSFORMS_TILELOOP_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace attn {

/// Label of the ring in which LowerTiles hands the ids of dynamic tiles to every role.
inline constexpr llvm::StringLiteral kTileRing = "tile";

/// The body of the `scf.while` that LowerTiles makes, one tile, in four parts:
///
///   lead    up to the sweep: what starts a tile
///   sweep
///   trail   behind it: what ends a tile
///   ids     what finds the next one
///
/// and what is in none of them: pure functions of the loop's arguments (addresses, items, coordinates, zeros), computed
/// wherever they are read.
class TileLoop {
public:
  /// Error at the loop if its body is not one sweep with something in front of it and behind it.
  static mlir::FailureOr<TileLoop> takeApart(mlir::scf::WhileOp loop);

  mlir::scf::ConditionOp getCondition() { return loop.getConditionOp(); }
  bool isInside(mlir::Value value) const { return value.getParentBlock() == body; }
  bool isRecomputed(mlir::Operation *op) const { return op && recomputed.contains(op); }

  /// Adds the values that must be there for `value` to be computed again: arguments, results of the parts, and of
  /// divisions by sizes, which take the machine hundreds of cycles.
  void addRoots(mlir::Value value, llvm::SetVector<mlir::Value> &roots) const;
  void addRoots(llvm::ArrayRef<mlir::Operation *> ops, llvm::SetVector<mlir::Value> &roots) const;

  mlir::scf::WhileOp loop;
  SweepOp sweep;
  llvm::SmallVector<mlir::Operation *> lead, trail, ids;

private:
  mlir::Block *body;
  llvm::DenseSet<mlir::Operation *> recomputed;
};

/// Code for one tile somewhere: its values by those of the body.
class TileCode {
public:
  TileCode(const TileLoop &tile, mlir::OpBuilder &builder) : tile(tile), builder(builder) {}
  void set(mlir::ValueRange from, mlir::ValueRange to) {
    for (auto [key, value] : llvm::zip_equal(from, to))
      values[key] = value;
  }
  mlir::Value read(mlir::Value value);
  llvm::SmallVector<mlir::Value> read(mlir::ValueRange range);
  void emit(mlir::Operation *op);

private:
  const TileLoop &tile;
  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
};

} // namespace attn

#endif // ATTN_TRANSFORMS_TILELOOP_H
