//===- WgmmaText.h - a product as the text of its instructions ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operand in shared memory is named by a 64-bit descriptor; offsets and addresses count in 16 bytes:
//
//   bit   0        14 16       30 32       46         62  64
//         | address | | leading | | stride  | | 0 ... | 1 |      1 << 62: swizzle of 128 bytes
//
// With that swizzle the smallest unit is 8 rows of 128 bytes, and `stride` (1024 bytes) leads to the next 8 rows.
//
//   K-major (Q, and K read as [n][k])      rows are m or n: a 16-deep step is 32 bytes to the right in a panel, then
//   the
//                                          next panel; `leading` is not used
//   MN-major (V, stored [k][n])            rows are k: a step is 16 rows down; `leading` leads to the next panel, which
//                                          is 64 columns of n
//
// So the high word is a constant, the low word is an address and a constant, and a step adds a constant to it.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CONVERSION_ATTNTONVVM_WGMMATEXT_H
#define ATTN_LIB_CONVERSION_ATTNTONVVM_WGMMATEXT_H

#include "attn/Analysis/Swizzle.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn::nvvm {

/// How a product reads a tile in shared memory. Both kinds of rows are swizzled over 128 bytes.
struct SharedOperand {
  TileLayout layout;
  bool kMajor;

  static constexpr int64_t kSpan = facts::kBankBytes, kRowsOfUnit = 8, kDepth = 16, kUnitBytes = 16;
  static constexpr uint32_t kHighWord = 1u << 30 | kRowsOfUnit * kSpan / kUnitBytes;

  /// What the low word holds besides the address.
  constexpr int64_t lowWord() const { return (kMajor ? 1 : layout.panelBytes() / kUnitBytes) << 16; }
  /// What the low word of step s adds to that of step 0 (16-bit elements).
  constexpr int64_t step(int64_t s) const {
    if (!kMajor)
      return s * kDepth * kSpan / kUnitBytes;
    int64_t perPanel = kSpan / (2 * kDepth);
    return (s / perPanel * layout.panelBytes() + s % perPanel * 2 * kDepth) / kUnitBytes;
  }
};

/// A[64, 16 steps] B[16 steps, n] of a product.
struct WgmmaTerm {
  int64_t steps;
  std::optional<SharedOperand> a; ///< or in registers, four a step
  SharedOperand b;
  /// The name of the low word of A's descriptor, or those of its registers; of the low word of B's.
  std::vector<std::string> aNames = {};
  std::string bName = {};
};

/// One product: D[64, n] (+)= the sum of its terms, D in n / 2 f32 registers of each of 128 threads.
struct WgmmaProduct {
  int64_t n;
  std::string element; ///< "bf16" or "f16"
  bool accumulates;    ///< D is an input too
  std::vector<WgmmaTerm> terms = {};

  /// The instructions, issued as one group. D is $0, $1, ...
  std::string text() const;
};

namespace detail {
constexpr SharedOperand kQ{{64, 256, 128}, true}, kV{{80, 256, 128}, false};
static_assert(SharedOperand::kHighWord == 0x40000040 && kQ.lowWord() == 1 << 16 && kV.lowWord() == 640 << 16);
static_assert(kQ.step(3) == 6 && kQ.step(4) == 512 && kQ.step(5) == 514 && kV.step(4) == 512);
} // namespace detail
} // namespace attn::nvvm

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_WGMMATEXT_H
