//===- SweepBody.h - the body of a sweep as a graph ------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_SWEEPBODY_H
#define ATTN_ANALYSIS_SWEEPBODY_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace attn {

/// The body of a sweep as a graph.
class SweepBody {
public:
  explicit SweepBody(SweepOp sweep);

  /// Where a value that the body reads comes from: `value`, computed by `op` of the body so many steps ago.
  struct Source {
    mlir::Operation *op;
    mlir::Value value;
    int64_t distance; ///< 0, or 1 through a carried value
  };
  /// Absent for t, j, what is defined in front of the sweep, and what can be computed again from these.
  std::optional<Source> getSource(mlir::Value read) const;

  /// A pure function of t, j and values in front of the sweep: addresses, items, coordinates. It is computed wherever
  /// it is read, for the step it is read for, so it has no place in a plan.
  bool isRecomputed(mlir::Operation *op) const { return recomputed.contains(op); }
  /// A carried value that the body never changes.
  bool isInvariant(mlir::BlockArgument carried) const;

  /// What the op reads, regions included.
  static llvm::SetVector<mlir::Value> getInputs(mlir::Operation *op);

  SweepOp sweep;
  mlir::Block &block;
  mlir::Operation *yield;

private:
  llvm::DenseSet<mlir::Operation *> recomputed;
};

} // namespace attn

#endif // ATTN_ANALYSIS_SWEEPBODY_H
