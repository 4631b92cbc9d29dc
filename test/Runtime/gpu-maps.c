// REQUIRES: gpu
// The real driver on a GPU with TMA: tensors go through shared memory and out again by
// tensor maps made from their strides, in tiles fetched from a counter that restores
// itself; what no map can describe goes through the second kernel of the step.
// RUN: %build_rt
// RUN: rm -rf %t.dir && %t %t.dir
#include "attn_rt/attn_device.h"
#include "check.h"

// One thread a block does it all. Shared memory: an mbarrier at 0, the tile from 1024 on.
// LOAD and STORE: one box, or the panels of a row in turn.
#define COPY(NAME, LOAD, STORE)                                                                                        \
  ".visible .entry " NAME "(.param .align 64 .b8 x[128], .param .align 64 .b8 y[128], .param .u64 counter,\n"          \
  "  .param .u32 nrows, .param .u32 nheads, .param .u32 ntiles, .param .u32 npanels)\n"                                \
  "{\n.reg .pred %p<4>; .reg .u32 %r<24>; .reg .u64 %rd<4>;\n"                                                         \
  "mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; @%p0 bra DONE;\n"                                                     \
  "mov.u32 %r1, smem; add.u32 %r2, %r1, 1024;\n"                                                                       \
  "mbarrier.init.shared::cta.b64 [%r1], 1; fence.mbarrier_init.release.cluster; fence.proxy.async;\n"                  \
  "mov.u64 %rd0, x; cvta.param.u64 %rd0, %rd0; mov.u64 %rd1, y; cvta.param.u64 %rd1, %rd1;\n"                          \
  "ld.param.u64 %rd2, [counter]; cvta.to.global.u64 %rd2, %rd2;\n"                                                     \
  "ld.param.u32 %r3, [nrows]; ld.param.u32 %r4, [nheads]; ld.param.u32 %r5, [ntiles]; ld.param.u32 %r6, [npanels];\n"  \
  "mov.u32 %r7, %ctaid.x; mov.u32 %r8, 0; sub.u32 %r9, %r5, 1;\n"                                                      \
  "TILE: setp.ge.u32 %p1, %r7, %r5; @%p1 bra DONE;\n"                                                                  \
  "rem.u32 %r10, %r7, %r3; shl.b32 %r10, %r10, 6; div.u32 %r11, %r7, %r3;\n" /* 64 rows a tile */                      \
  "rem.u32 %r12, %r11, %r4; div.u32 %r13, %r11, %r4; mov.u32 %r14, 0;\n"                                               \
  "shl.b32 %r15, %r6, 13; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], %r15;\n" LOAD                            \
  "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r1], %r8; @!%p2 bra WAIT; xor.b32 %r8, %r8, 1;\n" STORE       \
  "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"                                                          \
  "atom.global.inc.u32 %r16, [%rd2], %r9; mov.u32 %r17, %nctaid.x; add.u32 %r7, %r16, %r17; bra TILE;\n"               \
  "DONE: ret;\n}\n"
#define TO_SHARED(RANK) "cp.async.bulk.tensor." RANK ".shared::cluster.global.tile.mbarrier::complete_tx::bytes "
#define TO_GLOBAL(RANK) "cp.async.bulk.tensor." RANK ".global.shared::cta.tile.bulk_group "
// A panel of 64 rows has 8192 bytes.
#define PANELS(NAME, TILE)                                                                                             \
  "mov.u32 %r18, 0; mov.u32 %r19, %r2;\n" NAME ": shl.b32 %r20, %r18, 6;\n" TILE                                       \
  "add.u32 %r18, %r18, 1; add.u32 %r19, %r19, 8192; setp.lt.u32 %p3, %r18, %r6; @%p3 bra " NAME ";\n"
