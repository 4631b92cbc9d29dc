//===- Panels.cpp - the inner loop of Reference ----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Panels.h"

// A copy for each width of vectors; the loader takes the widest one the machine has. Without fused multiply-adds
// (-ffp-contract=off) all give the same bits.
#if defined(__x86_64__) && defined(__ELF__)
#define WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST_VECTORS
#endif

namespace attn {
namespace reference {
namespace {

template <typename T>
inline __attribute__((always_inline)) void multiply(const T *a, int64_t lda, const T *panel, int64_t depth, T *c,
                                                    int64_t ldc, int64_t used) {
  T sum[panelRows][panelWidth];
  for (int r = 0; r < panelRows; ++r)
    for (int64_t i = 0; i < panelWidth; ++i)
      sum[r][i] = i < used ? c[r * ldc + i] : T(0);
  for (int64_t d = 0; d < depth; ++d)
    for (int r = 0; r < panelRows; ++r)
      for (int64_t i = 0; i < panelWidth; ++i)
        sum[r][i] += a[r * lda + d] * panel[d * panelWidth + i];
  for (int r = 0; r < panelRows; ++r)
    for (int64_t i = 0; i < used; ++i)
      c[r * ldc + i] = sum[r][i];
}

} // namespace

WIDEST_VECTORS void multiplyPanel(const double *a, int64_t lda, const double *panel, int64_t depth, double *c,
                                  int64_t ldc, int64_t used) {
  multiply(a, lda, panel, depth, c, ldc, used);
}

WIDEST_VECTORS void multiplyPanel(const float *a, int64_t lda, const float *panel, int64_t depth, float *c, int64_t ldc,
                                  int64_t used) {
  multiply(a, lda, panel, depth, c, ldc, used);
}

} // namespace reference
} // namespace attn
