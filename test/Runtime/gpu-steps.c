// Kernels for TMA as the driver sees them: tensor maps field by field, which kernel of a
// step is chosen, workspace that is cleared once or each time. The driver is a stand-in
// that refuses what the real one's documentation forbids.
// RUN: %build_rt
// RUN: %build_so %S/Inputs/fake_cuda.c -o %t.cuda.so
// RUN: rm -rf %t.dir && env ATTN_CUDA_LIBRARY=%t.cuda.so %t %t.dir
// RUN: %build_so -DWITHOUT_TENSOR_MAPS %S/Inputs/fake_cuda.c -o %t.old.so
// RUN: env ATTN_CUDA_LIBRARY=%t.old.so %t %t.dir old
#include "check.h"
#include "fake_cuda.h"

#include <dlfcn.h>

static const char manifest[] =
    "{\"attn_manifest\": 1,\n"
    " \"sizes\": {\"batch\": [\"q\", 0], \"q_heads\": [\"q\", 1], \"q_len\": [\"q\", 2], \"k_heads\": [\"k\", 1],\n"
    "  \"k_len\": [\"k\", 2]},\n"
    " \"operands\": [\n"
    "  {\"name\": \"q\", \"role\": \"in\", \"type\": \"bf16\", \"dims\": [\"batch\", \"q_heads\", \"q_len\", 128]},\n"
    "  {\"name\": \"k\", \"role\": \"in\", \"type\": \"f16\", \"dims\": [\"batch\", \"k_heads\", \"k_len\", 40]},\n"
    "  {\"name\": \"o\", \"role\": \"out\", \"type\": \"f32\", \"dims\": [\"batch\", \"q_heads\", \"q_len\", 32]}],\n"
    " \"empty\": [{\"zero\": [\"batch\", \"q_heads\", \"q_len\"], \"do\": \"nothing\"}],\n"
    " \"workspace\": [{\"name\": \"counter\", \"type\": \"i32\", \"dims\": [1], \"zero\": \"restored\"},\n"
    "  {\"name\": \"sums\", \"type\": \"f32\", \"dims\": [\"q_len\"], \"zero\": \"before_first\"}],\n"
    " \"kernels\": [{\"first_of\": [\n"
    "  {\"name\": \"fwd_short\", \"when\": [{\"aligned\": [\"q\", \"k\", \"o\"]}, {\"size\": [\"q_len\", "
    "\"q_heads\"],\n"
    "   \"from\": 4, \"below\": 1536}], \"chip\": \"sm_90a\", \"ptx\": \"fwd.ptx\", \"threads\": 256,\n"
    "   \"tiles\": [{\"ceil\": \"q_len\", \"by\": 64}, \"q_heads\", \"batch\"], \"grid\": \"min_sms\", \"args\": [\n"
    "   {\"i32\": \"k_len\"}, {\"map\": \"q\", \"layout\": \"panels5\", \"rows\": 64, \"swizzle\": 128}, {\"ptr\": "
    "\"o\"},\n"
    "   {\"map\": \"k\", \"layout\": \"rows4\", \"rows\": 80, \"swizzle\": 64}, {\"ptr\": \"counter\"},\n"
    "   {\"map\": \"o\", \"layout\": \"panels5\", \"rows\": 256, \"swizzle\": 32}]},\n"
    "  {\"name\": \"fwd_long\", \"when\": {\"aligned\": [\"q\"]}, \"chip\": \"sm_90a\", \"ptx\": \"fwd.ptx\", "
    "\"threads\": 384,\n"
    "   \"smem_bytes\": 230656, \"tiles\": [{\"ceil\": \"q_len\", \"by\": 128}, \"q_heads\", \"batch\"], \"grid\": "
    "\"min_sms\",\n"
    "   \"args\": [{\"map\": \"q\", \"layout\": \"panels5\", \"rows\": 64, \"swizzle\": 128}, {\"ptr\": \"sums\"}]},\n"
    "  {\"name\": \"fwd_plain\", \"chip\": \"sm_90a\", \"ptx\": \"fwd.ptx\", \"threads\": 128,\n"
    "   \"tiles\": [\"q_len\", \"q_heads\", \"batch\"], \"grid\": \"one_per_tile\", \"args\": [{\"ptr\": \"q\"}]}]},\n"
    "  {\"name\": \"merge\", \"chip\": \"sm_90a\", \"ptx\": \"fwd.ptx\", \"threads\": 32, \"tiles\": \"q_len\",\n"
    "   \"grid\": \"one_per_tile\", \"args\": [{\"ptr\": \"o\"}]}]}\n";

