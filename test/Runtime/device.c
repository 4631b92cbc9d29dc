// The helper for tools: memory, copies, a timer, and what it says without a GPU.
// RUN: %build_rt
// RUN: %build_so %S/Inputs/fake_cuda.c -o %t.cuda.so
// RUN: rm -rf %t.dir && env ATTN_CUDA_LIBRARY=%t.cuda.so %t %t.dir
#include "attn_rt/attn_device.h"
#include "check.h"

int main(int argc, char **argv) {
  begin(argc, argv);
  attn_device *device;
  EXPECT_FAIL(attn_device_open(2, &device), ATTN_ERROR_NO_DEVICE, "device 2: ");
  EXPECT_FAIL(attn_device_open(0, NULL), ATTN_ERROR_ARGUMENT, "out");
  EXPECT_OK(attn_device_open(1, &device));
  EXPECT(strcmp(attn_device_name(device), "Fake GPU 1") == 0 && strcmp(attn_device_chip(device), "sm_90") == 0);
  void *memory;
  int in[4] = {1, 2, 3, 4}, out[4] = {0};
  EXPECT_OK(attn_device_alloc(device, sizeof(in), &memory));
  EXPECT_OK(attn_device_copy_in(device, memory, in, sizeof(in)));
  EXPECT_OK(attn_device_copy_out(device, out, memory, sizeof(in)));
  EXPECT(memcmp(in, out, sizeof(in)) == 0);
  EXPECT_OK(attn_device_free(device, memory));
  EXPECT_OK(attn_device_alloc(device, 0, &memory));
  EXPECT(memory == NULL);
  EXPECT_OK(attn_device_free(device, memory));
  EXPECT_FAIL(attn_device_alloc(device, (size_t)1 << 40, &memory), ATTN_ERROR_OUT_OF_MEMORY,
              "allocating device memory");
  float ms = 0;
  EXPECT_OK(attn_device_timer_start(device));
  EXPECT_OK(attn_device_timer_stop(device, &ms));
  EXPECT(ms == 1.5f);
  EXPECT_OK(attn_device_synchronize(device));
  EXPECT_FAIL(attn_device_synchronize(NULL), ATTN_ERROR_ARGUMENT, "device: is null");
  attn_device_close(device);
  attn_device_close(NULL);
  return 0;
}