static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n" COPY(
        "copy_panels5", TO_SHARED("5d") "[%r2], [%rd0, {0, %r10, 0, %r12, %r13}], [%r1];\n",
        TO_GLOBAL("5d") "[%rd1, {0, %r10, 0, %r12, %r13}], [%r2];\n")
        COPY("copy_rows4", PANELS("LOAD", TO_SHARED("4d") "[%r19], [%rd0, {%r20, %r10, %r12, %r13}], [%r1];\n"),
             PANELS("STORE", TO_GLOBAL("4d") "[%rd1, {%r20, %r10, %r12, %r13}], [%r19];\n"))
    // A thread an element.
    ".visible .entry copy_plain(.param .u64 x, .param .u64 xb, .param .u64 xh, .param .u64 xs,\n"
    "  .param .u64 y, .param .u64 yb, .param .u64 yh, .param .u64 ys, .param .u32 nrows, .param .u32 nheads)\n"
    "{\n.reg .u32 %r<9>; .reg .u64 %rd<16>; .reg .u16 %h;\n"
    "ld.param.u32 %r3, [nrows]; ld.param.u32 %r4, [nheads]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x;\n"
    "rem.u32 %r5, %r0, %r3; div.u32 %r6, %r0, %r3; rem.u32 %r7, %r6, %r4; div.u32 %r8, %r6, %r4;\n"
    "cvt.u64.u32 %rd0, %r5; cvt.u64.u32 %rd1, %r7; cvt.u64.u32 %rd2, %r8; cvt.u64.u32 %rd3, %r1;\n"
    "ld.param.u64 %rd4, [x]; ld.param.u64 %rd5, [xb]; ld.param.u64 %rd6, [xh]; ld.param.u64 %rd7, [xs];\n"
    "mad.lo.u64 %rd8, %rd0, %rd7, %rd3; mad.lo.u64 %rd8, %rd1, %rd6, %rd8; mad.lo.u64 %rd8, %rd2, %rd5, %rd8;\n"
    "shl.b64 %rd8, %rd8, 1; add.u64 %rd8, %rd8, %rd4; cvta.to.global.u64 %rd8, %rd8; ld.global.u16 %h, [%rd8];\n"
    "ld.param.u64 %rd4, [y]; ld.param.u64 %rd5, [yb]; ld.param.u64 %rd6, [yh]; ld.param.u64 %rd7, [ys];\n"
    "mad.lo.u64 %rd8, %rd0, %rd7, %rd3; mad.lo.u64 %rd8, %rd1, %rd6, %rd8; mad.lo.u64 %rd8, %rd2, %rd5, %rd8;\n"
    "shl.b64 %rd8, %rd8, 1; add.u64 %rd8, %rd8, %rd4; cvta.to.global.u64 %rd8, %rd8; st.global.u16 [%rd8], %h;\n"
    "ret;\n}\n";

