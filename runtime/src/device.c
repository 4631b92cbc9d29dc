//===- device.c - just enough of a GPU for tools and tests ----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn_rt/attn_device.h"

#include "driver.h"

#include <stdio.h>
#include <stdlib.h>

struct attn_device {
  const attn_driver *driver;
  attn_device_facts facts;
  char chip[16];
  CUcontext context;
  CUevent start, stop;
};

static attn_status told(const attn_driver *driver, CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return ATTN_OK;
  return attn_fail(result == CUDA_ERROR_OUT_OF_MEMORY ? ATTN_ERROR_OUT_OF_MEMORY : ATTN_ERROR_DEVICE, "%s: %s", what,
                   attn_driver_error(driver, result).text);
}

/// Every call works in the device's context, whatever is current.
static attn_status begin(attn_device *device) {
  attn_clear_error();
  if (!device)
    return attn_fail(ATTN_ERROR_ARGUMENT, "device: is null");
  return told(device->driver, device->driver->CtxSetCurrent(device->context), "making the context current");
}

static attn_status open(int32_t ordinal, attn_device *device) {
  ATTN_TRY(attn_driver_get(&device->driver));
  const attn_driver *driver = device->driver;
  CUdevice id;
  CUresult result = driver->DeviceGet(&id, ordinal);
  if (result != CUDA_SUCCESS)
    return attn_fail(ATTN_ERROR_NO_DEVICE, "device %d: %s", ordinal, attn_driver_error(driver, result).text);
  ATTN_TRY(attn_device_facts_get(driver, id, &device->facts));
  snprintf(device->chip, sizeof(device->chip), "sm_%d", device->facts.arch);
  CUcontext context;
  ATTN_TRY(told(driver, driver->DevicePrimaryCtxRetain(&context, id), "opening the device"));
  device->context = context; // from here attn_device_close lets go of it
  ATTN_TRY(begin(device));
  ATTN_TRY(told(driver, driver->EventCreate(&device->start, 0), "making a timer"));
  return told(driver, driver->EventCreate(&device->stop, 0), "making a timer");
}

attn_status attn_device_open(int32_t ordinal, attn_device **out) {
  attn_clear_error();
  if (!out)
    return attn_fail(ATTN_ERROR_ARGUMENT, "out: is null");
  *out = NULL;
  attn_device *device = calloc(1, sizeof(*device));
  if (!device)
    return attn_fail(ATTN_ERROR_OUT_OF_MEMORY, "device %d: no memory to open it", ordinal);
  attn_status status = open(ordinal, device);
  if (status == ATTN_OK)
    *out = device;
  else
    attn_device_close(device);
  return status;
}

void attn_device_close(attn_device *device) {
  if (!device)
    return;
  if (device->context) {
    device->driver->CtxSetCurrent(device->context);
    if (device->start)
      device->driver->EventDestroy(device->start);
    if (device->stop)
      device->driver->EventDestroy(device->stop);
    device->driver->CtxSetCurrent(NULL);
    device->driver->DevicePrimaryCtxRelease(device->facts.device);
  }
  free(device);
}

const char *attn_device_name(const attn_device *device) { return device ? device->facts.name : ""; }
const char *attn_device_chip(const attn_device *device) { return device ? device->chip : ""; }

attn_status attn_device_alloc(attn_device *device, size_t bytes, void **out) {
  ATTN_TRY(begin(device));
  if (!out)
    return attn_fail(ATTN_ERROR_ARGUMENT, "out: is null");
  *out = NULL;
  if (bytes == 0)
    return ATTN_OK;
  CUdeviceptr memory = 0;
  CUresult result = device->driver->MemAlloc(&memory, bytes);
  *out = (void *)(uintptr_t)memory;
  return told(device->driver, result, "allocating device memory");
}

attn_status attn_device_free(attn_device *device, void *memory) {
  ATTN_TRY(begin(device));
  return memory ? told(device->driver, device->driver->MemFree((CUdeviceptr)(uintptr_t)memory), "freeing device memory")
                : ATTN_OK;
}

attn_status attn_device_copy_in(attn_device *device, void *to_device, const void *from_host, size_t bytes) {
  ATTN_TRY(begin(device));
  if (bytes == 0)
    return ATTN_OK;
  return told(device->driver, device->driver->MemcpyHtoD((CUdeviceptr)(uintptr_t)to_device, from_host, bytes),
              "copying to the device");
}

attn_status attn_device_copy_out(attn_device *device, void *to_host, const void *from_device, size_t bytes) {
  ATTN_TRY(begin(device));
  if (bytes == 0)
    return ATTN_OK;
  return told(device->driver, device->driver->MemcpyDtoH(to_host, (CUdeviceptr)(uintptr_t)from_device, bytes),
              "copying from the device");
}

attn_status attn_device_synchronize(attn_device *device) {
  ATTN_TRY(begin(device));
  return told(device->driver, device->driver->CtxSynchronize(), "waiting for the device");
}

attn_status attn_device_timer_start(attn_device *device) {
  ATTN_TRY(begin(device));
  return told(device->driver, device->driver->EventRecord(device->start, NULL), "starting the timer");
}

attn_status attn_device_timer_stop(attn_device *device, float *milliseconds) {
  ATTN_TRY(begin(device));
  const attn_driver *driver = device->driver;
  if (!milliseconds)
    return attn_fail(ATTN_ERROR_ARGUMENT, "milliseconds: is null");
  ATTN_TRY(told(driver, driver->EventRecord(device->stop, NULL), "stopping the timer"));
  ATTN_TRY(told(driver, driver->EventSynchronize(device->stop), "waiting for the timer"));
  return told(driver, driver->EventElapsedTime(milliseconds, device->start, device->stop), "reading the timer");
}
