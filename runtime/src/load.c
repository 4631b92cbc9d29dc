//===- load.c - handles: load, ask, unload --------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "internal.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static attn_status readGpuCode(attn_code *code) {
  // 1 GiB: only a wrong file is larger.
  return code->path ? attn_read_file(code->path, (size_t)1 << 30, &code->data, &code->bytes) : ATTN_OK;
}

static attn_status load(const char *path, attn_kernel *kernel) {
  attn_manifest *manifest = &kernel->manifest;
  ATTN_TRY(attn_manifest_read(path, &kernel->arena, manifest));
  for (uint32_t i = 0; i < manifest->num_kernels; ++i) {
    attn_kernel_code *code = &manifest->kernels[i];
    if (manifest->cpu) {
      ATTN_TRY(attn_open_cpu_code(manifest, code));
      continue;
    }
    ATTN_TRY(readGpuCode(&code->ptx));
    ATTN_TRY(readGpuCode(&code->cubin));
  }
  return ATTN_OK;
}

attn_status attn_kernel_load(const char *manifest_path, attn_kernel **out) {
  attn_clear_error();
  if (!out)
    return attn_fail(ATTN_ERROR_ARGUMENT, "out: is null");
  *out = NULL;
  if (!manifest_path)
    return attn_fail(ATTN_ERROR_ARGUMENT, "manifest_path: is null");
  attn_kernel *kernel = calloc(1, sizeof(*kernel));
  if (!kernel)
    return attn_fail(ATTN_ERROR_OUT_OF_MEMORY, "%s: no memory to load it", manifest_path);
  pthread_mutex_init(&kernel->mutex, NULL);
  attn_status status = load(manifest_path, kernel);
  if (status == ATTN_OK)
    *out = kernel;
  else
    attn_kernel_unload(kernel);
  return status;
}

void attn_kernel_unload(attn_kernel *kernel) {
  if (!kernel)
    return;
  attn_unload_gpu(kernel);
  for (uint32_t i = 0; i < kernel->manifest.num_kernels; ++i) {
    attn_kernel_code *code = &kernel->manifest.kernels[i];
    free(code->ptx.data);
    free(code->cubin.data);
    if (code->library)
      dlclose(code->library);
  }
  pthread_mutex_destroy(&kernel->mutex);
  free(kernel->jit_log);
  attn_arena_free(&kernel->arena);
  free(kernel);
}

//===----------------------------------------------------------------------===//
// What the manifest says
//===----------------------------------------------------------------------===//

uint32_t attn_kernel_num_operands(const attn_kernel *kernel) { return kernel ? kernel->manifest.num_operands : 0; }

attn_status attn_kernel_operand_info(const attn_kernel *kernel, uint32_t index, attn_operand_info *info) {
  attn_clear_error();
  if (!kernel || !info)
    return attn_fail(ATTN_ERROR_ARGUMENT, "%s: is null", kernel ? "info" : "kernel");
  const attn_manifest *manifest = &kernel->manifest;
  if (index >= manifest->num_operands)
    return attn_fail(ATTN_ERROR_ARGUMENT, "index: is %u, expected less than %u", index, manifest->num_operands);
  if (info->size < sizeof(*info))
    return attn_fail(ATTN_ERROR_ARGUMENT,
                     "info: its size field says %u bytes, expected %zu (set it to sizeof the struct)", info->size,
                     sizeof(*info));
  const attn_operand *operand = &manifest->operands[index];
  info->size = sizeof(*info); // how much of it is filled in
  info->role = operand->role;
  info->dtype = operand->dtype;
  info->rank = operand->rank;
  info->name = operand->name;
  for (uint32_t d = 0; d < ATTN_MAX_RANK; ++d) {
    bool there = d < operand->rank;
    info->dims[d] = there ? operand->fixed[d] : -1;
    info->dim_names[d] = there && operand->size_of[d] >= 0 ? manifest->sizes[operand->size_of[d]].name : NULL;
  }
  return ATTN_OK;
}

int32_t attn_kernel_find_operand(const attn_kernel *kernel, const char *name) {
  for (uint32_t i = 0; kernel && name && i < kernel->manifest.num_operands; ++i)
    if (strcmp(kernel->manifest.operands[i].name, name) == 0)
      return (int32_t)i;
  return -1;
}

const char *attn_kernel_chip(const attn_kernel *kernel) { return kernel ? kernel->manifest.kernels[0].chip : ""; }

const char *attn_kernel_meaning(const attn_kernel *kernel) { return kernel ? kernel->manifest.meaning : "{}"; }

size_t attn_kernel_jit_log(attn_kernel *kernel, char *buffer, size_t capacity) {
  if (buffer && capacity)
    buffer[0] = 0;
  if (!kernel)
    return 1;
  pthread_mutex_lock(&kernel->mutex);
  const char *log = kernel->jit_log ? kernel->jit_log : "";
  size_t bytes = strlen(log) + 1, take = bytes < capacity ? bytes : capacity;
  if (buffer && take) {
    memcpy(buffer, log, take - 1);
    buffer[take - 1] = 0;
  }
  pthread_mutex_unlock(&kernel->mutex);
  return bytes;
}
