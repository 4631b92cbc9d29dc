// The slope of a score region: every operation against differences, and what has none is refused by name.
// RUN: %cxx -std=c++17 -O1 -I%attn_src/include %s %attn_obj/lib/Reference/libAttnReference.a -pthread -o %t
// RUN: %t

#include "Check.h"

#include <functional>
#include <limits>

using namespace attn::reference;

/// A score region under construction: each call appends one value and numbers it.
struct Build {
  Program program{Program::Kind::Score};
  Captures captures;

  int add(ValueText text) {
    const std::string wrong = program.append(text, captures);
    if (!wrong.empty())
      std::printf("unexpected: %s\n", wrong.c_str());
    EXPECT(wrong.empty());
    return program.numValues() - 1;
  }
  int op(const char *name, std::vector<int> in, const char *type = "f32", const char *predicate = "") {
    return add({name, type, in, predicate, "", 0, 0});
  }
  int number(double value) { return add({"arith.constant", "f32", {}, "", "", value, 0}); }

  /// Score and slope where the score is `s`.
  std::pair<double, double> at(double s, int64_t k = 5) const {
    double scores[3] = {s, s, s}, slopes[3];
    Evaluator(program).score(1, 2, 3, k - 1, 3, scores, slopes);
    return {scores[1], slopes[1]};
  }
};

using Make = std::function<int(Build &)>;

/// Whether the slope of the region is the difference quotient at all of `points`.
static void check(const char *what, const Make &make, std::vector<double> points) {
  Build build;
  EXPECT(build.program.yield(make(build)).empty());
  EXPECT(build.program.notDifferentiable().empty());
  for (double s : points) {
    const double h = 1e-6;
    const double quotient = (build.at(s + h).first - build.at(s - h).first) / (2 * h), slope = build.at(s).second;
    if (!near(slope, quotient, 1e-7)) {
      std::printf("%s at %g: slope %.12g, difference quotient %.12g\n", what, s, slope, quotient);
      ++failures;
    }
  }
}

static Make unary(const char *name) {
  return [=](Build &b) { return b.op(name, {0}); };
}
/// With the score on the left, on the right, and on both sides.
static void checkBinary(const char *name, double other, std::vector<double> points) {
  check(name, [=](Build &b) { return b.op(name, {0, b.number(other)}); }, points);
  check(name, [=](Build &b) { return b.op(name, {b.number(other), 0}); }, points);
  check(name, [=](Build &b) { return b.op(name, {0, b.op("arith.mulf", {0, 0})}); }, points);
}

static void every_float_operation() {
  const std::vector<double> any = {-2.3, -0.4, 0.3, 1.7}, positive = {0.2, 0.9, 3.5};
  for (const char *name :
       {"arith.negf", "math.exp", "math.exp2", "math.expm1", "math.sin", "math.cos", "math.tan", "math.atan",
        "math.tanh", "math.erf", "math.absf", "math.floor", "math.ceil", "math.trunc", "math.round", "math.roundeven"})
    check(name, unary(name), any);
  for (const char *name : {"math.log", "math.log2", "math.log10", "math.log1p", "math.sqrt", "math.rsqrt"})
    check(name, unary(name), positive);
  for (const char *name : {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf", "arith.maximumf",
                           "arith.minimumf", "arith.maxnumf", "arith.minnumf", "math.copysign", "math.atan2"})
    checkBinary(name, 0.75, any);
  checkBinary("math.powf", 1.25, positive);
  check("fma", [](Build &b) { return b.op("math.fma", {0, b.op("math.sin", {0}), 0}); }, any);
}

// Far out tanh is flat, and says so to the last digit.
static void tanh_does_not_cancel() {
  Build build;
  EXPECT(build.program.yield(build.op("math.tanh", {0})).empty());
  EXPECT(near(build.at(18).second / (4 * std::exp(-36.0)), 1));
}

static void branches_casts_and_steps() {
  // s > 0.5 ? s * s : sin(s)
  check("select",
        [](Build &b) {
          const int isLarge = b.op("arith.cmpf", {0, b.number(0.5)}, "i1", "ogt");
          return b.op("arith.select", {isLarge, b.op("arith.mulf", {0, 0}), b.op("math.sin", {0})});
        },
        {-1, 0.4, 0.6, 3});
  // An integer made of the score is flat: only the second factor counts.
  check("fptosi",
        [](Build &b) {
          const int whole = b.op("arith.sitofp", {b.op("arith.fptosi", {0}, "i32")});
          return b.op("arith.mulf", {whole, 0});
        },
        {-1.5, 0.5, 2.5});
  // Rounding to 16 bits counts as if it were not there.
  Build narrow;
  const int rounded = narrow.op("arith.extf", {narrow.op("arith.truncf", {0}, "bf16")});
  EXPECT(narrow.program.yield(narrow.op("arith.mulf", {rounded, rounded})).empty());
  EXPECT(narrow.at(3).second == 6);
  // At a tie the first operand counts.
  Build tie;
  EXPECT(tie.program.yield(tie.op("arith.maximumf", {tie.number(2), 0})).empty());
  EXPECT(tie.at(2).second == 0 && tie.at(2.5).second == 1 && tie.at(1.5).second == 0);
  // What does not change has slope 0, however steep the rest: sqrt(max(s, 0)) below 0.
  Build flat;
  EXPECT(flat.program.yield(flat.op("math.sqrt", {flat.op("arith.maximumf", {0, flat.number(0)})})).empty());
  EXPECT(flat.at(-1).second == 0);
}

// cap * tanh(s / cap) + slopes[h] * k: captured numbers and coordinates are constants.
static void captures_are_constants() {
  const float slopes[3] = {9, 8, 0.5f}, cap = 2;
  Build build;
  build.captures["slopes"] = {slopes, ElementType::f32, {3}, {1}};
  build.captures["cap"] = {&cap, ElementType::f32, {}, {}};
  const int limit = build.add({"capture", "f32", {}, "", "cap", 0, 0});
  const int capped = build.op("arith.mulf", {build.op("math.tanh", {build.op("arith.divf", {0, limit})}), limit});
  const int slope = build.add({"attn.gather", "f32", {2}, "", "slopes", 0, 0});
  const int bias = build.op("arith.mulf", {slope, build.op("arith.sitofp", {4})});
  EXPECT(build.program.yield(build.op("arith.addf", {capped, bias})).empty());
  const auto [score, derivative] = build.at(1, 4);
  EXPECT(near(score, 2 * std::tanh(0.5) + 2) && near(derivative, 1 - std::tanh(0.5) * std::tanh(0.5)));
  // A region that ignores the score has no slope.
  EXPECT(build.program.yield(bias).empty());
  EXPECT(build.at(1, 4).second == 0);
}

static void bits_of_the_score_have_no_derivative() {
  Build build;
  build.op("arith.bitcast", {build.number(1)}, "i32");
  EXPECT(build.program.notDifferentiable().empty());
  build.op("arith.bitcast", {0}, "i32");
  EXPECT(build.program.notDifferentiable() ==
         "value 7 'arith.bitcast' has no derivative, and the score region applies it to the score");
}

int main() {
  every_float_operation();
  tanh_does_not_cancel();
  branches_casts_and_steps();
  captures_are_constants();
  bits_of_the_score_have_no_derivative();
  return finish();
}
