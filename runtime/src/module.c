//===- module.c - a kernel's code in a CUDA context -----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which file: the cubin if it is for this GPU, else the PTX if it can be
// assembled for it, else a message naming both architectures. A cubin that the
// driver refuses (an older driver, say) falls back to the PTX too.
//
//===----------------------------------------------------------------------===//

#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool attn_chip_runs(const char *chip, int arch, bool as_ptx) {
  char *suffix;
  int wanted = (int)strtol(chip + 3, &suffix, 10);
  if (*suffix == 'a')
    return arch == wanted;
  bool sameMajor = arch / 10 == wanted / 10;
  return arch >= wanted && (sameMajor || (as_ptx && *suffix != 'f'));
}

//===----------------------------------------------------------------------===//
// Loading one file
//===----------------------------------------------------------------------===//

// Assemblers say a line or two about most kernels and a page about broken ones.
enum { logBytes = 16384 };

typedef struct loader {
  const attn_driver *driver;
  const attn_device_facts *facts;
  char *info, *error; ///< logBytes each
} loader;

static CUresult loadModule(const loader *with, const attn_code *code, CUmodule *module) {
  int options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                   CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *size = (void *)(uintptr_t)(logBytes - 1);
  void *values[] = {with->info, size, with->error, size};
  memset(with->info, 0, logBytes);
  memset(with->error, 0, logBytes);
  return with->driver->ModuleLoadDataEx(module, code->data, 4, options, values);
}

/// The word after `directive` in a PTX text: ".version 8.0" -> "8.0".
typedef struct ptx_word {
  char text[24];
} ptx_word;
static ptx_word ptxWord(const attn_code *ptx, const char *directive) {
  ptx_word out = {"?"};
  const char *at = strstr(ptx->data, directive);
  if (at) {
    at += strlen(directive);
    at += strspn(at, " \t");
    snprintf(out.text, sizeof(out.text), "%.*s", (int)strcspn(at, " \t\r\n,"), at);
  }
  return out;
}

