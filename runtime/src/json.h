//===- json.h - reading JSON with messages that say where -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RT_JSON_H
#define ATTN_RT_JSON_H

#include "internal.h"

#include <cjson/cJSON.h>

/// What every reading function needs.
typedef struct attn_reader {
  attn_arena *arena;
  attn_manifest *manifest;
} attn_reader;

/// A place in the document: `kernels[0].args[3]`.
typedef struct attn_where {
  char text[120];
} attn_where;
attn_where attn_at(const char *format, ...) ATTN_PRINTF(1, 2);

/// "path: where: message" with ATTN_ERROR_MANIFEST, or with ATTN_ERROR_UNSUPPORTED
/// when the document is sound but asks for what this library does not know.
attn_status attn_bad(const attn_reader *reader, attn_where where, const char *format, ...) ATTN_PRINTF(3, 4);
attn_status attn_unknown(const attn_reader *reader, attn_where where, const char *format, ...) ATTN_PRINTF(3, 4);

/// "a string", "null", "nothing" (item is NULL), ...
const char *attn_json_kind(const cJSON *item);
/// The member with this key, NULL if there is none.
const cJSON *attn_json_get(const cJSON *object, const char *key);

/// A list (object) or nothing; `count` its members, at most `max`.
attn_status attn_json_list(const attn_reader *reader, attn_where where, const cJSON *item, uint32_t max,
                           uint32_t *count);
attn_status attn_json_object(const attn_reader *reader, attn_where where, const cJSON *item, uint32_t max,
                             uint32_t *count);
/// A string that is not empty. The text belongs to the document.
attn_status attn_json_string(const attn_reader *reader, attn_where where, const cJSON *item, const char **out);
attn_status attn_json_int(const attn_reader *reader, attn_where where, const cJSON *item, int64_t min, int64_t max,
                          int64_t *out);
/// Refuses members of `object` that are not in `known` (ends with NULL), and
/// members that come twice.
attn_status attn_json_keys(const attn_reader *reader, attn_where where, const cJSON *object, const char *const *known);

/// Memory of the arena for `count` things.
attn_status attn_reader_alloc(const attn_reader *reader, uint32_t count, size_t each, void *out);
attn_status attn_reader_string(const attn_reader *reader, const char *text, const char **out);

/// Index of the size, operand or workspace buffer of this name, -1 if none.
int32_t attn_find_size(const attn_manifest *manifest, const char *name);
int32_t attn_find_operand(const attn_manifest *manifest, const char *name);
int32_t attn_find_workspace(const attn_manifest *manifest, const char *name);

/// One of the four forms of a number.
attn_status attn_json_number(const attn_reader *reader, attn_where where, const cJSON *item, attn_number *out);

/// manifest_kernels.c
attn_status attn_read_kernels(const attn_reader *reader, const cJSON *list);
/// manifest_args.c: the arguments of a kernel of `way`, which knows when it is chosen.
attn_status attn_read_args(const attn_reader *reader, attn_where where, const cJSON *list, const attn_way *way,
                           attn_kernel_code *kernel);

#endif // ATTN_RT_JSON_H
