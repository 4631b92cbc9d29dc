// What a test can ask of, and tell, the stand-in driver in fake_cuda.c.
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum { FAKE_MAX_PARAMS = 64 };

typedef struct fake_launch {
  char name[64];
  int device;
  void *context, *stream;
  unsigned grid[3], block[3], smem;
  uint64_t params[FAKE_MAX_PARAMS]; ///< the first 8 bytes each pointer leads to
} fake_launch;

/// What cuTensorMapEncodeTiled was called with. The 128 bytes it makes begin with its place in `maps`.
typedef struct fake_map {
  int type, interleave, swizzle, promotion, fill;
  unsigned rank, box[5], steps[5];
  void *address;
  unsigned long long sizes[5], strides[4];
} fake_map;

typedef struct fake_state {
  // Set by the test.
  int num_devices, arch[2], smem_optin[2], num_sms[2];
  int init_result, load_result, launch_result, smem_result, max_threads, static_smem, driver_version;
  int num_params; ///< how many a launch records
  int load_delay_us, map_result;
  // Counted by the driver.
  int loads, unloads, launches, memsets;
  char loaded[64]; ///< first line of the last code loaded
  fake_launch last[4];
  int num_maps;
  fake_map maps[16];
} fake_state;

/// Exported by the stand-in beside the driver's functions.
typedef struct fake_api {
  fake_state *state;
  void *(*context)(int device, int primary);
  void *(*stream)(void *context);
  /// Memory of `bytes`; kind 0 device, 1 page-locked host, 2 managed, 3 device without a context.
  void *(*memory)(void *context, size_t bytes, int kind);
  void (*set_current)(void *context);
  void *(*current)(void);
} fake_api;

#endif
