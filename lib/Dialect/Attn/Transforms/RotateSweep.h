//===- RotateSweep.h - write a sweep out as its plan says -------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_ROTATESWEEP_H
#define ATTN_TRANSFORMS_ROTATESWEEP_H

#include "attn/Analysis/SweepPlan.h"
#include "mlir/IR/Builders.h"

namespace attn {

/// A value of the body that the rotated sweep carries, from `rounds` rounds ago.
struct Crossing {
  mlir::Value value;
  int64_t rounds;
  /// Where a sweep's own initial value is what it starts from: which; else -1, it starts from the prologue.
  int64_t init;
  int64_t registers; ///< of a thread
};

/// Replaces a sweep by prologue, rotated sweep and epilogue.
class Rotation {
public:
  Rotation(const SweepBody &body, const SweepPlan &plan);
  llvm::ArrayRef<Crossing> getCrossings() const { return crossings; }
  void run();

private:
  /// Code for the actions of one round: in front of the sweep, in it, or behind it.
  struct Round {
    enum class Where { Prologue, Loop, Epilogue };
    explicit Round(Where where) : where(where) {}

    Where where;
    llvm::DenseMap<mlir::Value, mlir::Value> values;                         ///< of the body, computed in this round
    llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> recomputed; ///< by lag
    llvm::SmallVector<std::pair<DotOp, DotOp>> open; ///< issued and not waited for: of the body, of the round
  };

  void addCrossing(mlir::Value value, int64_t rounds, int64_t carried);
  int64_t initOf(mlir::Value value, int64_t rounds, int64_t carried) const;
  int64_t crossingIndex(mlir::Value value, int64_t rounds, int64_t carried) const;
  bool isActive(const Round &round, int64_t lag) const;

  mlir::Value read(Round &round, mlir::Value value, int64_t lag);
  mlir::Value readIndex(Round &round, bool ordinal, int64_t lag);
  void emit(Round &round);
  void emitOp(Round &round, mlir::Operation *op, int64_t lag);
  void emitAwait(Round &round, llvm::ArrayRef<DotOp> dots);
  void cloneInto(Round &round, mlir::Operation *op, int64_t lag);

  mlir::Operation *prologuePoint();
  SweepOp makeLoop(Round &prologue);
  void moveReleases();

  const SweepBody &body;
  const SweepPlan &plan;
  SweepOp sweep;
  bool descending;
  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::SmallVector<Crossing> crossings;
  mlir::Value newLo, newHi;
  SweepOp loop;
};

} // namespace attn

#endif // ATTN_TRANSFORMS_ROTATESWEEP_H
