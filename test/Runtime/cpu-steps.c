// Steps on the CPU: the second kernel begins when all tiles of the first are done, and both have the workspace.
// RUN: %build_rt
// RUN: %build_so %S/Inputs/cpu_steps.c -o %t.kernel.so
// RUN: rm -rf %t.dir && mkdir %t.dir && cp %t.kernel.so %t.dir/kernel.so && %t %t.dir
#include "check.h"

static const char manifest[] =
    "{\"attn_manifest\": 1, \"sizes\": {\"rows\": [\"x\", 0]},\n"
    " \"operands\": [{\"name\": \"x\", \"role\": \"in\", \"type\": \"f32\", \"dims\": [\"rows\", 5]},\n"
    "  {\"name\": \"y\", \"role\": \"out\", \"type\": \"f32\", \"dims\": [null, 5]}],\n"
    " \"workspace\": [{\"name\": \"w\", \"type\": \"f32\", \"dims\": [[{\"ceil\": \"rows\", \"by\": 8}, 8], 6]}],\n"
    " \"kernels\": [\n"
    "  {\"name\": \"fill\", \"chip\": \"cpu\", \"code\": \"kernel.so\", \"tiles\": [{\"ceil\": \"rows\", \"by\": 8}, "
    "2],\n"
    "   \"args\": [{\"ptr\": \"x\"}, {\"strides\": \"x\"}, {\"sizes\": \"x\"}, {\"ptr\": \"w\"}, {\"strides\": \"w\"}, "
    "{\"sizes\": \"w\"}]},\n"
    "  {\"name\": \"reverse\", \"chip\": \"cpu\", \"code\": \"kernel.so\", \"tiles\": [{\"ceil\": \"rows\", \"by\": "
    "8}, "
    "2],\n"
    "   \"args\": [{\"ptr\": \"w\"}, {\"strides\": \"w\"}, {\"sizes\": \"w\"}, {\"ptr\": \"y\"}, {\"strides\": \"y\"}, "
    "{\"sizes\": \"y\"}]}]}\n";

enum { MOST = 5000 };
static float x[MOST * 5], y[(MOST + 8) * 5];
static _Alignas(256) float w[(MOST + 8) * 6];

int main(int argc, char **argv) {
  begin(argc, argv);
  attn_kernel *kernel;
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", manifest), &kernel));
  for (int i = 0; i < MOST * 5; ++i)
    x[i] = (float)(i + 1);
  const int rows[] = {1, 7, 8, 9, 1000, MOST};
  for (int repeat = 0; repeat < 20; ++repeat)
    for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); ++n) {
      int padded = (rows[n] + 7) / 8 * 8;
      attn_tensor in = view(x, 2, rows[n], 5, 0, 0), out = view(y, 2, padded, 5, 0, 0);
      const attn_tensor *operands[] = {&in, &out};
      attn_launch launch = {.size = sizeof(launch), .num_operands = 2, .operands = operands, .workspace = w};
      uint64_t bytes;
      EXPECT_OK(attn_kernel_workspace_bytes(kernel, &launch, &bytes));
      EXPECT(bytes == ((uint64_t)padded * 6 * 4 + 255) / 256 * 256);
      launch.workspace_bytes = bytes - 1;
      memset(y, 0, sizeof(y));
      EXPECT_FAIL(attn_kernel_launch(kernel, &launch), ATTN_ERROR_WORKSPACE, "workspace: has");
      EXPECT(y[0] == 0);
      launch.workspace_bytes = bytes;
      memset(w, 0x7f, sizeof(w));
      attn_set_cpu_threads((uint32_t)(repeat % 7 + 1));
      EXPECT_OK(attn_kernel_launch(kernel, &launch));
      for (int i = 0; i < padded; ++i)
        for (int j = 0; j < 5; ++j) {
          int from = padded - 1 - i;
          EXPECT(y[i * 5 + j] == (from < rows[n] ? 2 * x[from * 5 + j] : -1));
        }
    }
  attn_kernel_unload(kernel);
  return 0;
}
