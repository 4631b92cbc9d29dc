// A backward manifest: one call launches all kernels of a way in order and hands them the workspace; what is wrong with
// a call is one sentence, and nothing is launched. The driver is a stand-in.
// RUN: %build_rt
// RUN: %build_so %S/Inputs/fake_cuda.c -o %t.cuda.so
// RUN: rm -rf %t.dir && env ATTN_CUDA_LIBRARY=%t.cuda.so %t %t.dir %S/Inputs/grad.json
#include "check.h"
#include "fake_cuda.h"

#include <dlfcn.h>

enum { GQ, GK, GV, GO, GLSE, GDO, GDQ, GDK, GDV, NUM_GRAD };
static const fake_api *cuda;
static fake_state *driver;
static attn_kernel *kernel;
static char *memory;
static attn_tensor t[NUM_GRAD];
static const attn_tensor *operands[NUM_GRAD];
static attn_launch launch = {.size = sizeof(launch), .num_operands = NUM_GRAD, .operands = operands};

static void shapes(int64_t b, int64_t hq, int64_t hk, int64_t sq, int64_t sk) {
  for (int i = 0; i < NUM_GRAD; ++i) {
    int ofKeys = i == GK || i == GV || i == GDK || i == GDV, wide = i == GQ || i == GK || i == GDQ || i == GDK;
    t[i] = view(memory + ((size_t)i << 20), i == GLSE ? 3 : 4, b, ofKeys ? hk : hq, ofKeys ? sk : sq, wide ? 64 : 32);
    t[i].dtype = i == GLSE ? ATTN_F32 : ATTN_F16;
    operands[i] = &t[i];
  }
}

/// The launch starts exactly these, in this order (empty strings: fewer).
static void launched(const char *const names[4], int count) {
  for (int i = 0; i <= count; ++i) {
    const char *chosen = "?";
    EXPECT_OK(attn_kernel_chosen(kernel, &launch, (uint32_t)i, &chosen));
    EXPECT(i == count ? chosen == NULL : strcmp(chosen, names[i]) == 0);
  }
  int before = driver->launches;
  EXPECT_OK(attn_kernel_launch(kernel, &launch));
  EXPECT(driver->launches == before + count);
  for (int i = 0; i < count; ++i) {
    const fake_launch *l = &driver->last[(before + i) % 4];
    EXPECT(strcmp(l->name, names[i]) == 0 && l->stream == launch.stream);
  }
}
static const fake_launch *nth_last(int n) { return &driver->last[(driver->launches - n) % 4]; }

static void refused(attn_status status, const char *text) {
  int before = driver->launches, memsets = driver->memsets;
  EXPECT_FAIL(attn_kernel_launch(kernel, &launch), status, text);
  EXPECT(driver->launches == before && driver->memsets == memsets);
}

static void order(void) {
  static const char *const mapped[] = {"grad_pre", "grad_dkv", "grad_dq", ""};
  static const char *const any[] = {"any_pre", "any_dk", "any_dv", "any_dq"};
  driver->num_params = 7;
  shapes(2, 6, 2, 100, 300);
  uint64_t bytes;
  EXPECT_OK(attn_kernel_workspace_bytes(kernel, &launch, &bytes));
  EXPECT(bytes == 256 + 2 * (2 * 6 * 128 * 4));
  launched(mapped, 3);
  char *lse2 = (char *)launch.workspace + 256, *dsum = lse2 + 2 * 6 * 128 * 4;
  const fake_launch *pre = nth_last(3), *dkv = nth_last(2), *dq = nth_last(1);
  EXPECT(pre->grid[0] == 2 * 6 * 2 && dkv->grid[0] == 3 * 2 * 2 && dq->grid[0] == 1 * 6 * 2);
  // A workspace is an argument like an operand: pointer, strides, sizes of a dense buffer of its dimensions.
  EXPECT(pre->params[1] == (uintptr_t)lse2 && pre->params[2] == 6 * 128 && pre->params[3] == 128);
  EXPECT((uint32_t)pre->params[4] == 2 && (uint32_t)pre->params[5] == 6 && (uint32_t)pre->params[6] == 128);
  EXPECT(dkv->params[2] == (uintptr_t)lse2 && dkv->params[5] == (uintptr_t)launch.workspace);
  EXPECT((uint32_t)dkv->params[6] == 1);
  // 100 queries of 192 bytes for each of the 3 heads of a group: 57600 bytes; one of 4 pairs fits the budget.
  EXPECT((uint32_t)dkv->params[4] == 1);
  shapes(2, 2, 2, 100, 300); // 19200 bytes: 4 fit
  launched(mapped, 3);
  EXPECT((uint32_t)nth_last(2)->params[4] == 4);
  shapes(1, 6, 2, 64, 300); // of a dimension of size 1 the stride is 0
  launched(mapped, 3);
  EXPECT(nth_last(3)->params[2] == 0 && nth_last(3)->params[3] == 64 && (uint32_t)nth_last(3)->params[6] == 64);
  // Another way may have another number of kernels; its choice is for all of them.
  shapes(2, 6, 2, 100, 300);
  t[GK].data = (char *)t[GK].data + 8;
  driver->num_params = 1;
  launched(any, 4);
  (void)dsum;
}

