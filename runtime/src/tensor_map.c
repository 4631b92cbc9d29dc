//===- tensor_map.c - an operand as TMA instructions see it ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two layouts of docs/Manifest.md, from an operand (B, H, S, D) whose strides
// attn_check_maps has seen. A stride of 0 is legal: an expanded view, or, as a
// plan has it, a dimension of size 1. Fastest dimension first, C columns a panel:
//
//   panels5   C     S     D / C   H     B      box C, rows, D / C, 1, 1
//   rows4     D     S     H       B            box C, rows, 1, 1
//
// Maps are made anew at every launch, on its stack: the driver computes one in
// about 0.1 us from its arguments alone, less than a shared table with a lock
// would cost, and nothing can go stale when memory is freed and given out again.
//
//===----------------------------------------------------------------------===//

#include "driver.h"

static int dataType(uint32_t dtype) {
  return dtype == ATTN_F16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
         : dtype == ATTN_BF16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                              : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
}

attn_status attn_tensor_map_encode(const attn_driver *driver, const char *name, const attn_tensor *tensor,
                                   const attn_map *map, void *out) {
  enum { B, H, S, D, MAX_RANK = 5 };
  uint32_t bytes = attn_dtype_bytes(tensor->dtype), columns = map->swizzle_bytes / bytes, rank = 0;
  unsigned long long sizes[MAX_RANK], strides[MAX_RANK]; // strides[0] is the element and not passed
  unsigned box[MAX_RANK], steps[MAX_RANK] = {1, 1, 1, 1, 1};
  bool panels = map->layout == ATTN_LAYOUT_KIND_PANELS5;

#define DIMENSION(size, stride, extent)                                                                                \
  (sizes[rank] = (unsigned long long)(size), strides[rank] = (unsigned long long)(stride), box[rank++] = (extent))
  DIMENSION(panels ? columns : tensor->sizes[D], bytes, columns);
  DIMENSION(tensor->sizes[S], tensor->strides[S] * bytes, map->rows);
  if (panels)
    DIMENSION(tensor->sizes[D] / columns, map->swizzle_bytes, (unsigned)(tensor->sizes[D] / columns));
  DIMENSION(tensor->sizes[H], tensor->strides[H] * bytes, 1);
  DIMENSION(tensor->sizes[B], tensor->strides[B] * bytes, 1);
#undef DIMENSION

  int swizzle = map->swizzle_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                : map->swizzle_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                           : CU_TENSOR_MAP_SWIZZLE_32B;
  CUresult result = driver->TensorMapEncodeTiled(out, dataType(tensor->dtype), rank, tensor->data, sizes, strides + 1,
                                                 box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                                 CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS)
    return ATTN_OK;
  return attn_fail(ATTN_ERROR_LAUNCH,
                   "%s: the driver makes no tensor map of rank %u, sizes %llu %llu %llu %llu %llu, strides %llu %llu "
                   "%llu %llu bytes, box %u %u %u: %s",
                   name, rank, sizes[0], sizes[1], sizes[2], sizes[3], rank > 4 ? sizes[4] : 0, strides[1], strides[2],
                   strides[3], rank > 4 ? strides[4] : 0, box[0], box[1], box[2],
                   attn_driver_error(driver, result).text);
}