static const fake_api *cuda;
static fake_state *driver;
static attn_kernel *kernel;
static attn_tensor q, k, o;
static const attn_tensor *operands[] = {&q, &k, &o};
static attn_launch launch = {.size = sizeof(launch), .num_operands = 3, .operands = operands};
static char *memory;

/// Dense tensors; the output first, where no stride of the others leads.
static void shapes(int64_t b, int64_t hq, int64_t hk, int64_t sq, int64_t sk) {
  q = view(memory + (1 << 20), 4, b, hq, sq, 128);
  k = view(memory + (2 << 20), 4, b, hk, sk, 40);
  o = view(memory, 4, b, hq, sq, 32);
  q.dtype = ATTN_BF16;
  k.dtype = ATTN_F16;
}

/// Both kernels of the launch are started; the first is `name`.
static const fake_launch *launched(const char *name) {
  int before = driver->launches;
  const char *chosen;
  EXPECT_OK(attn_kernel_chosen(kernel, &launch, 0, &chosen));
  EXPECT(strcmp(chosen, name) == 0);
  EXPECT_OK(attn_kernel_launch(kernel, &launch));
  EXPECT(driver->launches == before + 2 && strcmp(driver->last[(before + 1) % 4].name, "merge") == 0);
  const fake_launch *l = &driver->last[before % 4];
  EXPECT(strcmp(l->name, name) == 0);
  return l;
}

static void expect_map(uint64_t param, const fake_map *wanted) {
  EXPECT(param < 16);
  fake_map got = driver->maps[param];
  EXPECT(got.type == wanted->type && got.address == wanted->address && got.rank == wanted->rank);
  EXPECT(got.interleave == 0 && got.promotion == 2 && got.fill == 0 && got.swizzle == wanted->swizzle);
  EXPECT(memcmp(got.sizes, wanted->sizes, sizeof(got.sizes)) == 0);
  EXPECT(memcmp(got.strides, wanted->strides, sizeof(got.strides)) == 0);
  EXPECT(memcmp(got.box, wanted->box, sizeof(got.box)) == 0);
  for (unsigned d = 0; d < got.rank; ++d)
    EXPECT(got.steps[d] == 1);
}

static void maps(void) {
  shapes(2, 3, 1, 100, 70);
  q.strides[0] = 3 * 100 * 128 + 64; // wider than it must be
  q.strides[1] = 128;                // BSHD
  q.strides[2] = 3 * 128;
  k.strides[0] = 0;        // one in memory
  k.strides[1] = 99990001; // of a dimension of size 1
  driver->num_params = 6;
  const fake_launch *l = launched("fwd_short");
  EXPECT(l->grid[0] == 12 && l->block[0] == 256);
  EXPECT((uint32_t)l->params[0] == 70 && l->params[2] == (uintptr_t)o.data);
  EXPECT(l->params[4] == (uintptr_t)launch.workspace);
  expect_map(l->params[1], &(fake_map){.type = 9,
                                       .swizzle = 3,
                                       .rank = 5,
                                       .address = q.data,
                                       .sizes = {64, 100, 2, 3, 2},
                                       .strides = {768, 128, 256, 76928},
                                       .box = {64, 64, 2, 1, 1}});
  expect_map(l->params[3], &(fake_map){.type = 6,
                                       .swizzle = 2,
                                       .rank = 4,
                                       .address = k.data,
                                       .sizes = {40, 70, 1, 2},
                                       .strides = {80, 0, 0},
                                       .box = {32, 80, 1, 1}});
  expect_map(l->params[5], &(fake_map){.type = 7,
                                       .swizzle = 1,
                                       .rank = 5,
                                       .address = o.data,
                                       .sizes = {8, 100, 4, 3, 2},
                                       .strides = {128, 32, 12800, 38400},
                                       .box = {8, 256, 4, 1, 1}});
}

