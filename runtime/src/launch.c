//===- launch.c - the entry points that start something -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "internal.h"

#include <string.h>

/// Of a dense buffer, all but the last; 0 where a dimension is 0 or 1, as for operands. Returns how many.
static uint32_t fillStrides(const attn_workspace *buffer, const int64_t *dims, attn_param *to) {
  int64_t stride = 1; // fits: planWorkspace counted the bytes
  for (uint32_t d = buffer->rank; d-- > 0; stride *= dims[d])
    if (d + 1 < buffer->rank)
      to[d].i64 = dims[d] > 1 ? stride : 0;
  return buffer->rank > 0 ? buffer->rank - 1 : 0;
}

void attn_params_fill(const attn_manifest *manifest, const attn_kernel_code *kernel, const attn_plan *plan,
                      attn_params *params) {
  uint32_t n = 0, maps = 0;
  for (uint32_t i = 0; i < kernel->num_params; ++i)
    params->pointers[i] = &params->values[i];
  for (uint32_t a = 0; a < kernel->num_args; ++a) {
    const attn_arg arg = kernel->args[a];
    const attn_tensor *tensor = &plan->operands[arg.index];
    switch (arg.kind) {
    case ATTN_ARG_KIND_PTR:
      params->values[n++].pointer = tensor->data;
      break;
    case ATTN_ARG_KIND_WORKSPACE_PTR:
      params->values[n++].pointer = (char *)plan->launch.workspace + plan->workspace_offset[arg.index];
      break;
    case ATTN_ARG_KIND_STRIDES:
      for (uint32_t d = 0; d + 1 < tensor->rank; ++d)
        params->values[n++].i64 = tensor->strides[d];
      break;
    case ATTN_ARG_KIND_SIZES:
      for (uint32_t d = 0; d < tensor->rank; ++d)
        params->values[n++].i32 = (int32_t)tensor->sizes[d];
      break;
    case ATTN_ARG_KIND_WORKSPACE_STRIDES:
      n += fillStrides(&manifest->workspace[arg.index], plan->workspace_dims[arg.index], &params->values[n]);
      break;
    case ATTN_ARG_KIND_WORKSPACE_SIZES:
      for (uint32_t d = 0; d < manifest->workspace[arg.index].rank; ++d)
        params->values[n++].i32 = (int32_t)plan->workspace_dims[arg.index][d];
      break;
    case ATTN_ARG_KIND_SCALAR:
      memcpy(&params->values[n++].bits, tensor->data, sizeof(uint32_t));
      break;
    case ATTN_ARG_KIND_NUMBER: {
      int64_t value = 0; // attn_check saw that it fits
      attn_number_eval(arg.number, plan->sizes, &value);
      params->values[n++].i32 = (int32_t)value;
      break;
    }
    case ATTN_ARG_KIND_VALUE:
      params->values[n++].i32 = plan->values[arg.index];
      break;
    case ATTN_ARG_KIND_MAP:
      params->pointers[n++] = params->maps[maps++];
      break;
    }
  }
}

static attn_status nullKernel(void) { return attn_fail(ATTN_ERROR_ARGUMENT, "kernel: is null"); }

attn_status attn_kernel_launch(attn_kernel *kernel, const attn_launch *launch) {
  attn_clear_error();
  if (!kernel)
    return nullKernel();
  attn_plan plan;
  ATTN_TRY(attn_check(&kernel->manifest, launch, /*shapes_only=*/false, &plan));
  if (plan.empty && plan.empty->num_fills == 0)
    return ATTN_OK;
  return kernel->manifest.cpu ? attn_launch_cpu(&kernel->manifest, &plan) : attn_launch_gpu(kernel, &plan);
}

attn_status attn_kernel_check(const attn_kernel *kernel, const attn_launch *launch) {
  attn_clear_error();
  if (!kernel)
    return nullKernel();
  attn_plan plan;
  return attn_check(&kernel->manifest, launch, /*shapes_only=*/false, &plan);
}

attn_status attn_kernel_chosen(const attn_kernel *kernel, const attn_launch *launch, uint32_t step, const char **name) {
  attn_clear_error();
  if (!kernel)
    return nullKernel();
  if (!name)
    return attn_fail(ATTN_ERROR_ARGUMENT, "name: is null");
  *name = NULL;
  attn_plan plan;
  ATTN_TRY(attn_check(&kernel->manifest, launch, /*shapes_only=*/false, &plan));
  if (!plan.empty && step < plan.num_kernels)
    *name = plan.kernels[step]->name;
  return ATTN_OK;
}

attn_status attn_kernel_workspace_bytes(const attn_kernel *kernel, const attn_launch *launch, uint64_t *bytes) {
  attn_clear_error();
  if (!kernel)
    return nullKernel();
  if (!bytes)
    return attn_fail(ATTN_ERROR_ARGUMENT, "bytes: is null");
  attn_plan plan;
  ATTN_TRY(attn_check(&kernel->manifest, launch, /*shapes_only=*/true, &plan));
  *bytes = plan.workspace_bytes;
  return ATTN_OK;
}

attn_status attn_kernel_prepare(attn_kernel *kernel) {
  attn_clear_error();
  if (!kernel)
    return nullKernel();
  return kernel->manifest.cpu ? ATTN_OK : attn_prepare_gpu(kernel);
}
