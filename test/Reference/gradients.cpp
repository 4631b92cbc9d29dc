// Gradients against differences of the forward in double, and where the answer is known without either.
// RUN: %cxx -std=c++17 -O1 -I%attn_src/include %s %attn_obj/lib/Reference/libAttnReference.a -pthread -o %t
// RUN: %t

#include "Check.h"
#include "attn/Reference/Accuracy.h"
#include "attn/Reference/Gradient.h"

#include <limits>

using namespace attn::reference;

/// A dense tensor of any float type.
struct Numbers {
  std::vector<int64_t> dims;
  std::vector<char> data;
  ElementType type;

  Numbers(std::vector<int64_t> dims, uint32_t seed, ElementType type, double gain = 1) : dims(dims), type(type) {
    Tensor numbers(dims);
    numbers.scramble(seed);
    data.resize(numbers.data.size() * sizeInBytes(type));
    for (size_t i = 0; i < numbers.data.size(); ++i)
      set(i, gain * numbers.data[i]);
  }
  int64_t size() const { return static_cast<int64_t>(data.size()) / sizeInBytes(type); }
  void set(int64_t i, double x) { storeFloat(type, data.data() + i * sizeInBytes(type), x); }
  double get(int64_t i) const { return loadFloat(type, data.data() + i * sizeInBytes(type)); }
  View view() const { return {data.data(), type, dims, denseStrides(dims)}; }
};

/// A forward and what its backward is given: 2 heads of keys, `group` query heads for each.
struct Example {
  Numbers q, k, v, dO, dLse;
  GradientProblem problem;

  Example(int64_t queries, int64_t keys, int64_t group = 1, ElementType type = ElementType::f64, int64_t dim = 3,
          int64_t valueDim = 5)
      : q({1, 2 * group, queries, dim}, 1, type, 2), k({1, 2, keys, dim}, 2, type, 2),
        v({1, 2, keys, valueDim}, 3, type), dO({1, 2 * group, queries, valueDim}, 4, type),
        dLse({1, 2 * group, queries}, 5, type) {
    problem.forward.q = q.view(), problem.forward.k = k.view(), problem.forward.v = v.view();
    problem.forward.scale = 0.7;
    problem.dO = dO.view();
  }
  Example(const Example &) = delete; // the views look into it
};

/// Exact gradients of everything, in the order of the elements.
struct All {
  std::vector<double> dQ, dK, dV;

