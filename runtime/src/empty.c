//===- empty.c - outputs of a launch that has nothing to compute ----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "internal.h"

#include <math.h>
#include <string.h>

/// Rounds to nearest even into a format with `exponent` and `mantissa` bits.
/// Fills are 0, infinities and small integers, all exact: no subnormals needed.
static uint32_t floatBits(float value, int exponent, int mantissa) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  uint32_t sign = bits >> 31 << (exponent + mantissa), top = (1u << exponent) - 1;
  if (isnan(value))
    return sign | top << mantissa | 1u << (mantissa - 1);
  int shift = 23 - mantissa, bias = (1 << (exponent - 1)) - 1;
  bits &= 0x7fffffff;
  bits += ((1u << shift) >> 1) - !((bits >> shift) & 1);
  int power = (int)(bits >> 23) - 127 + bias;
  if (isinf(value) || power >= (int)top)
    return sign | top << mantissa;
  if (value == 0 || power <= 0)
    return sign;
  return sign | (uint32_t)power << mantissa | (bits >> shift & ((1u << mantissa) - 1));
}

uint32_t attn_fill_bits(uint32_t dtype, double value) {
  switch (dtype) {
  case ATTN_F16:
    return floatBits((float)value, 5, 10);
  case ATTN_BF16:
    return floatBits((float)value, 8, 7);
  case ATTN_F32: {
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return bits;
  }
  default:
    return value >= INT32_MIN && value <= INT32_MAX ? (uint32_t)(int32_t)value : 0;
  }
}

/// Fills one output. Dimensions that continue each other in memory are joined,
///
///     sizes (2, 8, 100, 64), strides (102400, 6400, 64, 1)  ->  102400 in a row
///     the same, BSHD: strides (51200, 64, 512, 1)           ->  2 x 100 x 512
///
/// then the innermost is the width of a row, the next the rows of a block, and
/// what is left is walked.
static attn_status fillOne(const attn_tensor *tensor, double value, attn_fill_rows fill, void *state) {
  int64_t sizes[ATTN_MAX_RANK], strides[ATTN_MAX_RANK], at[ATTN_MAX_RANK] = {0};
  uint32_t count = 0; // by falling stride, dimensions of size 1 left out
  for (uint32_t d = 0; d < tensor->rank; ++d) {
    if (tensor->sizes[d] <= 1)
      continue;
    uint32_t to = count++;
    for (; to > 0 && strides[to - 1] < tensor->strides[d]; --to) {
      sizes[to] = sizes[to - 1];
      strides[to] = strides[to - 1];
    }
    sizes[to] = tensor->sizes[d];
    strides[to] = tensor->strides[d];
  }
  uint32_t kept = 0;
  for (uint32_t d = 0; d < count; ++d) {
    if (kept > 0 && strides[kept - 1] == sizes[d] * strides[d]) {
      sizes[kept - 1] *= sizes[d];
      strides[kept - 1] = strides[d];
      continue;
    }
    sizes[kept] = sizes[d];
    strides[kept++] = strides[d];
  }
  uint32_t bytes = attn_dtype_bytes(tensor->dtype), bits = attn_fill_bits(tensor->dtype, value);
  int64_t width = 1, rows = 1, pitch = bytes;
  if (kept > 0 && strides[kept - 1] == 1)
    width = sizes[--kept];
  if (kept > 0) {
    rows = sizes[--kept];
    pitch = strides[kept] * bytes;
  }
  for (;;) {
    int64_t offset = 0;
    for (uint32_t d = 0; d < kept; ++d)
      offset += at[d] * strides[d];
    ATTN_TRY(fill(state, (char *)tensor->data + offset * bytes, pitch, bytes, bits, width, rows));
    uint32_t d = kept;
    while (d > 0 && ++at[d - 1] == sizes[d - 1])
      at[--d] = 0;
    if (d == 0)
      return ATTN_OK;
  }
}

attn_status attn_empty_apply(const attn_plan *plan, attn_fill_rows fill, void *state) {
  for (uint32_t i = 0; i < plan->empty->num_fills; ++i) {
    const attn_tensor *tensor = &plan->operands[plan->empty->fills[i].operand];
    if (attn_tensor_elements(tensor) > 0)
      ATTN_TRY(fillOne(tensor, plan->empty->fills[i].value, fill, state));
  }
  return ATTN_OK;
}
