//===- manifest_args.c - the "args" of a manifest's kernels ---------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn_rt/manifest_keys.h"
#include "json.h"

#include <string.h>

uint32_t attn_arg_params(const attn_manifest *manifest, attn_arg arg) {
  uint32_t rank;
  switch (arg.kind) {
  case ATTN_ARG_KIND_STRIDES:
  case ATTN_ARG_KIND_SIZES:
    rank = manifest->operands[arg.index].rank;
    break;
  case ATTN_ARG_KIND_WORKSPACE_STRIDES:
  case ATTN_ARG_KIND_WORKSPACE_SIZES:
    rank = manifest->workspace[arg.index].rank;
    break;
  default:
    return 1;
  }
  bool strides = arg.kind == ATTN_ARG_KIND_STRIDES || arg.kind == ATTN_ARG_KIND_WORKSPACE_STRIDES;
  return strides && rank > 0 ? rank - 1 : rank;
}

char attn_arg_letter(const attn_manifest *manifest, attn_arg arg) {
  switch (arg.kind) {
  case ATTN_ARG_KIND_PTR:
  case ATTN_ARG_KIND_WORKSPACE_PTR:
    return 'p';
  case ATTN_ARG_KIND_STRIDES:
  case ATTN_ARG_KIND_WORKSPACE_STRIDES:
    return 'l';
  case ATTN_ARG_KIND_SCALAR:
    return manifest->operands[arg.index].dtype == ATTN_F32 ? 'f' : 'i';
  case ATTN_ARG_KIND_MAP:
    return 'm';
  default:
    return 'i';
  }
}

static int32_t findValue(const attn_manifest *manifest, const char *name) {
  for (uint32_t i = 0; i < manifest->num_values; ++i)
    if (strcmp(manifest->values[i].name, name) == 0)
      return (int32_t)i;
  return -1;
}

/// The scalar operand `name` of type `dtype`, or a message.
static attn_status scalarNamed(const attn_reader *reader, attn_where where, const char *name, uint32_t dtype,
                               int32_t *index) {
  *index = attn_find_operand(reader->manifest, name);
  if (*index < 0)
    return attn_bad(reader, where, "'%.64s' is not in \"operands\"", name);
  const attn_operand *operand = &reader->manifest->operands[*index];
  if (operand->role != ATTN_ROLE_SCALAR || operand->dtype != dtype)
    return attn_bad(reader, where, "expected a scalar of type %s, but '%.64s' is %s of type %s", attn_dtype_name(dtype),
                    name, operand->role == ATTN_ROLE_SCALAR ? "a scalar" : "a tensor", attn_dtype_name(operand->dtype));
  return ATTN_OK;
}

/// A name that operands have and sizes do not: then an i32 means the scalar.
static bool isOperand(const attn_manifest *manifest, const cJSON *item) {
  return cJSON_IsString(item) && attn_find_size(manifest, item->valuestring) < 0 &&
         attn_find_operand(manifest, item->valuestring) >= 0;
}

