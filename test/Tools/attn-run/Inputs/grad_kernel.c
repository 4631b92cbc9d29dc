// A backward written by hand: two CPU kernels and a workspace between them, one
// tile a head. -D switches make it wrong in one way.
#include "tensor.h"

#include <math.h>
#include <stdint.h>

enum { D = 16, DV = 8 };

static float dot(const float *x, const float *y, int n) {
  float sum = 0;
  for (int d = 0; d < n; ++d)
    sum += x[d] * y[d];
  return sum;
}

// delta = rowsum(dO * O)
void attention_pre(void *const *params, int64_t begin, int64_t end) {
  tensor o = take(&params, 4), dO = take(&params, 4);
  float *delta = *(float *const *)*params++;
  for (int64_t id = begin; id < end; ++id)
    for (int r = 0; r < o.size[2]; ++r)
      delta[id * o.size[2] + r] =
          dot(row(&o, id / o.size[1], id % o.size[1], r), row(&dO, id / o.size[1], id % o.size[1], r), DV);
}

void attention_grad(void *const *params, int64_t begin, int64_t end) {
  tensor q = take(&params, 4), k = take(&params, 4), v = take(&params, 4), dO = take(&params, 4);
  tensor lse = take(&params, 3);
  const float *delta = *(float *const *)*params++;
  tensor dq = take(&params, 4), dk = take(&params, 4), dv = take(&params, 4);
  const int Hq = q.size[1], Hk = k.size[1], Sq = q.size[2], Sk = k.size[2], group = Hq / Hk;
  for (int64_t id = begin; id < end; ++id) {
    const int b = id / Hk, kv = id % Hk;
    for (int j = 0; j < Sk; ++j) {
      for (int d = 0; d < D; ++d)
        row(&dk, b, kv, j)[d] = 0;
      for (int d = 0; d < DV; ++d)
        row(&dv, b, kv, j)[d] = 0;
    }
    for (int h = kv * group; h < (kv + 1) * group; ++h)
      for (int r = 0; r < Sq; ++r) {
#ifdef SKIP_ROW
        if (h == 1 && r == 20)
          continue;
#endif
        float *dQ = row(&dq, b, h, r);
        for (int d = 0; d < D; ++d)
          dQ[d] = 0;
        for (int j = 0; j < Sk && j <= r + Sk - Sq; ++j) {
          const float p = expf(0.25f * dot(row(&q, b, h, r), row(&k, b, kv, j), D) -
                               lse.data[b * lse.stride[0] + h * lse.stride[1] + r]);
#ifdef NO_DELTA
          const float ds = p * dot(row(&dO, b, h, r), row(&v, b, kv, j), DV);
#else
          const float ds = p * (dot(row(&dO, b, h, r), row(&v, b, kv, j), DV) - delta[(b * Hq + h) * Sq + r]);
#endif
#ifdef ONE_HEAD // of the group
          const int adds = h == kv * group;
#else
          const int adds = 1;
#endif
          for (int d = 0; d < D; ++d) {
            dQ[d] += 0.25f * ds * row(&k, b, kv, j)[d];
            row(&dk, b, kv, j)[d] += adds * 0.25f * ds * row(&q, b, h, r)[d];
          }
          for (int d = 0; d < DV; ++d)
            row(&dv, b, kv, j)[d] += adds * p * row(&dO, b, h, r)[d];
        }
      }
  }
}
