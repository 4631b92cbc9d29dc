//===- manifest.c - a manifest's JSON to checked structs ------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything a launch relies on is checked here once: names resolve, indices
// are in range, words are known. What is not known is refused by name, since
// ignoring it could mean a wrong launch; only unknown keys of the top level are
// skipped (they are notes for other readers).
//
//===----------------------------------------------------------------------===//

#include "attn_rt/manifest_keys.h"
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// Index of `word` in a list that ends with NULL, -1 if it is not there.
static int indexOf(const char *word, const char *const *words) {
  for (int i = 0; words[i]; ++i)
    if (strcmp(word, words[i]) == 0)
      return i;
  return -1;
}

static attn_status readType(const attn_reader *reader, attn_where where, const cJSON *item, uint32_t *dtype) {
  const char *text;
  ATTN_TRY(attn_json_string(reader, where, item, &text));
  for (*dtype = ATTN_F16; *dtype <= ATTN_I32; ++*dtype)
    if (strcmp(text, attn_dtype_name(*dtype)) == 0)
      return ATTN_OK;
  return attn_unknown(reader, where, "unknown type '%.64s'; this library knows f16, bf16, f32, i1, i8, i32", text);
}

//===----------------------------------------------------------------------===//
// operands and sizes: they name each other, so operands come in two steps
//===----------------------------------------------------------------------===//

static attn_status readOperandHead(const attn_reader *reader, attn_where where, const cJSON *item,
                                   attn_operand *operand) {
  static const char *const known[] = {ATTN_KEY_NAME,       ATTN_KEY_ROLE,         ATTN_KEY_TYPE, ATTN_KEY_DIMS,
                                      ATTN_KEY_BASE_ALIGN, ATTN_KEY_STRIDE_ALIGN, NULL};
  // In the order of attn_role.
  static const char *const roles[] = {ATTN_ROLE_NAME_IN, ATTN_ROLE_NAME_OUT, ATTN_ROLE_NAME_CAPTURE,
                                      ATTN_ROLE_NAME_SCALAR, NULL};
  uint32_t ignored;
  ATTN_TRY(attn_json_object(reader, where, item, UINT32_MAX, &ignored));
  ATTN_TRY(attn_json_keys(reader, where, item, known));
  const char *name, *role;
  ATTN_TRY(attn_json_string(reader, attn_at("%s.name", where.text), attn_json_get(item, ATTN_KEY_NAME), &name));
  ATTN_TRY(attn_json_string(reader, attn_at("%s.role", where.text), attn_json_get(item, ATTN_KEY_ROLE), &role));
  int found = indexOf(role, roles);
  if (found < 0)
    return attn_unknown(reader, attn_at("%s.role", where.text),
                        "unknown role '%.64s'; this library knows in, out, capture, scalar", role);
  operand->role = (uint32_t)found + ATTN_ROLE_IN;
  if (attn_find_operand(reader->manifest, name) >= 0)
    return attn_bad(reader, where, "the name '%.64s' is used twice", name);
  ATTN_TRY(attn_reader_string(reader, name, &operand->name));
  ATTN_TRY(readType(reader, attn_at("%s.type", where.text), attn_json_get(item, ATTN_KEY_TYPE), &operand->dtype));
  attn_where dims = attn_at("%s.dims", where.text);
  ATTN_TRY(attn_json_list(reader, dims, attn_json_get(item, ATTN_KEY_DIMS), ATTN_MAX_RANK, &operand->rank));
  if (operand->role == ATTN_ROLE_SCALAR) {
    if (operand->rank != 0)
      return attn_bad(reader, dims, "a scalar has no dimensions, got %u", operand->rank);
    if (operand->dtype != ATTN_F32 && operand->dtype != ATTN_I32)
      return attn_unknown(reader, attn_at("%s.type", where.text), "a scalar is f32 or i32, got %s",
                          attn_dtype_name(operand->dtype));
  }
  const struct {
    const char *key;
    int64_t *value;
  } aligns[] = {{ATTN_KEY_BASE_ALIGN, &operand->base_align}, {ATTN_KEY_STRIDE_ALIGN, &operand->stride_align}};
  for (int i = 0; i < 2; ++i) {
    const cJSON *align = attn_json_get(item, aligns[i].key);
    if (align)
      ATTN_TRY(attn_json_int(reader, attn_at("%s.%s", where.text, aligns[i].key), align, 1, 4096, aligns[i].value));
  }
  return ATTN_OK;
}

