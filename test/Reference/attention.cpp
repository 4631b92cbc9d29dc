// Attention whose answer is known without computing attention.
// RUN: %cxx -std=c++17 -O1 -I%attn_src/include %s %attn_obj/lib/Reference/libAttnReference.a -pthread -o %t
// RUN: %t

#include "Check.h"

#include <cstring>
#include <limits>

using namespace attn::reference;

static const double infinity = std::numeric_limits<double>::infinity();

static Problem problemOf(const Tensor &q, const Tensor &k, const Tensor &v, std::vector<NamedMask> masks = {}) {
  Problem problem;
  problem.q = q.view();
  problem.k = k.view();
  problem.v = v.view();
  problem.masks = masks;
  return problem;
}

static RowResult rowsOf(const Problem &problem, int64_t b, int64_t h) {
  return compute(problem, {b, h, 0, problem.queries()});
}

// Equal scores: the mean of the values, lse = log(number of keys). Key 300 of
// 301 lies in the second chunk.
static void equal_scores_average() {
  Tensor q({1, 1, 3, 5}, 1), k({1, 1, 301, 5}, 0), v({1, 1, 301, 2});
  for (int i = 0; i < 301; ++i)
    v.at(0, 0, i, 0) = static_cast<float>(i), v.at(0, 0, i, 1) = 1;
  const RowResult rows = rowsOf(problemOf(q, k, v), 0, 0);
  for (int row = 0; row < 3; ++row) {
    EXPECT(near(rows.exact[row * 2], 150));
    EXPECT(near(rows.exact[row * 2 + 1], 1));
    EXPECT(near(rows.lse[row], std::log(301.0)));
  }
}

// One score far above the rest: that key's value, and lse is that score.
static void one_large_score_selects() {
  Tensor q({1, 1, 1, 4}), k({1, 1, 9, 4}), v({1, 1, 9, 4});
  v.scramble(3);
  q.at(0, 0, 0, 2) = 1000;
  k.at(0, 0, 6, 2) = 3;
  Problem problem = problemOf(q, k, v);
  problem.scale = 0.5;
  const RowResult rows = rowsOf(problem, 0, 0);
  for (int d = 0; d < 4; ++d)
    EXPECT(near(rows.exact[d], v.at(0, 0, 6, d)));
  EXPECT(near(rows.lse[0], 1500));
}

// Scores 0 and log 3 weigh 1/4 and 3/4.
static void two_keys_in_closed_form() {
  Tensor q({1, 1, 1, 1}, 1), k({1, 1, 2, 1}), v({1, 1, 2, 1});
  k.at(0, 0, 1, 0) = 1;
  v.at(0, 0, 0, 0) = 4, v.at(0, 0, 1, 0) = 8;
  Problem problem = problemOf(q, k, v);
  problem.scale = std::log(3.0);
  const RowResult rows = rowsOf(problem, 0, 0);
  EXPECT(near(rows.exact[0], 7));
  EXPECT(near(rows.lse[0], std::log(4.0)));
}

// With equal scores, exp(lse) counts the keys a row sees.
static std::vector<int> countKeys(int64_t queries, int64_t keys, NamedMask mask) {
  Tensor q({1, 1, queries, 8}), k({1, 1, keys, 8}), v({1, 1, keys, 8}, 1);
  const RowResult rows = rowsOf(problemOf(q, k, v, {mask}), 0, 0);
  std::vector<int> counts;
  for (int64_t row = 0; row < queries; ++row) {
    counts.push_back(static_cast<int>(std::lround(std::exp(rows.lse[row]))));
    EXPECT(rows.exact[row * 8] == (counts.back() ? 1 : 0) || near(rows.exact[row * 8], 1));
  }
  return counts;
}

static void masks_count_keys() {
  using Counts = std::vector<int>;
  EXPECT(countKeys(4, 4, {-1, 0, false}) == (Counts{1, 2, 3, 4}));
  EXPECT(countKeys(2, 5, {-1, 0, false}) == (Counts{1, 2}));
  EXPECT(countKeys(2, 5, {-1, 0, true}) == (Counts{4, 5}));
  EXPECT(countKeys(5, 2, {-1, 0, false}) == (Counts{1, 2, 2, 2, 2}));
  EXPECT(countKeys(5, 2, {-1, 0, true}) == (Counts{0, 0, 0, 1, 2})); // rows without keys
  // "Window 4" of a model counts the query itself: left = 3.
  EXPECT(countKeys(8, 8, {3, 0, true}) == (Counts{1, 2, 3, 4, 4, 4, 4, 4}));
  EXPECT(countKeys(8, 8, {2, 2, true}) == (Counts{3, 4, 5, 5, 5, 5, 4, 3}));
  EXPECT(countKeys(3, 3, {-1, -1, true}) == (Counts{3, 3, 3}));
  EXPECT(countKeys(3, 8, {0, 0, true}) == (Counts{1, 1, 1}));
  EXPECT(countKeys(8, 3, {1, -1, false}) == (Counts{3, 3, 2, 1, 0, 0, 0, 0}));
}

static void causal_first_row_is_the_first_value() {
  Tensor q({2, 2, 70, 8}), k({2, 2, 70, 8}), v({2, 2, 70, 24});
  q.scramble(1), k.scramble(2), v.scramble(3);
  const RowResult rows = rowsOf(problemOf(q, k, v, {{-1, 0, false}}), 1, 1);
  for (int d = 0; d < 24; ++d)
    EXPECT(near(rows.exact[d], v.at(1, 1, 0, d)));
}

