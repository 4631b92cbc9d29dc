// Every way the tensors of a launch can be wrong has its status, names the operand
// and what was expected, and runs nothing.
// RUN: %build_rt
// RUN: %build_so %S/Inputs/cpu_kernel.c -o %t.kernel.so -lm
// RUN: rm -rf %t.dir && mkdir %t.dir && cp %t.kernel.so %t.dir/kernel.so && %t %t.dir
#include "check.h"

#include <math.h>

static attn_kernel *kernel;
static problem p;

// Refused with this status and text, the same by the check alone, and the outputs
// are as they were. The edit is undone.
#define REFUSED(edit, status, text)                                                                                    \
  do {                                                                                                                 \
    problem before = p;                                                                                                \
    edit;                                                                                                              \
    for (size_t i_ = 0; i_ < p.floats; ++i_)                                                                           \
      p.memory[i_] = 7;                                                                                                \
    EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), status, text);                                                  \
    EXPECT_FAIL(attn_kernel_check(kernel, &p.launch), status, text);                                                   \
    for (size_t i_ = 0; i_ < p.floats; ++i_)                                                                           \
      EXPECT(p.memory[i_] == 7);                                                                                       \
    p = before;                                                                                                        \
  } while (0)
#define ACCEPTED(edit)                                                                                                 \
  do {                                                                                                                 \
    problem before = p;                                                                                                \
    edit;                                                                                                              \
    EXPECT_OK(attn_kernel_launch(kernel, &p.launch));                                                                  \
    p = before;                                                                                                        \
  } while (0)