static attn_status readOperandHeads(const attn_reader *reader, const cJSON *list) {
  attn_manifest *manifest = reader->manifest;
  uint32_t count;
  ATTN_TRY(attn_json_list(reader, attn_at("operands"), list, ATTN_MAX_OPERANDS, &count));
  ATTN_TRY(attn_reader_alloc(reader, count, sizeof(attn_operand), &manifest->operands));
  for (const cJSON *item = list->child; item; item = item->next) {
    // Counted after it is read: the search for its name must not find itself.
    uint32_t i = manifest->num_operands;
    ATTN_TRY(readOperandHead(reader, attn_at("operands[%u]", i), item, &manifest->operands[i]));
    ++manifest->num_operands;
  }
  return ATTN_OK;
}

static attn_status readSizes(const attn_reader *reader, const cJSON *object) {
  attn_manifest *manifest = reader->manifest;
  uint32_t count;
  ATTN_TRY(attn_json_object(reader, attn_at("sizes"), object, ATTN_MAX_SIZES, &count));
  ATTN_TRY(attn_reader_alloc(reader, count, sizeof(attn_size), &manifest->sizes));
  for (const cJSON *item = object->child; item; item = item->next) {
    attn_where where = attn_at("sizes.%.64s", item->string);
    attn_size *size = &manifest->sizes[manifest->num_sizes];
    if (attn_find_size(manifest, item->string) >= 0)
      return attn_bad(reader, where, "comes twice");
    uint32_t two;
    ATTN_TRY(attn_json_list(reader, where, item, 2, &two));
    if (two != 2)
      return attn_bad(reader, where, "expected [operand, dimension], got %u entries", two);
    const char *operand;
    int64_t dim;
    ATTN_TRY(attn_json_string(reader, attn_at("%s[0]", where.text), item->child, &operand));
    int32_t index = attn_find_operand(manifest, operand);
    if (index < 0)
      return attn_bad(reader, where, "'%.64s' is not in \"operands\"", operand);
    int64_t rank = manifest->operands[index].rank;
    ATTN_TRY(attn_json_int(reader, attn_at("%s[1]", where.text), item->child->next, 0, rank - 1, &dim));
    ATTN_TRY(attn_reader_string(reader, item->string, &size->name));
    size->operand = (uint32_t)index;
    size->dim = (uint32_t)dim;
    ++manifest->num_sizes;
  }
  return ATTN_OK;
}

static attn_status readOperandDims(const attn_reader *reader, const cJSON *list) {
  attn_manifest *manifest = reader->manifest;
  uint32_t i = 0;
  for (const cJSON *item = list->child; item; item = item->next, ++i) {
    attn_operand *operand = &manifest->operands[i];
    uint32_t d = 0;
    for (const cJSON *dim = attn_json_get(item, ATTN_KEY_DIMS)->child; dim; dim = dim->next, ++d) {
      attn_where where = attn_at("operands[%u].dims[%u]", i, d);
      operand->fixed[d] = operand->size_of[d] = -1;
      if (cJSON_IsNull(dim))
        continue;
      if (cJSON_IsNumber(dim)) {
        ATTN_TRY(attn_json_int(reader, where, dim, 0, INT32_MAX, &operand->fixed[d]));
        continue;
      }
      if (!cJSON_IsString(dim))
        return attn_bad(reader, where, "expected null, an integer or a size name, got %s", attn_json_kind(dim));
      operand->size_of[d] = attn_find_size(manifest, dim->valuestring);
      if (operand->size_of[d] < 0)
        return attn_bad(reader, where, "'%.64s' is not in \"sizes\"", dim->valuestring);
    }
  }
  // The dimension that defines a size carries its name, unless it is a number.
  for (uint32_t s = 0; s < manifest->num_sizes; ++s) {
    const attn_size *size = &manifest->sizes[s];
    const attn_operand *operand = &manifest->operands[size->operand];
    if (operand->size_of[size->dim] != (int32_t)s && operand->fixed[size->dim] < 0)
      return attn_bad(reader, attn_at("sizes.%.64s", size->name), "dimension %u of %s does not name it", size->dim,
                      operand->name);
  }
  return ATTN_OK;
}

