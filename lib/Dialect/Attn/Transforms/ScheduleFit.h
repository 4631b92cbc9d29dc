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

/// The head dimensions of an op, as written.
struct HeadDims {
  int64_t d, dv;
  static HeadDims of(SdpaOp op);
  int64_t largest() const { return d > dv ? d : dv; }
};

/// Bytes of shared memory a block of the schedule's kernel uses; 0 on the CPU.
int64_t getSharedBytes(ScheduleAttr schedule, HeadDims dims, TargetAttr target);

/// Why `schedule` cannot run on `target`, or nothing if it can. Reads "tile [..] ...".
std::optional<std::string> whyNot(ScheduleAttr schedule, HeadDims dims, TargetAttr target);

} // namespace attn

#endif // ATTN_TRANSFORMS_SCHEDULEFIT_H
