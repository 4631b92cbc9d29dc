//===- Alternatives.h - one function for each schedule that calls may need -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel cannot see when it is compiled (lengths, addresses, strides) may ask for another schedule. Then the
// function gets alternatives, copies of it with schedules of their own:
//
//   @f             wgmma      when operands are aligned and q_len >= 1536
//   @f_below_1536  wgmma      when operands are aligned and q_len < 1536
//   @f_unaligned   mma_sync   else
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_ALTERNATIVES_H
#define ATTN_TRANSFORMS_ALTERNATIVES_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Facts/Facts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {

/// The schedules of the nests (one, backward several), the machine they are for, and the query lengths they are for.
struct Choice {
  llvm::SmallVector<ScheduleAttr> schedules;
  TargetAttr target;
  facts::LengthRange queries;
  bool unaligned = false; ///< the last resort, for operands that no tensor map can describe
};

/// The schedules that `op` has: none, or one for each nest.
llvm::SmallVector<ScheduleAttr> getSchedules(AttentionOp op);

/// Gives the op the schedules of `choice`, with a remark for each that says so.
void applyChoice(AttentionOp op, const Choice &choice);

/// The first choice is the function's own, each other one a copy's behind it. `attn.when` says which calls each is for;
/// the last one takes what is left. `op` is the only one of `func`.
void applyChoices(AttentionOp op, mlir::func::FuncOp func, llvm::ArrayRef<Choice> choices);

} // namespace attn

#endif // ATTN_TRANSFORMS_ALTERNATIVES_H