//===----------------------------------------------------------------------===//
// require, empty, workspace, values
//===----------------------------------------------------------------------===//

static attn_status numberText(const attn_reader *reader, const cJSON *item, const char **out) {
  if (cJSON_IsString(item))
    return attn_reader_string(reader, item->valuestring, out);
  char *text = cJSON_PrintUnformatted(item);
  if (!text)
    return attn_fail(ATTN_ERROR_OUT_OF_MEMORY, "%s: no memory to read it", reader->manifest->path);
  attn_status status = attn_reader_string(reader, text, out);
  cJSON_free(text);
  return status;
}

static attn_status readRequire(const attn_reader *reader, const cJSON *list) {
  static const char *const known[] = {ATTN_KEY_DIVIDES, NULL};
  attn_manifest *manifest = reader->manifest;
  uint32_t members;
  ATTN_TRY(attn_json_list(reader, attn_at("require"), list, 64, &manifest->num_require));
  ATTN_TRY(attn_reader_alloc(reader, manifest->num_require, sizeof(attn_require), &manifest->require));
  uint32_t i = 0;
  for (const cJSON *item = list->child; item; item = item->next, ++i) {
    attn_require *require = &manifest->require[i];
    attn_where where = attn_at("require[%u]", i);
    ATTN_TRY(attn_json_object(reader, where, item, UINT32_MAX, &members));
    ATTN_TRY(attn_json_keys(reader, where, item, known));
    const cJSON *pair = attn_json_get(item, ATTN_KEY_DIVIDES);
    where = attn_at("require[%u].divides", i);
    ATTN_TRY(attn_json_list(reader, where, pair, 2, &members));
    if (members != 2)
      return attn_bad(reader, where, "expected [divisor, dividend], got %u entries", members);
    ATTN_TRY(attn_json_number(reader, attn_at("%s[0]", where.text), pair->child, &require->divisor));
    ATTN_TRY(attn_json_number(reader, attn_at("%s[1]", where.text), pair->child->next, &require->dividend));
    ATTN_TRY(numberText(reader, pair->child, &require->divisor_text));
    ATTN_TRY(numberText(reader, pair->child->next, &require->dividend_text));
  }
  return ATTN_OK;
}

static attn_status readFills(const attn_reader *reader, attn_where where, const cJSON *object, attn_empty *rule) {
  ATTN_TRY(attn_json_object(reader, where, object, ATTN_MAX_OPERANDS, &rule->num_fills));
  ATTN_TRY(attn_reader_alloc(reader, rule->num_fills, sizeof(attn_fill), &rule->fills));
  uint32_t i = 0;
  for (const cJSON *item = object->child; item; item = item->next, ++i) {
    attn_where at = attn_at("%s.%.64s", where.text, item->string);
    int32_t index = attn_find_operand(reader->manifest, item->string);
    if (index < 0 || reader->manifest->operands[index].role != ATTN_ROLE_OUT)
      return attn_bad(reader, at, "'%.64s' is no operand of role out", item->string);
    rule->fills[i].operand = (uint32_t)index;
    static const char *const words[] = {"inf", "-inf", "nan", NULL};
    static const double values[] = {INFINITY, -INFINITY, NAN};
    int word = cJSON_IsString(item) ? indexOf(item->valuestring, words) : -1;
    if (word < 0 && !cJSON_IsNumber(item))
      return attn_bad(reader, at, "expected a number, \"inf\", \"-inf\" or \"nan\", got %s", attn_json_kind(item));
    rule->fills[i].value = word < 0 ? item->valuedouble : values[word];
  }
  return ATTN_OK;
}

