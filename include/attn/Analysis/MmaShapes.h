//===- MmaShapes.h - which matrix products an instruction can do ----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_MMASHAPES_H
#define ATTN_ANALYSIS_MMASHAPES_H

#include "attn/Facts/Facts.h"

#include <cstdint>
#include <optional>

namespace attn {

/// How many instructions a warp issues for its part of a dot: `rowAtoms` x `colGroups` x `steps` of them, each group
/// `multipleN` columns.
struct MmaGrid {
  int64_t rowAtoms, colGroups, steps;
};

/// The grid of an m x n x k dot on warpsM x warpsN warps, or nothing if the instruction does not divide it. The one
/// check: who spreads tiles and who emits instructions both ask here.
constexpr std::optional<MmaGrid> mmaGrid(const facts::MmaShape &shape, int64_t m, int64_t n, int64_t k, int64_t warpsM,
                                         int64_t warpsN = 1) {
  // wgmma is issued by a group of warps together, an equal part of its rows each.
  int64_t together = shape.family == facts::Family::Wgmma ? facts::kGroupWarps : 1, rows = shape.m / together * warpsM;
  if (warpsM % together || m % rows || n % (shape.multipleN * warpsN) || k % shape.k)
    return std::nullopt;
  return MmaGrid{m / rows, n / (shape.multipleN * warpsN), k / shape.k};
}

} // namespace attn

#endif // ATTN_ANALYSIS_MMASHAPES_H
