// A GPU kernel written by hand: one thread a query row, causal with bottom-right
// alignment, D = 16, Dv = 8, f32. kernel.ptx beside it was made by
//   clang --target=nvptx64-nvidia-cuda -march=sm_80 -O2 -fno-unroll-loops -S gpu_kernel.c
// and .version set to 7.0 for older drivers (checked in, since a machine with a GPU need not have a compiler).
typedef long long i64;
enum { D = 16, DV = 8, ROWS = 16 };

__attribute__((nvptx_kernel)) void attention(const float *q, i64 qb, i64 qh, i64 qs, int B, int Hq, int Sq, int qd,
                                             const float *k, i64 kb, i64 kh, i64 ks, int kB, int Hk, int Sk, int kd,
                                             const float *v, i64 vb, i64 vh, i64 vs, int vB, int vH, int vS, int vd,
                                             float *o, i64 ob, i64 oh, i64 os, int oB, int oH, int oS, int od,
                                             float *lse, i64 lb, i64 lh, int lB, int lH, int lS) {
  const int perHead = (Sq + ROWS - 1) / ROWS, id = __nvvm_read_ptx_sreg_ctaid_x();
  const int r = id % perHead * ROWS + __nvvm_read_ptx_sreg_tid_x(), h = id / perHead % Hq, b = id / perHead / Hq;
  if (r >= Sq)
    return;
  const float *row = q + b * qb + h * qh + r * qs;
  float max = -__builtin_inff(), sum = 0, acc[DV] = {0};
  for (int j = 0; j < Sk && j <= r + Sk - Sq; ++j) {
    const float *key = k + b * kb + h / (Hq / Hk) * kh + j * ks, *value = v + b * vb + h / (Hq / Hk) * vh + j * vs;
    float s = 0;
    for (int d = 0; d < D; ++d)
      s += row[d] * key[d];
    s *= 0.25f * 1.4426950408889634f;
    const float now = s > max ? s : max, rescale = __nvvm_ex2_approx_f(max - now), p = __nvvm_ex2_approx_f(s - now);
    sum = sum * rescale + p;
    for (int d = 0; d < DV; ++d)
      acc[d] = acc[d] * rescale + p * value[d];
    max = now;
  }
  for (int d = 0; d < DV; ++d)
    o[b * ob + h * oh + r * os + d] = sum > 0 ? acc[d] / sum : 0;
  lse[b * lb + h * lh + r] = sum > 0 ? (max + __nvvm_lg2_approx_f(sum)) * 0.6931471805599453f : max;
}