static attn_status readEmpty(const attn_reader *reader, const cJSON *list) {
  static const char *const known[] = {ATTN_KEY_ZERO, ATTN_KEY_DO, ATTN_KEY_FILL, NULL};
  attn_manifest *manifest = reader->manifest;
  ATTN_TRY(attn_json_list(reader, attn_at("empty"), list, 64, &manifest->num_empty));
  ATTN_TRY(attn_reader_alloc(reader, manifest->num_empty, sizeof(attn_empty), &manifest->empty));
  uint32_t i = 0;
  for (const cJSON *item = list->child; item; item = item->next, ++i) {
    attn_empty *rule = &manifest->empty[i];
    attn_where where = attn_at("empty[%u]", i);
    uint32_t members;
    ATTN_TRY(attn_json_object(reader, where, item, UINT32_MAX, &members));
    ATTN_TRY(attn_json_keys(reader, where, item, known));
    const cJSON *zero = attn_json_get(item, ATTN_KEY_ZERO);
    attn_where at = attn_at("%s.zero", where.text);
    ATTN_TRY(attn_json_list(reader, at, zero, ATTN_MAX_SIZES, &rule->num_sizes));
    ATTN_TRY(attn_reader_alloc(reader, rule->num_sizes, sizeof(uint32_t), &rule->sizes));
    uint32_t s = 0;
    for (const cJSON *name = zero->child; name; name = name->next, ++s) {
      const char *text;
      ATTN_TRY(attn_json_string(reader, attn_at("%s[%u]", at.text, s), name, &text));
      int32_t index = attn_find_size(manifest, text);
      if (index < 0)
        return attn_bad(reader, attn_at("%s[%u]", at.text, s), "'%.64s' is not in \"sizes\"", text);
      rule->sizes[s] = (uint32_t)index;
    }
    const cJSON *action = attn_json_get(item, ATTN_KEY_DO), *fill = attn_json_get(item, ATTN_KEY_FILL);
    if (!action == !fill)
      return attn_bad(reader, where, "expected either \"do\" or \"fill\", got %s", action ? "both" : "neither");
    if (fill) {
      ATTN_TRY(readFills(reader, attn_at("%s.fill", where.text), fill, rule));
      continue;
    }
    const char *text;
    ATTN_TRY(attn_json_string(reader, attn_at("%s.do", where.text), action, &text));
    if (strcmp(text, ATTN_DO_NOTHING) != 0)
      return attn_unknown(reader, attn_at("%s.do", where.text), "unknown action '%.64s'; this library knows nothing",
                          text);
  }
  return ATTN_OK;
}

/// What a launch leaves behind for the next must lie at the same place in both,
/// whatever their sizes are.
static attn_status checkRestored(const attn_reader *reader, attn_where where, uint32_t index) {
  const attn_workspace *buffers = reader->manifest->workspace;
  for (uint32_t f = 0; f < buffers[index].elements.count; ++f)
    if (buffers[index].elements.factors[f].kind != ATTN_FACTOR_INT)
      return attn_bad(reader, where, "a restored buffer has integers for dims");
  if (index > 0 && buffers[index - 1].zero != ATTN_ZERO_KIND_RESTORED)
    return attn_bad(reader, where, "a restored buffer comes before all others, but '%.64s' is in front",
                    buffers[index - 1].name);
  return ATTN_OK;
}

