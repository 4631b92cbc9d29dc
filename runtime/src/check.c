//===- check.c - is this launch what the manifest describes? --------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first rule that is broken speaks, in this order: structs, rank and type,
// dimensions, rules between sizes, the kernels and their grids (choose.c),
// pointers and strides, overlap, workspace. Nothing here touches the driver or the tensors' data.
//
//===----------------------------------------------------------------------===//

#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

attn_dim_label attn_label(const attn_manifest *manifest, uint32_t index, uint32_t dim) {
  const attn_operand *operand = &manifest->operands[index];
  int32_t size = operand->size_of[dim];
  attn_dim_label out;
  snprintf(out.text, sizeof(out.text), size < 0 ? "%.64s dimension %u" : "%.64s dimension %u (%.64s)", operand->name,
           dim, size < 0 ? "" : manifest->sizes[size].name);
  return out;
}

int64_t attn_tensor_elements(const attn_tensor *tensor) {
  int64_t count = 1;
  bool zero = false;
  for (uint32_t d = 0; d < tensor->rank; ++d) {
    zero |= tensor->sizes[d] == 0;
    // Saturates: only asked for tensors whose extent was checked, or for "any?".
    if (__builtin_mul_overflow(count, tensor->sizes[d], &count))
      count = INT64_MAX;
  }
  return zero ? 0 : count;
}

static attn_status checkHead(const attn_operand *operand, const attn_tensor *given, attn_tensor *tensor) {
  if (!given)
    return attn_fail(ATTN_ERROR_MISSING, "%s: no tensor given", operand->name);
  ATTN_TRY(attn_copy_sized(tensor, sizeof(*tensor), given, "tensor ", operand->name));
  if (tensor->rank != operand->rank)
    return attn_fail(ATTN_ERROR_RANK, "%s: has %u dimensions, expected %u", operand->name, tensor->rank, operand->rank);
  if (tensor->dtype != operand->dtype) {
    if (!attn_dtype_bytes(tensor->dtype))
      return attn_fail(ATTN_ERROR_DTYPE, "%s: dtype %u is no attn_dtype, expected %s", operand->name, tensor->dtype,
                       attn_dtype_name(operand->dtype));
    return attn_fail(ATTN_ERROR_DTYPE, "%s: is %s, expected %s", operand->name, attn_dtype_name(tensor->dtype),
                     attn_dtype_name(operand->dtype));
  }
  return ATTN_OK;
}

static attn_status checkDims(const attn_manifest *manifest, attn_plan *plan) {
  for (uint32_t i = 0; i < manifest->num_operands; ++i) {
    const attn_operand *operand = &manifest->operands[i];
    attn_tensor *tensor = &plan->operands[i];
    for (uint32_t d = 0; d < tensor->rank; ++d) {
      int64_t got = tensor->sizes[d];
      // Kernels take sizes as 32-bit numbers.
      if (got < 0 || got > INT32_MAX)
        return attn_fail(ATTN_ERROR_SHAPE, "%s: is %" PRId64 ", expected 0 to %d", attn_label(manifest, i, d).text, got,
                         INT32_MAX);
      if (operand->fixed[d] >= 0 && got != operand->fixed[d])
        return attn_fail(ATTN_ERROR_SHAPE, "%s: is %" PRId64 ", expected %" PRId64, attn_label(manifest, i, d).text,
                         got, operand->fixed[d]);
      if (got <= 1)
        tensor->strides[d] = 0;
    }
  }
  for (uint32_t s = 0; s < manifest->num_sizes; ++s) {
    const attn_size *size = &manifest->sizes[s];
    plan->sizes[s] = plan->operands[size->operand].sizes[size->dim];
  }
  for (uint32_t i = 0; i < manifest->num_operands; ++i) {
    const attn_operand *operand = &manifest->operands[i];
    for (uint32_t d = 0; d < operand->rank; ++d) {
      int32_t s = operand->size_of[d];
      int64_t got = plan->operands[i].sizes[d];
      if (s >= 0 && got != plan->sizes[s])
        return attn_fail(ATTN_ERROR_SHAPE, "%s: is %" PRId64 ", expected %" PRId64 " as in %s dimension %u",
                         attn_label(manifest, i, d).text, got, plan->sizes[s],
                         manifest->operands[manifest->sizes[s].operand].name, manifest->sizes[s].dim);
    }
  }
  return ATTN_OK;
}

static attn_status tooLarge(const char *what, const char *name) {
  return attn_fail(ATTN_ERROR_SHAPE, "%s %s: overflows 64 bits for these sizes", what, name);
}

