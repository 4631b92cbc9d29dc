// A test is a main() that returns finish(). EXPECT prints what failed and goes on.
#ifndef ATTN_TEST_REFERENCE_CHECK_H
#define ATTN_TEST_REFERENCE_CHECK_H

#include "attn/Reference/Attention.h"

#include <cmath>
#include <cstdio>

static int failures = 0;

#define EXPECT(CONDITION)                                                                                              \
  do {                                                                                                                 \
    if (!(CONDITION)) {                                                                                                \
      std::printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #CONDITION);                                              \
      ++failures;                                                                                                      \
    }                                                                                                                  \
  } while (false)

inline bool near(double x, double y, double tolerance = 1e-12) {
  return x == y || std::fabs(x - y) <= tolerance * std::max(1.0, std::fabs(y));
}

inline int finish() {
  if (failures == 0)
    std::printf("all right\n");
  return failures != 0;
}

/// A dense f32 tensor that owns its elements.
struct Tensor {
  std::vector<int64_t> dims;
  std::vector<float> data;

  explicit Tensor(std::vector<int64_t> dims, float fill = 0) : dims(dims) {
    int64_t size = 1;
    for (int64_t d : dims)
      size *= d;
    data.assign(size, fill);
  }
  attn::reference::View view() const {
    return {data.data(), attn::reference::ElementType::f32, dims, attn::reference::denseStrides(dims)};
  }
  float &at(int64_t b, int64_t h, int64_t s, int64_t d) {
    return data[((b * dims[1] + h) * dims[2] + s) * dims[3] + d];
  }
  /// Numbers that look random, in [-1, 1), the same on every machine.
  Tensor &scramble(uint32_t seed) {
    for (float &x : data)
      x = static_cast<float>(static_cast<int32_t>(seed = seed * 1664525u + 1013904223u)) / 2147483648.0f;
    return *this;
  }
};

#endif // ATTN_TEST_REFERENCE_CHECK_H