static attn_status readWorkspace(const attn_reader *reader, const cJSON *list) {
  static const char *const known[] = {ATTN_KEY_NAME, ATTN_KEY_TYPE, ATTN_KEY_DIMS, ATTN_KEY_ZERO, NULL};
  // In the order of attn_workspace::zero.
  static const char *const words[] = {ATTN_ZERO_BY_KERNEL, ATTN_ZERO_BEFORE_FIRST, ATTN_ZERO_RESTORED, NULL};
  attn_manifest *manifest = reader->manifest;
  uint32_t count;
  ATTN_TRY(attn_json_list(reader, attn_at("workspace"), list, ATTN_MAX_WORKSPACE, &count));
  ATTN_TRY(attn_reader_alloc(reader, count, sizeof(attn_workspace), &manifest->workspace));
  for (const cJSON *item = list->child; item; item = item->next) {
    uint32_t i = manifest->num_workspace, members;
    attn_workspace *buffer = &manifest->workspace[i];
    attn_where where = attn_at("workspace[%u]", i);
    ATTN_TRY(attn_json_object(reader, where, item, UINT32_MAX, &members));
    ATTN_TRY(attn_json_keys(reader, where, item, known));
    const char *name, *zero;
    ATTN_TRY(attn_json_string(reader, attn_at("%s.name", where.text), attn_json_get(item, ATTN_KEY_NAME), &name));
    if (attn_find_operand(manifest, name) >= 0 || attn_find_workspace(manifest, name) >= 0)
      return attn_bad(reader, where, "the name '%.64s' is used twice", name);
    ATTN_TRY(attn_reader_string(reader, name, &buffer->name));
    ATTN_TRY(readType(reader, attn_at("%s.type", where.text), attn_json_get(item, ATTN_KEY_TYPE), &buffer->dtype));
    const cJSON *dims = attn_json_get(item, ATTN_KEY_DIMS);
    where = attn_at("workspace[%u].dims", i);
    ATTN_TRY(attn_json_list(reader, where, dims, ATTN_MAX_RANK, &buffer->rank));
    ATTN_TRY(attn_json_number(reader, where, dims, &buffer->elements));
    uint32_t d = 0;
    for (const cJSON *dim = dims->child; dim; dim = dim->next, ++d)
      ATTN_TRY(attn_json_number(reader, attn_at("%s[%u]", where.text, d), dim, &buffer->dims[d]));
    const cJSON *when = attn_json_get(item, ATTN_KEY_ZERO);
    if (when) {
      where = attn_at("workspace[%u].zero", i);
      ATTN_TRY(attn_json_string(reader, where, when, &zero));
      int found = indexOf(zero, words);
      if (found < 0)
        return attn_unknown(reader, where, "unknown word '%.64s'; this library knows by_kernel, before_first, restored",
                            zero);
      buffer->zero = found;
      if (found == ATTN_ZERO_KIND_RESTORED)
        ATTN_TRY(checkRestored(reader, where, i));
    }
    ++manifest->num_workspace;
  }
  return ATTN_OK;
}