  explicit All(const GradientProblem &problem, int64_t blockRows = 64) {
    EXPECT(problem.check().empty());
    const Gradients gradients(problem, 1);
    auto append = [](std::vector<double> &to, const std::vector<double> &from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    for (const RowBlock &block : allBlocks(problem.forward, blockRows))
      append(dQ, gradients.dQ(block).exact);
    for (const RowBlock &block : gradients.allKeyBlocks(blockRows)) {
      const Gradients::KeyRows rows = gradients.dKdV(block);
      append(dK, rows.dK.exact);
      append(dV, rows.dV.exact);
    }
  }
};

/// sum(dO * O) + sum(dLse * LSE); rows without keys have no LSE to speak of.
static double loss(const GradientProblem &problem) {
  double sum = 0;
  const int64_t valueDim = problem.forward.valueDim();
  for (const RowBlock &block : allBlocks(problem.forward)) {
    const RowResult rows = compute(problem.forward, block);
    for (int64_t row = 0; row < block.rows(); ++row) {
      for (int64_t d = 0; d < valueDim; ++d)
        sum += rows.exact[row * valueDim + d] *
               loadFloat(problem.dO.type, problem.dO.at(block.b, block.h, block.begin + row, d));
      if (problem.dLse && std::isfinite(rows.lse[row]))
        sum += rows.lse[row] * loadFloat(problem.dLse->type, problem.dLse->at({block.b, block.h, block.begin + row}));
    }
  }
  return sum;
}

static void compareWithDifferences(const char *what, Example &example) {
  const All gradients(example.problem);
  auto compare = [&](const char *name, Numbers &x, const std::vector<double> &gradient) {
    EXPECT(x.size() == static_cast<int64_t>(gradient.size()));
    for (int64_t i = 0; i < x.size(); ++i) {
      const double at = x.get(i), h = 1e-5;
      x.set(i, at + h);
      const double above = loss(example.problem);
      x.set(i, at - h);
      const double quotient = (above - loss(example.problem)) / (2 * h);
      x.set(i, at);
      if (!near(gradient[i], quotient, 1e-7)) {
        std::printf("%s: %s[%lld] is %.12g, difference quotient %.12g\n", what, name, static_cast<long long>(i),
                    gradient[i], quotient);
        ++failures;
      }
    }
  };
  compare("dQ", example.q, gradients.dQ);
  compare("dK", example.k, gradients.dK);
  compare("dV", example.v, gradients.dV);
}

static void differences_under_masks() {
  const NamedMask masks[] = {{-1, -1, false}, {-1, 0, false}, {-1, 0, true}, {2, 1, false}, {2, 1, true}, {0, 0, true}};
  const std::pair<int64_t, int64_t> lengths[] = {{4, 4}, {3, 7}, {7, 3}, {1, 5}, {5, 1}, {1, 1}};
  for (const NamedMask &mask : masks)
    for (const auto &[queries, keys] : lengths) {
      Example example(queries, keys);
      example.problem.forward.masks = {mask};
      example.problem.dLse = example.dLse.view();
      compareWithDifferences("masks", example);
    }
}

static void differences_in_groups() {
  for (int64_t group : {1, 3}) {
    Example example(5, 6, group);
    example.problem.forward.masks = {{-1, 0, true}};
    compareWithDifferences("groups", example);
  }
}

/// region(s) = 2 * tanh(s / 2) + 0.25 * (k - q), or log(exp(s) + 1) where k < q.
static Program region() {
  Program program(Program::Kind::Score);
  auto add = [&](const char *name, const char *type, std::vector<int> in, double value = 0,
                 const char *predicate = "") {
    EXPECT(program.append({name, type, in, predicate, "", value, 0}, {}).empty());
    return program.numValues() - 1;
  };
  auto number = [&](double x) { return add("arith.constant", "f32", {}, x); };
  const int two = number(2);
  const int capped = add("arith.mulf", "f32", {add("math.tanh", "f32", {add("arith.divf", "f32", {0, two})}), two});
  const int distance = add("arith.sitofp", "f32", {add("arith.subi", "i32", {4, 3})});
  const int biased = add("math.fma", "f32", {distance, number(0.25), capped});
  const int soft = add("math.log", "f32", {add("arith.addf", "f32", {add("math.exp", "f32", {0}), number(1)})});
  const int before = add("arith.cmpi", "i1", {4, 3}, 0, "slt");
  EXPECT(program.yield(add("arith.select", "f32", {before, soft, biased})).empty());
  return program;
}

/// Keys of another parity than the query; query 2 sees nothing.
static Program parity() {
  Program program(Program::Kind::Visible);
  auto add = [&](const char *name, const char *type, std::vector<int> in, int64_t value = 0,
                 const char *predicate = "") {
    EXPECT(program.append({name, type, in, predicate, "", 0, value}, {}).empty());
    return program.numValues() - 1;
  };
  const int odd = add("arith.trunci", "i1", {add("arith.xori", "i32", {2, 3})});
  const int other = add("arith.cmpi", "i1", {2, add("arith.constant", "i32", {}, 2)}, 0, "ne");
  EXPECT(program.yield(add("arith.andi", "i1", {odd, other})).empty());
  return program;
}

static void differences_through_regions() {
  const Program score = region(), visible = parity();
  for (int which = 1; which < 4; ++which) {
    Example example(5, 6, 2);
    example.problem.forward.masks = {{3, 1, true}};
    example.problem.forward.score = which & 1 ? &score : nullptr;
    example.problem.forward.visible = which & 2 ? &visible : nullptr;
    example.problem.dLse = example.dLse.view();
    compareWithDifferences("regions", example);
  }
}

// Longer than a block of rows and a chunk of keys, and cut otherwise.
static void cutting_into_blocks_changes_nothing() {
  Example example(150, 300, 2);
  example.problem.forward.masks = {{200, 0, true}};
  const All whole(example.problem, 1000), cut(example.problem, 37);
  auto same = [](const std::vector<double> &x, const std::vector<double> &y) {
    EXPECT(x.size() == y.size());
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT(near(x[i], y[i]));
  };
  same(whole.dQ, cut.dQ), same(whole.dK, cut.dK), same(whole.dV, cut.dV);
}

static bool allZero(const std::vector<double> &x, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    if (x[i] != 0)
      return false;
  return true;
}

// Rows that see no key: by a mask, by a score of -inf, for want of keys. Whatever dO has there.
static void empty_rows_give_nothing() {
  Example example(7, 3);
  example.problem.forward.masks = {{-1, 0, true}};
  const All before(example.problem);
  EXPECT(allZero(before.dQ, 0, 4 * 3) && !allZero(before.dQ, 5 * 3, 6 * 3));
  for (int i = 0; i < 4 * 5; ++i)
    example.dO.set(i, std::nan(""));
  const All after(example.problem);
  EXPECT(before.dK == after.dK && before.dV == after.dV && before.dQ == after.dQ);

  Program never(Program::Kind::Score);
  EXPECT(never.append({"arith.constant", "f32", {}, "", "", -std::numeric_limits<double>::infinity(), 0}, {}).empty());
  EXPECT(never.yield(5).empty());
  example.problem.forward.score = &never;
  const All none(example.problem);
  EXPECT(allZero(none.dQ, 0, none.dQ.size()) && allZero(none.dK, 0, none.dK.size()) &&
         allZero(none.dV, 0, none.dV.size()));

  Example noKeys(4, 0);
  const All zero(noKeys.problem);
  EXPECT(zero.dQ.size() == 2 * 4 * 3 && allZero(zero.dQ, 0, zero.dQ.size()));
  Example noQueries(0, 4);
  const All nothing(noQueries.problem);
  EXPECT(nothing.dK.size() == 2 * 4 * 3 && allZero(nothing.dK, 0, nothing.dK.size()));
}

// A NaN in a key that only the last row sees: gradients of other rows stay as they are; one in dO reaches dV.
static void nan_stays_where_it_is_seen() {
  Example example(6, 6);
  example.problem.forward.masks = {{-1, 0, false}};
  const All clean(example.problem);
  example.k.set(5 * 3, std::nan(""));
  const All dirty(example.problem);
  for (int i = 0; i < 5 * 3; ++i)
    EXPECT(clean.dQ[i] == dirty.dQ[i]);
  EXPECT(std::isnan(dirty.dQ[5 * 3]) && std::isnan(dirty.dK[0]) && std::isnan(dirty.dV[0]));
  example.k.set(5 * 3, 0);
  example.dO.set(5 * 5 + 1, std::nan(""));
  const All gradient(example.problem);
  EXPECT(std::isfinite(gradient.dV[0]) && std::isnan(gradient.dV[1]) && std::isnan(gradient.dQ[5 * 3]));
}

// dO expanded from a single number, as the gradient of a sum is.
static void strides_of_dO_are_honoured() {
  Example example(5, 6, 2);
  const double one = 1;
  Numbers ones(example.dO.dims, 1, ElementType::f64);
  for (int64_t i = 0; i < ones.size(); ++i)
    ones.set(i, 1);
  example.problem.dO = ones.view();
  const All dense(example.problem);
  example.problem.dO = {&one, ElementType::f64, ones.dims, {0, 0, 0, 0}};
  const All expanded(example.problem);
  EXPECT(dense.dQ == expanded.dQ && dense.dK == expanded.dK && dense.dV == expanded.dV);
}

/// Good gradients of `type` pass, and each way of being wrong is caught.
static void accuracy_rule(ElementType type) {
  Example example(100, 130, 2, type, 16, 16);
  example.problem.forward.masks = {{-1, 0, true}};
  const Gradients gradients(example.problem, 1);
  const RowBlock queries{0, 3, 20, 84}, keys{0, 1, 0, 64};
  const Gradients::KeyRows keyRows = gradients.dKdV(keys);
  auto check = [&](const RowBlock &block, const RowResult &expected) {
    auto accepts = [&](auto spoil) {
      std::vector<double> got = expected.exact;
      for (size_t i = 0; i < got.size(); ++i)
        got[i] = roundTo(type, spoil(got[i], i));
      Judge judge(type);
      judge.add(block, expected, got.data(), nullptr);
      return judge.passes();
    };
    EXPECT(accepts([](double x, size_t) { return x; }));
    EXPECT(accepts([&](double, size_t i) { return expected.plain[i]; }));
    EXPECT(!accepts([](double, size_t) { return 0; }));
    EXPECT(!accepts([&](double x, size_t) { return (type == ElementType::bf16 ? 1.06 : 1.03) * x; }));
    EXPECT(!accepts([](double x, size_t i) { return i == 7 ? std::nan("") : x; }));
    EXPECT(!accepts([&](double x, size_t i) { return i < 16 ? expected.exact[i + 16] : x; }));
  };
  check(queries, gradients.dQ(queries));
  check(keys, keyRows.dK);
  check(keys, keyRows.dV);
}

// One key: P is 1 and dP - delta is 0, but not to the last bit in a kernel that sums in another order.
static void one_key_cancels() {
  for (ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32}) {
    Example example(64, 1, 1, type, 16, 64);
    const Gradients gradients(example.problem, 1);
    const RowResult expected = gradients.dQ({0, 0, 0, 64});
    std::vector<double> got(expected.exact.size(), 4e-7);
    Judge judge(type), wrong(type);
    judge.add({0, 0, 0, 64}, expected, got.data(), nullptr);
    EXPECT(judge.passes());
    got.assign(got.size(), 4e-2);
    wrong.add({0, 0, 0, 64}, expected, got.data(), nullptr);
    EXPECT(!wrong.passes());
  }
}

