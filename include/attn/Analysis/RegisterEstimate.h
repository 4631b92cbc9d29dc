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

#include "attn/Facts/Facts.h"

#include <cstdint>

namespace attn {

// `gathers`: a region reads a captured value that is another one for every score, and a thread has a register for each
// of its scores more. The assembler starts as many of these loads as it has registers for before the first is used.
// All other values of regions are computed where they are used.

/// Registers a thread needs in a forward kernel built on mma.sync: its part of the O and S accumulators (P takes over
/// S's registers) and 40 for addresses, row state and the operands of one k step.
constexpr int64_t mmaSyncForwardRegs(int64_t queries, int64_t keys, int64_t valueDim, int64_t threads,
                                     bool gathers = false) {
  return (queries * (valueDim + keys) + threads - 1) / threads + 40 + (gathers ? queries * keys / threads : 0);
}

/// Registers a thread may have if an SM is to hold `blocks` blocks.
constexpr int64_t regsAvailable(int64_t regsPerSM, int64_t threads, int64_t blocks, int64_t maxPerThread) {
  int64_t share = regsPerSM / (threads * blocks) / facts::kRegisterStep * facts::kRegisterStep;
  return share < maxPerThread ? share : maxPerThread;
}

/// Registers a computing thread needs in a forward kernel built on wgmma, where a group holds 64 rows: its parts of O,
/// S and P, and 28 for addresses and row state. Why 28: at 28 the points below that compiled without spills fit, and
/// the first ones that spilled do not.
/// Gathers of two tiles at once (`overlap`) take 24 more, for the numbers that their addresses are made of.
constexpr int64_t wgmmaForwardRegs(int64_t keys, int64_t valueDim, bool gathers = false, bool overlap = false) {
  return valueDim / 2 + keys / 2 + keys / 4 + 28 + (gathers ? keys / 2 + (overlap ? 24 : 0) : 0);
}

/// What a thread of a backward nest holds, over a tile of rows (of the side that stays) and columns.
struct BackwardTile {
  int64_t rows, columns;
  int64_t accumulators; ///< columns of all gradients that the nest sums up
  bool both;            ///< S and dP; else S alone (dV)
  bool scored = false;  ///< a score region: its derivative reads the score again
  bool gathers = false;
  int64_t addedColumns = 0; ///< of what a thread's rows add to dQ, if they do
  int64_t heldSteps = 0;    ///< k steps of an operand that stays in registers

  /// Tiles of scores that are alive at once: S and dP, or S and P on its way to 16 bits.
  constexpr int64_t scoreColumns() const {
    return columns * (1 + both + (scored && both) + gathers) + (both ? 0 : columns / 2);
  }
};

/// Registers a thread needs in a backward nest, by the reckoning of the forward: dS takes over dP's, P S's.
constexpr int64_t mmaSyncBackwardRegs(const BackwardTile &t, int64_t threads) {
  return (t.rows * (t.accumulators + t.scoreColumns()) + threads - 1) / threads + 40;
}
/// Later in a step a part of dQ takes the place of S and dP, which are packed by then. A group has 64 rows; of dQ it
/// has all of the tile's.
constexpr int64_t wgmmaBackwardRegs(const BackwardTile &t) {
  int64_t scores = t.scoreColumns() / 2;
  int64_t added = t.addedColumns ? t.columns * t.addedColumns / 128 + t.columns / 2 : 0;
  return t.accumulators / 2 + (scores > added ? scores : added) + 4 * t.heldSteps + 28;
}

/// Threads of a block of warpgroups: one that copies, `groups` that compute.
constexpr int64_t wgmmaThreads(int64_t groups) { return facts::kGroupWarps * facts::kWarpLanes * (groups + 1); }

/// Registers each thread of a block starts with if the block has the SM to itself, before setmaxnreg moves some from
/// the threads that copy to those that compute. A thread that names 255 has 256.
constexpr int64_t launchRegs(int64_t regsPerSM, int64_t threads) {
  return regsAvailable(regsPerSM, threads, /*blocks=*/1, facts::kMaxRegsPerThread + 1);
}

/// What a launch allots to all threads of such a block together. Who asks for more than is left waits forever.
constexpr int64_t registerPool(int64_t regsPerSM, int64_t threads) { return threads * launchRegs(regsPerSM, threads); }

/// Whether what the warpgroups of a schedule ask for is there.
constexpr bool poolHolds(int64_t regsPerSM, int64_t groups, int64_t producer, int64_t consumer) {
  return wgmmaThreads(0) * (producer + groups * consumer) <= registerPool(regsPerSM, wgmmaThreads(groups));
}

static_assert(mmaSyncForwardRegs(128, 64, 128, 128) == 232);
static_assert(mmaSyncForwardRegs(128, 64, 64, 128) == 168);
static_assert(mmaSyncForwardRegs(128, 64, 256, 256) == 200);
static_assert(regsAvailable(65536, 128, 2, 255) == 255);
static_assert(regsAvailable(65536, 256, 2, 255) == 128);

// Compiled without spills: 192x80 and 128x192 at D = 128, 192x128 at D = 64. Spilled: 192x96 at D = 128, by 48 bytes.
static_assert(wgmmaForwardRegs(80, 128) == 152 && wgmmaForwardRegs(128, 64) == 156);   // of 160
static_assert(wgmmaForwardRegs(96, 128) == 164);                                       // of 160
static_assert(wgmmaForwardRegs(128, 128) == 188 && wgmmaForwardRegs(192, 128) == 236); // of 240
// With a bias for every query and key: 128x112 at D = 64 and 128 compiled without spills. Spilled: 128x128 at D = 64
// and 128 4 to 16 bytes (some of biases, masks and overlaps), 192x112 at D = 64 and 192x80 at D = 128 100 to 250. The
// same on mma.sync: 128x64 at D = 128, 120 bytes.
static_assert(wgmmaForwardRegs(112, 64, true) == 200 && wgmmaForwardRegs(112, 128, true) == 232);       // of 240 or 160
static_assert(wgmmaForwardRegs(128, 64, true, true) == 244 && wgmmaForwardRegs(128, 128, true) == 252); // of 240
static_assert(wgmmaForwardRegs(80, 128, true) == 192);                                                  // of 160
static_assert(mmaSyncForwardRegs(128, 64, 128, 128, true) == 296);                                      // of 255
static_assert(launchRegs(65536, 384) == 168 && launchRegs(65536, 512) == 128 && launchRegs(65536, 128) == 256);
static_assert(registerPool(65536, 384) == 64512);
static_assert(poolHolds(65536, 2, 24, 240) && poolHolds(65536, 3, 32, 160));
static_assert(!poolHolds(65536, 2, 32, 240) && !poolHolds(65536, 3, 40, 160));

// dK and dV at D = 128 from 64 queries at a time, and dV alone at D = 256.
static_assert(wgmmaBackwardRegs({64, 64, 256, true}) == 220 && wgmmaBackwardRegs({64, 64, 256, false}) == 204);
// The same that also adds to dQ and holds four steps of V.
static_assert(wgmmaBackwardRegs({64, 64, 256, true, false, false, 64, 4}) == 236);
static_assert(mmaSyncBackwardRegs({128, 64, 256, true}, 256) == 232);

} // namespace attn

#endif // ATTN_ANALYSIS_REGISTERESTIMATE_H
