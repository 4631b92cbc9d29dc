//===- manifest_kernels.c - the "kernels" of a manifest -------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn_rt/manifest_keys.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

uint32_t attn_arg_params(const attn_manifest *manifest, attn_arg arg) {
  uint32_t rank =
      arg.kind == ATTN_ARG_KIND_STRIDES || arg.kind == ATTN_ARG_KIND_SIZES ? manifest->operands[arg.index].rank : 0;
  switch (arg.kind) {
  case ATTN_ARG_KIND_STRIDES:
    return rank > 0 ? rank - 1 : 0;
  case ATTN_ARG_KIND_SIZES:
    return rank;
  default:
    return 1;
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

static attn_status readArg(const attn_reader *reader, attn_where where, const cJSON *item, attn_arg *arg) {
  static const char *const known[] = {
      ATTN_ARG_PTR, ATTN_ARG_STRIDES, ATTN_ARG_SIZES, ATTN_ARG_F32, ATTN_ARG_I32, ATTN_ARG_VALUE, NULL};
  const attn_manifest *manifest = reader->manifest;
  uint32_t members;
  ATTN_TRY(attn_json_object(reader, where, item, UINT32_MAX, &members));
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
  } else if (strcmp(key, ATTN_ARG_PTR) == 0 && (index = attn_find_workspace(manifest, name)) >= 0) {
    arg->kind = ATTN_ARG_KIND_WORKSPACE_PTR;
  } else {
    arg->kind = strcmp(key, ATTN_ARG_PTR) == 0       ? ATTN_ARG_KIND_PTR
                : strcmp(key, ATTN_ARG_STRIDES) == 0 ? ATTN_ARG_KIND_STRIDES
                                                     : ATTN_ARG_KIND_SIZES;
    index = attn_find_operand(manifest, name);
    if (index < 0)
      return attn_bad(reader, where, "'%.64s' is not in \"operands\"%s", name,
                      arg->kind == ATTN_ARG_KIND_PTR ? " or \"workspace\"" : "");
    if (manifest->operands[index].role == ATTN_ROLE_SCALAR)
      return attn_bad(reader, where, "'%.64s' is a scalar, which has none", name);
  }
  arg->index = (uint32_t)index;
  return ATTN_OK;
}

static attn_status readArgs(const attn_reader *reader, attn_where where, const cJSON *list, attn_kernel_code *kernel) {
  ATTN_TRY(attn_json_list(reader, where, list, ATTN_MAX_PARAMS, &kernel->num_args));
  ATTN_TRY(attn_reader_alloc(reader, kernel->num_args, sizeof(attn_arg), &kernel->args));
  uint32_t i = 0;
  for (const cJSON *item = list->child; item; item = item->next, ++i) {
    ATTN_TRY(readArg(reader, attn_at("%s[%u]", where.text, i), item, &kernel->args[i]));
    kernel->num_params += attn_arg_params(reader->manifest, kernel->args[i]);
  }
  if (kernel->num_params > ATTN_MAX_PARAMS)
    return attn_unknown(reader, where, "stand for %u kernel parameters, this library passes at most %d",
                        kernel->num_params, ATTN_MAX_PARAMS);
  return ATTN_OK;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The path of a code file named by `key`; "none" is fine.
static attn_status readFileName(const attn_reader *reader, attn_where where, const cJSON *item, const char *key,
                                const char **path) {
  const cJSON *name = attn_json_get(item, key);
  if (!name)
    return ATTN_OK;
  where = attn_at("%s.%s", where.text, key);
  const char *text;
  ATTN_TRY(attn_json_string(reader, where, name, &text));
  if (text[0] == '/')
    return attn_bad(reader, where, "expected a path relative to the manifest, got '%.64s'", text);
  char *full = attn_path_beside(reader->manifest->path, text);
  if (!full)
    return attn_fail(ATTN_ERROR_OUT_OF_MEMORY, "%s: no memory to read it", reader->manifest->path);
  attn_status status = attn_reader_string(reader, full, path);
  free(full);
  return status;
}

/// "sm_" digits, then nothing, "a" (this architecture only) or "f" (its family).
static bool isChip(const char *chip) {
  if (strncmp(chip, "sm_", 3) != 0)
    return false;
  size_t digits = strspn(chip + 3, "0123456789");
  const char *suffix = chip + 3 + digits;
  return digits >= 2 && digits <= 4 && (!*suffix || strcmp(suffix, "a") == 0 || strcmp(suffix, "f") == 0);
}

static attn_status readCpuKernel(const attn_reader *reader, attn_where where, const cJSON *item,
                                 attn_kernel_code *kernel) {
  static const char *const known[] = {ATTN_KEY_NAME, ATTN_KEY_CHIP, ATTN_KEY_CODE, ATTN_KEY_TILES,
                                      ATTN_KEY_GRID, ATTN_KEY_ARGS, ATTN_KEY_INFO, NULL};
  ATTN_TRY(attn_json_keys(reader, where, item, known));
  // cubin stands for "the file with the code" here.
  ATTN_TRY(readFileName(reader, where, item, ATTN_KEY_CODE, &kernel->cubin.path));
  if (!kernel->cubin.path)
    return attn_bad(reader, where, "a kernel for cpu needs \"code\", its shared library");
  return ATTN_OK;
}

static attn_status readGpuKernel(const attn_reader *reader, attn_where where, const cJSON *item,
                                 attn_kernel_code *kernel) {
  static const char *const known[] = {ATTN_KEY_NAME,  ATTN_KEY_CHIP,    ATTN_KEY_PTX,           ATTN_KEY_CUBIN,
                                      ATTN_KEY_TILES, ATTN_KEY_THREADS, ATTN_KEY_SMEM_BYTES,    ATTN_KEY_GRID,
                                      ATTN_KEY_ARGS,  ATTN_KEY_INFO,    ATTN_KEY_BLOCKS_PER_SM, NULL};
  ATTN_TRY(attn_json_keys(reader, where, item, known));
  ATTN_TRY(readFileName(reader, where, item, ATTN_KEY_PTX, &kernel->ptx.path));
  ATTN_TRY(readFileName(reader, where, item, ATTN_KEY_CUBIN, &kernel->cubin.path));
  if (!kernel->ptx.path && !kernel->cubin.path)
    return attn_bad(reader, where, "a kernel for %s needs \"ptx\" or \"cubin\"", kernel->chip);
  int64_t threads, smem = 0, blocks = 1;
  ATTN_TRY(attn_json_int(reader, attn_at("%s.threads", where.text), attn_json_get(item, ATTN_KEY_THREADS), 1, 1024,
                         &threads));
  const cJSON *smemItem = attn_json_get(item, ATTN_KEY_SMEM_BYTES),
              *blocksItem = attn_json_get(item, ATTN_KEY_BLOCKS_PER_SM);
  if (smemItem)
    ATTN_TRY(attn_json_int(reader, attn_at("%s.smem_bytes", where.text), smemItem, 0, INT32_MAX, &smem));
  if (blocksItem)
    ATTN_TRY(attn_json_int(reader, attn_at("%s.blocks_per_sm", where.text), blocksItem, 1, 64, &blocks));
  kernel->threads = (uint32_t)threads;
  kernel->smem_bytes = (uint32_t)smem;
  kernel->blocks_per_sm = (uint32_t)blocks;
  return ATTN_OK;
}

static attn_status readKernel(const attn_reader *reader, attn_where where, const cJSON *item,
                              attn_kernel_code *kernel) {
  uint32_t members;
  ATTN_TRY(attn_json_object(reader, where, item, UINT32_MAX, &members));
  const char *name, *chip, *grid;
  ATTN_TRY(attn_json_string(reader, attn_at("%s.name", where.text), attn_json_get(item, ATTN_KEY_NAME), &name));
  ATTN_TRY(attn_json_string(reader, attn_at("%s.chip", where.text), attn_json_get(item, ATTN_KEY_CHIP), &chip));
  ATTN_TRY(attn_reader_string(reader, name, &kernel->name));
  ATTN_TRY(attn_reader_string(reader, chip, &kernel->chip));
  bool cpu = strcmp(chip, ATTN_CHIP_CPU) == 0;
  if (!cpu && !isChip(chip))
    return attn_unknown(reader, attn_at("%s.chip", where.text), "unknown chip '%.64s'; expected cpu or sm_NN", chip);
  if (kernel != reader->manifest->kernels && cpu != reader->manifest->cpu)
    return attn_unknown(reader, attn_at("%s.chip", where.text), "kernels for cpu and for a GPU cannot be mixed");
  reader->manifest->cpu = cpu;
  ATTN_TRY((cpu ? readCpuKernel : readGpuKernel)(reader, where, item, kernel));
  attn_where at = attn_at("%s.grid", where.text);
  const cJSON *gridItem = attn_json_get(item, ATTN_KEY_GRID);
  if (gridItem || !cpu) {
    ATTN_TRY(attn_json_string(reader, at, gridItem, &grid));
    bool perTile = strcmp(grid, ATTN_GRID_ONE_PER_TILE) == 0;
    kernel->grid = perTile ? ATTN_GRID_KIND_ONE_PER_TILE : ATTN_GRID_KIND_MIN_SMS;
    if (!perTile && (cpu || strcmp(grid, ATTN_GRID_MIN_SMS) != 0))
      return attn_unknown(reader, at, "unknown grid '%.64s'; this library knows one_per_tile%s", grid,
                          cpu ? " for cpu" : ", min_sms");
  }
  ATTN_TRY(
      attn_json_number(reader, attn_at("%s.tiles", where.text), attn_json_get(item, ATTN_KEY_TILES), &kernel->tiles));
  return readArgs(reader, attn_at("%s.args", where.text), attn_json_get(item, ATTN_KEY_ARGS), kernel);
}

attn_status attn_read_kernels(const attn_reader *reader, const cJSON *list) {
  attn_manifest *manifest = reader->manifest;
  attn_where where = attn_at("kernels");
  uint32_t count;
  ATTN_TRY(attn_json_list(reader, where, list, ATTN_MAX_KERNELS, &count));
  if (count == 0)
    return attn_bad(reader, where, "expected at least one kernel");
  ATTN_TRY(attn_reader_alloc(reader, count, sizeof(attn_kernel_code), &manifest->kernels));
  for (const cJSON *item = list->child; item; item = item->next) {
    // Counted after it is read, so that what is freed was set up.
    uint32_t i = manifest->num_kernels;
    ATTN_TRY(readKernel(reader, attn_at("kernels[%u]", i), item, &manifest->kernels[i]));
    ++manifest->num_kernels;
  }
  return ATTN_OK;
}