/// Everything about a tensor map that does not depend on where the operand lies.
static attn_status readMap(const attn_reader *reader, attn_where where, const cJSON *item, attn_arg *arg) {
  static const char *const known[] = {ATTN_ARG_MAP, ATTN_KEY_LAYOUT, ATTN_KEY_ROWS, ATTN_KEY_SWIZZLE, NULL};
  const attn_manifest *manifest = reader->manifest;
  ATTN_TRY(attn_json_keys(reader, where, item, known));
  if (manifest->cpu)
    return attn_bad(reader, where, "a kernel for cpu has no tensor maps");
  const char *name, *layout;
  attn_where at = attn_at("%s.%s", where.text, ATTN_ARG_MAP);
  ATTN_TRY(attn_json_string(reader, at, attn_json_get(item, ATTN_ARG_MAP), &name));
  int32_t index = attn_find_operand(manifest, name);
  if (index < 0)
    return attn_bad(reader, at, "'%.64s' is not in \"operands\"", name);
  const attn_operand *operand = &manifest->operands[index];
  if (operand->rank != 4 || operand->fixed[3] < 1)
    return attn_unknown(reader, at, "'%.64s' has %u dimensions%s; expected 4, the last of them a number", name,
                        operand->rank, operand->rank == 4 ? ", the last of them no number or 0" : "");
  if (operand->dtype != ATTN_F16 && operand->dtype != ATTN_BF16 && operand->dtype != ATTN_F32)
    return attn_unknown(reader, at, "'%.64s' is %s; this library makes tensor maps of f16, bf16, f32", name,
                        attn_dtype_name(operand->dtype));
  at = attn_at("%s.layout", where.text);
  ATTN_TRY(attn_json_string(reader, at, attn_json_get(item, ATTN_KEY_LAYOUT), &layout));
  bool panels = strcmp(layout, ATTN_LAYOUT_PANELS5) == 0;
  if (!panels && strcmp(layout, ATTN_LAYOUT_ROWS4) != 0)
    return attn_unknown(reader, at, "unknown layout '%.64s'; this library knows panels5, rows4", layout);
  int64_t rows, swizzle;
  ATTN_TRY(attn_json_int(reader, attn_at("%s.rows", where.text), attn_json_get(item, ATTN_KEY_ROWS), 1, ATTN_MAX_BOX,
                         &rows));
  at = attn_at("%s.swizzle", where.text);
  ATTN_TRY(attn_json_int(reader, at, attn_json_get(item, ATTN_KEY_SWIZZLE), 1, 1024, &swizzle));
  if (swizzle != 32 && swizzle != 64 && swizzle != 128)
    return attn_unknown(reader, at, "is %d; this library knows 32, 64, 128", (int)swizzle);
  int64_t rowBytes = operand->fixed[3] * attn_dtype_bytes(operand->dtype);
  if (panels && (rowBytes % swizzle != 0 || rowBytes / swizzle > ATTN_MAX_BOX))
    return attn_bad(reader, where,
                    "panels5 cuts a row into 1 to %d panels of %d bytes, but '%.64s' has %lld bytes a row",
                    ATTN_MAX_BOX, (int)swizzle, name, (long long)rowBytes);
  arg->kind = ATTN_ARG_KIND_MAP;
  arg->index = (uint32_t)index;
  ATTN_TRY(attn_reader_alloc(reader, 1, sizeof(*arg->map), &arg->map));
  *arg->map = (attn_map){panels ? ATTN_LAYOUT_KIND_PANELS5 : ATTN_LAYOUT_KIND_ROWS4, (uint32_t)rows, (uint32_t)swizzle};
  return ATTN_OK;
}