/// A manifest that copies x to y, columns columns each.
static attn_kernel *load(const char *layout, int columns) {
  static const char format[] =
      "{\"attn_manifest\": 1, \"sizes\": {\"b\": [\"x\", 0], \"h\": [\"x\", 1], \"s\": [\"x\", 2]},\n"
      " \"operands\": [{\"name\": \"x\", \"role\": \"in\", \"type\": \"bf16\", \"dims\": [\"b\", \"h\", \"s\", %d]},\n"
      "  {\"name\": \"y\", \"role\": \"out\", \"type\": \"bf16\", \"dims\": [\"b\", \"h\", \"s\", %d]}],\n"
      " \"workspace\": [{\"name\": \"counter\", \"type\": \"i32\", \"dims\": [1], \"zero\": \"restored\"}],\n"
      " \"kernels\": [{\"first_of\": [\n"
      "  {\"name\": \"copy_%s\", \"when\": {\"aligned\": [\"x\", \"y\"]}, \"chip\": \"sm_90\", \"ptx\": \"copy.ptx\",\n"
      "   \"threads\": 32, \"smem_bytes\": 66560, \"tiles\": [{\"ceil\": \"s\", \"by\": 64}, \"h\", \"b\"],\n"
      "   \"grid\": \"min_sms\", \"args\": [{\"map\": \"x\", \"layout\": \"%s\", \"rows\": 64, \"swizzle\": 128},\n"
      "    {\"map\": \"y\", \"layout\": \"%s\", \"rows\": 64, \"swizzle\": 128}, {\"ptr\": \"counter\"},\n"
      "    {\"i32\": {\"ceil\": \"s\", \"by\": 64}}, {\"i32\": \"h\"}, {\"i32\": [{\"ceil\": \"s\", \"by\": 64}, "
      "\"h\",\n"
      "    \"b\"]}, {\"i32\": %d}]},\n"
      "  {\"name\": \"copy_plain\", \"chip\": \"sm_90\", \"ptx\": \"copy.ptx\", \"threads\": %d,\n"
      "   \"tiles\": [\"s\", \"h\", \"b\"], \"grid\": \"one_per_tile\", \"args\": [{\"ptr\": \"x\"}, {\"strides\":\n"
      "   \"x\"}, {\"ptr\": \"y\"}, {\"strides\": \"y\"}, {\"i32\": \"s\"}, {\"i32\": \"h\"}]}]}]}\n";
  char text[4096];
  snprintf(text, sizeof(text), format, columns, columns, layout, layout, layout, (columns + 63) / 64, columns);
  attn_kernel *kernel;
  EXPECT_OK(attn_kernel_load(write_file("copy.json", text), &kernel));
  return kernel;
}

enum { ELEMENTS = 1 << 21 };
static attn_device *device;
static char *from, *to;
static void *workspace;

typedef struct copy_case {
  int64_t sizes[3], x[3], y[3]; ///< b, h, s and their strides
  int columns, offset;          ///< of both tensors, in elements
  const char *layout, *chosen;
} copy_case;

static void run(const copy_case *c) {
  attn_tensor x = {.size = sizeof(x), .dtype = ATTN_BF16, .data = from + 2 * c->offset, .rank = 4}, y;
  for (int d = 0; d < 3; ++d) {
    x.sizes[d] = c->sizes[d];
    x.strides[d] = c->x[d];
  }
  x.sizes[3] = c->columns;
  x.strides[3] = 1;
  y = x;
  y.data = to + 2 * c->offset;
  memcpy(y.strides, c->y, sizeof(c->y));
  const attn_tensor *operands[] = {&x, &y};
  attn_launch launch = {
      .size = sizeof(launch), .num_operands = 2, .operands = operands, .workspace = workspace, .workspace_bytes = 256};
  static uint16_t in[ELEMENTS], out[ELEMENTS], want[ELEMENTS];
  for (int i = 0; i < ELEMENTS; ++i) {
    in[i] = (uint16_t)(i * 40503u >> 5);
    want[i] = 0x7777;
  }
  for (int64_t b = 0; b < c->sizes[0]; ++b)
    for (int64_t h = 0; h < c->sizes[1]; ++h)
      for (int64_t s = 0; s < c->sizes[2]; ++s)
        memcpy(want + c->offset + (b > 0 ? b * c->y[0] : 0) + (h > 0 ? h * c->y[1] : 0) + (s > 0 ? s * c->y[2] : 0),
               in + c->offset + (b > 0 ? b * c->x[0] : 0) + (h > 0 ? h * c->x[1] : 0) + (s > 0 ? s * c->x[2] : 0),
               2 * (size_t)c->columns);
  attn_kernel *kernel = load(c->layout, c->columns);
  const char *chosen;
  EXPECT_OK(attn_kernel_chosen(kernel, &launch, 0, &chosen));
  EXPECT(strcmp(chosen, c->chosen) == 0);
  EXPECT_OK(attn_device_copy_in(device, from, in, sizeof(in)));
  int garbage = 12345;
  EXPECT_OK(attn_device_copy_in(device, workspace, &garbage, sizeof(garbage)));
  for (int turn = 0; turn < 3; ++turn) { // the later ones live from the counter the first left
    memset(out, 0x77, sizeof(out));
    EXPECT_OK(attn_device_copy_in(device, to, out, sizeof(out)));
    EXPECT_OK(attn_kernel_launch(kernel, &launch));
    EXPECT_OK(attn_device_synchronize(device));
    EXPECT_OK(attn_device_copy_out(device, out, to, sizeof(out)));
    for (int i = 0; i < ELEMENTS; ++i)
      if (out[i] != want[i])
        FAIL("%s, %d columns, turn %d: element %d is 0x%x, expected 0x%x", c->chosen, c->columns, turn, i, out[i],
             want[i]);
    launch.flags = ATTN_LAUNCH_WORKSPACE_KEPT;
  }
  attn_kernel_unload(kernel);
}

