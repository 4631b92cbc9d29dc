// REQUIRES: gpu
// The real driver: a PTX kernel written by hand is assembled, gets its parameters,
// writes through strides; the refusals the driver has a say in.
// RUN: %build_rt
// RUN: rm -rf %t.dir && %t %t.dir
#include "attn_rt/attn_device.h"
#include "check.h"

// One block a row of x (b, s, 4): x[b][s][t] += 100 * b + s + cap, where the row is s + S * b.
static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry probe(.param .u64 p, .param .u64 sb, .param .u64 ss, .param .u32 nb,\n"
                          "  .param .u32 ns, .param .u32 nd, .param .f32 cap)\n"
                          "{\n"
                          ".reg .u64 %rd<9>; .reg .u32 %r<9>; .reg .f32 %f<5>;\n"
                          "ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [sb]; ld.param.u64 %rd3, [ss];\n"
                          "ld.param.u32 %r1, [ns]; ld.param.f32 %f1, [cap];\n"
                          "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;\n"
                          "div.u32 %r4, %r2, %r1; rem.u32 %r5, %r2, %r1;\n"
                          "cvt.u64.u32 %rd4, %r4; mul.lo.u64 %rd4, %rd4, %rd2;\n"
                          "cvt.u64.u32 %rd5, %r5; mad.lo.u64 %rd4, %rd5, %rd3, %rd4;\n"
                          "cvt.u64.u32 %rd6, %r3; add.u64 %rd4, %rd4, %rd6; shl.b64 %rd4, %rd4, 2;\n"
                          "cvta.to.global.u64 %rd1, %rd1; add.u64 %rd1, %rd1, %rd4;\n"
                          "mad.lo.u32 %r6, %r4, 100, %r5; cvt.rn.f32.u32 %f2, %r6; add.f32 %f2, %f2, %f1;\n"
                          "ld.global.f32 %f3, [%rd1]; add.f32 %f3, %f3, %f2; st.global.f32 [%rd1], %f3;\n"
                          "ret;\n}\n";
static const char manifest[] =
    "{\"attn_manifest\": 1, \"sizes\": {\"b\": [\"x\", 0], \"s\": [\"x\", 1]},\n"
    " \"operands\": [{\"name\": \"x\", \"role\": \"out\", \"type\": \"f32\", \"dims\": [\"b\", \"s\", 4]},\n"
    "  {\"name\": \"cap\", \"role\": \"scalar\", \"type\": \"f32\", \"dims\": []}],\n"
    " \"empty\": [{\"zero\": [\"s\"], \"do\": \"nothing\"}, {\"zero\": [\"b\"], \"fill\": {\"x\": 0}}],\n"
    " \"kernels\": [{\"name\": \"probe\", \"chip\": \"sm_80\", \"ptx\": \"probe.ptx\", \"threads\": 4, \"smem_bytes\": "
    "98304,\n"
    "  \"tiles\": [\"b\", \"s\"], \"grid\": \"one_per_tile\",\n"
    "  \"args\": [{\"ptr\": \"x\"}, {\"strides\": \"x\"}, {\"sizes\": \"x\"}, {\"f32\": \"cap\"}]}]}\n";

int main(int argc, char **argv) {
  begin(argc, argv);
  attn_kernel *kernel;
  attn_device *device;
  write_file("probe.ptx", ptx);
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", manifest), &kernel));
  EXPECT_OK(attn_device_open(0, &device));
  printf("%s, %s\n", attn_device_name(device), attn_device_chip(device));
  enum { N = 2 * 3 * 10 };
  float host[N] = {0}, cap = 0.5f;
  void *memory;
  EXPECT_OK(attn_device_alloc(device, sizeof(host), &memory));
  EXPECT_OK(attn_device_copy_in(device, memory, host, sizeof(host)));
  attn_tensor x = {.size = sizeof(x),
                   .dtype = ATTN_F32,
                   .data = memory,
                   .rank = 3,
                   .sizes = {2, 3, 4},
                   .strides = {30, 10, 1}}; // rows of 4 in steps of 10
  attn_tensor scalar = {.size = sizeof(scalar), .dtype = ATTN_F32, .data = &cap};
  const attn_tensor *operands[] = {&x, &scalar};
  attn_launch launch = {.size = sizeof(launch), .num_operands = 2, .operands = operands};
  EXPECT_OK(attn_kernel_launch(kernel, &launch));
  launch.stream = (void *)2; // the per-thread default stream
  EXPECT_OK(attn_kernel_launch(kernel, &launch));
  launch.stream = NULL;
  launch.flags = ATTN_LAUNCH_TRUST_POINTERS;
  EXPECT_OK(attn_kernel_launch(kernel, &launch));
  launch.flags = 0;
  EXPECT_OK(attn_device_synchronize(device));
  EXPECT_OK(attn_device_copy_out(device, host, memory, sizeof(host)));
  for (int i = 0; i < N; ++i)
    EXPECT(host[i] == (i % 10 < 4 ? 3 * (100.0f * (float)(i / 30) + (float)(i / 10 % 3) + 0.5f) : 0.0f));

  // What the driver knows.
  x.data = host;
  EXPECT_FAIL(attn_kernel_launch(kernel, &launch), ATTN_ERROR_DEVICE, "is host memory, expected device memory");
  x.data = memory;
  attn_kernel *bad;
  char *truncated = strdup(ptx);
  truncated[sizeof(ptx) - 60] = 0;
  write_file("probe.ptx", truncated);
  EXPECT_OK(attn_kernel_load(path_of("manifest.json"), &bad));
  EXPECT_FAIL(attn_kernel_launch(bad, &launch), ATTN_ERROR_CODE, "CUDA_ERROR_INVALID_PTX");
  EXPECT(attn_kernel_jit_log(bad, NULL, 0) > 1 && strstr(attn_last_error(), "ptxas"));
  attn_kernel_unload(bad);
  write_file("probe.ptx", ptx);
  char *text = replaced(manifest, "98304", "1000000");
  EXPECT_OK(attn_kernel_load(write_file("large.json", text), &bad));
  EXPECT_FAIL(attn_kernel_launch(bad, &launch), ATTN_ERROR_RESOURCES, "needs 1000000 bytes of shared memory");
  attn_kernel_unload(bad);
  char *other = replaced(manifest, "\"sm_80\"", "\"sm_999a\"");
  EXPECT_OK(attn_kernel_load(write_file("other.json", other), &bad));
  EXPECT_FAIL(attn_kernel_launch(bad, &launch), ATTN_ERROR_ARCH, "is compiled for sm_999a, device 0");
  attn_kernel_unload(bad);

  // An empty launch fills through strides.
  char *fill = replaced(manifest, "\"zero\": [\"b\"]", "\"zero\": [\"n\"]");
  char *with_n = replaced(fill, "{\"b\": [", "{\"n\": [\"e\", 0], \"b\": [");
  char *with_e = replaced(with_n, "\"operands\": [",
                          "\"operands\": [{\"name\": \"e\", \"role\": \"in\", \"type\": \"f32\", \"dims\": [\"n\"]}, ");
  EXPECT_OK(attn_kernel_load(write_file("fill.json", with_e), &bad));
  attn_tensor e = {.size = sizeof(e), .dtype = ATTN_F32, .rank = 1};
  const attn_tensor *three[] = {&e, &x, &scalar};
  attn_launch empty = {.size = sizeof(empty), .num_operands = 3, .operands = three};
  for (int i = 0; i < N; ++i)
    host[i] = 7;
  EXPECT_OK(attn_device_copy_in(device, memory, host, sizeof(host)));
  EXPECT_OK(attn_kernel_launch(bad, &empty));
  EXPECT_OK(attn_device_copy_out(device, host, memory, sizeof(host)));
  for (int i = 0; i < N; ++i)
    EXPECT(host[i] == (i % 10 < 4 ? 0.0f : 7.0f));
  attn_kernel_unload(bad);

  attn_kernel_unload(kernel);
  EXPECT_OK(attn_device_free(device, memory));
  attn_device_close(device);
  free(truncated);
  free(text);
  free(other);
  free(fill);
  free(with_n);
  free(with_e);
  return 0;
}