int main(int argc, char **argv) {
  begin(argc, argv);
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", MANIFEST(CPU_KERNEL)), &kernel));
  problem_init(&p, 2, 6, 3, 5, 7, NULL);
  attn_tensor *t = p.tensors;
  ACCEPTED(memset(p.memory, 0, p.floats * sizeof(float)));

  // Missing
  REFUSED(p.launch.num_operands = 6, ATTN_ERROR_ARGUMENT, "launch: has 6 operands, expected 7");
  REFUSED(p.launch.operands = NULL, ATTN_ERROR_ARGUMENT, "launch: operands is null");
  REFUSED(p.operands[V] = NULL, ATTN_ERROR_MISSING, "v: no tensor given");
  REFUSED(t[K].data = NULL, ATTN_ERROR_MISSING, "k: its data pointer is null");
  REFUSED(t[CAP].data = NULL, ATTN_ERROR_MISSING, "cap: its data pointer is null");
  REFUSED(t[LSE].data = NULL, ATTN_ERROR_MISSING, "lse: its data pointer is null");

  // Rank and type
  REFUSED(t[Q].rank = 3, ATTN_ERROR_RANK, "q: has 3 dimensions, expected 4");
  REFUSED(t[Q].rank = 4000000000u, ATTN_ERROR_RANK, "q: has 4000000000 dimensions, expected 4");
  REFUSED(t[CAP].rank = 1, ATTN_ERROR_RANK, "cap: has 1 dimensions, expected 0");
  REFUSED(t[K].dtype = ATTN_BF16, ATTN_ERROR_DTYPE, "k: is bf16, expected f32");
  REFUSED(t[K].dtype = 0, ATTN_ERROR_DTYPE, "k: dtype 0 is no attn_dtype, expected f32");
  REFUSED(t[CAP].dtype = ATTN_I32, ATTN_ERROR_DTYPE, "cap: is i32, expected f32");

  // Dimensions
  REFUSED(t[Q].sizes[3] = 16, ATTN_ERROR_SHAPE, "q dimension 3: is 16, expected 8");
  REFUSED((t[SLOPES].sizes[0] = 0, t[SLOPES].data = NULL), ATTN_ERROR_SHAPE,
          "slopes dimension 0: has size 0, expected at least 1");
  REFUSED(t[K].sizes[0] = 3, ATTN_ERROR_SHAPE, "k dimension 0 (batch): is 3, expected 2 as in q dimension 0");
  REFUSED(t[V].sizes[2] = 8, ATTN_ERROR_SHAPE, "v dimension 2 (k_len): is 8, expected 7 as in k dimension 2");
  REFUSED(t[LSE].sizes[1] = 3, ATTN_ERROR_SHAPE, "lse dimension 1 (q_heads): is 3, expected 6 as in q dimension 1");
  REFUSED(t[Q].sizes[2] = -1, ATTN_ERROR_SHAPE, "q dimension 2 (q_len): is -1, expected 0 to 2147483647");
  REFUSED(t[SLOPES].sizes[0] = 1LL << 31, ATTN_ERROR_SHAPE,
          "slopes dimension 0: is 2147483648, expected 0 to 2147483647");
  REFUSED((t[K].sizes[1] = 4, t[V].sizes[1] = 4), ATTN_ERROR_REQUIRE, "q_heads 6 is not a multiple of k_heads 4");
  REFUSED((t[K].sizes[1] = 0, t[V].sizes[1] = 0), ATTN_ERROR_REQUIRE, "q_heads 6 is not a multiple of k_heads 0");

  // Strides. One is never looked at where the dimension is 1.
  REFUSED(t[Q].strides[3] = 2, ATTN_ERROR_STRIDE, "q dimension 3: has stride 2, expected 1");
  REFUSED(t[SLOPES].strides[0] = 2, ATTN_ERROR_STRIDE, "slopes dimension 0: has stride 2, expected 1");
  REFUSED(t[K].strides[2] = -8, ATTN_ERROR_STRIDE, "k dimension 2 (k_len): has stride -8, expected 0 or more");
  REFUSED(t[K].strides[0] = INT64_MAX / 2, ATTN_ERROR_STRIDE, "k: its sizes and strides leave the address space");
  REFUSED(t[V].strides[1] = INT64_MAX, ATTN_ERROR_STRIDE, "v: its sizes and strides leave the address space");
  ACCEPTED(t[K].strides[1] = 0); // expanded heads

  // Alignment
  REFUSED(t[V].data = (char *)t[V].data + 2, ATTN_ERROR_ALIGNMENT, "is not aligned to 4 bytes");

  // Outputs of their own
  REFUSED(t[O].strides[1] = 0, ATTN_ERROR_ALIAS, "o: is an output whose elements share memory");
  REFUSED(t[O].strides[2] = 8, ATTN_ERROR_ALIAS, "o: is an output whose elements share memory");
  REFUSED(t[O].data = t[V].data, ATTN_ERROR_ALIAS, "o: overlaps v");
  REFUSED(t[LSE].data = (float *)t[Q].data + 3, ATTN_ERROR_ALIAS, "lse: overlaps q");
  REFUSED(t[LSE].data = (float *)t[O].data + 100, ATTN_ERROR_ALIAS, "o: overlaps lse");
  REFUSED(t[SLOPES].data = (float *)t[O].data + 959, ATTN_ERROR_ALIAS, "o: overlaps slopes");
  ACCEPTED(t[K].data = t[V].data); // inputs may share
  attn_kernel_unload(kernel);
  free(p.memory);

  // Slices of one packed tensor (batch, length, [q heads | output heads], 16) do not
  // overlap though their address ranges do: q is 8 wide here, so use v as the neighbour.
  float *packed = calloc(2 * 7 * 3 * 2 * 16 + 4096, sizeof(float));
  EXPECT_OK(attn_kernel_load(path_of("manifest.json"), &kernel));
  problem_init(&p, 2, 3, 3, 7, 7, NULL);
  memset(p.memory, 0, p.floats * sizeof(float));
  for (int which = V; which <= O; which += O - V) {
    t[which].data = packed + (which == O ? 3 * 16 : 0);
    t[which].strides[0] = 7 * 6 * 16;
    t[which].strides[1] = 16;
    t[which].strides[2] = 6 * 16;
  }
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  REFUSED(t[O].data = packed + 2 * 16, ATTN_ERROR_ALIAS, "o: overlaps v");
  REFUSED(t[O].data = packed + 2 * 16 + 8, ATTN_ERROR_ALIAS, "o: overlaps v");
  attn_kernel_unload(kernel);

  // Alignment the manifest asks for.
  char *aligned =
      replaced(MANIFEST(CPU_KERNEL), "\"q_len\", 8]}", "\"q_len\", 8], \"base_align\": 16, \"stride_align\": 16}");
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", aligned), &kernel));
  free(p.memory);
  problem_init(&p, 1, 3, 3, 7, 7, packed);
  REFUSED(t[Q].data = (float *)t[Q].data + 1, ATTN_ERROR_ALIGNMENT, "q: data");
  REFUSED(t[Q].strides[2] = 9, ATTN_ERROR_ALIGNMENT,
          "q dimension 2 (q_len): has stride 9 elements of 4 bytes, expected a multiple of 16 bytes");
  attn_kernel_unload(kernel);
  free(aligned);

  // More tiles than a grid can have: 2^31 - 1 rows, 4 a tile, 8 heads. Nothing is read, so nothing is there.
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", MANIFEST(CPU_KERNEL)), &kernel));
  problem_init(&p, 1, 1, 1, 1, 1, packed);
  t[Q].sizes[1] = t[O].sizes[1] = t[LSE].sizes[1] = 8;
  t[Q].sizes[2] = t[O].sizes[2] = t[LSE].sizes[2] = INT32_MAX;
  EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), ATTN_ERROR_GRID,
              "kernel attention_fwd: these sizes make more than 2147483647 tiles");
  attn_kernel_unload(kernel);

  // A number in the manifest defines a size as well as a name does.
  char *fixed = replaced(MANIFEST(CPU_KERNEL), "[\"batch\", \"q_heads\", \"q_len\", 8]", "[2, 6, \"q_len\", 8]");
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", fixed), &kernel));
  problem_init(&p, 3, 6, 3, 1, 1, packed);
  REFUSED((void)0, ATTN_ERROR_SHAPE, "q dimension 0: is 3, expected 2");
  t[Q].sizes[0] = 2;
  REFUSED((void)0, ATTN_ERROR_SHAPE, "k dimension 0 (batch): is 3, expected 2 as in q dimension 0");
  attn_kernel_unload(kernel);
  free(fixed);

  // No tiles and no rule that says what to do.
  char *ruleless =
      replaced(MANIFEST(CPU_KERNEL), "{\"zero\": [\"batch\", \"q_heads\", \"q_len\"], \"do\": \"nothing\"}, ", "");
  EXPECT_OK(attn_kernel_load(write_file("manifest.json", ruleless), &kernel));
  problem_init(&p, 1, 3, 3, 0, 7, packed);
  EXPECT_FAIL(attn_kernel_launch(kernel, &p.launch), ATTN_ERROR_GRID, "no tiles for these sizes");
  attn_kernel_unload(kernel);
  free(ruleless);
  free(packed);
  return 0;
}
