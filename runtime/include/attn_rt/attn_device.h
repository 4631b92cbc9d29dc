//===- attn_device.h - just enough of a GPU for tools and tests -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An engine has its own contexts, memory and streams and needs nothing of this.
// A tool that only wants to run a kernel once (attn-run, attn-bench, a test)
// gets device memory, copies and a timer here through the driver library the
// runtime found, so that nothing of CUDA is needed to build it.
// Errors are told as in attn_rt.h.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RT_ATTN_DEVICE_H
#define ATTN_RT_ATTN_DEVICE_H

#include "attn_rt/attn_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A GPU whose primary context is held, and two timing events in it.
typedef struct attn_device attn_device;

/// Opens GPU number `ordinal` and makes its primary context current in this
/// thread. ATTN_ERROR_NO_DRIVER or ATTN_ERROR_NO_DEVICE say that there is none.
ATTN_API attn_status attn_device_open(int32_t ordinal, attn_device **out);
/// Lets go of the context. NULL is fine. Free the memory first.
ATTN_API void attn_device_close(attn_device *device);

/// "NVIDIA H200", and its architecture as a chip name ("sm_90").
ATTN_API const char *attn_device_name(const attn_device *device);
ATTN_API const char *attn_device_chip(const attn_device *device);

ATTN_API attn_status attn_device_alloc(attn_device *device, size_t bytes, void **out);
ATTN_API attn_status attn_device_free(attn_device *device, void *memory);
ATTN_API attn_status attn_device_copy_in(attn_device *device, void *to_device, const void *from_host, size_t bytes);
ATTN_API attn_status attn_device_copy_out(attn_device *device, void *to_host, const void *from_device, size_t bytes);
/// Waits until all work has finished; reports what a kernel did wrong.
ATTN_API attn_status attn_device_synchronize(attn_device *device);

/// Time on the GPU's clock between the two calls, both on the default stream.
ATTN_API attn_status attn_device_timer_start(attn_device *device);
ATTN_API attn_status attn_device_timer_stop(attn_device *device, float *milliseconds);

#ifdef __cplusplus
}
#endif

#endif // ATTN_RT_ATTN_DEVICE_H
