//===- RegisterEstimate.h - registers a schedule needs -------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A filter before code generation: it separates what compiled without spills from what did not. The assembler decides.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_REGISTERESTIMATE_H
#define ATTN_ANALYSIS_REGISTERESTIMATE_H

#include <cstdint>

namespace attn {

/// Registers a thread needs in a forward kernel built on mma.sync: its part of the O and S accumulators (P takes over
/// S's registers) and 40 for addresses, row state and the operands of one k step.
constexpr int64_t mmaSyncForwardRegs(int64_t queries, int64_t keys, int64_t valueDim, int64_t threads) {
  return (queries * (valueDim + keys) + threads - 1) / threads + 40;
}

/// Registers a thread may have if an SM is to hold `blocks` blocks: the allocator hands them out in eights.
constexpr int64_t regsAvailable(int64_t regsPerSM, int64_t threads, int64_t blocks, int64_t maxPerThread) {
  int64_t share = regsPerSM / (threads * blocks) / 8 * 8;
  return share < maxPerThread ? share : maxPerThread;
}

static_assert(mmaSyncForwardRegs(128, 64, 128, 128) == 232);
static_assert(mmaSyncForwardRegs(128, 64, 64, 128) == 168);
static_assert(mmaSyncForwardRegs(128, 64, 256, 256) == 200);
static_assert(regsAvailable(65536, 128, 2, 255) == 255);
static_assert(regsAvailable(65536, 256, 2, 255) == 128);

} // namespace attn

#endif // ATTN_ANALYSIS_REGISTERESTIMATE_H
