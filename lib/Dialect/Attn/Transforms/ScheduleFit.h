//===- ScheduleFit.h - whether a machine can run a schedule ---------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_SCHEDULEFIT_H
#define ATTN_TRANSFORMS_SCHEDULEFIT_H

#include "attn/Dialect/Attn/IR/Attn.h"

#include <optional>
#include <string>

namespace attn {

/// What of an op decides whether a schedule fits.
struct OpSizes {
  int64_t d, dv;        ///< head dimensions, as written
  bool gathers = false; ///< a region reads a captured value that is another one for every score
  bool backward = false;
  bool scored = false; ///< a score region
  static OpSizes of(AttentionOp op);
  int64_t largestDim() const { return d > dv ? d : dv; }
};

/// Bytes of shared memory a block of the schedule's kernel uses; 0 on the CPU.
int64_t getSharedBytes(ScheduleAttr schedule, OpSizes sizes, TargetAttr target);

/// Why `schedule` cannot run on `target`, or nothing if it can. Reads "tile [..] ...".
std::optional<std::string> whyNot(ScheduleAttr schedule, OpSizes sizes, TargetAttr target);

/// The same for all nests of an op: one forward; backward those that make dQ, dK and dV, each once.
std::optional<std::string> whyNot(llvm::ArrayRef<ScheduleAttr> schedules, OpSizes sizes, TargetAttr target);

} // namespace attn

#endif // ATTN_TRANSFORMS_SCHEDULEFIT_H
