//===- RingProtocol.h - do roles that share rings understand each other -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_RINGPROTOCOL_H
#define ATTN_ANALYSIS_RINGPROTOCOL_H

#include "attn/Analysis/InFlight.h"

#include <string>

namespace attn {

struct RingCheck {
  llvm::SmallVector<RingProblem> problems;
  /// Why nothing is known of what roles expect of each other: no run came to its end. Empty if one did.
  std::string unchecked;
};

/// What is wrong with a kernel of several roles. Each role is run on a few made-up sizes (Analysis/RoleTrace.h, with
/// the rules inside one role), then all together, waiting for each other as barriers would make them. The rules between
/// roles:
///
///   a ring      is filled by one role only
///   an item     is filled once and read by somebody; the warps that release it are as many as `readers`
///   an exchange (SharedAllocs.h) is filled by all groups of a role, which meet at the wait and nowhere else; a slot is
///               filled again when all are known to be done with it
///   a turn      is taken by the group it was given to
///   nobody      waits forever
RingCheck checkRingProtocol(KernelOp kernel);

} // namespace attn

#endif // ATTN_ANALYSIS_RINGPROTOCOL_H