static attn_status checkRequire(const attn_manifest *manifest, const attn_plan *plan) {
  for (uint32_t i = 0; i < manifest->num_require; ++i) {
    const attn_require *require = &manifest->require[i];
    int64_t divisor, dividend;
    if (!attn_number_eval(&require->divisor, plan->sizes, &divisor) ||
        !attn_number_eval(&require->dividend, plan->sizes, &dividend))
      return tooLarge("rule", require->divisor_text);
    // 0 divides 0 only.
    if (divisor == 0 ? dividend != 0 : dividend % divisor != 0)
      return attn_fail(ATTN_ERROR_REQUIRE, "%s %" PRId64 " is not a multiple of %s %" PRId64, require->dividend_text,
                       dividend, require->divisor_text, divisor);
  }
  return ATTN_OK;
}

static const attn_empty *emptyRule(const attn_manifest *manifest, const attn_plan *plan) {
  for (uint32_t i = 0; i < manifest->num_empty; ++i)
    for (uint32_t s = 0; s < manifest->empty[i].num_sizes; ++s)
      if (plan->sizes[manifest->empty[i].sizes[s]] == 0)
        return &manifest->empty[i];
  return NULL;
}

static attn_status planValues(const attn_manifest *manifest, attn_plan *plan) {
  for (uint32_t i = 0; i < manifest->num_values; ++i) {
    const attn_value *value = &manifest->values[i];
    int64_t of, unit;
    if (!attn_number_eval(&value->of, plan->sizes, &of))
      return tooLarge("value", value->name);
    // A unit too large to count is certainly over the budget.
    if (!attn_number_eval(&value->unit_bytes, plan->sizes, &unit))
      unit = INT64_MAX;
    int64_t divisor = of <= value->whole ? of : attn_largest_divisor(of, unit, value->budget);
    if (divisor > INT32_MAX)
      return attn_fail(ATTN_ERROR_GRID, "value %s: is %" PRId64 ", expected at most %d", value->name, divisor,
                       INT32_MAX);
    plan->values[i] = (int32_t)divisor;
  }
  return ATTN_OK;
}

