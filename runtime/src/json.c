//===- json.c - reading JSON with messages that say where -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "json.h"

#include "attn_rt/manifest_keys.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

attn_where attn_at(const char *format, ...) {
  attn_where where;
  va_list args;
  va_start(args, format);
  vsnprintf(where.text, sizeof(where.text), format, args);
  va_end(args);
  return where;
}

static attn_status say(attn_status status, const attn_reader *reader, const attn_where *where, const char *format,
                       va_list args) {
  char text[512];
  vsnprintf(text, sizeof(text), format, args);
  return attn_fail(status, "%s: %s: %s", reader->manifest->path, where->text, text);
}

attn_status attn_bad(const attn_reader *reader, attn_where where, const char *format, ...) {
  va_list args;
  va_start(args, format);
  attn_status status = say(ATTN_ERROR_MANIFEST, reader, &where, format, args);
  va_end(args);
  return status;
}

attn_status attn_unknown(const attn_reader *reader, attn_where where, const char *format, ...) {
  va_list args;
  va_start(args, format);
  attn_status status = say(ATTN_ERROR_UNSUPPORTED, reader, &where, format, args);
  va_end(args);
  return status;
}

const char *attn_json_kind(const cJSON *item) {
  if (!item)
    return "nothing";
  if (cJSON_IsString(item))
    return "a string";
  if (cJSON_IsNumber(item))
    return "a number";
  if (cJSON_IsArray(item))
    return "a list";
  if (cJSON_IsObject(item))
    return "an object";
  if (cJSON_IsBool(item))
    return cJSON_IsTrue(item) ? "true" : "false";
  return "null";
}

const cJSON *attn_json_get(const cJSON *object, const char *key) {
  return cJSON_GetObjectItemCaseSensitive(object, key);
}

static attn_status container(const attn_reader *reader, attn_where where, const cJSON *item, bool right,
                             const char *expected, uint32_t max, uint32_t *count) {
  if (!right)
    return attn_bad(reader, where, "expected %s, got %s", expected, attn_json_kind(item));
  int members = cJSON_GetArraySize(item);
  if ((uint32_t)members > max)
    return attn_unknown(reader, where, "has %d entries, this library takes at most %u", members, max);
  *count = (uint32_t)members;
  return ATTN_OK;
}

attn_status attn_json_list(const attn_reader *reader, attn_where where, const cJSON *item, uint32_t max,
                           uint32_t *count) {
  return container(reader, where, item, cJSON_IsArray(item), "a list", max, count);
}

attn_status attn_json_object(const attn_reader *reader, attn_where where, const cJSON *item, uint32_t max,
                             uint32_t *count) {
  return container(reader, where, item, cJSON_IsObject(item), "an object", max, count);
}

attn_status attn_json_string(const attn_reader *reader, attn_where where, const cJSON *item, const char **out) {
  if (!cJSON_IsString(item))
    return attn_bad(reader, where, "expected a string, got %s", attn_json_kind(item));
  if (!item->valuestring[0])
    return attn_bad(reader, where, "expected a name, got an empty string");
  *out = item->valuestring;
  return ATTN_OK;
}

attn_status attn_json_int(const attn_reader *reader, attn_where where, const cJSON *item, int64_t min, int64_t max,
                          int64_t *out) {
  if (!cJSON_IsNumber(item))
    return attn_bad(reader, where, "expected an integer, got %s", attn_json_kind(item));
  double value = item->valuedouble;
  // A JSON number is a double here: integers are exact up to 2^53.
  if (!(fabs(value) <= 9007199254740992.0) || value != floor(value))
    return attn_bad(reader, where, "expected an integer, got %g", value);
  *out = (int64_t)value;
  if (*out < min || *out > max)
    return attn_bad(reader, where, "expected %lld to %lld, got %lld", (long long)min, (long long)max, (long long)*out);
  return ATTN_OK;
}

attn_status attn_json_keys(const attn_reader *reader, attn_where where, const cJSON *object, const char *const *known) {
  for (const cJSON *item = object->child; item; item = item->next) {
    char list[256] = "";
    size_t used = 0;
    bool found = false;
    for (const char *const *key = known; *key && !found; ++key) {
      found = strcmp(item->string, *key) == 0;
      int wrote = snprintf(list + used, sizeof(list) - used, "%s%s", key == known ? "" : ", ", *key);
      used = used + (size_t)wrote < sizeof(list) ? used + (size_t)wrote : sizeof(list) - 1;
    }
    if (!found)
      return attn_unknown(reader, where, "unknown key '%.64s'; this library knows %s", item->string, list);
    if (attn_json_get(object, item->string) != item)
      return attn_bad(reader, where, "key '%.64s' comes twice", item->string);
  }
  return ATTN_OK;
}

