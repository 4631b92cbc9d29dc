//===- internal.h - shared by the runtime's files -------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//  load.c -> manifest*.c (JSON to structs) -> launch.c: check.c, choose.c, empty.c
//                                              |-> launch_gpu.c: module.c, driver.c, tensor_map.c
//                                              `-> launch_cpu.c: pool.c
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RT_INTERNAL_H
#define ATTN_RT_INTERNAL_H

#include "attn_rt/attn_rt.h"

#include <pthread.h>
#include <stdbool.h>

#if defined(__GNUC__)
#define ATTN_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define ATTN_PRINTF(fmt, args)
#endif

// Bounds of what a launch keeps on its stack, so that it never allocates.
#define ATTN_MAX_OPERANDS 32
#define ATTN_MAX_SIZES 32
#define ATTN_MAX_VALUES 16
#define ATTN_MAX_WORKSPACE 16
#define ATTN_MAX_KERNELS 32
#define ATTN_MAX_FACTORS 8
#define ATTN_MAX_PARAMS 320
#define ATTN_MAX_MAPS 16
/// The driver's limit on each dimension of a tensor map's box.
#define ATTN_MAX_BOX 256
#define ATTN_MAX_BOUNDS 8
/// Workspace buffers start at multiples of this.
#define ATTN_WORKSPACE_ALIGN 256

//===----------------------------------------------------------------------===//
// error.c
//===----------------------------------------------------------------------===//

/// Sets this thread's message and returns `status`.
attn_status attn_fail(attn_status status, const char *format, ...) ATTN_PRINTF(2, 3);
/// Forgets it: every entry point that returns a status begins with this.
void attn_clear_error(void);

/// `return` the status of an inner call that failed.
#define ATTN_TRY(call)                                                                                                 \
  do {                                                                                                                 \
    attn_status tryStatus = (call);                                                                                    \
    if (tryStatus != ATTN_OK)                                                                                          \
      return tryStatus;                                                                                                \
  } while (0)

/// Copies a caller's struct of `*(uint32_t *)from` bytes into one of `known`
/// bytes. A longer one is a newer header's: fine while what we do not know is 0.
/// Messages call it `what` `name`.
attn_status attn_copy_sized(void *to, uint32_t known, const void *from, const char *what, const char *name);

//===----------------------------------------------------------------------===//
// file.c
//===----------------------------------------------------------------------===//

/// The whole of a regular file, with a 0 after it. Free with free().
attn_status attn_read_file(const char *path, size_t max_bytes, char **data, size_t *bytes);
/// `name` in the folder that holds `beside`. Free with free(). NULL: no memory.
char *attn_path_beside(const char *beside, const char *name);

//===----------------------------------------------------------------------===//
// The manifest as structs (filled by manifest.c, all memory from its arena)
//===----------------------------------------------------------------------===//

typedef struct attn_arena {
  struct attn_arena_block *blocks;
} attn_arena;
/// Zeroed memory that lives as long as the arena, NULL when there is none.
void *attn_arena_alloc(attn_arena *arena, size_t bytes);
char *attn_arena_string(attn_arena *arena, const char *text);
void attn_arena_free(attn_arena *arena);

/// A product of factors: n, sizes[size], ceil(sizes[size] / n) or ceil(sizes[size] / sizes[by]).
typedef struct attn_factor {
  enum { ATTN_FACTOR_INT, ATTN_FACTOR_SIZE, ATTN_FACTOR_CEIL, ATTN_FACTOR_CEIL_SIZE } kind;
  uint32_t size, by;
  int64_t n;
} attn_factor;
typedef struct attn_number {
  uint32_t count;
  attn_factor factors[ATTN_MAX_FACTORS];
} attn_number;

/// A name for one dimension of one operand.
typedef struct attn_size {
  const char *name;
  uint32_t operand, dim;
} attn_size;

typedef struct attn_operand {
  const char *name;
  uint32_t role, dtype, rank;
  int64_t fixed[ATTN_MAX_RANK];     ///< -1 unless the manifest says a number
  int32_t size_of[ATTN_MAX_RANK];   ///< index of the size, -1 if it has none
  int64_t base_align, stride_align; ///< bytes; 0: the element's own
} attn_operand;

typedef struct attn_workspace {
  const char *name;
  uint32_t dtype, rank;
  attn_number dims[ATTN_MAX_RANK];
  attn_number elements; ///< their product
  enum { ATTN_ZERO_KIND_BY_KERNEL, ATTN_ZERO_KIND_BEFORE_FIRST, ATTN_ZERO_KIND_RESTORED } zero;
} attn_workspace;

typedef struct attn_require {
  attn_number divisor, dividend;
  const char *divisor_text, *dividend_text;
} attn_require;

