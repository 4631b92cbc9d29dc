// What kernels written by hand take from the array of a launch (docs/Manifest.md).
#ifndef TENSOR_H
#define TENSOR_H

#include <stdint.h>

// A memref argument: its pointer, the strides of all dims but the last, the sizes.
typedef struct {
  float *data;
  int64_t stride[3];
  int32_t size[4];
} tensor;

static tensor take(void *const **params, int rank) {
  tensor t = {0};
  t.data = *(float *const *)*(*params)++;
  for (int d = 0; d < rank - 1; ++d)
    t.stride[d] = *(const int64_t *)*(*params)++;
  for (int d = 0; d < rank; ++d)
    t.size[d] = *(const int32_t *)*(*params)++;
  return t;
}

static float *row(const tensor *t, int b, int h, int s) {
  return t->data + b * t->stride[0] + h * t->stride[1] + s * t->stride[2];
}

#endif // TENSOR_H
