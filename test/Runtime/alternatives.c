// Two functions, one of them an alternative, from the spec to the kernel that a call
// starts. The driver is a stand-in; to it, code is complete where it says "end".
// RUN: %build_rt
// RUN: %build_so %S/Inputs/fake_cuda.c -o %t.cuda.so
// RUN: rm -rf %t.dir && attn-compile %S/Inputs/alternatives.mlir --chip=sm_80 -o %t.dir
// RUN: echo "// end" >> %t.dir/attention_fwd.ptx
// RUN: env ATTN_CUDA_LIBRARY=%t.cuda.so %t %t.dir
#include "check.h"
#include "fake_cuda.h"

#include <dlfcn.h>

static const fake_api *cuda;
static fake_state *driver;
static attn_kernel *kernel;
static char *memory;

/// A launch over `q_len` queries starts this kernel with so many blocks.
static void expect(int64_t q_len, const char *name, unsigned grid) {
  attn_tensor q = view(memory, 4, 2, 4, q_len, 128), k = view(memory + (4 << 20), 4, 2, 2, 1000, 128), v = k;
  attn_tensor o = view(memory + (8 << 20), 4, 2, 4, q_len, 128), lse = view(memory + (12 << 20), 3, 2, 4, q_len, 0);
  const attn_tensor *operands[] = {&q, &k, &v, &o, &lse};
  attn_launch launch = {.size = sizeof(launch), .num_operands = 5, .operands = operands};
  q.dtype = k.dtype = v.dtype = o.dtype = ATTN_BF16;
  const char *chosen = NULL;
  int before = driver->launches;
  EXPECT_OK(attn_kernel_chosen(kernel, &launch, 0, &chosen));
  EXPECT(strcmp(chosen, name) == 0);
  EXPECT_OK(attn_kernel_chosen(kernel, &launch, 1, &chosen));
  EXPECT(chosen == NULL);
  EXPECT_OK(attn_kernel_launch(kernel, &launch));
  const fake_launch *l = &driver->last[before % 4];
  EXPECT(driver->launches == before + 1 && strcmp(l->name, name) == 0);
  EXPECT(l->grid[0] == grid && l->block[0] == 128);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  void *library = dlopen(getenv("ATTN_CUDA_LIBRARY"), RTLD_NOW);
  EXPECT(library);
  cuda = ((const fake_api *(*)(void))(uintptr_t)dlsym(library, "fake_cuda"))();
  driver = cuda->state;
  driver->arch[0] = 80;
  driver->smem_optin[0] = 166912;
  EXPECT_OK(attn_kernel_load(path_of("manifest.json"), &kernel));
  void *context = cuda->context(0, 1);
  memory = cuda->memory(context, 16 << 20, 0);
  cuda->set_current(context);
  expect(512, "attention_fwd", 2 * 4 * 4);
  expect(511, "attention_short_fwd", 2 * 4 * 8);
  EXPECT(driver->loads == 1); // one file has both
  attn_kernel_unload(kernel);
  return 0;
}