static void empty(void) {
  driver->num_params = 1;
  const int64_t none[][5] = {{1, 6, 2, 0, 5}, {1, 6, 2, 5, 0}, {1, 0, 2, 5, 5}, {0, 6, 2, 5, 5}};
  for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); ++i) {
    shapes(none[i][0], none[i][1], none[i][2], none[i][3], none[i][4]);
    int before = driver->launches;
    memset(memory, 0x55, (size_t)NUM_GRAD << 20);
    EXPECT_OK(attn_kernel_launch(kernel, &launch));
    EXPECT(driver->launches == before);
    uint16_t *dq = t[GDQ].data, *dk = t[GDK].data, *dv = t[GDV].data;
    int keys = none[i][0] && none[i][4], queries = none[i][0] && none[i][1] && none[i][3];
    EXPECT(dq[0] == (queries ? 0 : 0x5555));
    EXPECT(dk[0] == (keys ? 0 : 0x5555) && dv[0] == (keys ? 0 : 0x5555));
    EXPECT(!keys || (dk[2 * 5 * 64 - 1] == 0 && dk[2 * 5 * 64] == 0x5555));
  }
}

static void refusals(void) {
  shapes(2, 6, 2, 100, 300);
  uint64_t bytes, given = launch.workspace_bytes;
  EXPECT_OK(attn_kernel_workspace_bytes(kernel, &launch, &bytes));
  launch.workspace_bytes = bytes - 1;
  refused(ATTN_ERROR_WORKSPACE, "workspace: has 12543 bytes, expected at least 12544");
  launch.workspace_bytes = given;
  operands[GLSE] = NULL;
  refused(ATTN_ERROR_MISSING, "lse: no tensor given");
  shapes(2, 6, 2, 100, 300);
  t[GLSE].data = NULL;
  refused(ATTN_ERROR_MISSING, "lse: its data pointer is null");
  shapes(2, 6, 2, 100, 300);
  t[GLSE].dtype = ATTN_F16;
  refused(ATTN_ERROR_DTYPE, "lse: is f16, expected f32");
  shapes(2, 6, 2, 100, 300);
  t[GLSE].rank = 4;
  t[GLSE].sizes[3] = t[GLSE].strides[3] = 1;
  refused(ATTN_ERROR_RANK, "lse: has 4 dimensions, expected 3");
  shapes(2, 6, 2, 100, 300);
  t[GLSE].sizes[1] = 2; // of the key heads
  refused(ATTN_ERROR_SHAPE, "lse dimension 1 (q_heads): is 2, expected 6 as in q dimension 1");
  shapes(2, 6, 2, 100, 300);
  t[GDO].sizes[2] = 300;
  refused(ATTN_ERROR_SHAPE, "do dimension 2 (q_len): is 300, expected 100 as in q dimension 2");
  shapes(2, 6, 2, 100, 300);
  t[GDO].sizes[3] = 64;
  refused(ATTN_ERROR_SHAPE, "do dimension 3: is 64, expected 32");
  shapes(2, 6, 2, 100, 300);
  t[GDK].sizes[1] = 6; // a gradient for each query head: they are summed over the group
  refused(ATTN_ERROR_SHAPE, "dk dimension 1 (k_heads): is 6, expected 2 as in k dimension 1");
  shapes(2, 6, 2, 100, 300);
  t[GDV].strides[0] = 0;
  refused(ATTN_ERROR_ALIAS, "dv: is an output whose elements share memory");
  shapes(2, 6, 2, 100, 300);
  t[GDQ].data = t[GQ].data;
  refused(ATTN_ERROR_ALIAS, "dq: overlaps q");
  // dO may be an expanded view, as the gradient of a sum is.
  shapes(2, 6, 2, 100, 300);
  t[GDO].strides[0] = t[GDO].strides[1] = t[GDO].strides[2] = 0;
  EXPECT_OK(attn_kernel_launch(kernel, &launch));
  shapes(1, 1, 1, (1ll << 31) - 1, 1);
  refused(ATTN_ERROR_SHAPE, "workspace lse2 dimension 2: is more than 2147483647 for these sizes");
}

