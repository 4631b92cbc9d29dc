//===- launch_gpu.c - a launch on a GPU -----------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a launch runs is decided by its tensors, not by what happens to be
// current: all of them must be on one device; if the current context is not
// theirs, theirs is pushed for the call and popped again. The stream must be of
// the same device.
//
//===----------------------------------------------------------------------===//

#include "driver.h"

#include <inttypes.h>

//===----------------------------------------------------------------------===//
// Finding the context
//===----------------------------------------------------------------------===//

typedef struct place {
  const char *name;  ///< the operand that decided it, NULL: none did
  CUcontext context; ///< NULL: memory that belongs to a device but no context (pools)
  CUdevice device;
} place;

static attn_status locate(const attn_driver *driver, const char *name, const void *data, place *where) {
  int attributes[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  CUcontext context = NULL;
  // Wider than the driver writes, and zeroed: some of these are 4 bytes.
  union {
    int32_t i32;
    uint64_t room;
  } type = {.room = 0}, managed = {.room = 0}, device = {.room = 0};
  void *values[] = {&context, &type, &managed, &device};
  CUresult result = driver->PointerGetAttributes(4, attributes, values, (CUdeviceptr)(uintptr_t)data);
  // Memory the driver never heard of: all attributes keep 0, which says host.
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE)
    return attn_fail(ATTN_ERROR_DEVICE, "%s: the driver cannot say where %p is: %s", name, data,
                     attn_driver_error(driver, result).text);
  if (managed.i32) // any device reaches it
    return ATTN_OK;
  if (type.i32 != CU_MEMORYTYPE_DEVICE)
    return attn_fail(ATTN_ERROR_DEVICE, "%s: data %p is %s memory, expected device memory", name, data,
                     type.i32 == CU_MEMORYTYPE_HOST ? "page-locked host" : "host");
  if (!where->name) {
    *where = (place){name, context, device.i32};
    return ATTN_OK;
  }
  if (device.i32 != where->device)
    return attn_fail(ATTN_ERROR_DEVICE, "%s: is on device %d, expected device %d as %s", name, device.i32,
                     where->device, where->name);
  if (context && where->context && context != where->context)
    return attn_fail(ATTN_ERROR_DEVICE, "%s: belongs to another CUDA context than %s", name, where->name);
  if (!where->context)
    where->context = context;
  return ATTN_OK;
}

static attn_status locateAll(const attn_driver *driver, const attn_manifest *manifest, const attn_plan *plan,
                             place *where) {
  for (uint32_t i = 0; i < manifest->num_operands; ++i)
    if (manifest->operands[i].role != ATTN_ROLE_SCALAR && attn_tensor_elements(&plan->operands[i]) > 0)
      ATTN_TRY(locate(driver, manifest->operands[i].name, plan->operands[i].data, where));
  return plan->workspace_bytes ? locate(driver, "workspace", plan->launch.workspace, where) : ATTN_OK;
}

/// The legacy and the per-thread default stream belong to whatever is current.
static bool isNamed(CUstream stream) { return (uintptr_t)stream > 2; }

static CUresult deviceOf(const attn_driver *driver, CUcontext context, CUdevice *device) {
  CUresult result = driver->CtxPushCurrent(context);
  if (result != CUDA_SUCCESS)
    return result;
  result = driver->CtxGetDevice(device);
  driver->CtxPopCurrent(NULL);
  return result;
}

static attn_status badStream(const attn_driver *driver, CUresult result) {
  return attn_fail(ATTN_ERROR_DEVICE, "stream: is not a CUDA stream: %s", attn_driver_error(driver, result).text);
}

/// Makes the tensors' context current. *pushed says whether to pop it.
static attn_status enter(const attn_driver *driver, const place *where, CUstream stream, bool *pushed) {
  *pushed = false;
  CUcontext current = NULL, ofStream = NULL;
  CUdevice device = -1, streamDevice = -1;
  if (driver->CtxGetCurrent(&current) != CUDA_SUCCESS)
    current = NULL;
  if (current && driver->CtxGetDevice(&device) != CUDA_SUCCESS)
    current = NULL;
  if (isNamed(stream)) {
    CUresult result = driver->StreamGetCtx(stream, &ofStream);
    if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_INVALID_CONTEXT ||
        result == CUDA_ERROR_CONTEXT_IS_DESTROYED)
      return badStream(driver, result);
    if (result != CUDA_SUCCESS) // a kind of stream this cannot ask about: the launch will judge
      ofStream = NULL;
    if (ofStream == current)
      streamDevice = device;
    else if (ofStream && (result = deviceOf(driver, ofStream, &streamDevice)) != CUDA_SUCCESS)
      return badStream(driver, result);
  }
  CUcontext wanted = current;
  if (where->name && !(current && device == where->device && (!where->context || where->context == current))) {
    wanted = where->context ? where->context : ofStream;
    if (!wanted)
      return attn_fail(ATTN_ERROR_DEVICE, "%s: is on device %d, but %s; make a context of device %d current",
                       where->name, where->device,
                       current ? "the current CUDA context is of another device" : "no CUDA context is current",
                       where->device);
    device = where->device;
  }
  if (!wanted)
    return attn_fail(ATTN_ERROR_NO_DEVICE, "no CUDA context is current in this thread");
  if (ofStream && streamDevice != device)
    return attn_fail(ATTN_ERROR_DEVICE, "stream: is of device %d, expected device %d as %s", streamDevice, device,
                     where->name ? where->name : "the current context");
  if (wanted == current)
    return ATTN_OK;
  CUresult result = driver->CtxPushCurrent(wanted);
  if (result != CUDA_SUCCESS)
    return attn_fail(ATTN_ERROR_DEVICE, "the context of %s cannot be made current: %s", where->name,
                     attn_driver_error(driver, result).text);
  *pushed = true;
  return ATTN_OK;
}

