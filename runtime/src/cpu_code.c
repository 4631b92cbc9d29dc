//===- cpu_code.c - the shared library of a CPU kernel --------------------===//
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

/// Code for a level of the x86-64 ABI that this processor lacks (or that is not known here) would end at an illegal
/// instruction. Other names are taken on trust.
static bool hasCpu(const char *cpu) {
#ifdef __x86_64__
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  if (strcmp(cpu, "x86-64-v3") == 0)
    return v3;
  if (strcmp(cpu, "x86-64-v4") == 0)
    return v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return strncmp(cpu, "x86-64-v", 8) != 0 || (strcmp(cpu, "x86-64-v2") == 0 && __builtin_cpu_supports("sse4.2"));
#else
  return strncmp(cpu, "x86-64", 6) != 0;
#endif
}

static const char *kindOf(char letter) {
  switch (letter) {
  case 'p':
    return "a pointer";
  case 'l':
    return "an i64";
  case 'i':
    return "an i32";
  case 'f':
    return "an f32";
  default:
    return "something this library does not know";
  }
}

/// A manifest that passes something else than the code reads would end in a wild pointer. The code says what it reads:
/// a letter for each parameter. Code without the text is taken on trust.
static attn_status checkParams(const attn_manifest *manifest, const attn_kernel_code *kernel) {
  char *name = malloc(strlen(kernel->name) + sizeof("_params"));
  if (!name)
    return attn_fail(ATTN_ERROR_OUT_OF_MEMORY, "kernel %s: no memory to load it", kernel->name);
  strcat(strcpy(name, kernel->name), "_params");
  const char *takes = dlsym(kernel->library, name);
  free(name);
  if (!takes)
    return ATTN_OK;
  size_t n = 0, count = strlen(takes);
  for (uint32_t a = 0; a < kernel->num_args; ++a) {
    char given = attn_arg_letter(manifest, kernel->args[a]);
    for (uint32_t i = 0, e = attn_arg_params(manifest, kernel->args[a]); i < e && n < count; ++i, ++n)
      if (given != takes[n])
        return attn_fail(ATTN_ERROR_MANIFEST,
                         "%s: kernel %s: \"args\"[%u] passes %s as parameter %zu, where its code takes %s",
                         manifest->path, kernel->name, a, kindOf(given), n, kindOf(takes[n]));
  }
  if (count != kernel->num_params)
    return attn_fail(ATTN_ERROR_MANIFEST, "%s: kernel %s: \"args\" stand for %u parameters, its code takes %zu",
                     manifest->path, kernel->name, kernel->num_params, count);
  return ATTN_OK;
}

attn_status attn_open_cpu_code(const attn_manifest *manifest, attn_kernel_code *kernel) {
  if (kernel->cpu && !hasCpu(kernel->cpu))
    return attn_fail(ATTN_ERROR_ARCH, "kernel %s: its code needs a %.64s processor, which this one is not",
                     kernel->name, kernel->cpu);
  // A missing file is told apart from one the loader refuses.
  char *ignored;
  size_t bytes;
  ATTN_TRY(attn_read_file(kernel->cubin.path, SIZE_MAX - 1, &ignored, &bytes));
  free(ignored);
  kernel->library = dlopen(kernel->cubin.path, RTLD_NOW | RTLD_LOCAL);
  if (!kernel->library)
    return attn_fail(ATTN_ERROR_CODE, "kernel %s: %s", kernel->name, dlerror());
  void *entry = dlsym(kernel->library, kernel->name);
  if (!entry)
    return attn_fail(ATTN_ERROR_CODE, "kernel %s: %s has no function of this name", kernel->name, kernel->cubin.path);
  memcpy(&kernel->entry, &entry, sizeof(entry)); // ISO C has no cast from object to function
  return checkParams(manifest, kernel);
}