typedef struct attn_fill {
  uint32_t operand;
  double value;
} attn_fill;

/// Applies when one of `sizes` is 0. No fills: nothing is done.
typedef struct attn_empty {
  uint32_t num_sizes, num_fills;
  uint32_t *sizes;
  attn_fill *fills;
} attn_empty;

/// Largest divisor d of `of` with d * unit_bytes <= budget, at least 1; `of` itself up to `whole`.
typedef struct attn_value {
  const char *name;
  attn_number of, unit_bytes;
  int64_t budget, whole;
} attn_value;

/// How a tensor map cuts its operand (docs/Manifest.md, "Tensor maps").
typedef struct attn_map {
  enum { ATTN_LAYOUT_KIND_PANELS5, ATTN_LAYOUT_KIND_ROWS4 } layout;
  uint32_t rows, swizzle_bytes;
} attn_map;

typedef struct attn_arg {
  enum {
    ATTN_ARG_KIND_PTR,               ///< operand
    ATTN_ARG_KIND_WORKSPACE_PTR,     ///< workspace
    ATTN_ARG_KIND_STRIDES,           ///< operand: i64 each, all but the last dimension
    ATTN_ARG_KIND_SIZES,             ///< operand: i32 each
    ATTN_ARG_KIND_WORKSPACE_STRIDES, ///< workspace, which is dense: the same
    ATTN_ARG_KIND_WORKSPACE_SIZES,
    ATTN_ARG_KIND_SCALAR, ///< operand: 4 bytes
    ATTN_ARG_KIND_NUMBER, ///< number: i32
    ATTN_ARG_KIND_VALUE,  ///< value: i32
    ATTN_ARG_KIND_MAP     ///< operand, as `map` says: 128 bytes
  } kind;
  uint32_t index;
  attn_number *number;
  attn_map *map;
} attn_arg;

/// A code file: read at load for a GPU, opened at load for the CPU.
typedef struct attn_code {
  const char *path; ///< NULL: the manifest names none
  char *data;       ///< malloc'ed
  size_t bytes;
} attn_code;

/// What must hold for a way to be the one of its step that is launched.
typedef struct attn_when {
  uint32_t aligned; ///< a bit for each operand a tensor map must be able to describe
  uint32_t num_bounds;
  struct attn_bound {
    attn_number size;
    int64_t from, last; ///< both included
  } *bounds;
} attn_when;

typedef void (*attn_cpu_entry)(void *const *params, int64_t begin, int64_t end);

typedef struct attn_kernel_code {
  const char *name, *chip;
  const char *cpu; ///< CPU: the processor its code needs, or null
  attn_code ptx, cubin;
  void *library; ///< CPU: dlopen handle and entry
  attn_cpu_entry entry;
  uint32_t threads, smem_bytes, blocks_per_sm;
  enum { ATTN_GRID_KIND_ONE_PER_TILE, ATTN_GRID_KIND_MIN_SMS } grid;
  attn_number tiles;
  uint32_t num_args, num_params, num_maps;
  uint32_t workspace; ///< a bit for each buffer it takes
  attn_arg *args;
} attn_kernel_code;

/// kernels[first] to kernels[first + count - 1], launched in this order.
typedef struct attn_way {
  bool conditional; ///< another way of its step stands in when `when` does not hold
  attn_when when;
  uint32_t first, count;
} attn_way;

/// ways[first] to ways[first + count - 1]: the first that fits is taken.
typedef struct attn_step {
  uint32_t first, count;
} attn_step;

typedef struct attn_manifest {
  const char *path, *meaning;
  uint32_t num_sizes, num_operands, num_require, num_empty, num_workspace, num_values, num_kernels, num_ways, num_steps;
  attn_size *sizes;
  attn_operand *operands;
  attn_require *require;
  attn_empty *empty;
  attn_workspace *workspace;
  attn_value *values;
  attn_kernel_code *kernels;
  attn_way ways[ATTN_MAX_KERNELS];
  attn_step steps[ATTN_MAX_KERNELS];
  bool cpu;
} attn_manifest;

/// Reads and checks the JSON text; code files are left to the caller.
attn_status attn_manifest_read(const char *path, attn_arena *arena, attn_manifest *manifest);

//===----------------------------------------------------------------------===//
// number.c
//===----------------------------------------------------------------------===//

/// False on overflow of int64.
bool attn_number_eval(const attn_number *number, const int64_t *sizes, int64_t *out);
int64_t attn_largest_divisor(int64_t of, int64_t unit_bytes, int64_t budget);

//===----------------------------------------------------------------------===//
// check.c, launch.c: a launch, resolved
//===----------------------------------------------------------------------===//