static attn_status refused(const loader *with, const attn_kernel_code *kernel, const attn_code *code, CUresult result) {
  const attn_driver *driver = with->driver;
  bool ptx = code == &kernel->ptx;
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return attn_fail(ATTN_ERROR_OUT_OF_MEMORY, "kernel %s: no device memory for its code", kernel->name);
  int version = 0;
  driver->DriverGetVersion(&version);
  if (ptx && result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
    return attn_fail(ATTN_ERROR_CODE,
                     "kernel %s: %s is PTX version %s, newer than the installed driver (CUDA %d.%d) assembles; update "
                     "the driver or add a cubin",
                     kernel->name, code->path, ptxWord(code, ".version").text, version / 1000, version % 1000 / 10);
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
    return attn_fail(ATTN_ERROR_ARCH, "kernel %s: %s is for %s, device %d (%s) is sm_%d", kernel->name, code->path,
                     ptx ? ptxWord(code, ".target").text : kernel->chip, with->facts->device, with->facts->name,
                     with->facts->arch);
  return attn_fail(ATTN_ERROR_CODE, "kernel %s: the driver (CUDA %d.%d) refused %s: %s%s%.1200s", kernel->name,
                   version / 1000, version % 1000 / 10, code->path, attn_driver_error(driver, result).text,
                   with->error[0] ? "\n" : "", with->error);
}

static attn_status loadCode(const loader *with, const attn_kernel_code *kernel, CUmodule *module) {
  const attn_device_facts *facts = with->facts;
  bool cubinRuns = kernel->cubin.data && attn_chip_runs(kernel->chip, facts->arch, /*as_ptx=*/false);
  bool ptxRuns = kernel->ptx.data && attn_chip_runs(kernel->chip, facts->arch, /*as_ptx=*/true);
  if (!cubinRuns && !ptxRuns)
    return attn_fail(ATTN_ERROR_ARCH, "kernel %s: is compiled for %s%s, device %d (%s) is sm_%d", kernel->name,
                     kernel->chip, kernel->ptx.data ? "" : " without PTX", facts->device, facts->name, facts->arch);
  CUresult result = CUDA_SUCCESS;
  if (cubinRuns) {
    result = loadModule(with, &kernel->cubin, module);
    if (result == CUDA_SUCCESS)
      return ATTN_OK;
  }
  if (ptxRuns) {
    result = loadModule(with, &kernel->ptx, module);
    if (result == CUDA_SUCCESS)
      return ATTN_OK;
  }
  return refused(with, kernel, ptxRuns ? &kernel->ptx : &kernel->cubin, result);
}

//===----------------------------------------------------------------------===//
// The function and what it needs
//===----------------------------------------------------------------------===//

static attn_status prepareFunction(const loader *with, const attn_kernel_code *kernel, CUmodule module,
                                   CUfunction *function) {
  const attn_driver *driver = with->driver;
  const attn_device_facts *facts = with->facts;
  if (kernel->num_maps > 0 && !driver->TensorMapEncodeTiled)
    return attn_fail(ATTN_ERROR_NO_DRIVER,
                     "kernel %s: needs tensor maps, but the CUDA driver library has no cuTensorMapEncodeTiled: the "
                     "driver is too old (CUDA 12.0 has it)",
                     kernel->name);
  CUresult result = driver->ModuleGetFunction(function, module, kernel->name);
  if (result == CUDA_ERROR_NOT_FOUND)
    return attn_fail(ATTN_ERROR_CODE, "kernel %s: its code has no entry of this name", kernel->name);
  int maxThreads = 0, staticBytes = 0;
  if (result == CUDA_SUCCESS)
    result = driver->FuncGetAttribute(&maxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, *function);
  if (result == CUDA_SUCCESS)
    result = driver->FuncGetAttribute(&staticBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, *function);
  if (result != CUDA_SUCCESS)
    return attn_fail(ATTN_ERROR_CODE, "kernel %s: %s", kernel->name, attn_driver_error(driver, result).text);
  if ((int64_t)kernel->smem_bytes + staticBytes > facts->smem_bytes)
    return attn_fail(ATTN_ERROR_RESOURCES, "kernel %s: needs %lld bytes of shared memory, device %d (%s) has %d",
                     kernel->name, (long long)kernel->smem_bytes + staticBytes, facts->device, facts->name,
                     facts->smem_bytes);
  if ((int64_t)kernel->threads > maxThreads)
    return attn_fail(ATTN_ERROR_RESOURCES,
                     "kernel %s: needs %u threads a block, its code can have %d on device %d (%s)", kernel->name,
                     kernel->threads, maxThreads, facts->device, facts->name);
  // Above 48 KiB this is needed; below it does no harm.
  result =
      driver->FuncSetAttribute(*function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)kernel->smem_bytes);
  if (result != CUDA_SUCCESS)
    return attn_fail(ATTN_ERROR_RESOURCES, "kernel %s: cannot have %u bytes of shared memory: %s", kernel->name,
                     kernel->smem_bytes, attn_driver_error(driver, result).text);
  return ATTN_OK;
}

//===----------------------------------------------------------------------===//
// One entry for each context
//===----------------------------------------------------------------------===//

static void keepLog(attn_kernel *kernel, const loader *with) {
  size_t info = strlen(with->info), error = strlen(with->error);
  if (info + error == 0)
    return;
  char *log = malloc(info + error + 2);
  if (!log)
    return;
  snprintf(log, info + error + 2, "%s%s%s", with->info, info && error ? "\n" : "", with->error);
  free(kernel->jit_log);
  kernel->jit_log = log;
}

static bool sameFile(const attn_code *a, const attn_code *b) {
  return a->path == b->path || (a->path && b->path && strcmp(a->path, b->path) == 0);
}

static attn_status loadAll(attn_kernel *kernel, const loader *with, attn_loaded *loaded) {
  const attn_manifest *manifest = &kernel->manifest;
  CUmodule of[ATTN_MAX_KERNELS];
  for (uint32_t i = 0; i < manifest->num_kernels; ++i) {
    const attn_kernel_code *code = &manifest->kernels[i];
    of[i] = NULL;
    for (uint32_t j = 0; j < i && !of[i]; ++j)
      if (sameFile(&code->ptx, &manifest->kernels[j].ptx) && sameFile(&code->cubin, &manifest->kernels[j].cubin) &&
          strcmp(code->chip, manifest->kernels[j].chip) == 0)
        of[i] = of[j];
    if (!of[i]) {
      attn_status status = loadCode(with, code, &of[i]);
      keepLog(kernel, with);
      ATTN_TRY(status);
      loaded->modules[i] = of[i];
    }
    ATTN_TRY(prepareFunction(with, code, of[i], &loaded->functions[i]));
  }
  return ATTN_OK;
}