// The naive loops agree in their precision.
static void naive_loops_agree() {
  Example example(70, 90, 3, ElementType::f32, 16, 8);
  example.problem.forward.masks = {{-1, 0, true}};
  const All exact(example.problem);
  auto floats = [](const Numbers &x) { return reinterpret_cast<const float *>(x.data.data()); };
  std::vector<float> o(example.dO.size()), lse(6 * 70), dQ(example.q.size()), dK(example.k.size()),
      dV(example.v.size());
  naiveFloat(example.problem.forward, floats(example.q), floats(example.k), floats(example.v), o.data(), lse.data(), 2);
  naiveFloatGradients(example.problem.forward,
                      {floats(example.q), floats(example.k), floats(example.v), o.data(), lse.data(),
                       floats(example.dO), dQ.data(), dK.data(), dV.data()},
                      2);
  auto same = [](const std::vector<float> &x, const std::vector<double> &y) {
    EXPECT(x.size() == y.size());
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT(near(x[i], y[i], 1e-4));
  };
  same(dQ, exact.dQ), same(dK, exact.dK), same(dV, exact.dV);
}

static void refusals_name_the_culprit() {
  Example example(5, 6);
  example.problem.dO.dims[3] = 4;
  EXPECT(example.problem.check() == "do: expected floats of shape 1 x 2 x 5 x 5, got f64 of 1 x 2 x 5 x 4");
  example.problem.dO.dims[3] = 5;
  example.problem.dLse = example.dO.view();
  EXPECT(example.problem.check() == "dlse: expected floats of shape 1 x 2 x 5, got f64 of 1 x 2 x 5 x 5");
  example.problem.dLse.reset();
  Program bits(Program::Kind::Score);
  EXPECT(bits.append({"arith.bitcast", "i32", {0}, "", "", 0, 0}, {}).empty());
  EXPECT(bits.append({"arith.bitcast", "f32", {5}, "", "", 0, 0}, {}).empty());
  EXPECT(bits.yield(6).empty());
  example.problem.forward.score = &bits;
  EXPECT(example.problem.check() ==
         "value 5 'arith.bitcast' has no derivative, and the score region applies it to the score");
}

int main() {
  differences_under_masks();
  differences_in_groups();
  differences_through_regions();
  cutting_into_blocks_changes_nothing();
  empty_rows_give_nothing();
  nan_stays_where_it_is_seen();
  strides_of_dO_are_honoured();
  for (ElementType type : {ElementType::f16, ElementType::bf16, ElementType::f32})
    accuracy_rule(type);
  one_key_cancels();
  naive_loops_agree();
  refusals_name_the_culprit();
  return finish();
}
