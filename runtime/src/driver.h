//===- driver.h - the CUDA driver, found at run time ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The few declarations of the driver API used here, so that no CUDA header is
// needed to build. Names and numbers are the driver's ABI (cuda.h).
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RT_DRIVER_H
#define ATTN_RT_DRIVER_H

#include "internal.h"

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef unsigned long long CUdeviceptr;

enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
  CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,

  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,

  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,

  CU_JIT_INFO_LOG_BUFFER = 3,
  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,

  CU_POINTER_ATTRIBUTE_CONTEXT = 1,
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
  CU_MEMORYTYPE_HOST = 1,
  CU_MEMORYTYPE_DEVICE = 2,

  CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
  CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_32B = 1,
  CU_TENSOR_MAP_SWIZZLE_64B = 2,
  CU_TENSOR_MAP_SWIZZLE_128B = 3,
  CU_TENSOR_MAP_L2_PROMOTION_L2_128B = 2,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0 ///< zeros
};

/// X(member, exported name, parameters)
#define ATTN_DRIVER_FUNCTIONS(X)                                                                                       \
  X(Init, "cuInit", (unsigned))                                                                                        \
  X(DriverGetVersion, "cuDriverGetVersion", (int *))                                                                   \
  X(GetErrorName, "cuGetErrorName", (CUresult, const char **))                                                         \
  X(GetErrorString, "cuGetErrorString", (CUresult, const char **))                                                     \
  X(DeviceGet, "cuDeviceGet", (CUdevice *, int))                                                                       \
  X(DeviceGetName, "cuDeviceGetName", (char *, int, CUdevice))                                                         \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, CUdevice))                                                \
  X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                                       \
  X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                                               \
  X(CtxGetCurrent, "cuCtxGetCurrent", (CUcontext *))                                                                   \
  X(CtxSetCurrent, "cuCtxSetCurrent", (CUcontext))                                                                     \
  X(CtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                                                                \
  X(CtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                                                                \
  X(CtxGetDevice, "cuCtxGetDevice", (CUdevice *))                                                                      \
  X(CtxSynchronize, "cuCtxSynchronize", (void))                                                                        \
  X(StreamGetCtx, "cuStreamGetCtx", (CUstream, CUcontext *))                                                           \
  X(PointerGetAttributes, "cuPointerGetAttributes", (unsigned, int *, void **, CUdeviceptr))                           \
  X(ModuleLoadDataEx, "cuModuleLoadDataEx", (CUmodule *, const void *, unsigned, int *, void **))                      \
  X(ModuleUnload, "cuModuleUnload", (CUmodule))                                                                        \
  X(ModuleGetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))                                  \
  X(FuncGetAttribute, "cuFuncGetAttribute", (int *, int, CUfunction))                                                  \
  X(FuncSetAttribute, "cuFuncSetAttribute", (CUfunction, int, int))                                                    \
  X(LaunchKernel, "cuLaunchKernel",                                                                                    \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **))    \
  X(MemsetD8Async, "cuMemsetD8Async", (CUdeviceptr, unsigned char, size_t, CUstream))                                  \
  X(MemsetD2D8Async, "cuMemsetD2D8Async", (CUdeviceptr, size_t, unsigned char, size_t, size_t, CUstream))              \
  X(MemsetD2D16Async, "cuMemsetD2D16Async", (CUdeviceptr, size_t, unsigned short, size_t, size_t, CUstream))           \
  X(MemsetD2D32Async, "cuMemsetD2D32Async", (CUdeviceptr, size_t, unsigned, size_t, size_t, CUstream))                 \
  X(MemAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                                                \
  X(MemFree, "cuMemFree_v2", (CUdeviceptr))                                                                            \
  X(MemcpyHtoD, "cuMemcpyHtoD_v2", (CUdeviceptr, const void *, size_t))                                                \
  X(MemcpyDtoH, "cuMemcpyDtoH_v2", (void *, CUdeviceptr, size_t))                                                      \
  X(EventCreate, "cuEventCreate", (CUevent *, unsigned))                                                               \
  X(EventDestroy, "cuEventDestroy_v2", (CUevent))                                                                      \
  X(EventRecord, "cuEventRecord", (CUevent, CUstream))                                                                 \
  X(EventSynchronize, "cuEventSynchronize", (CUevent))                                                                 \
  X(EventElapsedTime, "cuEventElapsedTime", (float *, CUevent, CUevent))

/// Newer than CUDA 11, used where they are there. (The map is a void pointer to
/// 128 bytes, aligned to 64.)
#define ATTN_DRIVER_OPTIONAL(X)                                                                                        \
  X(CtxGetId, "cuCtxGetId", (CUcontext, unsigned long long *))                                                         \
  X(TensorMapEncodeTiled, "cuTensorMapEncodeTiled",                                                                    \
    (void *, int, unsigned, void *, const unsigned long long *, const unsigned long long *, const unsigned *,          \
     const unsigned *, int, int, int, int))

typedef struct attn_driver {
#define MEMBER(member, name, params) CUresult(*member) params;
  ATTN_DRIVER_FUNCTIONS(MEMBER)
  ATTN_DRIVER_OPTIONAL(MEMBER)
#undef MEMBER
} attn_driver;

/// The driver, opened and initialised on the first call that succeeds.
attn_status attn_driver_get(const attn_driver **out);

/// "CUDA_ERROR_INVALID_PTX (218): a PTX JIT compilation failed".
typedef struct attn_driver_text {
  char text[200];
} attn_driver_text;
attn_driver_text attn_driver_error(const attn_driver *driver, CUresult result);

/// What a device is, in a message and for choosing code.
typedef struct attn_device_facts {
  CUdevice device;
  char name[96];
  int arch; ///< 10 * major + minor
  int num_sms, smem_bytes;
} attn_device_facts;
attn_status attn_device_facts_get(const attn_driver *driver, CUdevice device, attn_device_facts *facts);

//===----------------------------------------------------------------------===//
// tensor_map.c
//===----------------------------------------------------------------------===//

/// Writes the 128 bytes at `out` (aligned to 64). Messages call the tensor `name`.
attn_status attn_tensor_map_encode(const attn_driver *driver, const char *name, const attn_tensor *tensor,
                                   const attn_map *map, void *out);

//===----------------------------------------------------------------------===//
// module.c
//===----------------------------------------------------------------------===//

/// A manifest's code in one context.
typedef struct attn_loaded {
  CUcontext context;
  unsigned long long id; ///< tells a context from a later one at the same address
  attn_device_facts facts;
  CUmodule modules[ATTN_MAX_KERNELS]; ///< NULL: shared with an earlier kernel
  CUfunction functions[ATTN_MAX_KERNELS];
  struct attn_loaded *next;
} attn_loaded;

/// Code for the current context, loaded the first time.
attn_status attn_module_get(attn_kernel *kernel, const attn_driver *driver, const attn_loaded **out);

/// Whether code made for `chip` runs on a GPU of `arch` (10 * major + minor).
bool attn_chip_runs(const char *chip, int arch, bool as_ptx);

#endif // ATTN_RT_DRIVER_H