/// Ways that are not right.
static void manifests(const char *good) {
  static const struct {
    const char *from, *to;
    attn_status status;
    const char *text;
  } edits[] = {
      {"\"kernels\": [\n   {\"name\": \"grad_pre\"", "\"kernels\": [], \"x\": [\n   {\"name\": \"grad_pre\"",
       ATTN_ERROR_UNSUPPORTED, "kernels[0].first_of[0]: unknown key 'x'; this library knows kernels, when"},
      {"{\"when\": {\"aligned\": [\"q\", \"k\"]}, ", "{", ATTN_ERROR_MANIFEST,
       "kernels[0].first_of[0].when: expected an object, got nothing"},
      {"\"threads\": 128, \"grid\"", "\"threads\": 128, \"when\": {\"aligned\": [\"q\"]}, \"grid\"",
       ATTN_ERROR_MANIFEST,
       "kernels[0].first_of[0].kernels[0].when: is said once for all of the list, beside \"kernels\""},
      {"\"aligned\": [\"q\", \"k\"]", "\"aligned\": [\"q\"]", ATTN_ERROR_MANIFEST,
       "kernels[0].first_of[0].kernels[1].args[1]: 'k' has a tensor map here, so \"when\" must name it in \"aligned\""},
      {"\"by\": \"k_heads\"", "\"by\": \"k_head\"", ATTN_ERROR_MANIFEST,
       "values.section.unit_bytes[2].by: 'k_head' is not in \"sizes\""},
      {"{\"strides\": \"lse2\"}", "{\"strides\": \"lse3\"}", ATTN_ERROR_MANIFEST,
       "args[2].strides: 'lse3' is not in \"operands\" or \"workspace\""},
      {"[{\"first_of\": [", "[{\"kernels\": []}, {\"first_of\": [", ATTN_ERROR_MANIFEST,
       "kernels[0].name: expected a string, got nothing"},
  };
  for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); ++i) {
    char *text = replaced(good, edits[i].from, edits[i].to);
    attn_kernel *none;
    EXPECT_FAIL(attn_kernel_load(write_file("bad.json", text), &none), edits[i].status, edits[i].text);
    EXPECT(none == NULL);
    free(text);
  }
}

int main(int argc, char **argv) {
  begin(argc, argv);
  EXPECT(argc == 3);
  cuda = ((const fake_api *(*)(void))(uintptr_t)dlsym(dlopen(getenv("ATTN_CUDA_LIBRARY"), RTLD_NOW), "fake_cuda"))();
  driver = cuda->state;
  driver->arch[0] = 90;
  driver->num_sms[0] = 132;
  driver->smem_optin[0] = 232448;
  static char text[1 << 16];
  FILE *file = fopen(argv[2], "rb");
  EXPECT(file && fread(text, 1, sizeof(text) - 1, file) > 0 && fclose(file) == 0);
  write_file("grad.ptx", "PTX\n.entry grad_pre\n.entry grad_dkv\n.entry grad_dq\n.entry any_pre\n.entry any_dk\n.entry "
                         "any_dv\n.entry any_dq\nend");
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", text), &kernel));
  void *context = cuda->context(0, 1);
  memory = cuda->memory(context, (size_t)NUM_GRAD << 20, 0);
  cuda->set_current(context);
  launch.workspace_bytes = 1 << 16;
  launch.workspace = cuda->memory(context, launch.workspace_bytes, 0);
  order();
  empty();
  refusals();
  manifests(text);
  attn_kernel_unload(kernel);
  return 0;
}
