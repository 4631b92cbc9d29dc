//===- InlineRegion.h - score and mask regions on whole tiles -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A region is written for one (query, key) pair. On a tile every value of it becomes as large as it has to be: a value
// that depends on batch and head only stays a scalar, one that also depends on what the tile has along its rows (its
// columns) becomes a rank-1 tensor, and only what depends on both is computed for every element. Scalars and rows do
// not change during a sweep, so they are emitted in front of it. Whether rows are queries or keys is the caller's to
// say.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_INLINEREGION_H
#define ATTN_TRANSFORMS_INLINEREGION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

namespace attn {

/// What a value of a region varies over inside a tile. The join of two is their bitwise or.
enum class Extent : unsigned { Uniform = 0, Rows = 1, Cols = 2, Tile = 3 };

/// A value and what it varies over: a scalar, tensor<Rx..>, tensor<Cx..> or tensor<RxCx..>.
struct TileValue {
  mlir::Value value;
  Extent extent = Extent::Uniform;
};

/// Whether a region of an op (or none, if empty) gathers a value that varies over the whole tile. The region ends with
/// its query and key as arguments.
bool gathersTiles(mlir::Region &region);

class RegionInliner {
public:
  /// `outer` inserts in front of the sweep, `inner` in its body.
  RegionInliner(mlir::OpBuilder &outer, mlir::OpBuilder &inner, int64_t rows, int64_t columns)
      : outer(outer), inner(inner), rows(rows), columns(columns) {}

  /// Emits the block of a region for `arguments`; values from outside it go through `captures` (tensors have become
  /// memrefs there). Returns the yielded value for a whole tile, or null after an error.
  mlir::Value inlineTile(mlir::Block &body, llvm::ArrayRef<TileValue> arguments, const mlir::IRMapping &captures);

  /// `value` at a larger extent.
  mlir::Value spread(TileValue value, Extent extent, mlir::Location loc);

  /// The type of a value that varies over `extent`.
  mlir::Type typeAt(mlir::Type element, Extent extent) const;

private:
  mlir::OpBuilder &builderFor(Extent extent) { return (unsigned(extent) & unsigned(Extent::Cols)) ? inner : outer; }
  mlir::LogicalResult inlineOp(mlir::Operation &op, llvm::DenseMap<mlir::Value, TileValue> &values);
  TileValue inlineGather(mlir::Operation &op, mlir::Value source, llvm::ArrayRef<TileValue> indices, Extent extent);

  mlir::OpBuilder &outer, &inner;
  int64_t rows, columns;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> spreads;
};

} // namespace attn

#endif // ATTN_TRANSFORMS_INLINEREGION_H
