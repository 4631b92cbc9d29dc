//===- Plan.h - which tile ops share a loop, and how long tiles live -*- C++ -*-
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_ATTNTOCPU_PLAN_H
#define ATTN_CONVERSION_ATTNTOCPU_PLAN_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/MapVector.h"

namespace attn::cpu {

/// Ops whose value is never stored: it is computed wherever an element of it is read (constants, splats, coordinates,
/// spreads of a rank-1 tile).
bool isVirtual(mlir::Operation *op);

/// Calls `read(tile, direct)` for every tile that `op` (with what is nested in it) reads and that is defined outside
/// of it, looking through virtual ops. `direct`: an element of the result needs the element at the same place only.
void forEachRead(mlir::Operation *op, llvm::function_ref<void(mlir::Value, bool direct)> read);

/// A step is one op (a load, a dot, a loop, a scalar op) or a nest: elementwise ops and reductions over tiles of one
/// shape, computed together, element by element.
struct Step {
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::ArrayRef<int64_t> shape; ///< Of a nest; empty for a single op.
  bool isNest() const { return !shape.empty(); }
};

struct BlockPlan {
  llvm::SmallVector<Step> steps;
  /// Step of every op that is not virtual.
  llvm::DenseMap<mlir::Operation *, unsigned> stepOf{};
  /// Last step that reads a tile defined in this block; steps.size() is the terminator.
  /// In the order of the program: buffers are released in it.
  llvm::MapVector<mlir::Value, unsigned> lastUse{};

  /// True if some other step than its own reads the tile.
  bool isRead(mlir::Value tile) const;
};

/// Orders the ops of a block into steps. Elementwise ops join the earliest nest of their shape that all their operands
/// are ready for, so that two chains that meet in a reduction still make one pass over the tile each.
BlockPlan planBlock(mlir::Block &block);

} // namespace attn::cpu

#endif // ATTN_CONVERSION_ATTNTOCPU_PLAN_H
