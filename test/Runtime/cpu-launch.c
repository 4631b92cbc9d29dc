// A CPU kernel gets the parameters its contract promises, whatever the layout and
// the number of threads, and an empty launch leaves the outputs its rule says.
// RUN: %build_rt -lm
// RUN: %build_so %S/Inputs/cpu_kernel.c -o %t.kernel.so -lm
// RUN: rm -rf %t.dir && mkdir %t.dir && cp %t.kernel.so %t.dir/kernel.so && %t %t.dir
// From the manifest's own folder, by a bare name.
// RUN: cd %t.dir && %t . manifest.json
#include "check.h"

#include <math.h>

static double element(const attn_tensor *t, int64_t a, int64_t b, int64_t c, int64_t d) {
  const int64_t at[] = {a, b, c, d};
  int64_t offset = 0;
  for (uint32_t i = 0; i < t->rank; ++i)
    if (t->sizes[i] > 1)
      offset += at[i] * t->strides[i];
  return ((const float *)t->data)[offset];
}

static void expect_right(const problem *p) {
  const attn_tensor *t = p->tensors;
  int64_t heads = t[Q].sizes[1], group = heads / t[K].sizes[1], keys = t[K].sizes[2];
  for (int64_t b = 0; b < t[Q].sizes[0]; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < t[Q].sizes[2]; ++i) {
        double out[16] = {0}, sum = 0;
        for (int64_t j = 0; j < keys; ++j) {
          double s = element(&t[SLOPES], h, 0, 0, 0);
          for (int d = 0; d < 8; ++d)
            s += (double)p->cap * element(&t[Q], b, h, i, d) * element(&t[K], b, h / group, j, d);
          sum += exp(s);
          for (int d = 0; d < 16; ++d)
            out[d] += exp(s) * element(&t[V], b, h / group, j, d);
        }
        for (int d = 0; d < 16; ++d)
          EXPECT(fabs(element(&t[O], b, h, i, d) - out[d] / sum) < 1e-5);
        EXPECT(fabs(element(&t[LSE], b, h, i, 0) - log(sum)) < 1e-5);
      }
}

static void randomise(problem *p) {
  for (size_t i = 0; i < p->floats; ++i)
    p->memory[i] = (float)((double)rand() / RAND_MAX - 0.5);
  for (int64_t i = 0; i < p->tensors[O].sizes[0] * p->tensors[O].strides[0]; ++i)
    ((float *)p->tensors[O].data)[i] = NAN;
}

int main(int argc, char **argv) {
  begin(argc, argv);
  const char *path = write_file("manifest.json", MANIFEST(CPU_KERNEL));
  attn_kernel *kernel;
  EXPECT_OK(attn_kernel_load(argc > 2 ? argv[2] : path, &kernel));
  EXPECT_OK(attn_kernel_prepare(kernel)); // nothing to do

  // Head ratios 1, 3 and 6, lengths around the tile of 4, more threads than tiles.
  const int64_t shapes[][5] = {{1, 1, 1, 1, 1}, {2, 6, 2, 5, 7}, {3, 6, 1, 16, 3}, {1, 4, 4, 33, 40}};
  const uint32_t threads[] = {0, 1, 2, 7, 64};
  for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); ++s)
    for (size_t n = 0; n < sizeof(threads) / sizeof(threads[0]); ++n) {
      problem p;
      problem_init(&p, shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3], shapes[s][4], NULL);
      randomise(&p);
      attn_set_cpu_threads(threads[n]);
      EXPECT(threads[n] ? attn_cpu_threads() == threads[n] : attn_cpu_threads() >= 1);
      EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
      expect_right(&p);
      free(p.memory);
    }
  attn_set_cpu_threads(0);

  // BSHD views, and absurd strides where a dimension is 1.
  problem p;
  problem_init(&p, 2, 4, 1, 9, 6, NULL);
  randomise(&p);
  const int views[] = {Q, K, V, O};
  for (int i = 0; i < 4; ++i) {
    attn_tensor *t = &p.tensors[views[i]];
    t->strides[1] = t->sizes[3];
    t->strides[2] = t->sizes[1] * t->sizes[3];
  }
  p.tensors[K].strides[1] = 3331333;
  p.tensors[V].strides[1] = -99990001;
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  expect_right(&p);
  free(p.memory);

  // No keys: outputs are filled, through any strides, and nothing between them.
  float *memory = malloc(4096 * sizeof(float));
  for (int layout = 0; layout < 3; ++layout) {
    problem_init(&p, 2, 3, 3, 5, 0, memory);
    for (int i = 0; i < 4096; ++i)
      memory[i] = 7;
    attn_tensor *o = &p.tensors[O], *lse = &p.tensors[LSE];
    o->data = memory + 1000;
    lse->data = memory + 500;
    p.tensors[K].data = p.tensors[V].data = NULL; // no elements, so no pointer needed
    if (layout == 1) {                            // BSHD with a gap after each row and each token
      o->strides[1] = 20;
      o->strides[2] = 70;
      o->strides[0] = 70 * 5;
      lse->strides[1] = 6;
      lse->strides[0] = 19;
    } else if (layout == 2) { // the last dimension of lse is not the inner one
      lse->sizes[2] = o->sizes[2] = p.tensors[Q].sizes[2] = 1;
      lse->strides[2] = 1000;
      lse->strides[1] = 2;
      lse->strides[0] = 7;
    }
    EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
    int zeros = 0, infs = 0;
    for (int i = 500; i < 4096; ++i) {
      zeros += memory[i] == 0;
      infs += isinf(memory[i]) && memory[i] < 0;
      EXPECT(memory[i] == 0 || memory[i] == 7 || isinf(memory[i]));
    }
    EXPECT(zeros == 2 * 3 * (int)o->sizes[2] * 16 && infs == 2 * 3 * (int)o->sizes[2]);
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t h = 0; h < 3; ++h)
        for (int64_t i = 0; i < o->sizes[2]; ++i)
          for (int d = 0; d < 16; ++d)
            EXPECT(element(o, b, h, i, d) == 0 && isinf(element(lse, b, h, i, 0)));
  }
  // No rows: nothing at all, null pointers included.
  problem_init(&p, 2, 3, 3, 0, 4, memory);
  p.tensors[Q].data = p.tensors[O].data = p.tensors[LSE].data = NULL;
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  problem_init(&p, 0, 3, 3, 4, 4, memory);
  EXPECT_OK(attn_kernel_launch(kernel, &p.launch));
  free(memory);
  attn_kernel_unload(kernel);
  return 0;
}
