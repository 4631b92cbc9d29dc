//===- choose.c - which kernels, on how many tiles ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step may have several ways, each with what it needs; the last of them
// needs nothing. The choice looks at sizes, strides and addresses only, so it is
// the same on every machine and costs nanoseconds.
//
//===----------------------------------------------------------------------===//

#include "internal.h"

#include <inttypes.h>

//===----------------------------------------------------------------------===//
// Can a tensor map describe it?
//===----------------------------------------------------------------------===//

/// What a tensor map takes: the driver's limits (cuTensorMapEncodeTiled), with
/// the stride of a dimension of size 1 left out, since no address depends on it.
/// (Sizes are below 2^31 by checkDims, boxes are checked when the manifest is read.)
enum { mapAlign = 16 };
static const int64_t mapStrideEnd = (int64_t)1 << 40;

typedef struct obstacle {
  enum { NONE, ADDRESS, EMPTY, STRIDE_ALIGN, STRIDE_RANGE } kind;
  uint32_t dim;
} obstacle;

static obstacle obstacleOf(const attn_tensor *tensor) {
  if ((uintptr_t)tensor->data % mapAlign != 0)
    return (obstacle){ADDRESS, 0};
  int64_t bytes = attn_dtype_bytes(tensor->dtype);
  for (uint32_t d = 0; d < tensor->rank; ++d) {
    int64_t stride = tensor->strides[d];
    if (tensor->sizes[d] == 0)
      return (obstacle){EMPTY, d};
    if (tensor->sizes[d] == 1 || d + 1 == tensor->rank)
      continue;
    if (stride < 0 || stride >= mapStrideEnd / bytes)
      return (obstacle){STRIDE_RANGE, d};
    if (stride * bytes % mapAlign != 0)
      return (obstacle){STRIDE_ALIGN, d};
  }
  return (obstacle){NONE, 0};
}

static attn_status checkMap(const attn_manifest *manifest, const attn_plan *plan, const char *kernel, uint32_t index) {
  const attn_tensor *tensor = &plan->operands[index];
  const char *name = manifest->operands[index].name;
  obstacle found = obstacleOf(tensor);
  attn_dim_label dim = attn_label(manifest, index, found.dim);
  int64_t stride = tensor->strides[found.dim];
  uint32_t bytes = attn_dtype_bytes(tensor->dtype);
  switch (found.kind) {
  case NONE:
    return ATTN_OK;
  case ADDRESS:
    return attn_fail(ATTN_ERROR_ALIGNMENT,
                     "%s: data %p is not aligned to %d bytes, as the tensor map of kernel %s needs", name, tensor->data,
                     mapAlign, kernel);
  case EMPTY:
    return attn_fail(ATTN_ERROR_SHAPE, "%s: is 0; the tensor map of kernel %s needs at least 1", dim.text, kernel);
  case STRIDE_ALIGN:
    return attn_fail(ATTN_ERROR_ALIGNMENT,
                     "%s: has stride %" PRId64
                     " elements of %u bytes; the tensor map of kernel %s needs a multiple of %d bytes",
                     dim.text, stride, bytes, kernel, mapAlign);
  case STRIDE_RANGE:
    break;
  }
  return attn_fail(ATTN_ERROR_STRIDE,
                   "%s: has stride %" PRId64 " elements of %u bytes; the tensor map of kernel %s needs less than 2^40 "
                   "bytes",
                   dim.text, stride, bytes, kernel);
}

attn_status attn_check_maps(const attn_manifest *manifest, const attn_plan *plan) {
  for (uint32_t k = 0; k < plan->num_kernels; ++k) {
    const attn_kernel_code *kernel = plan->kernels[k];
    for (uint32_t a = 0; a < kernel->num_args; ++a)
      if (kernel->args[a].kind == ATTN_ARG_KIND_MAP)
        ATTN_TRY(checkMap(manifest, plan, kernel->name, kernel->args[a].index));
  }
  return ATTN_OK;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

static bool holds(const attn_when *when, const attn_plan *plan) {
  for (uint32_t i = 0; i < ATTN_MAX_OPERANDS && when->aligned >> i; ++i)
    if ((when->aligned >> i & 1) && obstacleOf(&plan->operands[i]).kind != NONE)
      return false;
  for (uint32_t i = 0; i < when->num_bounds; ++i) {
    int64_t value;
    // A number too large to count is above every bound.
    if (!attn_number_eval(&when->bounds[i].size, plan->sizes, &value))
      value = INT64_MAX;
    if (value < when->bounds[i].from || value > when->bounds[i].last)
      return false;
  }
  return true;
}

static attn_status planTiles(const attn_kernel_code *kernel, const attn_plan *plan, int64_t *tiles) {
  if (!attn_number_eval(&kernel->tiles, plan->sizes, tiles) || *tiles > INT32_MAX)
    return attn_fail(ATTN_ERROR_GRID, "kernel %s: these sizes make more than %d tiles, the most a grid can have",
                     kernel->name, INT32_MAX);
  for (uint32_t a = 0; a < kernel->num_args; ++a) {
    int64_t value;
    if (kernel->args[a].kind == ATTN_ARG_KIND_NUMBER &&
        (!attn_number_eval(kernel->args[a].number, plan->sizes, &value) || value > INT32_MAX))
      return attn_fail(ATTN_ERROR_GRID, "kernel %s: argument %u is more than %d for these sizes", kernel->name, a,
                       INT32_MAX);
  }
  if (*tiles == 0)
    return attn_fail(ATTN_ERROR_GRID,
                     "kernel %s: no tiles for these sizes, and the manifest has no \"empty\" rule for it",
                     kernel->name);
  return ATTN_OK;
}

attn_status attn_choose(const attn_manifest *manifest, attn_plan *plan) {
  uint32_t used = 0;
  plan->num_kernels = 0;
  for (uint32_t s = 0; s < manifest->num_steps; ++s) {
    const attn_way *way = &manifest->ways[manifest->steps[s].first];
    const attn_way *last = way + manifest->steps[s].count - 1;
    while (way != last && !holds(&way->when, plan))
      ++way;
    for (uint32_t k = way->first; k < way->first + way->count; ++k) {
      const attn_kernel_code *kernel = &manifest->kernels[k];
      used |= kernel->workspace;
      ATTN_TRY(planTiles(kernel, plan, &plan->tiles[plan->num_kernels]));
      plan->kernels[plan->num_kernels++] = kernel;
    }
  }
  plan->clear = 0;
  for (uint32_t i = 0; i < manifest->num_workspace; ++i) {
    // A restored buffer is cleared whether or not this launch takes it: the next may, and rely on it.
    bool clear = manifest->workspace[i].zero == ATTN_ZERO_KIND_RESTORED
                     ? !(plan->launch.flags & ATTN_LAUNCH_WORKSPACE_KEPT)
                     : manifest->workspace[i].zero == ATTN_ZERO_KIND_BEFORE_FIRST && used >> i & 1;
    if (clear && plan->workspace_size[i] > 0)
      plan->clear |= 1u << i;
  }
  return ATTN_OK;
}