attn_status attn_reader_alloc(const attn_reader *reader, uint32_t count, size_t each, void *out) {
  void *memory = attn_arena_alloc(reader->arena, count * each);
  if (!memory)
    return attn_fail(ATTN_ERROR_OUT_OF_MEMORY, "%s: no memory to read it", reader->manifest->path);
  memcpy(out, &memory, sizeof(memory));
  return ATTN_OK;
}

attn_status attn_reader_string(const attn_reader *reader, const char *text, const char **out) {
  *out = attn_arena_string(reader->arena, text);
  if (!*out)
    return attn_fail(ATTN_ERROR_OUT_OF_MEMORY, "%s: no memory to read it", reader->manifest->path);
  return ATTN_OK;
}

int32_t attn_find_size(const attn_manifest *manifest, const char *name) {
  for (uint32_t i = 0; i < manifest->num_sizes; ++i)
    if (strcmp(manifest->sizes[i].name, name) == 0)
      return (int32_t)i;
  return -1;
}

int32_t attn_find_operand(const attn_manifest *manifest, const char *name) {
  for (uint32_t i = 0; i < manifest->num_operands; ++i)
    if (strcmp(manifest->operands[i].name, name) == 0)
      return (int32_t)i;
  return -1;
}

int32_t attn_find_workspace(const attn_manifest *manifest, const char *name) {
  for (uint32_t i = 0; i < manifest->num_workspace; ++i)
    if (strcmp(manifest->workspace[i].name, name) == 0)
      return (int32_t)i;
  return -1;
}

static attn_status sizeNamed(const attn_reader *reader, attn_where where, const cJSON *item, uint32_t *size) {
  const char *name;
  ATTN_TRY(attn_json_string(reader, where, item, &name));
  int32_t index = attn_find_size(reader->manifest, name);
  if (index < 0)
    return attn_bad(reader, where, "'%.64s' is not in \"sizes\"", name);
  *size = (uint32_t)index;
  return ATTN_OK;
}

static attn_status factorOf(const attn_reader *reader, attn_where where, const cJSON *item, attn_factor *factor) {
  if (cJSON_IsNumber(item)) {
    factor->kind = ATTN_FACTOR_INT;
    return attn_json_int(reader, where, item, 0, INT64_MAX, &factor->n);
  }
  if (cJSON_IsString(item)) {
    factor->kind = ATTN_FACTOR_SIZE;
    return sizeNamed(reader, where, item, &factor->size);
  }
  if (cJSON_IsObject(item)) {
    static const char *const known[] = {ATTN_KEY_CEIL, ATTN_KEY_BY, NULL};
    factor->kind = ATTN_FACTOR_CEIL;
    ATTN_TRY(attn_json_keys(reader, where, item, known));
    ATTN_TRY(sizeNamed(reader, attn_at("%s.ceil", where.text), attn_json_get(item, ATTN_KEY_CEIL), &factor->size));
    attn_where at = attn_at("%s.by", where.text);
    const cJSON *by = attn_json_get(item, ATTN_KEY_BY);
    if (!cJSON_IsString(by))
      return attn_json_int(reader, at, by, 1, INT32_MAX, &factor->n);
    factor->kind = ATTN_FACTOR_CEIL_SIZE;
    return sizeNamed(reader, at, by, &factor->by);
  }
  return attn_bad(reader, where, "expected an integer, a size name or {\"ceil\": name, \"by\": n}, got %s",
                  attn_json_kind(item));
}

/// Lists within lists are one product. cJSON has bounded how deep they go.
static attn_status appendFactors(const attn_reader *reader, attn_where where, const cJSON *item, attn_number *out) {
  if (!cJSON_IsArray(item)) {
    if (out->count == ATTN_MAX_FACTORS)
      return attn_unknown(reader, where, "has more than the %d factors this library takes", ATTN_MAX_FACTORS);
    ATTN_TRY(factorOf(reader, where, item, &out->factors[out->count]));
    ++out->count;
    return ATTN_OK;
  }
  uint32_t i = 0;
  for (const cJSON *factor = item->child; factor; factor = factor->next, ++i)
    ATTN_TRY(appendFactors(reader, attn_at("%s[%u]", where.text, i), factor, out));
  return ATTN_OK;
}

attn_status attn_json_number(const attn_reader *reader, attn_where where, const cJSON *item, attn_number *out) {
  out->count = 0;
  return appendFactors(reader, where, item, out);
}
