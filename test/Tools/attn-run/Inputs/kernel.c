// A CPU kernel written by hand, with the interface a compiled one has
// (docs/Manifest.md): params points at the values of the manifest's args, and
// tiles [begin, end) are to be computed. -D switches make it wrong in one way.
#include "tensor.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { D = 16, DV = 8, ROWS = 16 };

void attention(void *const *params, int64_t begin, int64_t end) {
  tensor q = take(&params, 4), k = take(&params, 4), v = take(&params, 4);
#ifdef REGION
  tensor slopes = take(&params, 1);
  const float cap = *(const float *)*params++;
#endif
  tensor o = take(&params, 4), lse = take(&params, 3);
  const int Hq = q.size[1], Hk = k.size[1], Sq = q.size[2], Sk = k.size[2];
  const int perHead = (Sq + ROWS - 1) / ROWS;
#ifdef HANG
  sleep(100);
#endif
  float *s = malloc(sizeof(float) * (Sk + 1));
  for (int64_t id = begin; id < end; ++id) {
    const int i = id % perHead, h = id / perHead % Hq, b = id / perHead / Hq;
    for (int r = i * ROWS; r < Sq && r < (i + 1) * ROWS; ++r) {
#ifdef SKIP_ROW
      if (r == 20)
        continue;
#endif
      int seen = r + Sk - Sq + 1; // causal, bottom right
#ifdef WRONG_MASK
      seen += 1;
#endif
      seen = seen < 0 ? 0 : seen > Sk ? Sk : seen;
      float max = -INFINITY, sum = 0, *out = row(&o, b, h, r);
      for (int j = 0; j < seen; ++j) {
        s[j] = 0;
        for (int d = 0; d < D; ++d)
          s[j] += row(&q, b, h, r)[d] * row(&k, b, h / (Hq / Hk), j)[d];
        s[j] *= 0.25f;
#ifdef REGION
        s[j] = cap * tanhf(s[j] / cap) + slopes.data[h] * (float)(j - r);
#endif
        max = s[j] > max ? s[j] : max;
      }
      for (int d = 0; d < DV; ++d)
        out[d] = 0;
      for (int j = 0; j < seen; ++j) {
        sum += s[j] = expf(s[j] - max);
        for (int d = 0; d < DV; ++d)
          out[d] += s[j] * row(&v, b, h / (Hq / Hk), j)[d];
      }
      for (int d = 0; d < DV && seen; ++d)
        out[d] /= sum;
#ifdef FICKLE // the last bit of one row, from the fifth launch on
      static int launches;
      if (b == 0 && h == 0 && r == 0 && ++launches > 4)
        out[0] = nextafterf(out[0], 9);
#endif
#ifdef STRAY
      out[DV] = 0;
#endif
#ifdef BASE_2
      sum = log2f(sum);
#else
      sum = logf(sum);
#endif
      lse.data[b * lse.stride[0] + h * lse.stride[1] + r] = seen ? max + sum : -INFINITY;
    }
  }
  free(s);
}
