// A CPU kernel written by hand to the contract of docs/Manifest.md: plain
// attention over MANIFEST of check.h, score = q.k * cap + slopes[h], one tile of
// four query rows for each linear id.
#include <math.h>
#include <stdint.h>

typedef struct view {
  const float *data;
  int64_t stride[3];
  int32_t size[4];
} view;

static view view_of(void *const **next, int rank) {
  view v = {0};
  v.data = *(const float **)*(*next)++;
  for (int d = 0; d + 1 < rank; ++d)
    v.stride[d] = *(const int64_t *)*(*next)++;
  for (int d = 0; d < rank; ++d)
    v.size[d] = *(const int32_t *)*(*next)++;
  return v;
}
static float *at(view v, int64_t a, int64_t b, int64_t c) {
  return (float *)v.data + a * v.stride[0] + b * v.stride[1] + c * v.stride[2];
}

#ifdef PARAMS // what it takes, in letters; a test may lie
extern const char attention_fwd_params[];
const char attention_fwd_params[] = PARAMS;
#endif

void attention_fwd(void *const *params, int64_t begin, int64_t end);
void attention_fwd(void *const *params, int64_t begin, int64_t end) {
  view q = view_of(&params, 4), k = view_of(&params, 4), v = view_of(&params, 4), slopes = view_of(&params, 1);
  float cap = *(const float *)*params++;
  view o = view_of(&params, 4), lse = view_of(&params, 3);
  int32_t section = *(const int32_t *)*params++;
  int64_t heads = q.size[1], nq = (q.size[2] + 3) / 4, group = heads / k.size[1];
  for (int64_t id = begin; id < end; ++id) {
    int64_t r = id % (section * nq), head = id / (section * nq) * section + r % section, tile = r / section;
    int64_t h = head % heads, b = head / heads, hk = h / group;
    for (int64_t i = tile * 4; i < tile * 4 + 4 && i < q.size[2]; ++i) {
      float max = -INFINITY, sum = 0, *out = at(o, b, h, i);
      for (int d = 0; d < v.size[3]; ++d)
        out[d] = 0;
      for (int pass = 0; pass < 2; ++pass)
        for (int64_t j = 0; j < k.size[2]; ++j) {
          float s = slopes.data[h];
          for (int d = 0; d < q.size[3]; ++d)
            s += cap * at(q, b, h, i)[d] * at(k, b, hk, j)[d];
          if (pass == 0) {
            max = fmaxf(max, s);
            continue;
          }
          float p = expf(s - max);
          sum += p;
          for (int d = 0; d < v.size[3]; ++d)
            out[d] += p * at(v, b, hk, j)[d];
        }
      for (int d = 0; d < v.size[3]; ++d)
        out[d] /= sum;
      ((float *)lse.data)[b * lse.stride[0] + h * lse.stride[1] + i] = max + logf(sum);
    }
  }
}