static void rows_without_keys_are_zero() {
  Tensor q({1, 1, 7, 8}, 1), k({1, 1, 3, 8}, 1), v({1, 1, 3, 8}, 1), none({1, 1, 0, 8});
  RowResult rows = rowsOf(problemOf(q, k, v, {{-1, 0, true}}), 0, 0);
  for (int row = 0; row < 7; ++row)
    EXPECT((rows.lse[row] == -infinity) == (row < 4) && (rows.exact[row * 8] == 0) == (row < 4) &&
           (rows.plain[row * 8] == 0) == (row < 4));
  rows = rowsOf(problemOf(q, none, none), 0, 0);
  EXPECT(rows.lse[6] == -infinity && rows.exact[0] == 0);
}

// Query head h reads key head h / 3, whatever the strides.
static void heads_are_grouped_and_strides_honoured() {
  Tensor q({1, 6, 1, 8}), k({1, 2, 2, 8}), v({1, 2, 2, 8});
  for (int head = 0; head < 2; ++head)
    for (int key = 0; key < 2; ++key)
      for (int d = 0; d < 8; ++d)
        v.at(0, head, key, d) = static_cast<float>(head + 1);
  Problem problem = problemOf(q, k, v);
  EXPECT(problem.check().empty());
  EXPECT(near(rowsOf(problem, 0, 2).exact[0], 1) && near(rowsOf(problem, 0, 3).exact[0], 2));
  problem.v.strides[1] = 0; // one value head expanded over two
  EXPECT(near(rowsOf(problem, 0, 3).exact[0], 1));
  problem.k.dims[1] = 4;
  problem.v.dims[1] = 4;
  EXPECT(problem.check() == "query heads 6 are not a multiple of key heads 4");
}

// What is not seen is not read, in K or in V, even in a tile others see.
static void hidden_nan_does_not_leak() {
  const float nan = std::nanf("");
  Tensor q({1, 1, 6, 8}), k({1, 1, 6, 8}), v({1, 1, 6, 8});
  q.scramble(1), k.scramble(2), v.scramble(3);
  const std::vector<NamedMask> causal = {{-1, 0, false}};
  const RowResult clean = rowsOf(problemOf(q, k, v, causal), 0, 0);
  k.at(0, 0, 5, 0) = nan;
  v.at(0, 0, 5, 1) = v.at(0, 0, 5, 2) = static_cast<float>(infinity);
  const RowResult dirty = rowsOf(problemOf(q, k, v, causal), 0, 0);
  EXPECT(std::memcmp(clean.exact.data(), dirty.exact.data(), 5 * 8 * sizeof(double)) == 0);
  EXPECT(std::memcmp(clean.plain.data(), dirty.plain.data(), 5 * 8 * sizeof(double)) == 0);
  EXPECT(std::isnan(dirty.exact[5 * 8]) && std::isnan(dirty.lse[5]));
  // A value that is seen does reach the output.
  k.at(0, 0, 5, 0) = 0;
  const RowResult infinite = rowsOf(problemOf(q, k, v, causal), 0, 0);
  EXPECT(std::isfinite(infinite.exact[5 * 8]) && infinite.exact[5 * 8 + 1] == infinity);
}

// Scores far below any finite stand-in for -inf are still a softmax.
static void very_negative_scores_are_exact() {
  Tensor q({1, 1, 1, 1}, 1), k({1, 1, 4, 1}, -2.5e5f), v({1, 1, 4, 1}, 2);
  const RowResult rows = rowsOf(problemOf(q, k, v), 0, 0);
  EXPECT(near(rows.exact[0], 2) && near(rows.lse[0], -2.5e5 + std::log(4.0)));
}

// Blocks do not change anything, and the naive loops agree in their precision.
static void cutting_into_blocks_changes_nothing() {
  Tensor q({1, 2, 130, 16}), k({1, 1, 300, 16}), v({1, 1, 300, 8}), o({1, 2, 130, 8}), lse({1, 2, 130, 1});
  q.scramble(1), k.scramble(2), v.scramble(3);
  const Problem problem = problemOf(q, k, v, {{200, 0, true}});
  const RowResult whole = rowsOf(problem, 0, 1);
  naiveFloat(problem, q.data.data(), k.data.data(), v.data.data(), o.data.data(), lse.data.data(), 2);
  int64_t rows = 0;
  for (const RowBlock &block : allBlocks(problem, 37)) {
    rows += block.rows();
    if (block.h == 0)
      continue;
    const RowResult part = compute(problem, block);
    for (int64_t row = 0; row < block.rows(); ++row) {
      EXPECT(near(part.lse[row], whole.lse[block.begin + row]));
      EXPECT(near(lse.at(0, 1, block.begin + row, 0), whole.lse[block.begin + row], 1e-6));
      for (int d = 0; d < 8; ++d) {
        EXPECT(near(part.exact[row * 8 + d], whole.exact[(block.begin + row) * 8 + d]));
        EXPECT(near(o.at(0, 1, block.begin + row, d), whole.exact[(block.begin + row) * 8 + d], 1e-6));
      }
    }
  }
  EXPECT(rows == 260);
}

int main() {
  equal_scores_average();
  one_large_score_selects();
  two_keys_in_closed_form();
  masks_count_keys();
  causal_first_row_is_the_first_value();
  rows_without_keys_are_zero();
  heads_are_grouped_and_strides_honoured();
  hidden_nan_does_not_leak();
  very_negative_scores_are_exact();
  cutting_into_blocks_changes_nothing();
  return finish();
}
