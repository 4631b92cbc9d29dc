// Everything that can go wrong between a right launch and a GPU: a status of its
// own and the names of what met what. The driver is a stand-in.
// RUN: %build_rt
// RUN: %build_so %S/Inputs/fake_cuda.c -o %t.cuda.so
// RUN: rm -rf %t.dir && env ATTN_CUDA_LIBRARY=%t.cuda.so %t %t.dir
#include "check.h"
#include "fake_cuda.h"

#include <dlfcn.h>

static const fake_api *cuda;
static fake_state *driver;
static problem p;

/// A kernel of this chip with these files (NULL: without).
static attn_kernel *load(const char *chip, const char *ptx, const char *cubin) {
  char part[256], name[64];
  snprintf(part, sizeof(part), "\"chip\": \"%s\"%s%s, \"threads\": 128, \"smem_bytes\": 98304", chip,
           ptx ? ", \"ptx\": \"fwd.ptx\"" : "", cubin ? ", \"cubin\": \"fwd.cubin\"" : "");
  if (ptx)
    write_file("fwd.ptx", ptx);
  if (cubin)
    write_file("fwd.cubin", cubin);
  char *text = replaced(MANIFEST("KERNEL"), "KERNEL", part);
  static int count;
  snprintf(name, sizeof(name), "m%d.json", count++);
  attn_kernel *kernel;
  EXPECT_OK(attn_kernel_load(write_file(name, text), &kernel));
  free(text);
  return kernel;
}

static void refused(attn_kernel *kernel, attn_status status, const char *text) {
  int launches = driver->launches;
  EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), status, text);
  EXPECT(driver->launches == launches);
}
static void refused_once(attn_kernel *kernel, attn_status status, const char *text) {
  refused(kernel, status, text);
  attn_kernel_unload(kernel);
}

#define PTX "PTX\n.version 8.0\n.target sm_80\n.entry attention_fwd\nend"
#define CUBIN "CUBIN sm_80\n.entry attention_fwd\nend"

