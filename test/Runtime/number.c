// Host arithmetic against the obvious way: divisors, products, rounding, overflow.
// RUN: %build_rt -I%attn_src/runtime/src %attn_src/runtime/src/number.c && %t
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#define EXPECT(condition) ((condition) ? (void)0 : (printf("%d: not true: %s\n", __LINE__, #condition), exit(1)))

static int64_t slow_divisor(int64_t of, int64_t unit, int64_t budget) {
  int64_t best = 1;
  for (int64_t d = 1; d <= of; ++d)
    if (of % d == 0 && d * unit <= budget)
      best = d;
  return best;
}

static attn_factor of(int kind, int64_t n) {
  attn_factor f = {.size = 0, .n = n};
  f.kind = kind;
  return f;
}

int main(void) {
  for (int64_t n = 1; n <= 360; ++n)
    for (int64_t unit = 1; unit < 40; unit += 3)
      for (int64_t budget = 0; budget < 2000; budget += 97)
        EXPECT(attn_largest_divisor(n, unit, budget) == slow_divisor(n, unit, budget));
  EXPECT(attn_largest_divisor(0, 1, 100) == 1);
  EXPECT(attn_largest_divisor(12, 0, 0) == 12);
  EXPECT(attn_largest_divisor(INT64_MAX, 1, 0) == 1);
  EXPECT(attn_largest_divisor(2147483647, 1, 2147483646) == 1); // a prime

  int64_t sizes[] = {9, 0}, out;
  attn_number ceil = {1, {of(ATTN_FACTOR_CEIL, 4)}};
  EXPECT(attn_number_eval(&ceil, sizes, &out) && out == 3);
  sizes[0] = 8;
  EXPECT(attn_number_eval(&ceil, sizes, &out) && out == 2);
  sizes[0] = 0;
  EXPECT(attn_number_eval(&ceil, sizes, &out) && out == 0);
  sizes[0] = INT64_MAX;
  EXPECT(attn_number_eval(&ceil, sizes, &out) && out == INT64_MAX / 4 + 1);
  attn_number quotient = {1, {{.kind = ATTN_FACTOR_CEIL_SIZE, .size = 0, .by = 1}}};
  sizes[0] = 12;
  sizes[1] = 4;
  EXPECT(attn_number_eval(&quotient, sizes, &out) && out == 3);
  sizes[1] = 5;
  EXPECT(attn_number_eval(&quotient, sizes, &out) && out == 3);
  sizes[1] = 0;
  EXPECT(attn_number_eval(&quotient, sizes, &out) && out == 0); // and no trap
  sizes[0] = INT64_MAX;
  attn_number product = {3, {of(ATTN_FACTOR_SIZE, 0), of(ATTN_FACTOR_INT, 3), of(ATTN_FACTOR_INT, 0)}};
  EXPECT(attn_number_eval(&product, sizes, &out) && out == 0); // a 0 wins over an overflow
  product.count = 2;
  EXPECT(!attn_number_eval(&product, sizes, &out));
  product.count = 0;
  EXPECT(attn_number_eval(&product, sizes, &out) && out == 1);
  return 0;
}
