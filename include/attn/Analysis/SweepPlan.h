//===- SweepPlan.h - what a rotated sweep does when -----------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of named ops, some of them one step behind the others, becomes a place for every op of a sweep's body, or a
// message why the list cannot be right. Nothing is rewritten.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_SWEEPPLAN_H
#define ATTN_ANALYSIS_SWEEPPLAN_H

#include "attn/Analysis/SweepBody.h"
#include "attn/Analysis/SweepOrder.h"
#include "llvm/ADT/MapVector.h"

namespace attn {

/// One action of the rotated body, on the step that is `lag` behind the newest.
struct PlanStep {
  enum class Kind { Op, Await, Release, Take, Give, Pin };
  Kind kind = Kind::Op;
  int64_t lag = 0;
  mlir::Operation *op = nullptr;         ///< Op, Release: the op of the body
  llvm::SmallVector<DotOp, 2> dots = {}; ///< Await: the products it retires, oldest first
  mlir::Value pinned = {};               ///< Pin
  std::string entry = {};                ///< name of the entry that placed it; empty: it follows its operands
};

struct SweepPlan {
  llvm::SmallVector<PlanStep> steps;
  /// The largest lag: how many steps the first action is ahead of the last.
  int64_t lag = 0;
  llvm::DenseMap<mlir::Operation *, int64_t> lags;
  /// Name of the entry that an op has its lag from; none where no entry needs the op.
  llvm::DenseMap<mlir::Operation *, std::string> causes;
  /// Rings in the order of their waits, and the lag of each.
  llvm::MapVector<mlir::Value, int64_t> rings;
  /// Ops that an entry places: values they carry are the schedule's own choice.
  llvm::DenseSet<mlir::Operation *> named;

  /// The place of `op` in `steps`, and that where its results are there: for a product where it is waited for. -1:
  /// nowhere.
  int64_t placeOf(mlir::Operation *op) const;
  int64_t readyAt(mlir::Operation *op) const;
};

/// Order between ops of a body that is not in operands: each with those that come before it.
using OrderBeside = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 1>>;

/// Whether every value is there before it is used (SweepCheck.cpp). Errors name the entries.
llvm::LogicalResult checkPlan(const SweepBody &body, const SweepPlan &plan, const OrderBeside &after);

/// The plan that `order` asks for. Errors at the sweep or an op of it: unknown or doubled labels, products without an
/// entry or without a wait, a value needed before it is there.
mlir::FailureOr<SweepPlan> planSweep(const SweepBody &body, llvm::ArrayRef<OrderEntry> order);

/// The plan of a sweep that only fills rings, in the order and with the lags that `rings` has for them. Without steps
/// if it does so already.
mlir::FailureOr<SweepPlan> planFills(const SweepBody &body, const llvm::MapVector<mlir::Value, int64_t> &rings);

} // namespace attn

#endif // ATTN_ANALYSIS_SWEEPPLAN_H
