//===- driver.c - the CUDA driver, found at run time ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static attn_status openDriver(attn_driver *driver) {
  const char *chosen = getenv("ATTN_CUDA_LIBRARY");
  const char *name = chosen && *chosen ? chosen : "libcuda.so.1";
  // Not closed once it has run: kernels, contexts and the driver's own threads live in it.
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return attn_fail(ATTN_ERROR_NO_DRIVER,
                     "CUDA driver library not found: %s (it comes with the NVIDIA driver; ATTN_CUDA_LIBRARY names "
                     "another one; a manifest for chip cpu needs none)",
                     dlerror());
  const struct {
    const char *name;
    void *member;
    bool optional;
  } functions[] = {
#define REQUIRED(member, name, params) {name, &driver->member, false},
#define OPTIONAL(member, name, params) {name, &driver->member, true},
      ATTN_DRIVER_FUNCTIONS(REQUIRED) ATTN_DRIVER_OPTIONAL(OPTIONAL)
#undef REQUIRED
#undef OPTIONAL
  };
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
    void *symbol = dlsym(library, functions[i].name);
    if (!symbol && !functions[i].optional) {
      attn_status status = attn_fail(ATTN_ERROR_NO_DRIVER, "CUDA driver library %s has no %s: the driver is too old",
                                     name, functions[i].name);
      dlclose(library);
      return status;
    }
    memcpy(functions[i].member, &symbol, sizeof(symbol));
  }
  CUresult result = driver->Init(0);
  if (result != CUDA_SUCCESS)
    return attn_fail(result == CUDA_ERROR_NO_DEVICE ? ATTN_ERROR_NO_DEVICE : ATTN_ERROR_NO_DRIVER,
                     "CUDA driver library %s does not start: %s", name, attn_driver_error(driver, result).text);
  return ATTN_OK;
}

attn_status attn_driver_get(const attn_driver **out) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static attn_driver driver;
  static bool ready;
  pthread_mutex_lock(&mutex);
  attn_status status = ATTN_OK;
  if (!ready) {
    status = openDriver(&driver);
    ready = status == ATTN_OK;
  }
  pthread_mutex_unlock(&mutex);
  *out = status == ATTN_OK ? &driver : NULL;
  return status;
}

attn_driver_text attn_driver_error(const attn_driver *driver, CUresult result) {
  const char *name = NULL, *what = NULL;
  driver->GetErrorName(result, &name);
  driver->GetErrorString(result, &what);
  attn_driver_text out;
  snprintf(out.text, sizeof(out.text), "%s (%d): %s", name ? name : "CUDA error", result, what ? what : "unknown");
  return out;
}

attn_status attn_device_facts_get(const attn_driver *driver, CUdevice device, attn_device_facts *facts) {
  memset(facts, 0, sizeof(*facts));
  facts->device = device;
  int major = 0, minor = 0;
  const struct {
    int attribute, *value;
  } wanted[] = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major},
                {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor},
                {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &facts->num_sms},
                {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &facts->smem_bytes}};
  CUresult result = driver->DeviceGetName(facts->name, sizeof(facts->name), device);
  for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && result == CUDA_SUCCESS; ++i)
    result = driver->DeviceGetAttribute(wanted[i].value, wanted[i].attribute, device);
  if (result != CUDA_SUCCESS)
    return attn_fail(ATTN_ERROR_NO_DEVICE, "device %d: cannot be asked: %s", device,
                     attn_driver_error(driver, result).text);
  facts->arch = 10 * major + minor;
  return ATTN_OK;
}