/// Everything a launch needs that does not depend on where it runs. Strides of
/// dimensions of size 0 or 1 are 0 here, whatever the caller wrote.
typedef struct attn_plan {
  attn_tensor operands[ATTN_MAX_OPERANDS];
  int64_t sizes[ATTN_MAX_SIZES];
  int32_t values[ATTN_MAX_VALUES];
  uint64_t workspace_offset[ATTN_MAX_WORKSPACE], workspace_size[ATTN_MAX_WORKSPACE];
  int64_t workspace_dims[ATTN_MAX_WORKSPACE][ATTN_MAX_RANK];
  uint64_t workspace_bytes;
  uint32_t clear; ///< a bit for each buffer to clear before the first kernel
  uint32_t num_kernels;
  const attn_kernel_code *kernels[ATTN_MAX_KERNELS]; ///< that are launched, in order
  int64_t tiles[ATTN_MAX_KERNELS];
  const attn_empty *empty; ///< the rule that applies, NULL if none
  attn_launch launch;
} attn_plan;

/// Host-side checks; fills `plan`. `shapes_only` stops before data pointers.
attn_status attn_check(const attn_manifest *manifest, const attn_launch *launch, bool shapes_only, attn_plan *plan);
/// Elements of a view, 0 if one dimension is.
int64_t attn_tensor_elements(const attn_tensor *tensor);

/// choose.c: which way of each step fits, and its kernels on how many tiles.
attn_status attn_choose(const attn_manifest *manifest, attn_plan *plan);
/// Whether the tensor maps of the chosen kernels can describe their operands.
attn_status attn_check_maps(const attn_manifest *manifest, const attn_plan *plan);
/// "k dimension 0 (batch)".
typedef struct attn_dim_label {
  char text[160];
} attn_dim_label;
attn_dim_label attn_label(const attn_manifest *manifest, uint32_t operand, uint32_t dim);

/// The parameter array a kernel takes (pointers to values), filled from a plan.
typedef union attn_param {
  void *pointer;
  int64_t i64;
  int32_t i32;
  uint32_t bits;
} attn_param;
typedef struct attn_params {
  attn_param values[ATTN_MAX_PARAMS];
  void *pointers[ATTN_MAX_PARAMS];
  /// One for each map argument, in order. Filled by launch_gpu.c: the driver knows how.
  _Alignas(64) unsigned char maps[ATTN_MAX_MAPS][128];
} attn_params;
void attn_params_fill(const attn_manifest *manifest, const attn_kernel_code *kernel, const attn_plan *plan,
                      attn_params *params);

/// Parameters one argument stands for.
uint32_t attn_arg_params(const attn_manifest *manifest, attn_arg arg);
/// What each of them is: p a pointer, l an i64, i an i32, f an f32, m a tensor map.
char attn_arg_letter(const attn_manifest *manifest, attn_arg arg);

//===----------------------------------------------------------------------===//
// cpu_code.c
//===----------------------------------------------------------------------===//

/// Opens the shared library, finds the entry, and checks that it takes what the manifest passes.
attn_status attn_open_cpu_code(const attn_manifest *manifest, attn_kernel_code *kernel);

//===----------------------------------------------------------------------===//
// empty.c: outputs without work
//===----------------------------------------------------------------------===//

/// Writes one contiguous-per-row block: `rows` rows of `width` elements of
/// `bytes` each, `pitch` bytes apart, all with the bit pattern `bits`.
typedef attn_status (*attn_fill_rows)(void *state, void *to, int64_t pitch, uint32_t bytes, uint32_t bits,
                                      int64_t width, int64_t rows);
/// Calls `fill` until every element of every output the rule fills is covered.
attn_status attn_empty_apply(const attn_plan *plan, attn_fill_rows fill, void *state);
/// The bit pattern of `value` in a type.
uint32_t attn_fill_bits(uint32_t dtype, double value);

//===----------------------------------------------------------------------===//
// Where it runs
//===----------------------------------------------------------------------===//

struct attn_kernel {
  attn_arena arena;
  attn_manifest manifest;
  pthread_mutex_t mutex;      ///< guards what follows
  struct attn_loaded *loaded; ///< GPU: code by CUDA context (module.c)
  char *jit_log;              ///< malloc'ed; NULL until the driver said something
};

attn_status attn_launch_cpu(const attn_manifest *manifest, const attn_plan *plan);
attn_status attn_launch_gpu(attn_kernel *kernel, const attn_plan *plan);
attn_status attn_prepare_gpu(attn_kernel *kernel);
void attn_unload_gpu(attn_kernel *kernel);

/// pool.c: calls entry(params, begin, end) until [0, tiles) is covered once,
/// on up to attn_cpu_threads() threads, and returns when all of it is done.
void attn_pool_run(attn_cpu_entry entry, void *const *params, int64_t tiles);

#endif // ATTN_RT_INTERNAL_H
