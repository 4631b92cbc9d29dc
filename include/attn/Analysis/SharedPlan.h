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

/// Head dimensions are padded to the k extent of the matrix instruction, columns past the true D read as 0.
constexpr int64_t paddedHeadDim(int64_t headDim) { return (headDim + 15) / 16 * 16; }

/// Bytes of shared memory a block needs:
///
///   [ Q slots, later the O tile ][ K slot ... ][ V slot ... ]
///
/// O is staged over Q, which every warp has read by then; where Dv > D the staged tile is the larger one.
constexpr int64_t sharedBytes(const ForwardShape &s) {
  int64_t q = s.queries * s.headDim * s.depthQ, o = s.queries * s.valueDim;
  return s.elementBytes * ((q > o ? q : o) + s.keys * (s.headDim * s.depthK + s.valueDim * s.depthV));
}

static_assert(sharedBytes({128, 64, 128, 128, 1, 2, 2}) == 98304);
static_assert(sharedBytes({128, 64, 64, 64, 1, 2, 2}) == 49152);
static_assert(sharedBytes({64, 32, 256, 256, 1, 2, 2}) == 98304);
static_assert(sharedBytes({128, 64, 64, 256, 1, 2, 2}) == 147456); // O is wider than Q

} // namespace attn

#endif // ATTN_ANALYSIS_SHAREDPLAN_H
