//===- SharedPlan.h - bytes of shared memory a schedule needs ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_SHAREDPLAN_H
#define ATTN_ANALYSIS_SHAREDPLAN_H

#include <cstdint>

namespace attn {

/// What decides a forward kernel's footprint. Head dimensions are the padded ones (`paddedHeadDim`).
struct ForwardShape {
  int64_t queries, keys;          ///< tile
  int64_t headDim, valueDim;      ///< D and Dv, padded
  int64_t depthQ, depthK, depthV; ///< slots
  int64_t elementBytes = 2;
};

/// Head dimensions are padded to the k extent of the matrix instruction, on wgmma to a whole panel of 128 bytes;
/// columns past the true D read as 0.
constexpr int64_t kPanelColumns = 64;
constexpr int64_t paddedHeadDim(int64_t headDim, bool panels = false) {
  int64_t unit = panels ? kPanelColumns : 16;
  return (headDim + unit - 1) / unit * unit;
}

/// Bytes of shared memory a block needs:
///
///   [ Q slots, later the O tile ][ K slot ... ][ V slot ... ]
///
/// O is staged over Q, which every warp has read by then; where Dv > D the staged tile is the larger one. With `ownOut`
/// it has bytes of its own.
constexpr int64_t sharedBytes(const ForwardShape &s, bool ownOut = false) {
  int64_t q = s.queries * s.headDim * s.depthQ, o = s.queries * s.valueDim;
  int64_t qAndO = ownOut ? q + o : q > o ? q : o;
  return s.elementBytes * (qAndO + s.keys * (s.headDim * s.depthK + s.valueDim * s.depthV));
}

/// The same on wgmma, where threads that copy and threads that compute meet at barriers in shared memory:
///
///   [ Q slots of every group ][ O ][ K slot ... ][ V slot ... ][ next tile ][ barriers ]
///
/// A slot has two barriers of 8 bytes, full and empty. Each group has slots of Q of its own, and where tiles are
/// `dynamic` the number of the next one travels through a slot of 4 bytes.
constexpr int64_t wgmmaSharedBytes(const ForwardShape &s, int64_t groups, bool ownOut, bool dynamic) {
  int64_t slots = groups * s.depthQ + s.depthK + s.depthV + dynamic;
  return sharedBytes(s, ownOut) + (16 * slots + 4 * dynamic + 127) / 128 * 128;
}

static_assert(sharedBytes({128, 64, 128, 128, 1, 2, 2}) == 98304);
static_assert(sharedBytes({128, 64, 64, 64, 1, 2, 2}) == 49152);
static_assert(sharedBytes({64, 32, 256, 256, 1, 2, 2}) == 98304);
static_assert(sharedBytes({128, 64, 64, 256, 1, 2, 2}) == 147456); // O is wider than Q

// Kernels that ran.
static_assert(wgmmaSharedBytes({128, 128, 128, 128, 1, 2, 2}, 2, true, true) == 196736);
static_assert(wgmmaSharedBytes({192, 80, 128, 128, 1, 2, 2}, 3, true, true) == 180480);
static_assert(wgmmaSharedBytes({192, 128, 64, 64, 1, 2, 2}, 3, true, true) == 114944);
static_assert(wgmmaSharedBytes({128, 80, 256, 256, 1, 2, 2}, 2, false, true) == 229504);

} // namespace attn

#endif // ATTN_ANALYSIS_SHAREDPLAN_H
