// What reaches the driver: parameters, grid, stream, context, code; once loaded in
// each context; with several kernels and workspace. The driver is a stand-in.
// RUN: %build_rt
// RUN: %build_so %S/Inputs/fake_cuda.c -o %t.cuda.so
// RUN: rm -rf %t.dir && env ATTN_CUDA_LIBRARY=%t.cuda.so %t %t.dir
#include "check.h"
#include "fake_cuda.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>

static const fake_api *cuda;
static fake_state *driver;
static attn_kernel *kernel;
static problem p;

static void expect_launch(const fake_launch *l, void *context, unsigned grid) {
  EXPECT(strcmp(l->name, "attention_fwd") == 0 && l->context == context);
  EXPECT(l->grid[0] == grid && l->grid[1] == 1 && l->grid[2] == 1);
  EXPECT(l->block[0] == 128 && l->block[1] == 1 && l->block[2] == 1 && l->smem == 98304);
}

static void expect_params(const fake_launch *l) {
  const uint64_t *at = l->params;
  const int order[] = {Q, K, V, SLOPES, CAP, O, LSE};
  for (int i = 0; i < NUM_OPERANDS; ++i) {
    const attn_tensor *t = &p.tensors[order[i]];
    if (order[i] == CAP) {
      EXPECT((uint32_t)*at++ == 0x40200000); // 2.5f
      continue;
    }
    EXPECT(*at++ == (uintptr_t)t->data);
    for (uint32_t d = 0; d + 1 < t->rank; ++d)
      EXPECT(*at++ == (uint64_t)(t->sizes[d] > 1 ? t->strides[d] : 0));
    for (uint32_t d = 0; d < t->rank; ++d)
      EXPECT((uint32_t)*at++ == t->sizes[d]);
  }
  EXPECT(at - l->params == NUM_PARAMS - 1);
}

static void *launch_thread(void *context) {
  cuda->set_current(context);
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  return NULL;
}

