//===- TileForms.h - which vectors run along the rows of tiles -----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix of a tile has rows and columns; a vector belongs to the rows or to the columns, whichever its neighbours
// say: a reduction makes rows, a spread along 1 takes rows, along 0 columns, a coordinate says it itself, elementwise
// ops and loops keep the form. Who splits rows over groups and who spreads tiles over registers both ask here.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_TILEFORMS_H
#define ATTN_ANALYSIS_TILEFORMS_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace mlir::tensor {
class ExtractSliceOp;
} // namespace mlir::tensor

namespace attn {

/// The type of a tile that is not spread over registers yet; null for anything else.
mlir::RankedTensorType getPlainTile(mlir::Value value);
/// Whether `value` is such a tile of rank 1.
bool isPlainVector(mlir::Value value);

/// Every use of a constant or a splat inside `scope` reads a copy of its own, made inside: one value may serve rows and
/// columns, or tiles in and outside.
void ownConstants(mlir::Operation *scope);

/// Whether a slice is neighbouring columns of a matrix, whole atoms of them: where a warp owns whole rows these are
/// some registers of every lane.
bool isColumnSlice(mlir::tensor::ExtractSliceOp slice);

class TileForms {
public:
  /// Looks at every vector in `scope`. Fails, with an error, if one is used along rows and along columns.
  mlir::LogicalResult run(mlir::Operation *scope);
  /// Rows or cols. Rows unless something says otherwise: results of a row (LSE) go from memory to memory.
  Form lookup(mlir::Value vector) const {
    auto known = forms.find(vector);
    return known == forms.end() ? Form::Rows : known->second;
  }

private:
  llvm::DenseMap<mlir::Value, Form> forms;
};

} // namespace attn

#endif // ATTN_ANALYSIS_TILEFORMS_H
