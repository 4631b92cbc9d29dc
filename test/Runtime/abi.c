// The version, the sized structs, and what is never NULL.
// RUN: %build_rt
// RUN: %build_so %S/Inputs/cpu_kernel.c -o %t.kernel.so -lm
// RUN: rm -rf %t.dir && mkdir %t.dir && cp %t.kernel.so %t.dir/kernel.so && %t %t.dir
//
// The header is C++ too, and the library exports nothing but attn_*.
// RUN: echo '#include "attn_rt/attn_device.h"' > %t.cpp
// RUN: %cxx -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I%attn_rt_include %t.cpp
// RUN: llvm-nm -D --defined-only %attn_rt_lib/libattn_rt.so | FileCheck %s
// CHECK-NOT: {{ [TDBW] [^a]}}
// CHECK-NOT: {{ [TDBW] attn_(at|bad|fail|json)}}
// CHECK: T attn_abi_version
// CHECK-NOT: {{ [TDBW] [^a]}}
#include "check.h"

// The layout is the ABI: a change here needs a new ATTN_ABI_VERSION.
_Static_assert(sizeof(attn_tensor) == 152, "attn_tensor");
_Static_assert(sizeof(attn_launch) == 48, "attn_launch");
_Static_assert(sizeof(attn_operand_info) == 152, "attn_operand_info");

int main(int argc, char **argv) {
  begin(argc, argv);
  EXPECT(attn_abi_version() == ATTN_ABI_VERSION);
  EXPECT(attn_last_error() && attn_last_error()[0] == 0);
  for (int s = -1; s < 40; ++s)
    EXPECT(attn_status_name((attn_status)s));
  EXPECT(strcmp(attn_status_name(ATTN_ERROR_SHAPE), "ATTN_ERROR_SHAPE") == 0);
  EXPECT(strcmp(attn_dtype_name(ATTN_BF16), "bf16") == 0 && attn_dtype_bytes(ATTN_BF16) == 2);
  EXPECT(strcmp(attn_dtype_name(99), "?") == 0 && attn_dtype_bytes(99) == 0);

  // Null everywhere.
  attn_kernel *kernel = (attn_kernel *)&kernel;
  EXPECT_FAIL(attn_kernel_load(NULL, &kernel), ATTN_ERROR_ARGUMENT, "manifest_path");
  EXPECT(kernel == NULL);
  EXPECT_FAIL(attn_kernel_load("x", NULL), ATTN_ERROR_ARGUMENT, "out");
  EXPECT_FAIL(attn_kernel_launch(NULL, NULL), ATTN_ERROR_ARGUMENT, "kernel");
  EXPECT_FAIL(attn_kernel_check(NULL, NULL), ATTN_ERROR_ARGUMENT, "kernel");
  EXPECT_FAIL(attn_kernel_prepare(NULL), ATTN_ERROR_ARGUMENT, "kernel");
  attn_kernel_unload(NULL);
  EXPECT(attn_kernel_num_operands(NULL) == 0 && attn_kernel_find_operand(NULL, "q") == -1);
  EXPECT(attn_kernel_chip(NULL) && attn_kernel_meaning(NULL) && attn_kernel_jit_log(NULL, NULL, 0) == 1);

  EXPECT_OK(attn_kernel_load(write_file("manifest.json", MANIFEST(CPU_KERNEL)), &kernel));
  EXPECT_FAIL(attn_kernel_launch(kernel, NULL), ATTN_ERROR_ARGUMENT, "launch: is null");

  // A struct of another header.
  problem p;
  problem_init(&p, 1, 2, 1, 3, 5, NULL);
  memset(p.memory, 0, p.floats * sizeof(float));
  p.launch.size = 0;
  EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), ATTN_ERROR_ARGUMENT,
              "launch: its size field says 0 bytes, expected 48");
  p.launch.size = 0xdeadbeef;
  EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), ATTN_ERROR_ARGUMENT, "uninitialised");
  struct {
    attn_launch launch;
    uint64_t later_field;
  } newer = {p.launch, 0};
  newer.launch.size = sizeof(newer);
  EXPECT_OK(attn_kernel_launch(kernel, &newer.launch)); // not used, so not missed
  newer.later_field = 1;
  EXPECT_FAIL(attn_kernel_launch(kernel, &newer.launch), ATTN_ERROR_UNSUPPORTED, "fields beyond the 48");
  p.launch.size = sizeof(p.launch);
  p.tensors[K].size = 8;
  EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), ATTN_ERROR_ARGUMENT, "tensor k: its size field says 8");
  p.tensors[K].size = sizeof(attn_tensor);
  p.launch.flags = 1u << 31;
  EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), ATTN_ERROR_UNSUPPORTED, "flags 0x80000000");
  p.launch.flags = 0;
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch)); // and the message is gone

  // What the manifest says.
  EXPECT(strcmp(attn_kernel_chip(kernel), "cpu") == 0);
  EXPECT(strcmp(attn_kernel_meaning(kernel), "{\"op\":\"sdpa\",\"scale\":0.0883883461}") == 0);
  EXPECT(attn_kernel_num_operands(kernel) == NUM_OPERANDS && attn_kernel_find_operand(kernel, "cap") == CAP);
  EXPECT(attn_kernel_find_operand(kernel, "x") == -1 && attn_kernel_find_operand(kernel, NULL) == -1);
  attn_operand_info info = {.size = sizeof(info)};
  EXPECT_OK(attn_kernel_operand_info(kernel, V, &info));
  EXPECT(strcmp(info.name, "v") == 0 && info.role == ATTN_ROLE_IN && info.dtype == ATTN_F32 && info.rank == 4);
  EXPECT(info.dims[0] == -1 && strcmp(info.dim_names[1], "k_heads") == 0 && info.dims[3] == 16 && !info.dim_names[3]);
  EXPECT_OK(attn_kernel_operand_info(kernel, SLOPES, &info));
  EXPECT(info.role == ATTN_ROLE_CAPTURE && info.rank == 1 && info.dims[0] == -1 && !info.dim_names[0]);
  EXPECT_OK(attn_kernel_operand_info(kernel, CAP, &info));
  EXPECT(info.role == ATTN_ROLE_SCALAR && info.rank == 0);
  EXPECT_FAIL(attn_kernel_operand_info(kernel, 7, &info), ATTN_ERROR_ARGUMENT, "index: is 7, expected less than 7");
  info.size = 4;
  EXPECT_FAIL(attn_kernel_operand_info(kernel, 0, &info), ATTN_ERROR_ARGUMENT, "size field");
  EXPECT_FAIL(attn_kernel_operand_info(kernel, 0, NULL), ATTN_ERROR_ARGUMENT, "info");
  attn_kernel_unload(kernel);
  free(p.memory);
  return 0;
}
