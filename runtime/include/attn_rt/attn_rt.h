//===- attn_rt.h - load a compiled attention kernel and launch it ---------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The C ABI of libattn_rt. It holds nothing of the compiler: it reads the
// manifest that `attn-compile` wrote, checks the tensors of a launch against
// it, and starts the kernel on a GPU (through the CUDA driver, found at run
// time) or on the CPU. docs/Runtime.md is the guide, docs/Manifest.md says what
// a manifest holds.
//
// Rules that hold for every function here:
//  - nothing prints, exits, aborts on bad input, or throws;
//  - a function that can fail returns attn_status, and attn_last_error() then
//    says in one sentence which argument, what was expected and what was got;
//  - a refused launch has started nothing and written nothing;
//  - structs start with their size, so that they can grow: set it to sizeof.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RT_ATTN_RT_H
#define ATTN_RT_ATTN_RT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ATTN_API __attribute__((visibility("default")))
#else
#define ATTN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// Version of this ABI. A library with the same number works with programs
/// compiled against any header of that number.
#define ATTN_ABI_VERSION 1
/// The ATTN_ABI_VERSION the loaded library was built with.
ATTN_API uint32_t attn_abi_version(void);

//===----------------------------------------------------------------------===//
// Status
//===----------------------------------------------------------------------===//

typedef enum attn_status {
  ATTN_OK = 0,
  ATTN_ERROR_ARGUMENT = 1,      ///< null pointer, unknown struct size, bad count
  ATTN_ERROR_FILE = 2,          ///< a file is missing or cannot be read
  ATTN_ERROR_MANIFEST = 3,      ///< the manifest is not well formed
  ATTN_ERROR_UNSUPPORTED = 4,   ///< the manifest asks for what this library does not know
  ATTN_ERROR_MISSING = 5,       ///< an operand is missing or its data is null
  ATTN_ERROR_RANK = 6,          ///< an operand has the wrong number of dimensions
  ATTN_ERROR_DTYPE = 7,         ///< an operand has the wrong element type
  ATTN_ERROR_SHAPE = 8,         ///< a dimension differs from what it must be
  ATTN_ERROR_REQUIRE = 9,       ///< sizes break a rule of the kernel (head ratio, ...)
  ATTN_ERROR_STRIDE = 10,       ///< strides the kernel cannot address
  ATTN_ERROR_ALIGNMENT = 11,    ///< data not aligned to its element type
  ATTN_ERROR_ALIAS = 12,        ///< an output overlaps an input, another output or itself
  ATTN_ERROR_GRID = 13,         ///< no tiles, or more than a grid can have
  ATTN_ERROR_WORKSPACE = 14,    ///< workspace missing, too small or misaligned
  ATTN_ERROR_DEVICE = 15,       ///< data or stream on the wrong side or device
  ATTN_ERROR_NO_DRIVER = 16,    ///< the CUDA driver library was not found or lacks a function
  ATTN_ERROR_NO_DEVICE = 17,    ///< no GPU, or no CUDA context to launch in
  ATTN_ERROR_ARCH = 18,         ///< the kernel is for another GPU architecture
  ATTN_ERROR_CODE = 19,         ///< PTX, cubin or shared library refused by its loader
  ATTN_ERROR_RESOURCES = 20,    ///< more shared memory or threads than the GPU offers
  ATTN_ERROR_LAUNCH = 21,       ///< the driver refused the launch
  ATTN_ERROR_OUT_OF_MEMORY = 22 ///< host or device memory exhausted
} attn_status;

/// The spelling of a status ("ATTN_ERROR_SHAPE"); never NULL.
ATTN_API const char *attn_status_name(attn_status status);

/// What went wrong in the last call of this thread that returned a status.
/// Empty after a success. Never NULL; valid until this thread's next call.
ATTN_API const char *attn_last_error(void);

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Element types. 0 is not one, so that a forgotten field is refused.
typedef enum attn_dtype {
  ATTN_F16 = 1,
  ATTN_BF16 = 2,
  ATTN_F32 = 3,
  ATTN_I1 = 4, ///< one byte an element, 0 or 1
  ATTN_I8 = 5,
  ATTN_I32 = 6
} attn_dtype;

/// The manifest's spelling of a type ("bf16"), "?" if it is none.
ATTN_API const char *attn_dtype_name(uint32_t dtype);
/// Bytes of one element, 0 if it is no type.
ATTN_API uint32_t attn_dtype_bytes(uint32_t dtype);

#define ATTN_MAX_RANK 8

/// A view of memory the caller owns. Strides count elements, as in PyTorch; the
/// stride of a dimension of size 1 is never looked at.
/// A scalar operand is a tensor of rank 0 whose data points to *host* memory on
/// every target: the value is read during the call.
typedef struct attn_tensor {
  uint32_t size;  ///< sizeof(attn_tensor)
  uint32_t dtype; ///< an attn_dtype
  void *data;     ///< may be NULL when a dimension is 0
  uint32_t rank;
  uint32_t reserved; ///< 0
  int64_t sizes[ATTN_MAX_RANK];
  int64_t strides[ATTN_MAX_RANK];
} attn_tensor;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// One loaded manifest. Any number of threads may launch one handle at a time.
typedef struct attn_kernel attn_kernel;