int main(int argc, char **argv) {
  begin(argc, argv);
  EXPECT_OK(attn_device_open(0, &device));
  if (atoi(attn_device_chip(device) + strlen("sm_")) < 90) {
    printf("%s has no TMA\n", attn_device_name(device));
    return 0;
  }
  EXPECT_OK(attn_device_alloc(device, 2 * ELEMENTS, (void **)&from));
  EXPECT_OK(attn_device_alloc(device, 2 * ELEMENTS, (void **)&to));
  EXPECT_OK(attn_device_alloc(device, 256, &workspace));
  write_file("copy.ptx", ptx);
  const copy_case cases[] = {
      // dense, ragged; 2 * 3 * 11 tiles
      {{2, 3, 700}, {268800, 89600, 128}, {268800, 89600, 128}, 128, 0, "panels5", "copy_panels5"},
      // more than three tiles a block on any GPU of today; B, S, H, D order into B, H, S, D
      {{40, 16, 10}, {20480, 128, 2048}, {20480, 1280, 128}, 128, 0, "panels5", "copy_panels5"},
      // row strides wider than a row; 256 columns are four panels
      {{1, 2, 65}, {0, 30000, 264}, {0, 40000, 512}, 256, 8, "panels5", "copy_panels5"},
      // strides of dimensions of size 1 mean nothing
      {{1, 1, 70}, {99990001, 3, 64}, {7, 0, 64}, 64, 0, "panels5", "copy_panels5"},
      {{1, 3, 1}, {0, 128, 3331333}, {1, 128, 5}, 64, 0, "panels5", "copy_panels5"},
      // an input whose heads, or keys, or batches are one in memory
      {{2, 3, 100}, {64, 0, 128}, {38400, 12800, 128}, 64, 0, "panels5", "copy_panels5"},
      {{2, 3, 100}, {0, 64, 0}, {38400, 12800, 128}, 64, 0, "panels5", "copy_panels5"},
      // columns that fill no panel
      {{2, 3, 100}, {12000, 4000, 40}, {24000, 8000, 80}, 40, 0, "rows4", "copy_rows4"},
      {{2, 3, 100}, {2400, 800, 8}, {2400, 800, 8}, 8, 0, "rows4", "copy_rows4"},
      {{1, 2, 100}, {0, 20000, 200}, {0, 20000, 200}, 200, 0, "rows4", "copy_rows4"},
      {{1, 2, 100}, {0, 25600, 256}, {0, 25600, 256}, 256, 0, "rows4", "copy_rows4"},
      {{2, 3, 100}, {0, 0, 40}, {24000, 8000, 80}, 40, 0, "rows4", "copy_rows4"},
      // no map: the address, the row, the head
      {{2, 3, 100}, {12000, 4000, 40}, {24000, 8000, 80}, 40, 1, "rows4", "copy_plain"},
      {{2, 3, 50}, {10000, 2000, 65}, {9600, 3200, 64}, 64, 0, "panels5", "copy_plain"},
      {{2, 3, 50}, {9612, 3204, 64}, {9600, 3200, 64}, 64, 0, "panels5", "copy_plain"},
      {{2, 3, 50}, {9600, 3200, 64}, {9604, 3200, 64}, 64, 0, "panels5", "copy_plain"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i)
    run(&cases[i]);
  return 0;
}
