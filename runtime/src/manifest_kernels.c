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
  static const char *const known[] = {ATTN_KEY_NAME, ATTN_KEY_CHIP, ATTN_KEY_CODE, ATTN_KEY_CPU,  ATTN_KEY_TILES,
                                      ATTN_KEY_GRID, ATTN_KEY_ARGS, ATTN_KEY_INFO, ATTN_KEY_WHEN, NULL};
  ATTN_TRY(attn_json_keys(reader, where, item, known));
  // cubin stands for "the file with the code" here.
  ATTN_TRY(readFileName(reader, where, item, ATTN_KEY_CODE, &kernel->cubin.path));
  if (!kernel->cubin.path)
    return attn_bad(reader, where, "a kernel for cpu needs \"code\", its shared library");
  const cJSON *cpu = attn_json_get(item, ATTN_KEY_CPU);
  const char *name;
  if (cpu) {
    ATTN_TRY(attn_json_string(reader, attn_at("%s.cpu", where.text), cpu, &name));
    ATTN_TRY(attn_reader_string(reader, name, &kernel->cpu));
  }
  return ATTN_OK;
}

static attn_status readGpuKernel(const attn_reader *reader, attn_where where, const cJSON *item,
                                 attn_kernel_code *kernel) {
  static const char *const known[] = {
      ATTN_KEY_NAME,          ATTN_KEY_CHIP,       ATTN_KEY_PTX,  ATTN_KEY_CUBIN, ATTN_KEY_TILES,
      ATTN_KEY_THREADS,       ATTN_KEY_SMEM_BYTES, ATTN_KEY_GRID, ATTN_KEY_ARGS,  ATTN_KEY_INFO,
      ATTN_KEY_BLOCKS_PER_SM, ATTN_KEY_WHEN,       NULL};
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

/// One condition of "when".
static attn_status readCondition(const attn_reader *reader, attn_where where, const cJSON *item, attn_when *when) {
  static const char *const aligned[] = {ATTN_WHEN_ALIGNED, NULL};
  static const char *const bounds[] = {ATTN_WHEN_SIZE, ATTN_WHEN_FROM, ATTN_WHEN_BELOW, NULL};
  uint32_t count, i = 0;
  ATTN_TRY(attn_json_object(reader, where, item, UINT32_MAX, &count));
  const cJSON *names = attn_json_get(item, ATTN_WHEN_ALIGNED);
  if (names) {
    ATTN_TRY(attn_json_keys(reader, where, item, aligned));
    where = attn_at("%s.aligned", where.text);
    ATTN_TRY(attn_json_list(reader, where, names, ATTN_MAX_OPERANDS, &count));
    for (const cJSON *name = names->child; name; name = name->next, ++i) {
      const char *text;
      attn_where at = attn_at("%s[%u]", where.text, i);
      ATTN_TRY(attn_json_string(reader, at, name, &text));
      int32_t index = attn_find_operand(reader->manifest, text);
      if (index < 0 || reader->manifest->operands[index].role == ATTN_ROLE_SCALAR)
        return attn_bad(reader, at, "'%.64s' is no tensor in \"operands\"", text);
      when->aligned |= 1u << index;
    }
    return ATTN_OK;
  }
  ATTN_TRY(attn_json_keys(reader, where, item, bounds));
  if (when->num_bounds == ATTN_MAX_BOUNDS)
    return attn_unknown(reader, where, "is one more than %d sizes, the most this library compares", ATTN_MAX_BOUNDS);
  struct attn_bound *bound = &when->bounds[when->num_bounds++];
  const cJSON *from = attn_json_get(item, ATTN_WHEN_FROM), *below = attn_json_get(item, ATTN_WHEN_BELOW);
  *bound = (struct attn_bound){.from = 0, .last = INT64_MAX};
  ATTN_TRY(attn_json_number(reader, attn_at("%s.size", where.text), attn_json_get(item, ATTN_WHEN_SIZE), &bound->size));
  if (from)
    ATTN_TRY(attn_json_int(reader, attn_at("%s.from", where.text), from, 0, INT64_MAX, &bound->from));
  if (below) {
    ATTN_TRY(attn_json_int(reader, attn_at("%s.below", where.text), below, 1, INT64_MAX, &bound->last));
    --bound->last;
  }
  return ATTN_OK;
}

static attn_status readWhen(const attn_reader *reader, attn_where where, const cJSON *item, attn_way *way) {
  if (!way->conditional)
    return item ? attn_bad(reader, where, "only an entry of \"first_of\" that another follows may be chosen") : ATTN_OK;
  ATTN_TRY(attn_reader_alloc(reader, ATTN_MAX_BOUNDS, sizeof(*way->when.bounds), &way->when.bounds));
  if (!cJSON_IsArray(item))
    return readCondition(reader, where, item, &way->when);
  uint32_t i = 0;
  for (const cJSON *condition = item->child; condition; condition = condition->next, ++i)
    ATTN_TRY(readCondition(reader, attn_at("%s[%u]", where.text, i), condition, &way->when));
  return ATTN_OK;
}

static attn_status readKernel(const attn_reader *reader, attn_where where, const cJSON *item, const attn_way *way,
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
  return attn_read_args(reader, attn_at("%s.args", where.text), attn_json_get(item, ATTN_KEY_ARGS), way, kernel);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Kernels are counted after they are read, so that what is freed was set up.
static attn_status readNextKernel(const attn_reader *reader, attn_where where, const cJSON *item, attn_way *way) {
  attn_manifest *manifest = reader->manifest;
  if (manifest->num_kernels == ATTN_MAX_KERNELS)
    return attn_unknown(reader, where, "is one more than %d kernels, the most this library takes", ATTN_MAX_KERNELS);
  ATTN_TRY(readKernel(reader, where, item, way, &manifest->kernels[manifest->num_kernels]));
  ++manifest->num_kernels;
  ++way->count;
  return ATTN_OK;
}

/// {"kernels": [...], "when": ...}
static attn_status readKernelList(const attn_reader *reader, attn_where where, const cJSON *item, attn_way *way) {
  static const char *const known[] = {ATTN_KEY_KERNELS, ATTN_KEY_WHEN, NULL};
  ATTN_TRY(attn_json_keys(reader, where, item, known));
  const cJSON *list = attn_json_get(item, ATTN_KEY_KERNELS);
  where = attn_at("%s.kernels", where.text);
  uint32_t count, i = 0;
  ATTN_TRY(attn_json_list(reader, where, list, ATTN_MAX_KERNELS, &count));
  if (count == 0)
    return attn_bad(reader, where, "expected at least one kernel");
  for (const cJSON *kernel = list->child; kernel; kernel = kernel->next, ++i) {
    attn_where at = attn_at("%s[%u]", where.text, i);
    if (cJSON_IsObject(kernel) && attn_json_get(kernel, ATTN_KEY_WHEN))
      return attn_bad(reader, attn_at("%s.when", at.text), "is said once for all of the list, beside \"kernels\"");
    ATTN_TRY(readNextKernel(reader, at, kernel, way));
  }
  return ATTN_OK;
}

/// A kernel, or in a choice a list of them too.
static attn_status readWay(const attn_reader *reader, attn_where where, const cJSON *item, bool inChoice,
                           bool conditional) {
  attn_manifest *manifest = reader->manifest;
  uint32_t members;
  ATTN_TRY(attn_json_object(reader, where, item, UINT32_MAX, &members));
  if (manifest->num_ways == ATTN_MAX_KERNELS)
    return attn_unknown(reader, where, "is one more than %d kernels, the most this library takes", ATTN_MAX_KERNELS);
  attn_way *way = &manifest->ways[manifest->num_ways++];
  way->first = manifest->num_kernels;
  way->conditional = conditional;
  ATTN_TRY(readWhen(reader, attn_at("%s.when", where.text), attn_json_get(item, ATTN_KEY_WHEN), way));
  if (inChoice && attn_json_get(item, ATTN_KEY_KERNELS))
    return readKernelList(reader, where, item, way);
  return readNextKernel(reader, where, item, way);
}

static attn_status readFirstOf(const attn_reader *reader, attn_where where, const cJSON *item) {
  static const char *const known[] = {ATTN_KEY_FIRST_OF, NULL};
  ATTN_TRY(attn_json_keys(reader, where, item, known));
  const cJSON *list = attn_json_get(item, ATTN_KEY_FIRST_OF);
  where = attn_at("%s.first_of", where.text);
  uint32_t count, i = 0;
  ATTN_TRY(attn_json_list(reader, where, list, ATTN_MAX_KERNELS, &count));
  if (count == 0)
    return attn_bad(reader, where, "expected at least one kernel");
  for (const cJSON *way = list->child; way; way = way->next, ++i)
    ATTN_TRY(readWay(reader, attn_at("%s[%u]", where.text, i), way, /*inChoice=*/true, way->next != NULL));
  return ATTN_OK;
}

attn_status attn_read_kernels(const attn_reader *reader, const cJSON *list) {
  attn_manifest *manifest = reader->manifest;
  uint32_t count, i = 0;
  ATTN_TRY(attn_json_list(reader, attn_at("kernels"), list, ATTN_MAX_KERNELS, &count));
  if (count == 0)
    return attn_bad(reader, attn_at("kernels"), "expected at least one kernel");
  ATTN_TRY(attn_reader_alloc(reader, ATTN_MAX_KERNELS, sizeof(attn_kernel_code), &manifest->kernels));
  for (const cJSON *item = list->child; item; item = item->next, ++i) {
    attn_where where = attn_at("kernels[%u]", i);
    uint32_t first = manifest->num_ways;
    if (cJSON_IsObject(item) && attn_json_get(item, ATTN_KEY_FIRST_OF))
      ATTN_TRY(readFirstOf(reader, where, item));
    else
      ATTN_TRY(readWay(reader, where, item, /*inChoice=*/false, /*conditional=*/false));
    manifest->steps[manifest->num_steps++] = (attn_step){first, manifest->num_ways - first};
  }
  return ATTN_OK;
}