int main(int argc, char **argv) {
  begin(argc, argv);
  void *library = dlopen(getenv("ATTN_CUDA_LIBRARY"), RTLD_NOW);
  EXPECT(library);
  cuda = ((const fake_api *(*)(void))(uintptr_t)dlsym(library, "fake_cuda"))();
  driver = cuda->state;
  driver->num_params = NUM_PARAMS;
  write_file("fwd.ptx", "PTX\n.version 8.0\n.target sm_80\n.entry attention_fwd\nend");
  write_file("fwd.cubin", "CUBIN sm_80\n.entry attention_fwd\nend");
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", MANIFEST(GPU_KERNEL)), &kernel));
  EXPECT(driver->loads == 0 && strcmp(attn_kernel_chip(kernel), "sm_80") == 0);
  void *first = cuda->context(0, 1), *second = cuda->context(1, 1);
  float *on_first = cuda->memory(first, 1 << 20, 0), *on_second = cuda->memory(second, 1 << 20, 0);

  // 2 batches x 6 heads x ceil(9 / 4) tiles; section: largest divisor of 12 with d * 11 * 32 <= 4096.
  problem_init(&p, 2, 6, 3, 9, 11, on_first);
  p.launch.stream = cuda->stream(first);
  cuda->set_current(first);
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT(driver->loads == 1 && driver->launches == 1 && strcmp(driver->loaded, "CUBIN sm_80") == 0);
  expect_launch(&driver->last[0], first, 2 * 6 * 3);
  EXPECT(driver->last[0].stream == p.launch.stream);
  expect_params(&driver->last[0]);
  EXPECT((uint32_t)driver->last[0].params[NUM_PARAMS - 1] == 6);
  char log[64];
  size_t needed = attn_kernel_jit_log(kernel, log, sizeof(log));
  EXPECT(needed == strlen(log) + 1 && strstr(log, "40 registers"));
  EXPECT(attn_kernel_jit_log(kernel, log, 6) == needed && strcmp(log, "ptxas") == 0);

  // Again: not loaded again. Size-1 dimensions: stride 0 is passed. The budget allows all 12, or only 1.
  problem_init(&p, 1, 12, 1, 1, 1, on_first);
  p.tensors[Q].strides[0] = p.tensors[K].strides[1] = 99990001;
  p.tensors[Q].strides[2] = -1;
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT(driver->loads == 1 && driver->launches == 2);
  expect_params(&driver->last[1]);
  EXPECT((uint32_t)driver->last[1].params[NUM_PARAMS - 1] == 12);
  problem_init(&p, 1, 12, 1, 1, 200, on_first);
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT((uint32_t)driver->last[2].params[NUM_PARAMS - 1] == 1);

  // Tensors of the second device while the first is current: it runs where they are,
  // on sm_90 from the PTX, and the current context is what it was.
  problem_init(&p, 2, 6, 3, 9, 11, on_second);
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT(cuda->current() == first && strcmp(driver->loaded, "PTX") == 0 && driver->loads == 2);
  expect_launch(&driver->last[3], second, 2 * 6 * 3);
  p.launch.stream = cuda->stream(second);
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT(cuda->current() == first && driver->last[0].stream == p.launch.stream && driver->loads == 2);
  // The same with no context current.
  cuda->set_current(NULL);
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT(cuda->current() == NULL && driver->last[1].context == second);
  // Memory of a pool names a device only: the stream says which context.
  float *pooled = cuda->memory(second, 1 << 20, 3);
  problem_init(&p, 2, 6, 3, 9, 11, pooled);
  p.launch.stream = cuda->stream(second);
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT(driver->last[2].context == second);
  // Managed memory runs wherever is current.
  problem_init(&p, 2, 6, 3, 9, 11, cuda->memory(second, 1 << 20, 2));
  cuda->set_current(first);
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT(driver->last[3].context == first);
  // Unasked pointers too.
  problem_init(&p, 2, 6, 3, 9, 11, NULL);
  p.launch.flags = ATTN_LAUNCH_TRUST_POINTERS;
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT(driver->last[0].context == first && driver->loads == 2);
  free(p.memory);

  // Many threads at a context that has not seen the kernel: one of them loads.
  void *third = cuda->context(0, 0);
  driver->load_delay_us = 20000;
  problem_init(&p, 2, 6, 3, 9, 11, cuda->memory(third, 1 << 20, 0));
  pthread_t threads[8];
  for (int i = 0; i < 8; ++i)
    pthread_create(&threads[i], NULL, launch_thread, third);
  for (int i = 0; i < 8; ++i)
    pthread_join(threads[i], NULL);
  driver->load_delay_us = 0;
  EXPECT(driver->loads == 3);

  // `whole`: up to three pairs are walked together although the budget allows one.
  problem_init(&p, 1, 3, 1, 1, 200, on_first);
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT((uint32_t)driver->last[(driver->launches - 1) % 4].params[NUM_PARAMS - 1] == 3);

  // No keys: the outputs are filled on the device, no kernel runs and no code is needed.
  int before = driver->launches;
  problem_init(&p, 2, 6, 3, 9, 0, on_first);
  p.tensors[O].strides[1] = 16; // BSHD
  p.tensors[O].strides[2] = 6 * 16;
  memset(on_first, 0x55, p.floats * sizeof(float));
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT(driver->launches == before && driver->memsets == 2); // what lies in a row is one fill
  float *o = p.tensors[O].data, *lse = p.tensors[LSE].data;
  for (int i = 0; i < 2 * 6 * 9 * 16; ++i)
    EXPECT(o[i] == 0);
  for (int i = 0; i < 2 * 6 * 9; ++i)
    EXPECT(isinf(lse[i]) && lse[i] < 0);
  EXPECT(((uint32_t *)on_first)[0] == 0x55555555);
  problem_init(&p, 2, 6, 3, 0, 4, on_first);
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT(driver->launches == before);

  attn_kernel_unload(kernel);
  EXPECT(driver->unloads == 3 && cuda->current() == first);

  // Prepared ahead, in the current context.
  EXPECT_OK(attn_kernel_load(path_of("manifest.json"), &kernel));
  EXPECT_OK(attn_kernel_prepare(kernel));
  EXPECT(driver->loads == 4);
  attn_kernel_unload(kernel);

  // Two kernels of one file, a workspace that is zeroed, a grid of as many blocks as fit.
  char *text = replaced(MANIFEST("\"chip\": \"sm_80\", \"ptx\": \"fwd.ptx\", \"threads\": 64"), "\"workspace\": []",
                        "\"workspace\": [{\"name\": \"sums\", \"type\": \"f32\", \"dims\": [\"batch\", {\"ceil\": "
                        "\"q_len\", \"by\": 4}, 10]}, {\"name\": \"counter\", \"type\": \"i32\", \"dims\": [1], "
                        "\"zero\": \"before_first\"}]");
  char *two = replaced(text, "\"kernels\": [",
                       "\"kernels\": [{\"name\": \"entry\", \"chip\": \"sm_80\", \"ptx\": \"fwd.ptx\", "
                       "\"threads\": 32, \"blocks_per_sm\": 2, \"grid\": \"min_sms\", \"tiles\": [\"q_len\", 1000], "
                       "\"info\": {\"registers\": 40},"
                       "\"args\": [{\"ptr\": \"sums\"}, {\"ptr\": \"counter\"}, {\"i32\": \"k_len\"}, {\"i32\": "
                       "[{\"ceil\": \"q_len\", \"by\": 4}, [\"batch\", 100]]}, {\"i32\": 77}]}, ");
  EXPECT_OK(attn_kernel_load(write_file("two.json", two), &kernel));
  problem_init(&p, 2, 6, 3, 9, 11, on_first);
  uint64_t bytes = 0;
  EXPECT_OK(attn_kernel_workspace_bytes(kernel, &p.launch, &bytes));
  EXPECT(bytes == 256 + 256); // 2 * 3 * 10 floats, 1 int, each rounded up
  char *workspace = cuda->memory(first, 512, 0);
  memset(workspace, 0x55, 512);
  p.launch.workspace = workspace;
  p.launch.workspace_bytes = 511;
  EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), ATTN_ERROR_WORKSPACE,
              "workspace: has 511 bytes, expected at least 512");
  p.launch.workspace_bytes = 512;
  p.launch.workspace = NULL;
  EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), ATTN_ERROR_WORKSPACE, "at a null pointer");
  p.launch.workspace = workspace + 4;
  EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), ATTN_ERROR_WORKSPACE, "is not aligned to 256 bytes");
  p.launch.workspace = workspace;
  before = driver->launches;
  driver->num_params = 5;
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT(driver->launches == before + 2 && driver->loads == 5); // one module for both
  const fake_launch *l = &driver->last[before % 4];
  EXPECT(strcmp(l->name, "entry") == 0 && l->grid[0] == 216 && l->block[0] == 32 && l->smem == 0);
  EXPECT(l->params[0] == (uintptr_t)workspace && l->params[1] == (uintptr_t)workspace + 256 &&
         (uint32_t)l->params[2] == 11 && (uint32_t)l->params[3] == 3 * 2 * 100 && (uint32_t)l->params[4] == 77);
  EXPECT(workspace[0] == 0x55 && workspace[256] == 0 && workspace[259] == 0 && workspace[260] == 0x55);
  EXPECT(strcmp(driver->last[(before + 1) % 4].name, "attention_fwd") == 0);
  p.launch.workspace = aligned_alloc(256, 512);
  EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), ATTN_ERROR_DEVICE, "workspace: data");
  free(p.launch.workspace);
  attn_kernel_unload(kernel);
  free(text);
  free(two);
  return 0;
}