static void choice(void) {
  driver->num_params = 1;
  // Sizes: q_len * q_heads from 4, below 1536.
  shapes(1, 1, 1, 1535, 70);
  launched("fwd_short");
  shapes(1, 1, 1, 1536, 70);
  const fake_launch *l = launched("fwd_long");
  EXPECT(l->grid[0] == 12 && l->block[0] == 384 && l->smem == 230656);
  shapes(200, 1, 1, 3, 3);
  EXPECT(launched("fwd_long")->grid[0] == 132); // as many blocks as the GPU has SMs
  shapes(200, 1, 1, 4, 3);
  EXPECT(launched("fwd_short")->grid[0] == 132);
  // What a map cannot describe: an address, a stride, a stride beyond 2^40 bytes; not that of a dimension of size 1.
  shapes(2, 3, 1, 100, 70);
  k.data = (char *)k.data + 8;
  launched("fwd_long");
  k.data = (char *)k.data - 8;
  k.strides[2] = 44;
  k.strides[0] = 44 * 70;
  launched("fwd_long");
  k.strides[2] = 48;
  k.strides[0] = 48 * 70;
  launched("fwd_short");
  q.strides[1] += 4;
  q.strides[0] += 16;
  EXPECT(launched("fwd_plain")->grid[0] == 600);
  shapes(1, 2, 1, 100, 70);
  q.strides[1] = (1ll << 39) - 8;
  launched("fwd_short");
  q.strides[1] = 1ll << 39;
  launched("fwd_plain");
  q.strides[1] = 1ll << 62;
  EXPECT_FAIL(attn_kernel_launch(kernel, &launch), ATTN_ERROR_STRIDE, "leave the address space");
  // A dimension of 0 has no map; here the manifest has a rule for q's only.
  shapes(2, 3, 1, 100, 0);
  launched("fwd_long");
  shapes(2, 3, 1, 0, 70);
  const char *chosen = "?";
  EXPECT_OK(attn_kernel_chosen(kernel, &launch, 0, &chosen));
  EXPECT(chosen == NULL);
  shapes(2, 3, 1, 100, 70);
  EXPECT_OK(attn_kernel_chosen(kernel, &launch, 1, &chosen));
  EXPECT(strcmp(chosen, "merge") == 0);
  EXPECT_OK(attn_kernel_chosen(kernel, &launch, 2, &chosen));
  EXPECT(chosen == NULL);
}

static void workspace(void) {
  int *counter = launch.workspace, *sums = counter + 64;
  for (int kept = 0; kept < 2; ++kept)
    for (int uses_sums = 0; uses_sums < 2; ++uses_sums) {
      shapes(1, 1, 1, uses_sums ? 2000 : 100, 70);
      *counter = counter[1] = *sums = 7;
      launch.flags = kept ? ATTN_LAUNCH_WORKSPACE_KEPT : 0;
      launched(uses_sums ? "fwd_long" : "fwd_short");
      // The counter also when this kernel does not take it: the next may rely on it.
      EXPECT(*counter == (kept ? 7 : 0) && counter[1] == 7);
      EXPECT(*sums == (uses_sums ? 0 : 7));
    }
  launch.flags = 0;
}

