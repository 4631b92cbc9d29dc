// Without a driver a GPU manifest still loads and can be asked about; a launch says
// what is missing. A library that is no driver is told apart.
// RUN: %build_rt
// RUN: rm -rf %t.dir && env ATTN_CUDA_LIBRARY=%t.no-such.so %t %t.dir "no-such.so"
// RUN: env ATTN_CUDA_LIBRARY=%attn_rt_lib/libattn_rt.so %t %t.dir "has no cuInit: the driver is too old"
#include "attn_rt/attn_device.h"
#include "check.h"

int main(int argc, char **argv) {
  begin(argc, argv);
  EXPECT(argc == 3);
  write_file("fwd.ptx", "");
  write_file("fwd.cubin", "");
  attn_kernel *kernel;
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", MANIFEST(GPU_KERNEL)), &kernel));
  EXPECT(attn_kernel_num_operands(kernel) == NUM_OPERANDS);
  problem p;
  problem_init(&p, 1, 1, 1, 4, 4, NULL);
  EXPECT_OK(attn_kernel_check(kernel, &p.launch));
  EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), ATTN_ERROR_NO_DRIVER, argv[2]);
  EXPECT(strstr(attn_last_error(), "CUDA driver library"));
  EXPECT_FAIL(attn_kernel_prepare(kernel), ATTN_ERROR_NO_DRIVER, argv[2]);
  attn_device *device;
  EXPECT_FAIL(attn_device_open(0, &device), ATTN_ERROR_NO_DRIVER, argv[2]);
  EXPECT(device == NULL);
  attn_kernel_unload(kernel);
  free(p.memory);
  return 0;
}
