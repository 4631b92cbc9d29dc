//===- error.c - this thread's message, and the names of things -----------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Long enough for a sentence and the first lines of an assembler's log.
static _Thread_local char message[2048];

uint32_t attn_abi_version(void) { return ATTN_ABI_VERSION; }

const char *attn_last_error(void) { return message; }

void attn_clear_error(void) { message[0] = 0; }

attn_status attn_fail(attn_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  // The arguments may quote the old message, so it cannot be written in place.
  char text[sizeof(message)];
  vsnprintf(text, sizeof(text), format, args);
  va_end(args);
  memcpy(message, text, sizeof(text));
  return status;
}

const char *attn_status_name(attn_status status) {
  switch (status) {
#define CASE(name)                                                                                                     \
  case name:                                                                                                           \
    return #name;
    CASE(ATTN_OK)
    CASE(ATTN_ERROR_ARGUMENT)
    CASE(ATTN_ERROR_FILE)
    CASE(ATTN_ERROR_MANIFEST)
    CASE(ATTN_ERROR_UNSUPPORTED)
    CASE(ATTN_ERROR_MISSING)
    CASE(ATTN_ERROR_RANK)
    CASE(ATTN_ERROR_DTYPE)
    CASE(ATTN_ERROR_SHAPE)
    CASE(ATTN_ERROR_REQUIRE)
    CASE(ATTN_ERROR_STRIDE)
    CASE(ATTN_ERROR_ALIGNMENT)
    CASE(ATTN_ERROR_ALIAS)
    CASE(ATTN_ERROR_GRID)
    CASE(ATTN_ERROR_WORKSPACE)
    CASE(ATTN_ERROR_DEVICE)
    CASE(ATTN_ERROR_NO_DRIVER)
    CASE(ATTN_ERROR_NO_DEVICE)
    CASE(ATTN_ERROR_ARCH)
    CASE(ATTN_ERROR_CODE)
    CASE(ATTN_ERROR_RESOURCES)
    CASE(ATTN_ERROR_LAUNCH)
    CASE(ATTN_ERROR_OUT_OF_MEMORY)
#undef CASE
  }
  return "ATTN_ERROR_UNKNOWN";
}

static const struct {
  const char *name;
  uint32_t bytes;
} dtypes[] = {{"?", 0}, {"f16", 2}, {"bf16", 2}, {"f32", 4}, {"i1", 1}, {"i8", 1}, {"i32", 4}};
#define NUM_DTYPES (sizeof(dtypes) / sizeof(dtypes[0]))

const char *attn_dtype_name(uint32_t dtype) { return dtypes[dtype < NUM_DTYPES ? dtype : 0].name; }

uint32_t attn_dtype_bytes(uint32_t dtype) { return dtypes[dtype < NUM_DTYPES ? dtype : 0].bytes; }

attn_status attn_copy_sized(void *to, uint32_t known, const void *from, const char *what, const char *name) {
  uint32_t given;
  memcpy(&given, from, sizeof(given));
  if (given < known)
    return attn_fail(ATTN_ERROR_ARGUMENT,
                     "%s%s: its size field says %u bytes, expected %u (set it to sizeof the struct)", what, name, given,
                     known);
  // 64 KiB: no header will ever need more, a forgotten field often says so.
  if (given > (1u << 16))
    return attn_fail(ATTN_ERROR_ARGUMENT, "%s%s: its size field says %u bytes, expected %u (is it uninitialised?)",
                     what, name, given, known);
  const unsigned char *bytes = from;
  for (uint32_t i = known; i < given; ++i)
    if (bytes[i])
      return attn_fail(ATTN_ERROR_UNSUPPORTED,
                       "%s%s: is %u bytes long and sets fields beyond the %u this library (ABI version %d) knows", what,
                       name, given, known, ATTN_ABI_VERSION);
  memcpy(to, from, known);
  return ATTN_OK;
}
