//===- IntegerRun.h - code run on its integers -----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers are folded, loops walked trip by trip, branches taken; tiles and memory are not looked at. Whoever derives
// sees every op of the attn dialect on its way.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_INTEGERRUN_H
#define ATTN_ANALYSIS_INTEGERRUN_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <string>

namespace attn {

/// Sizes a kernel is run with.
struct TrialSizes {
  /// Of a kernel's arguments, by argument and dimension; those that are not here cannot be followed.
  llvm::DenseMap<std::pair<unsigned, unsigned>, int64_t> dims;
  int64_t blocks = 1; ///< of the grid, of which block 0 runs
};

class IntegerRun {
public:
  explicit IntegerRun(const TrialSizes &sizes) : sizes(sizes) {}
  virtual ~IntegerRun() = default;

protected:
  /// Runs the ops of a block; false if they cannot be followed to their end.
  bool walk(mlir::Block &block);
  /// An op of the attn dialect without regions; false if it cannot be followed.
  virtual bool visit(mlir::Operation *op) = 0;

  std::optional<int64_t> number(mlir::Value value) const;
  void set(mlir::Value value, int64_t number);
  /// What the one who derives knows of a value, by a number of its own; it is carried through loops and branches.
  std::optional<int64_t> token(mlir::Value value) const;
  void setToken(mlir::Value value, int64_t token) { known[value] = {{}, token}; }
  void forget(mlir::Value value) { known.erase(value); }
  void fold(mlir::Operation *op);
  /// Why a walk returned false, as the predicate of a sentence.
  std::string whyCut() const;

private:
  struct Known {
    mlir::IntegerAttr number;
    std::optional<int64_t> token;
  };

  bool step(mlir::Operation *op);
  bool loop(mlir::scf::ForOp op);
  bool loop(mlir::scf::WhileOp op);
  bool loop(SweepOp op);
  bool branch(mlir::scf::IfOp op);
  void bind(mlir::ValueRange to, mlir::ValueRange from);
  void takeSize(mlir::memref::DimOp op);

  TrialSizes sizes;
  int64_t ops = 0;
  mlir::Operation *cutAt = nullptr; ///< the op that could not be followed
  llvm::DenseMap<mlir::Value, Known> known;
};

} // namespace attn

#endif // ATTN_ANALYSIS_INTEGERRUN_H
