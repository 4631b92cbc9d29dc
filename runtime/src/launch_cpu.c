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
  for (uint32_t s = 0; s < manifest->num_steps; ++s) {
    attn_params params;
    attn_params_fill(plan->kernels[s], plan, &params);
    attn_pool_run(plan->kernels[s]->entry, params.pointers, plan->tiles[s]);
  }
  return ATTN_OK;
}
