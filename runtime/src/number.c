//===- number.c - the arithmetic a manifest may ask the host for ----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "internal.h"

bool attn_number_eval(const attn_number *number, const int64_t *sizes, int64_t *out) {
  int64_t product = 1;
  bool zero = false, overflow = false;
  for (uint32_t i = 0; i < number->count; ++i) {
    const attn_factor *factor = &number->factors[i];
    int64_t value = factor->kind == ATTN_FACTOR_INT ? factor->n : sizes[factor->size];
    int64_t by = factor->kind == ATTN_FACTOR_CEIL ? factor->n : 1;
    if (factor->kind == ATTN_FACTOR_CEIL_SIZE)
      by = sizes[factor->by];
    value = by > 0 ? value / by + (value % by != 0) : 0; // parts of size 0: there are none
    zero |= value == 0;
    overflow |= __builtin_mul_overflow(product, value, &product);
  }
  // A product with a 0 in it is 0, however large the rest.
  *out = zero ? 0 : product;
  return zero || !overflow;
}

int64_t attn_largest_divisor(int64_t of, int64_t unit_bytes, int64_t budget) {
  int64_t limit = unit_bytes > 0 ? budget / unit_bytes : of;
  if (of < 1 || limit < 1)
    return 1;
  if (limit >= of)
    return of;
  // Divisors come in pairs (d, of / d), so looking up to the square root is
  // enough: the first d whose partner fits gives the largest of the upper half,
  // and when none does the last d that fits is the largest of the lower half.
  int64_t best = 1;
  for (int64_t d = 1; d <= of / d; ++d) {
    if (of % d != 0)
      continue;
    if (of / d <= limit)
      return of / d;
    if (d <= limit)
      best = d;
  }
  return best;
}