//===----------------------------------------------------------------------===//
// Starting work in the current context
//===----------------------------------------------------------------------===//

typedef struct fill_state {
  const attn_driver *driver;
  CUstream stream;
} fill_state;

static attn_status fillRows(void *state, void *to, int64_t pitch, uint32_t bytes, uint32_t bits, int64_t width,
                            int64_t rows) {
  const fill_state *with = state;
  const attn_driver *driver = with->driver;
  // The driver's limit on a pitch. Only the step between blocks can exceed it.
  int64_t height = pitch > INT32_MAX ? 1 : rows;
  for (int64_t r = 0; r < rows; r += height) {
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)to + (CUdeviceptr)(r * pitch);
    size_t step = height == 1 ? (size_t)width * bytes : (size_t)pitch, w = (size_t)width, h = (size_t)height;
    CUresult result = bytes == 4   ? driver->MemsetD2D32Async(at, step, bits, w, h, with->stream)
                      : bytes == 2 ? driver->MemsetD2D16Async(at, step, (unsigned short)bits, w, h, with->stream)
                                   : driver->MemsetD2D8Async(at, step, (unsigned char)bits, w, h, with->stream);
    if (result != CUDA_SUCCESS)
      return attn_fail(ATTN_ERROR_LAUNCH, "filling an output of an empty launch: %s",
                       attn_driver_error(driver, result).text);
  }
  return ATTN_OK;
}

static uint32_t gridOf(const attn_kernel_code *code, const attn_loaded *loaded, int64_t tiles) {
  int64_t most = (int64_t)loaded->facts.num_sms * code->blocks_per_sm;
  return (uint32_t)(code->grid == ATTN_GRID_KIND_MIN_SMS && most < tiles ? most : tiles);
}

static attn_status clearWorkspace(const attn_driver *driver, const attn_manifest *manifest, const attn_plan *plan,
                                  CUstream stream) {
  for (uint32_t i = 0; plan->clear >> i; ++i) {
    if (!(plan->clear >> i & 1))
      continue;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)plan->launch.workspace + plan->workspace_offset[i];
    CUresult result = driver->MemsetD8Async(at, 0, (size_t)plan->workspace_size[i], stream);
    if (result != CUDA_SUCCESS)
      return attn_fail(ATTN_ERROR_LAUNCH, "zeroing workspace %s: %s", manifest->workspace[i].name,
                       attn_driver_error(driver, result).text);
  }
  return ATTN_OK;
}

static attn_status encodeMaps(const attn_driver *driver, const attn_manifest *manifest, const attn_plan *plan,
                              const attn_kernel_code *code, attn_params *params) {
  uint32_t maps = 0;
  for (uint32_t a = 0; maps < code->num_maps; ++a) {
    const attn_arg *arg = &code->args[a];
    if (arg->kind == ATTN_ARG_KIND_MAP)
      ATTN_TRY(attn_tensor_map_encode(driver, manifest->operands[arg->index].name, &plan->operands[arg->index],
                                      arg->map, params->maps[maps++]));
  }
  return ATTN_OK;
}

static attn_status launchHere(attn_kernel *kernel, const attn_driver *driver, const attn_plan *plan, CUstream stream) {
  const attn_manifest *manifest = &kernel->manifest;
  if (plan->empty) {
    fill_state state = {driver, stream};
    return attn_empty_apply(plan, fillRows, &state);
  }
  // All code first: a kernel that cannot be loaded must not leave a half-done launch.
  const attn_loaded *loaded;
  ATTN_TRY(attn_module_get(kernel, driver, &loaded));
  for (uint32_t k = 0; k < plan->num_kernels; ++k) {
    const attn_kernel_code *code = plan->kernels[k];
    attn_params params;
    attn_params_fill(manifest, code, plan, &params);
    ATTN_TRY(encodeMaps(driver, manifest, plan, code, &params));
    if (k == 0)
      ATTN_TRY(clearWorkspace(driver, manifest, plan, stream));
    uint32_t grid = gridOf(code, loaded, plan->tiles[k]);
    CUresult result = driver->LaunchKernel(loaded->functions[code - manifest->kernels], grid, 1, 1, code->threads, 1, 1,
                                           code->smem_bytes, stream, params.pointers, NULL);
    if (result != CUDA_SUCCESS)
      return attn_fail(
          ATTN_ERROR_LAUNCH,
          "kernel %s: launch of %u blocks of %u threads with %u bytes of shared memory on device %d (%s): %s",
          code->name, grid, code->threads, code->smem_bytes, loaded->facts.device, loaded->facts.name,
          attn_driver_error(driver, result).text);
  }
  return ATTN_OK;
}

attn_status attn_launch_gpu(attn_kernel *kernel, const attn_plan *plan) {
  const attn_driver *driver;
  ATTN_TRY(attn_driver_get(&driver));
  CUstream stream = plan->launch.stream;
  place where = {0};
  if (!(plan->launch.flags & ATTN_LAUNCH_TRUST_POINTERS))
    ATTN_TRY(locateAll(driver, &kernel->manifest, plan, &where));
  bool pushed;
  ATTN_TRY(enter(driver, &where, stream, &pushed));
  attn_status status = launchHere(kernel, driver, plan, stream);
  if (pushed)
    driver->CtxPopCurrent(NULL);
  return status;
}