static void unloadModules(const attn_driver *driver, attn_loaded *loaded) {
  for (uint32_t i = 0; i < ATTN_MAX_KERNELS; ++i)
    if (loaded->modules[i])
      driver->ModuleUnload(loaded->modules[i]);
}

static attn_status loadHere(attn_kernel *kernel, const attn_driver *driver, attn_loaded *loaded) {
  CUdevice device;
  CUresult result = driver->CtxGetDevice(&device);
  if (result != CUDA_SUCCESS)
    return attn_fail(ATTN_ERROR_NO_DEVICE, "the current CUDA context cannot be asked: %s",
                     attn_driver_error(driver, result).text);
  ATTN_TRY(attn_device_facts_get(driver, device, &loaded->facts));
  loader with = {driver, &loaded->facts, malloc(logBytes), malloc(logBytes)};
  attn_status status = with.info && with.error
                           ? loadAll(kernel, &with, loaded)
                           : attn_fail(ATTN_ERROR_OUT_OF_MEMORY, "no memory to load %s", kernel->manifest.path);
  free(with.info);
  free(with.error);
  if (status != ATTN_OK)
    unloadModules(driver, loaded);
  return status;
}

static unsigned long long contextId(const attn_driver *driver, CUcontext context) {
  unsigned long long id = 0;
  if (driver->CtxGetId && driver->CtxGetId(context, &id) != CUDA_SUCCESS)
    id = 0;
  return id;
}

attn_status attn_module_get(attn_kernel *kernel, const attn_driver *driver, const attn_loaded **out) {
  CUcontext context = NULL;
  CUresult result = driver->CtxGetCurrent(&context);
  if (result != CUDA_SUCCESS || !context)
    return attn_fail(ATTN_ERROR_NO_DEVICE, "no CUDA context is current in this thread%s%s", result ? ": " : "",
                     result ? attn_driver_error(driver, result).text : "");
  unsigned long long id = contextId(driver, context);
  pthread_mutex_lock(&kernel->mutex);
  attn_loaded *loaded = kernel->loaded;
  while (loaded && !(loaded->context == context && loaded->id == id))
    loaded = loaded->next;
  attn_status status = ATTN_OK;
  if (!loaded) {
    loaded = calloc(1, sizeof(*loaded));
    status = loaded ? loadHere(kernel, driver, loaded)
                    : attn_fail(ATTN_ERROR_OUT_OF_MEMORY, "no memory to load %s", kernel->manifest.path);
    if (status == ATTN_OK) {
      loaded->context = context;
      loaded->id = id;
      loaded->next = kernel->loaded;
      kernel->loaded = loaded;
    } else {
      free(loaded);
    }
  }
  pthread_mutex_unlock(&kernel->mutex);
  *out = status == ATTN_OK ? loaded : NULL;
  return status;
}

void attn_unload_gpu(attn_kernel *kernel) {
  const attn_driver *driver = NULL;
  while (kernel->loaded) {
    attn_loaded *loaded = kernel->loaded;
    kernel->loaded = loaded->next;
    // A context that is gone took its modules along.
    if (!driver && attn_driver_get(&driver) != ATTN_OK)
      driver = NULL;
    if (driver && contextId(driver, loaded->context) == loaded->id &&
        driver->CtxPushCurrent(loaded->context) == CUDA_SUCCESS) {
      unloadModules(driver, loaded);
      driver->CtxPopCurrent(NULL);
    }
    free(loaded);
  }
}

attn_status attn_prepare_gpu(attn_kernel *kernel) {
  const attn_driver *driver;
  ATTN_TRY(attn_driver_get(&driver));
  const attn_loaded *loaded;
  return attn_module_get(kernel, driver, &loaded);
}
