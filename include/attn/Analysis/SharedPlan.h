//===- SharedPlan.h - bytes of shared memory a schedule needs ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_SHAREDPLAN_H
#define ATTN_ANALYSIS_SHAREDPLAN_H

#include "attn/Facts/Facts.h"

#include <cstdint>

namespace attn {

/// What decides a forward kernel's footprint. Head dimensions are the padded ones (`paddedHeadDim`).
struct ForwardShape {
  int64_t queries, keys;          ///< tile
  int64_t headDim, valueDim;      ///< D and Dv, padded
  int64_t depthQ, depthK, depthV; ///< slots
  int64_t elementBytes = 2;
};

/// Head dimensions are padded to the k extent of the matrix instruction, on wgmma to a whole panel, a row of which is
/// the widest swizzle span; columns past the true D read as 0.
constexpr int64_t kPanelColumns = facts::kBankBytes / 2;
constexpr int64_t paddedHeadDim(int64_t headDim, bool panels = false) {
  int64_t unit = panels ? kPanelColumns : 16;
  return (headDim + unit - 1) / unit * unit;
}

/// Bytes of shared memory a block needs:
///
///   [ Q slots, later the O tile ][ K slot ... ][ V slot ... ]
///
/// O is staged over Q, which every warp has read by then; where Dv > D the staged tile is the larger one. With
/// `outPieces` it has bytes of its own, those of one of so many pieces.
constexpr int64_t sharedBytes(const ForwardShape &s, int64_t outPieces = 0) {
  int64_t q = s.queries * s.headDim * s.depthQ, o = s.queries * s.valueDim;
  int64_t qAndO = outPieces ? q + o / outPieces : q > o ? q : o;
  return s.elementBytes * (qAndO + s.keys * (s.headDim * s.depthK + s.valueDim * s.depthV));
}

/// Two barriers a slot of a ring, one that says full and one that says empty.
constexpr int64_t kSlotBarrierBytes = 2 * facts::kBarrierBytes;

/// Barriers of `slots` slots, to the end of the block's bytes. Where tiles are `dynamic` the number of the next one
/// travels through a slot more, of 4 bytes.
constexpr int64_t barrierBytes(int64_t slots, bool dynamic) {
  int64_t bytes = kSlotBarrierBytes * (slots + dynamic) + 4 * dynamic;
  return (bytes + facts::kBankBytes - 1) / facts::kBankBytes * facts::kBankBytes;
}

/// The same on wgmma, where threads that copy and threads that compute meet at barriers in shared memory:
///
///   [ Q slots of every group ][ O ][ K slot ... ][ V slot ... ][ next tile ][ barriers ]
///
/// Each group has slots of Q of its own.
constexpr int64_t wgmmaSharedBytes(const ForwardShape &s, int64_t groups, int64_t outPieces, bool dynamic) {
  return sharedBytes(s, outPieces) + barrierBytes(groups * s.depthQ + s.depthK + s.depthV, dynamic);
}

/// Equal pieces, whole panels each, that a tile of `panels` is staged in if there may be `most`.
constexpr int64_t outPieces(int64_t panels, int64_t most) {
  while (panels % most)
    --most;
  return most;
}

/// The fewest pieces of O with which all fits `smem` bytes (0: nobody counts); as many as there are panels if none do.
constexpr int64_t fewestOutPieces(const ForwardShape &s, int64_t groups, bool dynamic, int64_t smem) {
  int64_t panels = s.valueDim / kPanelColumns, pieces = 1;
  for (int64_t most = 1; smem && most <= panels; ++most) {
    pieces = outPieces(panels, most);
    if (wgmmaSharedBytes(s, groups, pieces, dynamic) <= smem)
      break;
  }
  return pieces;
}

/// The same for a backward nest. One side of the tile stays in shared memory, the other one passes by:
///
///   keys on rows      [ K ][ V ][ Q slot ... ][ dO slot ... ]      dK later over K, dV over V
///   queries on rows   [ Q ][ dO ][ K slot ... ][ V slot ... ]      dQ later over Q
///
/// What makes dV alone has no V. What also adds to dQ has slots of dS.
struct BackwardShape {
  int64_t queries, keys;
  int64_t headDim, valueDim;
  int64_t depthQ, depthDo, depthK, depthV;
  bool readsV = true;
  int64_t depthDs = 0;
  int64_t elementBytes = 2;
};

constexpr int64_t backwardSharedBytes(const BackwardShape &s) {
  int64_t k = s.headDim * s.depthK, v = s.readsV ? s.valueDim * s.depthV : 0;
  return s.elementBytes * (s.queries * (s.headDim * s.depthQ + s.valueDim * s.depthDo) + s.keys * (k + v) +
                           s.queries * s.keys * s.depthDs);
}

/// The same on wgmma. With keys on rows a slot of Q also has the tile's L, one of dO its D. What stays has slots for
/// each group. Results that do not lie over such slots are staged in bytes of their own (`own1`, `own2`: their
/// columns).
struct WgmmaBackward {
  BackwardShape shape;
  int64_t groups;
  bool keysOnRows, dynamic;
  int64_t own1 = 0, own2 = 0;
};

/// With results in bytes of their own taken in at most so many pieces. What follows a ring of tiles and vectors, itself
/// swizzled, begins at a multiple of eight rows of panels.
constexpr int64_t wgmmaBackwardSharedBytes(const WgmmaBackward &w, int64_t most) {
  const BackwardShape &s = w.shape;
  constexpr int64_t unit = 8 * facts::kBankBytes;
  int64_t slots = w.keysOnRows ? s.depthQ + s.depthDo + s.depthDs : s.depthK + s.depthV;
  slots += w.groups * (w.keysOnRows ? s.depthK + (s.readsV ? s.depthV : 0) : s.depthQ + s.depthDo);
  int64_t rows = w.keysOnRows ? s.keys : s.queries, own = 0;
  for (int64_t columns : {w.own1, w.own2})
    if (columns)
      own += s.elementBytes * rows * columns /
             outPieces(columns / kPanelColumns, most < columns / kPanelColumns ? most : columns / kPanelColumns);
  int64_t l = w.keysOnRows ? 4 * s.queries * s.depthQ : 0, d = w.keysOnRows && s.readsV ? 4 * s.queries * s.depthDo : 0;
  l = (l + unit - 1) / unit * unit;
  if (own || s.depthDs)
    d = (d + unit - 1) / unit * unit;
  return backwardSharedBytes(s) + l + d + own + barrierBytes(slots, w.dynamic);
}

/// In the fewest pieces with which all fits `smem` bytes, as in the forward.
constexpr int64_t wgmmaBackwardFewest(const WgmmaBackward &w, int64_t smem) {
  int64_t panels = (w.own1 > w.own2 ? w.own1 : w.own2) / kPanelColumns, most = 1;
  while (smem && most < panels && wgmmaBackwardSharedBytes(w, most) > smem)
    ++most;
  return wgmmaBackwardSharedBytes(w, most);
}

static_assert(sharedBytes({128, 64, 128, 128, 1, 2, 2}) == 98304);
static_assert(sharedBytes({128, 64, 64, 64, 1, 2, 2}) == 49152);
static_assert(sharedBytes({64, 32, 256, 256, 1, 2, 2}) == 98304);
static_assert(sharedBytes({128, 64, 64, 256, 1, 2, 2}) == 147456); // O is wider than Q

// Kernels that ran.
static_assert(wgmmaSharedBytes({128, 128, 128, 128, 1, 2, 2}, 2, 1, true) == 196736);
static_assert(wgmmaSharedBytes({192, 80, 128, 128, 1, 2, 2}, 3, 1, true) == 180480);
static_assert(wgmmaSharedBytes({192, 128, 64, 64, 1, 2, 2}, 3, 1, true) == 114944);
static_assert(wgmmaSharedBytes({128, 80, 256, 256, 1, 2, 2}, 2, 0, true) == 229504);
static_assert(wgmmaSharedBytes({128, 64, 256, 256, 1, 2, 2}, 2, 2, true) == 229504);
static_assert(fewestOutPieces({128, 64, 256, 256, 1, 2, 2}, 2, true, 232448) == 2);
static_assert(fewestOutPieces({128, 96, 192, 192, 1, 2, 2}, 2, true, 232448) == 3); // 192 columns are three panels

// Kernels that compiled: all gradients at D = 128 and 64, dK and dV at 128, dK alone at 256.
static_assert(wgmmaBackwardFewest({{64, 128, 128, 128, 2, 2, 1, 1, true, 2}, 2, true, true, 128, 128}, 232448) ==
              231680);
static_assert(wgmmaBackwardFewest({{128, 128, 64, 64, 2, 2, 1, 1, true, 2}, 2, true, true, 64, 64}, 232448) == 198912);
static_assert(wgmmaBackwardFewest({{64, 128, 128, 128, 2, 2, 1, 1}, 2, true, true, 128, 128}, 232448) == 198912);
static_assert(wgmmaBackwardFewest({{32, 128, 256, 256, 2, 2, 1, 1}, 2, true, true}, 232448) == 198144);
static_assert(wgmmaBackwardFewest({{128, 64, 128, 128, 1, 1, 2, 2}, 2, false, true}, 232448) == 131328);
static_assert(backwardSharedBytes({64, 128, 128, 128, 2, 1, 1, 1}) == 114688);
static_assert(backwardSharedBytes({64, 64, 256, 256, 1, 1, 1, 1, /*readsV=*/false}) == 98304);

} // namespace attn

#endif // ATTN_ANALYSIS_SHAREDPLAN_H
