// The accuracy rule: good kernels pass, and each way of being wrong is caught.
// RUN: %cxx -std=c++17 -O1 -I%attn_src/include %s %attn_obj/lib/Reference/libAttnReference.a -pthread -o %t
// RUN: %t

#include "attn/Reference/Accuracy.h"
#include "Check.h"

#include <functional>
#include <limits>

using namespace attn::reference;

constexpr int64_t keys = 500, dim = 32;

/// q, k, v of `type`, rounded from the same numbers.
struct Inputs {
  std::vector<char> q, k, v;
  Problem problem;

  explicit Inputs(ElementType type, float spread = 2) {
    auto fill = [&](std::vector<char> &data, View &view, std::vector<int64_t> dims, uint32_t seed, float by) {
      Tensor numbers(dims);
      numbers.scramble(seed);
      data.resize(numbers.data.size() * sizeInBytes(type));
      for (size_t i = 0; i < numbers.data.size(); ++i)
        storeFloat(type, data.data() + i * sizeInBytes(type), numbers.data[i] * by);
      view = {data.data(), type, dims, denseStrides(dims)};
    };
    fill(q, problem.q, {1, 1, 64, dim}, 1, spread);
    fill(k, problem.k, {1, 1, keys, dim}, 2, spread);
    fill(v, problem.v, {1, 1, keys, dim}, 3, 1);
    problem.scale = 0.25;
  }
};

/// Whether the rule accepts what `spoil` made of good rows.
static bool accepts(const Problem &problem,
                    const std::function<void(std::vector<double> &, std::vector<double> &)> &spoil,
                    std::string *what = nullptr) {
  const RowBlock block{0, 0, 0, problem.queries()};
  const RowResult expected = compute(problem, block);
  std::vector<double> o = expected.exact, lse = expected.lse;
  for (double &x : o)
    x = roundTo(problem.q.type, x);
  for (double &x : lse)
    x = roundTo(ElementType::f32, x);
  spoil(o, lse);
  Judge judge(problem.q.type);
  judge.add(block, expected, o.data(), lse.data());
  EXPECT(judge.rows() == 64);
  if (what)
    *what = judge.output().what;
  return judge.passes();
}

using Rows = std::vector<double>;

static void good_rows_pass(ElementType type) {
  const Inputs inputs(type);
  const RowResult expected = compute(inputs.problem, {0, 0, 0, 64});
  EXPECT(accepts(inputs.problem, [](Rows &, Rows &) {}));
  EXPECT(accepts(inputs.problem, [&](Rows &o, Rows &) { o = expected.plain; }));
}

static void wrong_rows_fail(ElementType type) {
  const Inputs inputs(type);
  const double nan = std::nan("");
  // All zeros, although values average out to little over 500 keys.
  EXPECT(!accepts(inputs.problem, [](Rows &o, Rows &) { o.assign(o.size(), 0); }));
  // Too large by 3 %, everywhere: too little for the maximum, not for the mean.
  EXPECT(!accepts(inputs.problem, [](Rows &o, Rows &) {
    for (double &x : o)
      x *= 1.03;
  }));
  // One row of the block taken from its neighbour.
  EXPECT(!accepts(inputs.problem, [](Rows &o, Rows &) { std::copy(&o[8 * dim], &o[9 * dim], &o[7 * dim]); }));
  std::string what;
  EXPECT(!accepts(inputs.problem, [&](Rows &o, Rows &) { o[5 * dim + 3] = nan; }, &what));
  EXPECT(what == "got NaN, expected a number at batch 0 head 0 row 5");
  EXPECT(!accepts(inputs.problem, [&](Rows &o, Rows &) { o[0] = std::numeric_limits<double>::infinity(); }));
  EXPECT(!accepts(inputs.problem, [](Rows &, Rows &lse) { lse[63] *= 1.0001; }));
  EXPECT(!accepts(inputs.problem, [](Rows &, Rows &lse) {
    for (double &x : lse)
      x *= 1.4426950408889634;
  }));
  EXPECT(!accepts(inputs.problem, [&](Rows &, Rows &lse) { lse[3] = nan; }));
}

// A NaN of the reference that the kernel hides is as wrong as the reverse.
static void nan_must_agree_both_ways() {
  Inputs inputs(ElementType::f32);
  reinterpret_cast<float *>(inputs.v.data())[0] = std::nanf("");
  EXPECT(accepts(inputs.problem, [](Rows &, Rows &) {}));
  std::string what;
  EXPECT(!accepts(inputs.problem, [](Rows &o, Rows &) { o[0] = 0; }, &what));
  EXPECT(what == "got a number, expected NaN at batch 0 head 0 row 0");
}

// Rows without keys: exactly zero and -inf.
static void empty_rows_are_judged_exactly() {
  Inputs inputs(ElementType::bf16);
  inputs.problem.masks = {{-1, 0, true}};
  inputs.problem.k.dims[2] = inputs.problem.v.dims[2] = 32;
  EXPECT(accepts(inputs.problem, [](Rows &, Rows &) {}));
  EXPECT(!accepts(inputs.problem, [](Rows &, Rows &lse) { lse[31] = -1e30; }));
  EXPECT(!accepts(inputs.problem, [](Rows &o, Rows &) { o[31 * dim] = std::nan(""); }));
  // Leaving out one key of the mask is noticed.
  Inputs shifted(ElementType::bf16);
  shifted.problem.masks = {{-1, 1, true}};
  shifted.problem.k.dims[2] = shifted.problem.v.dims[2] = 32;
  const RowResult other = compute(shifted.problem, {0, 0, 0, 64});
  EXPECT(!accepts(inputs.problem, [&](Rows &o, Rows &) { o = other.exact; }));
}

// f32 rows computed in f32 by other code pass, in the order of textbook loops.
static void naive_loops_pass_in_f32() {
  for (float spread : {0.01f, 1.0f, 8.0f}) {
    Inputs inputs(ElementType::f32, spread);
    std::vector<float> o(64 * dim), lse(64);
    auto floats = [](const std::vector<char> &bytes) { return reinterpret_cast<const float *>(bytes.data()); };
    naiveFloat(inputs.problem, floats(inputs.q), floats(inputs.k), floats(inputs.v), o.data(), lse.data(), 1);
    EXPECT(accepts(inputs.problem, [&](Rows &got, Rows &gotLse) {
      got.assign(o.begin(), o.end());
      gotLse.assign(lse.begin(), lse.end());
    }));
  }
}

int main() {
  for (ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32}) {
    good_rows_pass(type);
    wrong_rows_fail(type);
  }
  nan_must_agree_both_ways();
  empty_rows_are_judged_exactly();
  naive_loops_pass_in_f32();
  return finish();
}
