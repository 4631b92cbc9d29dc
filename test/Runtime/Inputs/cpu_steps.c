// Two CPU kernels of one launch: "fill" writes x * 2 into the workspace, a tile of 4 rows for each id, "reverse" reads
// it from the far end. A tile of the second needs tiles of the first that other threads have made.
#include <stdint.h>

typedef struct matrix {
  float *data;
  int64_t stride;
  int32_t rows, columns;
} matrix;

static matrix matrix_of(void *const **next) {
  matrix m;
  m.data = *(float **)*(*next)++;
  m.stride = *(const int64_t *)*(*next)++;
  m.rows = *(const int32_t *)*(*next)++;
  m.columns = *(const int32_t *)*(*next)++;
  return m;
}

void fill(void *const *params, int64_t begin, int64_t end);
void fill(void *const *params, int64_t begin, int64_t end) {
  matrix x = matrix_of(&params), w = matrix_of(&params);
  for (int64_t i = begin * 4; i < end * 4 && i < w.rows; ++i)
    for (int64_t j = 0; j < w.columns; ++j)
      w.data[i * w.stride + j] = i < x.rows && j < x.columns ? 2 * x.data[i * x.stride + j] : -1;
}

void reverse(void *const *params, int64_t begin, int64_t end);
void reverse(void *const *params, int64_t begin, int64_t end) {
  matrix w = matrix_of(&params), y = matrix_of(&params);
  for (int64_t i = begin * 4; i < end * 4 && i < y.rows; ++i)
    for (int64_t j = 0; j < y.columns; ++j)
      y.data[i * y.stride + j] = w.data[(w.rows - 1 - i) * w.stride + j];
}