/// One kernel that has no other to stand in for it.
static void refusals(void) {
  char *alone = replaced(manifest, "{\"first_of\": [\n", "");
  char *without = replaced(alone,
                           "\"when\": [{\"aligned\": [\"q\", \"k\", \"o\"]}, {\"size\": [\"q_len\", \"q_heads\"],\n"
                           "   \"from\": 4, \"below\": 1536}], ",
                           "");
  *strstr(without, ",\n  {\"name\": \"fwd_long\"") = 0;
  strcat(without, "]}\n");
  attn_kernel *one;
  EXPECT_OK(attn_kernel_load(write_file("one.json", without), &one));
  int before = driver->launches;
  shapes(2, 3, 2, 100, 70);
  k.data = (char *)k.data + 8;
  EXPECT_FAIL(attn_kernel_launch(one, &launch), ATTN_ERROR_ALIGNMENT,
              " is not aligned to 16 bytes, as the tensor map of kernel fwd_short needs");
  shapes(2, 3, 2, 100, 70);
  k.strides[1] = 2803;
  EXPECT_FAIL(
      attn_kernel_launch(one, &launch), ATTN_ERROR_ALIGNMENT,
      "k dimension 1 (k_heads): has stride 2803 elements of 2 bytes; the tensor map of kernel fwd_short needs a "
      "multiple of 16 bytes");
  k.strides[1] = 1ll << 39;
  EXPECT_FAIL(
      attn_kernel_launch(one, &launch), ATTN_ERROR_STRIDE,
      "k dimension 1 (k_heads): has stride 549755813888 elements of 2 bytes; the tensor map of kernel fwd_short "
      "needs less than 2^40 bytes");
  shapes(2, 3, 2, 100, 0);
  EXPECT_FAIL(attn_kernel_launch(one, &launch), ATTN_ERROR_SHAPE,
              "k dimension 2 (k_len): is 0; the tensor map of kernel fwd_short needs at least 1");
  // What the driver refuses all the same is told with all it was asked.
  shapes(2, 3, 2, 100, 70);
  driver->map_result = 999;
  *(int *)launch.workspace = 7;
  EXPECT_FAIL(attn_kernel_launch(one, &launch), ATTN_ERROR_LAUNCH,
              "q: the driver makes no tensor map of rank 5, sizes 64 100 2 3 2, strides 256 128 25600 76800 bytes, box "
              "64 64 2: CUDA_ERROR_OTHER (999)");
  EXPECT(*(int *)launch.workspace == 7 && driver->launches == before);
  driver->map_result = 0;
  EXPECT_OK(attn_kernel_launch(one, &launch));
  attn_kernel_unload(one);
  free(alone);
  free(without);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  void *library = dlopen(getenv("ATTN_CUDA_LIBRARY"), RTLD_NOW);
  EXPECT(library);
  cuda = ((const fake_api *(*)(void))(uintptr_t)dlsym(library, "fake_cuda"))();
  driver = cuda->state;
  driver->arch[0] = 90;
  driver->num_sms[0] = 132;
  driver->smem_optin[0] = 232448;
  write_file("fwd.ptx", "PTX\n.entry fwd_short\n.entry fwd_long\n.entry fwd_plain\n.entry merge\nend");
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", manifest), &kernel));
  void *context = cuda->context(0, 1);
  memory = cuda->memory(context, 3 << 20, 0);
  cuda->set_current(context);
  shapes(2, 3, 1, 100, 70);
  uint64_t bytes;
  EXPECT_OK(attn_kernel_workspace_bytes(kernel, &launch, &bytes));
  EXPECT(bytes == 256 + 512);
  launch.workspace_bytes = 16384;
  launch.workspace = cuda->memory(context, launch.workspace_bytes, 0);
  if (argc > 2) {
    EXPECT_FAIL(attn_kernel_launch(kernel, &launch), ATTN_ERROR_NO_DRIVER,
                "kernel fwd_short: needs tensor maps, but the CUDA driver library has no cuTensorMapEncodeTiled");
    EXPECT(driver->launches == 0 && driver->memsets == 0);
    return 0;
  }
  maps();
  choice();
  workspace();
  refusals();
  attn_kernel_unload(kernel);
  return 0;
}