static attn_status planWorkspace(const attn_manifest *manifest, attn_plan *plan) {
  int64_t total = 0;
  for (uint32_t i = 0; i < manifest->num_workspace; ++i) {
    const attn_workspace *buffer = &manifest->workspace[i];
    int64_t bytes;
    for (uint32_t d = 0; d < buffer->rank; ++d) {
      int64_t *dim = &plan->workspace_dims[i][d];
      // Kernels take sizes as 32-bit numbers.
      if (!attn_number_eval(&buffer->dims[d], plan->sizes, dim) || *dim > INT32_MAX)
        return attn_fail(ATTN_ERROR_SHAPE, "workspace %s dimension %u: is more than %d for these sizes", buffer->name,
                         d, INT32_MAX);
    }
    if (!attn_number_eval(&buffer->elements, plan->sizes, &bytes) ||
        __builtin_mul_overflow(bytes, (int64_t)attn_dtype_bytes(buffer->dtype), &bytes))
      return tooLarge("workspace", buffer->name);
    plan->workspace_offset[i] = (uint64_t)total;
    plan->workspace_size[i] = (uint64_t)bytes;
    if (__builtin_add_overflow(total, bytes, &total) || total > INT64_MAX - ATTN_WORKSPACE_ALIGN)
      return tooLarge("workspace", buffer->name);
    total = (total + ATTN_WORKSPACE_ALIGN - 1) / ATTN_WORKSPACE_ALIGN * ATTN_WORKSPACE_ALIGN;
  }
  plan->workspace_bytes = (uint64_t)total;
  return ATTN_OK;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Bytes from the first to behind the last element.
static bool extentBytes(const attn_tensor *tensor, int64_t *bytes) {
  int64_t last = 0;
  for (uint32_t d = 0; d < tensor->rank; ++d) {
    int64_t step;
    if (__builtin_mul_overflow(tensor->sizes[d] - 1, tensor->strides[d], &step) ||
        __builtin_add_overflow(last, step, &last))
      return false;
  }
  return !__builtin_add_overflow(last, 1, &last) &&
         !__builtin_mul_overflow(last, (int64_t)attn_dtype_bytes(tensor->dtype), bytes);
}

static attn_status checkMemory(const attn_manifest *manifest, uint32_t index, const attn_tensor *tensor) {
  const attn_operand *operand = &manifest->operands[index];
  if (!tensor->data)
    return attn_fail(ATTN_ERROR_MISSING, "%s: its data pointer is null", operand->name);
  if (operand->role == ATTN_ROLE_SCALAR)
    return ATTN_OK;
  int64_t bytes = attn_dtype_bytes(tensor->dtype);
  int64_t align = operand->base_align > bytes ? operand->base_align : bytes;
  if ((uintptr_t)tensor->data % (uintptr_t)align != 0)
    return attn_fail(ATTN_ERROR_ALIGNMENT, "%s: data %p is not aligned to %" PRId64 " bytes", operand->name,
                     tensor->data, align);
  for (uint32_t d = 0; d < tensor->rank; ++d) {
    int64_t stride = tensor->strides[d];
    bool last = d + 1 == tensor->rank;
    if (tensor->sizes[d] <= 1)
      continue;
    if (last && stride != 1)
      return attn_fail(ATTN_ERROR_STRIDE, "%s: has stride %" PRId64 ", expected 1 (the last dimension is contiguous)",
                       attn_label(manifest, index, d).text, stride);
    if (stride < 0)
      return attn_fail(ATTN_ERROR_STRIDE, "%s: has stride %" PRId64 ", expected 0 or more",
                       attn_label(manifest, index, d).text, stride);
    // The remainder first: a product could overflow.
    if (!last && operand->stride_align > 1 && (stride % operand->stride_align) * bytes % operand->stride_align != 0)
      return attn_fail(ATTN_ERROR_ALIGNMENT,
                       "%s: has stride %" PRId64 " elements of %" PRId64 " bytes, expected a multiple of %" PRId64
                       " bytes",
                       attn_label(manifest, index, d).text, stride, bytes, operand->stride_align);
  }
  int64_t extent;
  if (!extentBytes(tensor, &extent) || (uint64_t)extent > UINTPTR_MAX - (uintptr_t)tensor->data)
    return attn_fail(ATTN_ERROR_STRIDE, "%s: its sizes and strides leave the address space", operand->name);
  return ATTN_OK;
}

/// Dimensions larger than 1, by growing stride.
typedef struct span {
  int64_t size, stride;
} span;
static uint32_t sortedSpans(const attn_tensor *tensor, span *out) {
  uint32_t count = 0;
  for (uint32_t d = 0; d < tensor->rank; ++d) {
    if (tensor->sizes[d] <= 1)
      continue;
    uint32_t at = count++;
    for (; at > 0 && out[at - 1].stride > tensor->strides[d]; --at)
      out[at] = out[at - 1];
    out[at] = (span){tensor->sizes[d], tensor->strides[d]};
  }
  return count;
}

/// True when each span steps over all of the smaller ones, so that no element
/// is reached twice. (Views that interleave in a finer way are not recognised.)
static bool nests(const span *spans, uint32_t count) {
  int64_t last = 0; // largest offset of the spans so far
  for (uint32_t i = 0; i < count; ++i) {
    if (spans[i].stride <= last)
      return false;
    last += (spans[i].size - 1) * spans[i].stride;
  }
  return true;
}

/// Whether two views may share an element. Two views with the same strides that
/// start `delta` apart are one view with a further dimension (2, delta): this is
/// how slices of a packed tensor (qkv) lie.
///
///     q q q k k k v v v  q q q k k k v v v     strides of q: (9, 1), k = q + 3
static bool mayShare(const attn_tensor *a, const attn_tensor *b) {
  int64_t bytesA = 0, bytesB = 0;
  if (!extentBytes(a, &bytesA) || !extentBytes(b, &bytesB))
    return true;
  uintptr_t startA = (uintptr_t)a->data, startB = (uintptr_t)b->data;
  if (startA + (uintptr_t)bytesA <= startB || startB + (uintptr_t)bytesB <= startA)
    return false;
  uintptr_t delta = startA > startB ? startA - startB : startB - startA;
  uint32_t elementBytes = attn_dtype_bytes(a->dtype);
  if (elementBytes != attn_dtype_bytes(b->dtype) || a->rank != b->rank || delta % elementBytes != 0)
    return true;
  attn_tensor both = *a;
  for (uint32_t d = 0; d < a->rank; ++d) {
    bool useA = a->sizes[d] > 1, useB = b->sizes[d] > 1;
    if (useA && useB && a->strides[d] != b->strides[d])
      return true;
    both.strides[d] = useA ? a->strides[d] : b->strides[d];
    both.sizes[d] = a->sizes[d] > b->sizes[d] ? a->sizes[d] : b->sizes[d];
  }
  span spans[ATTN_MAX_RANK + 1];
  uint32_t count = sortedSpans(&both, spans);
  span step = {2, (int64_t)(delta / elementBytes)};
  uint32_t at = count++;
  for (; at > 0 && spans[at - 1].stride > step.stride; --at)
    spans[at] = spans[at - 1];
  spans[at] = step;
  return !nests(spans, count);
}

static attn_status checkOverlap(const attn_manifest *manifest, const attn_plan *plan) {
  bool real[ATTN_MAX_OPERANDS]; // has memory of its own
  for (uint32_t i = 0; i < manifest->num_operands; ++i)
    real[i] = manifest->operands[i].role != ATTN_ROLE_SCALAR && attn_tensor_elements(&plan->operands[i]) > 0;
  for (uint32_t o = 0; o < manifest->num_operands; ++o) {
    if (manifest->operands[o].role != ATTN_ROLE_OUT || !real[o])
      continue;
    span spans[ATTN_MAX_RANK];
    uint32_t count = sortedSpans(&plan->operands[o], spans);
    if (!nests(spans, count))
      return attn_fail(
          ATTN_ERROR_ALIAS,
          "%s: is an output whose elements share memory (a stride of 0 or one smaller than the dimensions inside it)",
          manifest->operands[o].name);
    for (uint32_t i = 0; i < manifest->num_operands; ++i)
      if (i != o && real[i] && mayShare(&plan->operands[o], &plan->operands[i]))
        return attn_fail(ATTN_ERROR_ALIAS, "%s: overlaps %s (data at %p and %p); an output needs memory of its own",
                         manifest->operands[o].name, manifest->operands[i].name, plan->operands[o].data,
                         plan->operands[i].data);
  }
  return ATTN_OK;
}

/// A gather clamps its indices into range, so there must be something in range.
static attn_status checkCaptures(const attn_manifest *manifest, const attn_plan *plan) {
  for (uint32_t i = 0; i < manifest->num_operands; ++i) {
    if (manifest->operands[i].role != ATTN_ROLE_CAPTURE)
      continue;
    for (uint32_t d = 0; d < plan->operands[i].rank; ++d)
      if (plan->operands[i].sizes[d] == 0)
        return attn_fail(ATTN_ERROR_SHAPE, "%s: has size 0, expected at least 1 (the kernel reads captured values)",
                         attn_label(manifest, i, d).text);
  }
  return ATTN_OK;
}

static attn_status checkWorkspace(const attn_plan *plan) {
  const attn_launch *launch = &plan->launch;
  if (plan->workspace_bytes == 0)
    return ATTN_OK;
  if (launch->workspace_bytes < plan->workspace_bytes || !launch->workspace)
    return attn_fail(ATTN_ERROR_WORKSPACE, "workspace: has %" PRIu64 " bytes%s, expected at least %" PRIu64,
                     launch->workspace_bytes, launch->workspace ? "" : " at a null pointer", plan->workspace_bytes);
  if ((uintptr_t)launch->workspace % ATTN_WORKSPACE_ALIGN != 0)
    return attn_fail(ATTN_ERROR_WORKSPACE, "workspace: %p is not aligned to %d bytes", launch->workspace,
                     ATTN_WORKSPACE_ALIGN);
  return ATTN_OK;
}

attn_status attn_check(const attn_manifest *manifest, const attn_launch *launch, bool shapes_only, attn_plan *plan) {
  if (!launch)
    return attn_fail(ATTN_ERROR_ARGUMENT, "launch: is null");
  ATTN_TRY(attn_copy_sized(&plan->launch, sizeof(plan->launch), launch, "launch", ""));
  if (plan->launch.num_operands != manifest->num_operands)
    return attn_fail(ATTN_ERROR_ARGUMENT, "launch: has %u operands, expected %u", plan->launch.num_operands,
                     manifest->num_operands);
  if (manifest->num_operands && !plan->launch.operands)
    return attn_fail(ATTN_ERROR_ARGUMENT, "launch: operands is null");
  if (plan->launch.flags & ~(uint32_t)(ATTN_LAUNCH_TRUST_POINTERS | ATTN_LAUNCH_WORKSPACE_KEPT))
    return attn_fail(ATTN_ERROR_UNSUPPORTED, "launch: flags 0x%x has bits this library does not know",
                     plan->launch.flags);
  for (uint32_t i = 0; i < manifest->num_operands; ++i)
    ATTN_TRY(checkHead(&manifest->operands[i], plan->launch.operands[i], &plan->operands[i]));
  ATTN_TRY(checkDims(manifest, plan));
  ATTN_TRY(checkRequire(manifest, plan));
  plan->empty = emptyRule(manifest, plan);
  plan->workspace_bytes = 0;
  if (!plan->empty) {
    ATTN_TRY(checkCaptures(manifest, plan));
    ATTN_TRY(planValues(manifest, plan));
    ATTN_TRY(planWorkspace(manifest, plan));
    ATTN_TRY(attn_choose(manifest, plan));
  }
  if (shapes_only)
    return ATTN_OK;
  for (uint32_t i = 0; i < manifest->num_operands; ++i)
    if (attn_tensor_elements(&plan->operands[i]) > 0)
      ATTN_TRY(checkMemory(manifest, i, &plan->operands[i]));
  if (!plan->empty)
    ATTN_TRY(attn_check_maps(manifest, plan));
  ATTN_TRY(checkOverlap(manifest, plan));
  return checkWorkspace(plan);
}