/// Reads and checks the manifest and the code files it names. On success *out
/// is a handle to be given to attn_kernel_unload; otherwise it is NULL.
/// The driver is not touched: a GPU kernel can be loaded and asked about on a
/// machine without a GPU. The code of a CPU kernel is opened here.
ATTN_API attn_status attn_kernel_load(const char *manifest_path, attn_kernel **out);

/// Frees the handle and unloads its code. NULL is fine. No other thread may be
/// using the handle, and GPU work started with it must have finished.
ATTN_API void attn_kernel_unload(attn_kernel *kernel);

/// Makes the code ready in the calling thread's current CUDA context, which the
/// first launch would do otherwise (a PTX takes its assembly time there). Call
/// it before capturing launches into a CUDA graph. Does nothing for a CPU kernel.
ATTN_API attn_status attn_kernel_prepare(attn_kernel *kernel);

/// Bits of attn_launch::flags.
enum {
  /// Do not ask the driver where each operand lives: the caller promises device
  /// memory of the current context. Saves about a microsecond a launch.
  ATTN_LAUNCH_TRUST_POINTERS = 1u << 0,
  /// This workspace was given to an earlier launch of this handle that had no
  /// such flag, succeeded, and had no size of 0; and since then only to launches
  /// of this handle, each ordered after the one before. What the kernels leave
  /// cleared ("restored" in the manifest) is then not cleared again, which saves
  /// about 2 us on the GPU.
  ATTN_LAUNCH_WORKSPACE_KEPT = 1u << 1
};

/// One launch. `operands` holds one pointer for each operand of the manifest,
/// in its order (see attn_kernel_find_operand).
typedef struct attn_launch {
  uint32_t size; ///< sizeof(attn_launch)
  uint32_t num_operands;
  const attn_tensor *const *operands;
  void *stream;             ///< a CUstream; NULL is the default stream; unused on the CPU
  void *workspace;          ///< attn_kernel_workspace_bytes bytes, 256-byte aligned; NULL if 0. As with an
                            ///< output, launches that may run at the same time need one each
  uint64_t workspace_bytes; ///< how many are there
  uint32_t flags;           ///< ATTN_LAUNCH_*
  uint32_t reserved;        ///< 0
} attn_launch;

/// Checks the launch, then starts it. On a GPU it is ordered on the stream and
/// the call returns at once; on the CPU it has finished when the call returns.
ATTN_API attn_status attn_kernel_launch(attn_kernel *kernel, const attn_launch *launch);

/// Only the checks of attn_kernel_launch that need no driver.
ATTN_API attn_status attn_kernel_check(const attn_kernel *kernel, const attn_launch *launch);

/// Bytes of workspace a launch with these operands needs. Data pointers and the
/// workspace fields are not looked at.
ATTN_API attn_status attn_kernel_workspace_bytes(const attn_kernel *kernel, const attn_launch *launch, uint64_t *bytes);

/// The kernel that such a launch starts as number `step`, counted from 0 in
/// their order: its name in the manifest, which lives as long as the handle. NULL
/// if there are fewer, and at 0 if nothing runs since a size is 0. Checks what
/// attn_kernel_check does.
ATTN_API attn_status attn_kernel_chosen(const attn_kernel *kernel, const attn_launch *launch, uint32_t step,
                                        const char **name);

/// Threads a CPU launch may use, the calling one included; 0 is the default,
/// one for each core the process may run on. For the whole process.
ATTN_API void attn_set_cpu_threads(uint32_t threads);
ATTN_API uint32_t attn_cpu_threads(void);

//===----------------------------------------------------------------------===//
// What a manifest says
//===----------------------------------------------------------------------===//

typedef enum attn_role {
  ATTN_ROLE_IN = 1,
  ATTN_ROLE_OUT = 2,
  ATTN_ROLE_CAPTURE = 3, ///< a tensor the score or mask region reads
  ATTN_ROLE_SCALAR = 4   ///< a number it reads
} attn_role;

typedef struct attn_operand_info {
  uint32_t size; ///< sizeof(attn_operand_info), set by the caller
  uint32_t role; ///< an attn_role
  uint32_t dtype;
  uint32_t rank;
  const char *name;
  int64_t dims[ATTN_MAX_RANK];          ///< what the manifest fixes, else -1
  const char *dim_names[ATTN_MAX_RANK]; ///< the size's name ("batch"), else NULL
} attn_operand_info;

ATTN_API uint32_t attn_kernel_num_operands(const attn_kernel *kernel);
/// Strings in *info live as long as the handle.
ATTN_API attn_status attn_kernel_operand_info(const attn_kernel *kernel, uint32_t index, attn_operand_info *info);
/// Index of the operand with this name, -1 if there is none.
ATTN_API int32_t attn_kernel_find_operand(const attn_kernel *kernel, const char *name);
/// "cpu" or the GPU architecture it was compiled for ("sm_80").
ATTN_API const char *attn_kernel_chip(const attn_kernel *kernel);
/// The manifest's "meaning" as JSON text: what a reference needs to judge the
/// answer. "{}" if the manifest has none.
ATTN_API const char *attn_kernel_meaning(const attn_kernel *kernel);

/// Copies what the driver's assembler said when it last loaded this kernel's
/// PTX or cubin, cut to `capacity` bytes with the terminating 0. Returns the
/// bytes the whole text needs; 1 if it said nothing.
ATTN_API size_t attn_kernel_jit_log(attn_kernel *kernel, char *buffer, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif // ATTN_RT_ATTN_RT_H