static attn_status readValues(const attn_reader *reader, const cJSON *object) {
  static const char *const known[] = {ATTN_KEY_RULE,   ATTN_KEY_OF,    ATTN_KEY_UNIT_BYTES,
                                      ATTN_KEY_BUDGET, ATTN_KEY_WHOLE, NULL};
  attn_manifest *manifest = reader->manifest;
  ATTN_TRY(attn_json_object(reader, attn_at("values"), object, ATTN_MAX_VALUES, &manifest->num_values));
  ATTN_TRY(attn_reader_alloc(reader, manifest->num_values, sizeof(attn_value), &manifest->values));
  uint32_t i = 0;
  for (const cJSON *item = object->child; item; item = item->next, ++i) {
    attn_value *value = &manifest->values[i];
    attn_where where = attn_at("values.%.64s", item->string);
    uint32_t members;
    ATTN_TRY(attn_json_object(reader, where, item, UINT32_MAX, &members));
    const char *rule;
    ATTN_TRY(attn_json_string(reader, attn_at("%s.rule", where.text), attn_json_get(item, ATTN_KEY_RULE), &rule));
    if (strcmp(rule, ATTN_RULE_LARGEST_DIVISOR) != 0)
      return attn_unknown(reader, attn_at("%s.rule", where.text),
                          "unknown rule '%.64s'; this library knows largest_divisor", rule);
    ATTN_TRY(attn_json_keys(reader, where, item, known));
    ATTN_TRY(attn_reader_string(reader, item->string, &value->name));
    ATTN_TRY(attn_json_number(reader, attn_at("%s.of", where.text), attn_json_get(item, ATTN_KEY_OF), &value->of));
    ATTN_TRY(attn_json_number(reader, attn_at("%s.unit_bytes", where.text), attn_json_get(item, ATTN_KEY_UNIT_BYTES),
                              &value->unit_bytes));
    ATTN_TRY(attn_json_int(reader, attn_at("%s.budget", where.text), attn_json_get(item, ATTN_KEY_BUDGET), 0, INT64_MAX,
                           &value->budget));
    const cJSON *whole = attn_json_get(item, ATTN_KEY_WHOLE);
    if (whole)
      ATTN_TRY(attn_json_int(reader, attn_at("%s.whole", where.text), whole, 0, INT64_MAX, &value->whole));
  }
  return ATTN_OK;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static attn_status readDocument(const attn_reader *reader, const cJSON *root) {
  if (!cJSON_IsObject(root))
    return attn_bad(reader, attn_at("top level"), "expected an object, got %s", attn_json_kind(root));
  const cJSON *version = attn_json_get(root, ATTN_KEY_MANIFEST);
  if (!cJSON_IsNumber(version))
    return attn_bad(reader, attn_at("attn_manifest"), "expected the version of the format, got %s",
                    attn_json_kind(version));
  if (version->valuedouble != ATTN_MANIFEST_VERSION)
    return attn_unknown(reader, attn_at("attn_manifest"), "is version %g, this library reads version %d",
                        version->valuedouble, ATTN_MANIFEST_VERSION);
  const cJSON *operands = attn_json_get(root, ATTN_KEY_OPERANDS);
  ATTN_TRY(readOperandHeads(reader, operands));
  ATTN_TRY(readSizes(reader, attn_json_get(root, ATTN_KEY_SIZES)));
  ATTN_TRY(readOperandDims(reader, operands));
  static const struct {
    const char *key;
    attn_status (*read)(const attn_reader *, const cJSON *);
  } optional[] = {{ATTN_KEY_REQUIRE, readRequire},
                  {ATTN_KEY_EMPTY, readEmpty},
                  {ATTN_KEY_WORKSPACE, readWorkspace},
                  {ATTN_KEY_VALUES, readValues}};
  for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); ++i) {
    const cJSON *item = attn_json_get(root, optional[i].key);
    if (item)
      ATTN_TRY(optional[i].read(reader, item));
  }
  const cJSON *meaning = attn_json_get(root, ATTN_KEY_MEANING);
  reader->manifest->meaning = "{}";
  if (meaning)
    ATTN_TRY(numberText(reader, meaning, &reader->manifest->meaning));
  return attn_read_kernels(reader, attn_json_get(root, ATTN_KEY_KERNELS));
}

static void lineAndColumn(const char *text, const char *at, uint32_t *line, uint32_t *column) {
  *line = *column = 1;
  for (; text < at; ++text) {
    *column = *text == '\n' ? 1 : *column + 1;
    *line += *text == '\n';
  }
}

attn_status attn_manifest_read(const char *path, attn_arena *arena, attn_manifest *manifest) {
  attn_reader reader = {arena, manifest};
  manifest->path = attn_arena_string(arena, path);
  if (!manifest->path)
    return attn_fail(ATTN_ERROR_OUT_OF_MEMORY, "%s: no memory to read it", path);
  char *text;
  size_t bytes;
  // 16 MiB: a manifest has kilobytes.
  ATTN_TRY(attn_read_file(path, (size_t)16 << 20, &text, &bytes));
  // cJSON notes the place of an error in a global, so one thread at a time.
  static pthread_mutex_t parsing = PTHREAD_MUTEX_INITIALIZER;
  const char *end = text;
  pthread_mutex_lock(&parsing);
  cJSON *root = cJSON_ParseWithLengthOpts(text, bytes + 1, &end, /*require_null_terminated=*/1);
  pthread_mutex_unlock(&parsing);
  attn_status status;
  if (root && end == text + bytes) {
    status = readDocument(&reader, root);
  } else {
    uint32_t line, column;
    lineAndColumn(text, end, &line, &column);
    status = attn_fail(ATTN_ERROR_MANIFEST, "%s:%u:%u: is not JSON", path, line, column);
  }
  cJSON_Delete(root);
  free(text);
  return status;
}