int main(int argc, char **argv) {
  begin(argc, argv);
  void *library = dlopen(getenv("ATTN_CUDA_LIBRARY"), RTLD_NOW);
  EXPECT(library);
  cuda = ((const fake_api *(*)(void))(uintptr_t)dlsym(library, "fake_cuda"))();
  driver = cuda->state;

  // No GPU: told, and looked for again the next time.
  problem_init(&p, 1, 1, 1, 4, 4, NULL);
  attn_kernel *kernel = load("sm_80", PTX, CUBIN);
  driver->init_result = 100;
  refused(kernel, ATTN_ERROR_NO_DEVICE, "does not start: CUDA_ERROR_NO_DEVICE (100)");
  driver->init_result = 803;
  refused(kernel, ATTN_ERROR_NO_DRIVER, "does not start");
  driver->init_result = 0;

  // Host memory, and no context.
  refused(kernel, ATTN_ERROR_DEVICE, "q: data");
  EXPECT(strstr(attn_last_error(), "is host memory, expected device memory"));
  p.launch.flags = ATTN_LAUNCH_TRUST_POINTERS;
  refused(kernel, ATTN_ERROR_NO_DEVICE, "no CUDA context is current in this thread");
  EXPECT_FAIL(attn_kernel_prepare(kernel), ATTN_ERROR_NO_DEVICE, "no CUDA context is current in this thread");
  p.launch.flags = 0;
  void *first = cuda->context(0, 1), *second = cuda->context(1, 1), *other = cuda->context(0, 0);
  float *on_first = cuda->memory(first, 1 << 16, 0), *on_second = cuda->memory(second, 1 << 16, 0);
  cuda->set_current(first);
  refused(kernel, ATTN_ERROR_DEVICE, "is host memory");
  free(p.memory);
  problem_init(&p, 1, 1, 1, 4, 4, cuda->memory(first, 1 << 16, 1));
  refused(kernel, ATTN_ERROR_DEVICE, "is page-locked host memory");

  // Tensors and streams apart.
  problem_init(&p, 1, 1, 1, 4, 4, on_first);
  p.tensors[V].data = on_second;
  refused(kernel, ATTN_ERROR_DEVICE, "v: is on device 1, expected device 0 as q");
  p.tensors[V].data = cuda->memory(other, 4096, 0);
  refused(kernel, ATTN_ERROR_DEVICE, "v: belongs to another CUDA context than q");
  problem_init(&p, 1, 1, 1, 4, 4, on_first);
  p.launch.stream = cuda->stream(second);
  refused(kernel, ATTN_ERROR_DEVICE, "stream: is of device 1, expected device 0 as q");
  uint32_t junk[16] = {0};
  p.launch.stream = junk;
  refused(kernel, ATTN_ERROR_DEVICE, "stream: is not a CUDA stream");
  EXPECT(cuda->current() == first);
  p.launch.stream = NULL;
  problem pooled;
  problem_init(&pooled, 1, 1, 1, 4, 4, cuda->memory(second, 1 << 16, 3));
  EXPECT_FAIL(attn_kernel_launch(kernel, &pooled.launch), ATTN_ERROR_DEVICE,
              "q: is on device 1, but the current CUDA context is of another device");
  attn_kernel_unload(kernel);

  // Code for another GPU.
  refused_once(load("sm_90a", PTX, CUBIN), ATTN_ERROR_ARCH,
               "kernel attention_fwd: is compiled for sm_90a, device 0 (Fake GPU 0) is sm_80");
  refused_once(load("sm_89", PTX, NULL), ATTN_ERROR_ARCH, "is compiled for sm_89, device 0 (Fake GPU 0) is sm_80");
  driver->arch[0] = 120; // what is made for one architecture only does not run on a later one
  refused_once(load("sm_90a", PTX, CUBIN), ATTN_ERROR_ARCH, "is sm_120");
  refused_once(load("sm_100f", PTX, CUBIN), ATTN_ERROR_ARCH, "is sm_120");
  refused_once(load("sm_80", NULL, CUBIN), ATTN_ERROR_ARCH,
               "is compiled for sm_80 without PTX, device 0 (Fake GPU 0) is sm_120");
  kernel = load("sm_80", PTX, CUBIN);
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  attn_kernel_unload(kernel);
  driver->arch[0] = 86;
  kernel = load("sm_80", PTX, CUBIN); // same generation: the cubin runs
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  EXPECT(strcmp(driver->loaded, "CUBIN sm_80") == 0);
  attn_kernel_unload(kernel);
  driver->arch[0] = 80;
  refused_once(load("sm_80", NULL, "CUBIN sm_70 end"), ATTN_ERROR_ARCH, "fwd.cubin is for sm_80, device 0");

  // Code the driver refuses.
  kernel = load("sm_80", "PTX\n.version 8.0\n.entry attention_fwd", NULL);
  refused(kernel, ATTN_ERROR_CODE, "the driver (CUDA 12.2) refused ");
  EXPECT(strstr(attn_last_error(), "fwd.ptx: CUDA_ERROR_INVALID_PTX (218)") &&
         strstr(attn_last_error(), "ptxas fatal   : Unexpected end of file"));
  char log[256];
  EXPECT(attn_kernel_jit_log(kernel, log, sizeof(log)) > 1 && strstr(log, "Unexpected end of file"));
  refused_once(kernel, ATTN_ERROR_CODE, "Unexpected end of file"); // not remembered as loaded
  refused_once(
      load("sm_80", "PTX\n.version 99.1\n.target sm_80\nend", NULL), ATTN_ERROR_CODE,
      "is PTX version 99.1, newer than the installed driver (CUDA 12.2) assembles; update the driver or add a cubin");
  refused_once(load("sm_80", NULL, "CUBIN sm_80 broken"), ATTN_ERROR_CODE, "fwd.cubin: ");
  kernel = load("sm_80", PTX, "CUBIN sm_80 broken"); // the PTX is still there
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  attn_kernel_unload(kernel);
  refused_once(load("sm_80", "PTX\n.version 8.0\n.entry other\nend", NULL), ATTN_ERROR_CODE,
               "kernel attention_fwd: its code has no entry of this name");
  driver->load_result = 2;
  refused_once(load("sm_80", PTX, NULL), ATTN_ERROR_OUT_OF_MEMORY, "no device memory for its code");
  driver->load_result = 0;

  // More than the GPU offers.
  driver->smem_optin[0] = 65536;
  refused_once(load("sm_80", PTX, NULL), ATTN_ERROR_RESOURCES,
               "needs 98304 bytes of shared memory, device 0 (Fake GPU 0) has 65536");
  driver->smem_optin[0] = 98304 + 100;
  driver->static_smem = 101;
  refused_once(load("sm_80", PTX, NULL), ATTN_ERROR_RESOURCES, "needs 98405 bytes of shared memory");
  driver->static_smem = 0;
  driver->smem_result = 1;
  refused_once(load("sm_80", PTX, NULL), ATTN_ERROR_RESOURCES, "cannot have 98304 bytes of shared memory");
  driver->smem_result = 0;
  driver->max_threads = 96;
  refused_once(load("sm_80", PTX, NULL), ATTN_ERROR_RESOURCES, "needs 128 threads a block, its code can have 96");
  driver->max_threads = 1024;
  EXPECT(driver->loads > driver->unloads); // failed assemblies are loads without a module

  // A launch the driver refuses, and nothing left behind: the next one works.
  kernel = load("sm_80", PTX, NULL);
  driver->launch_result = 700;
  refused(kernel, ATTN_ERROR_LAUNCH,
          "kernel attention_fwd: launch of 1 blocks of 128 threads with 98304 bytes of shared memory on device 0 (Fake "
          "GPU 0): CUDA_ERROR_ILLEGAL_ADDRESS (700)");
  cuda->set_current(NULL);
  refused(kernel, ATTN_ERROR_LAUNCH, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT(cuda->current() == NULL);
  driver->launch_result = 0;
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  attn_kernel_unload(kernel);
  return 0;
}
