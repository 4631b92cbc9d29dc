//===- launch_cpu.c - a launch on the CPU ---------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "internal.h"

#include <string.h>

static attn_status fillRows(void *state, void *to, int64_t pitch, uint32_t bytes, uint32_t bits, int64_t width,
                            int64_t rows) {
  (void)state;
  for (int64_t r = 0; r < rows; ++r) {
    char *row = (char *)to + r * pitch;
    for (int64_t i = 0; i < width; ++i)
      memcpy(row + i * bytes, &bits, bytes); // little endian: the low bytes come first
  }
  return ATTN_OK;
}

attn_status attn_launch_cpu(const attn_manifest *manifest, const attn_plan *plan) {
  if (plan->empty)
    return attn_empty_apply(plan, fillRows, NULL);
  for (uint32_t i = 0; i < manifest->num_workspace; ++i)
    if (plan->clear >> i & 1)
      memset((char *)plan->launch.workspace + plan->workspace_offset[i], 0, (size_t)plan->workspace_size[i]);
  // A kernel may read what the one before has written: each begins when all tiles of that are done.
  for (uint32_t k = 0; k < plan->num_kernels; ++k) {
    attn_params params;
    attn_params_fill(manifest, plan->kernels[k], plan, &params);
    attn_pool_run(plan->kernels[k]->entry, params.pointers, plan->tiles[k]);
  }
  return ATTN_OK;
}
