//===- SweepOrder.h - the entries of a schedule's order -------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_SWEEPORDER_H
#define ATTN_ANALYSIS_SWEEPORDER_H

#include "attn/Analysis/SweepBody.h"

namespace attn {

/// One entry of `order`: a verb, the label it is about, and how many steps behind it works.
///
///   "PV@1"  Issue PV     "PV.acc"  Issue PV, its accumulator only     "await S"  Await S     "get K"  Get K
///   "take"  Take         "pin P.in"  Pin the A operand of P           "st dS"    Store dS    "put dS" Put dS
struct OrderEntry {
  enum class Verb { Issue, Await, Get, Put, Store, Take, Give, Pin };
  /// Which value of the op: its result, its first operand, what it accumulates onto.
  enum class Part { Result, In, Acc };

  std::string text;  ///< as written
  int64_t place = 0; ///< in the list, from 1
  Verb verb = Verb::Issue;
  std::string label; ///< empty for take and give
  Part part = Part::Result;
  int64_t lag = 0;

  /// As messages name it: order entry 2 ("PV@1").
  std::string name() const;
  /// Does it say where a value of the body is computed?
  bool places() const { return verb != Verb::Await && verb != Verb::Take && verb != Verb::Give; }
};

/// Reads the entries, in their own syntax only: that labels exist is for the sweep to say. Turns are taken and given
/// alternately.
mlir::FailureOr<llvm::SmallVector<OrderEntry>> parseOrder(llvm::ArrayRef<mlir::StringAttr> order,
                                                          llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// The op of the body that an entry is about: the one that bears the label, that computes the operand it names, that
/// waits for, commits or stores. Error at the sweep if there is none, or more than one.
mlir::FailureOr<mlir::Operation *> findTarget(const SweepBody &body, const OrderEntry &entry);

/// An op as messages name it: attn.dot "S", attn.wait "K", arith.mulf.
std::string describe(mlir::Operation *op);

/// The order of a sweep whose schedule has none: every product is issued where it stands and waited for at once.
llvm::SmallVector<mlir::StringAttr> synchronousOrder(SweepOp sweep);

} // namespace attn

#endif // ATTN_ANALYSIS_SWEEPORDER_H
