//===- MmaShapes.h - which matrix products an instruction can do ----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_MMASHAPES_H
#define ATTN_ANALYSIS_MMASHAPES_H

#include <cstdint>
#include <optional>

namespace attn {

/// One row of what a family can multiply: 16-bit operands, f32 accumulation. A dot is a grid of these.
struct MmaShape {
  int64_t m, n, k;   ///< of one instruction
  int64_t multipleN; ///< the columns of a dot come in multiples of this (two column atoms share one ldmatrix.x4)
};

/// mma.sync of sm_80 and later.
constexpr MmaShape kMmaSync{16, 8, 16, 16};

/// How many instructions a warp issues for its part of a dot, or nothing if the shape does not divide it.
struct MmaGrid {
  int64_t rowAtoms, colPairs, steps;
};
constexpr std::optional<MmaGrid> mmaGrid(const MmaShape &shape, int64_t m, int64_t n, int64_t k, int64_t warpsM) {
  if (m % (shape.m * warpsM) || n % shape.multipleN || k % shape.k)
    return std::nullopt;
  return MmaGrid{m / (shape.m * warpsM), n / shape.multipleN, k / shape.k};
}

static_assert(mmaGrid(kMmaSync, 128, 64, 128, 4)->colPairs == 4 && !mmaGrid(kMmaSync, 128, 40, 64, 4));

} // namespace attn

#endif // ATTN_ANALYSIS_MMASHAPES_H