static attn_status readArg(const attn_reader *reader, attn_where where, const cJSON *item, attn_arg *arg) {
  static const char *const known[] = {ATTN_ARG_PTR, ATTN_ARG_STRIDES, ATTN_ARG_SIZES, ATTN_ARG_F32,
                                      ATTN_ARG_I32, ATTN_ARG_VALUE,   ATTN_ARG_MAP,   NULL};
  const attn_manifest *manifest = reader->manifest;
  uint32_t members;
  ATTN_TRY(attn_json_object(reader, where, item, UINT32_MAX, &members));
  if (attn_json_get(item, ATTN_ARG_MAP))
    return readMap(reader, where, item, arg);
  ATTN_TRY(attn_json_keys(reader, where, item, known));
  if (members != 1)
    return attn_bad(reader, where, "expected one key, got %u", members);
  const char *key = item->child->string, *name;
  where = attn_at("%s.%s", where.text, key);
  if (strcmp(key, ATTN_ARG_I32) == 0 && !isOperand(manifest, item->child)) {
    arg->kind = ATTN_ARG_KIND_NUMBER;
    ATTN_TRY(attn_reader_alloc(reader, 1, sizeof(*arg->number), &arg->number));
    return attn_json_number(reader, where, item->child, arg->number);
  }
  ATTN_TRY(attn_json_string(reader, where, item->child, &name));
  int32_t index = -1;
  if (strcmp(key, ATTN_ARG_F32) == 0) {
    arg->kind = ATTN_ARG_KIND_SCALAR;
    ATTN_TRY(scalarNamed(reader, where, name, ATTN_F32, &index));
  } else if (strcmp(key, ATTN_ARG_I32) == 0) {
    arg->kind = ATTN_ARG_KIND_SCALAR;
    ATTN_TRY(scalarNamed(reader, where, name, ATTN_I32, &index));
  } else if (strcmp(key, ATTN_ARG_VALUE) == 0) {
    arg->kind = ATTN_ARG_KIND_VALUE;
    index = findValue(manifest, name);
    if (index < 0)
      return attn_bad(reader, where, "'%.64s' is not in \"values\"", name);
  } else if ((index = attn_find_workspace(manifest, name)) >= 0) {
    arg->kind = strcmp(key, ATTN_ARG_PTR) == 0       ? ATTN_ARG_KIND_WORKSPACE_PTR
                : strcmp(key, ATTN_ARG_STRIDES) == 0 ? ATTN_ARG_KIND_WORKSPACE_STRIDES
                                                     : ATTN_ARG_KIND_WORKSPACE_SIZES;
  } else {
    arg->kind = strcmp(key, ATTN_ARG_PTR) == 0       ? ATTN_ARG_KIND_PTR
                : strcmp(key, ATTN_ARG_STRIDES) == 0 ? ATTN_ARG_KIND_STRIDES
                                                     : ATTN_ARG_KIND_SIZES;
    index = attn_find_operand(manifest, name);
    if (index < 0)
      return attn_bad(reader, where, "'%.64s' is not in \"operands\" or \"workspace\"", name);
    if (manifest->operands[index].role == ATTN_ROLE_SCALAR)
      return attn_bad(reader, where, "'%.64s' is a scalar, which has none", name);
  }
  arg->index = (uint32_t)index;
  return ATTN_OK;
}

/// A way that has another to stand in for it must not be chosen when its maps
/// cannot be made.
static attn_status checkMapCondition(const attn_reader *reader, attn_where where, const attn_way *way, attn_arg arg) {
  if (!way->conditional || way->when.aligned >> arg.index & 1)
    return ATTN_OK;
  return attn_bad(reader, where, "'%.64s' has a tensor map here, so \"when\" must name it in \"aligned\"",
                  reader->manifest->operands[arg.index].name);
}

attn_status attn_read_args(const attn_reader *reader, attn_where where, const cJSON *list, const attn_way *way,
                           attn_kernel_code *kernel) {
  ATTN_TRY(attn_json_list(reader, where, list, ATTN_MAX_PARAMS, &kernel->num_args));
  ATTN_TRY(attn_reader_alloc(reader, kernel->num_args, sizeof(attn_arg), &kernel->args));
  uint32_t i = 0;
  for (const cJSON *item = list->child; item; item = item->next, ++i) {
    attn_where at = attn_at("%s[%u]", where.text, i);
    ATTN_TRY(readArg(reader, at, item, &kernel->args[i]));
    kernel->num_params += attn_arg_params(reader->manifest, kernel->args[i]);
    if (kernel->args[i].kind == ATTN_ARG_KIND_WORKSPACE_PTR)
      kernel->workspace |= 1u << kernel->args[i].index;
    if (kernel->args[i].kind != ATTN_ARG_KIND_MAP)
      continue;
    ATTN_TRY(checkMapCondition(reader, at, way, kernel->args[i]));
    if (++kernel->num_maps > ATTN_MAX_MAPS)
      return attn_unknown(reader, where, "have more than %d tensor maps, the most this library passes", ATTN_MAX_MAPS);
  }
  if (kernel->num_params > ATTN_MAX_PARAMS)
    return attn_unknown(reader, where, "stand for %u kernel parameters, this library passes at most %d",
                        kernel->num_params, ATTN_MAX_PARAMS);
  return ATTN_OK;
}
