// Score and mask regions: every kind of operation, and what is refused by name.
// RUN: %cxx -std=c++17 -O1 -I%attn_src/include %s %attn_obj/lib/Reference/libAttnReference.a -pthread -o %t
// RUN: %t

#include "Check.h"

#include <limits>

using namespace attn::reference;

static Captures captures;

/// A program under construction: each call appends one value and numbers it.
struct Build {
  Program program{Program::Kind::Score};

  int add(ValueText text) {
    const std::string wrong = program.append(text, captures);
    if (!wrong.empty())
      std::printf("unexpected: %s\n", wrong.c_str());
    EXPECT(wrong.empty());
    return program.numValues() - 1;
  }
  int op(const char *name, const char *type, std::vector<int> in, const char *predicate = "") {
    return add({name, type, in, predicate, "", 0, 0});
  }
  int number(double value) { return add({"arith.constant", "f32", {}, "", "", value, 0}); }
  int integer(const char *type, int64_t value) { return add({"arith.constant", type, {}, "", "", 0, value}); }
  /// The score of one pair (q, k) when value `result` is yielded.
  double run(int result, double s = 0, int64_t b = 0, int64_t h = 0, int64_t q = 0, int64_t k = 0) {
    const std::string wrong = program.yield(result);
    EXPECT(wrong.empty());
    double scores[3] = {s, s, s};
    Evaluator(program).score(b, h, q, k - 1, 3, scores);
    return scores[1];
  }
};

static double floatOp(const char *name, std::vector<double> in) {
  Build build;
  std::vector<int> operands;
  for (double x : in)
    operands.push_back(build.number(x));
  return build.run(build.op(name, "f32", operands));
}

/// The result of an integer operation, carried out through a float.
static double intOp(const char *name, const char *type, std::vector<int64_t> in) {
  Build build;
  std::vector<int> operands;
  for (int64_t x : in)
    operands.push_back(build.integer(type, x));
  return build.run(build.op("arith.sitofp", "f32", {build.op(name, type, operands)}));
}

static bool compare(const char *name, const char *type, const char *predicate, double x, double y) {
  Build build;
  const bool isInt = type[0] == 'i';
  const int a = isInt ? build.integer(type, static_cast<int64_t>(x)) : build.number(x);
  const int b = isInt ? build.integer(type, static_cast<int64_t>(y)) : build.number(y);
  return build.run(build.op("arith.uitofp", "f32", {build.op(name, "i1", {a, b}, predicate)})) == 1;
}

static void floats() {
  const double nan = std::nan("");
  EXPECT(floatOp("arith.subf", {1, 3}) == -2);
  EXPECT(floatOp("arith.divf", {1, 4}) == 0.25);
  EXPECT(floatOp("arith.negf", {1}) == -1);
  EXPECT(std::isnan(floatOp("arith.maximumf", {1, nan})) && floatOp("arith.maxnumf", {1, nan}) == 1);
  EXPECT(std::isnan(floatOp("arith.minimumf", {nan, 1})) && floatOp("arith.minnumf", {nan, 1}) == 1);
  EXPECT(near(floatOp("math.tanh", {0.5}), std::tanh(0.5)));
  EXPECT(near(floatOp("math.rsqrt", {4}), 0.5));
  EXPECT(floatOp("math.exp2", {10}) == 1024 && floatOp("math.log2", {8}) == 3);
  EXPECT(floatOp("math.fma", {2, 3, 4}) == 10 && floatOp("math.powf", {2, 5}) == 32);
  EXPECT(floatOp("math.floor", {-1.5}) == -2 && floatOp("math.ceil", {-1.5}) == -1);
  EXPECT(floatOp("math.roundeven", {2.5}) == 2 && floatOp("math.round", {2.5}) == 3);
  // A constant is an f32, whatever digits the text has.
  EXPECT(floatOp("math.absf", {-0.1}) == static_cast<double>(0.1f));
}

static void integers() {
  EXPECT(intOp("arith.addi", "i32", {0x7fffffff, 1}) == -2147483648.0);
  EXPECT(intOp("arith.muli", "i32", {65536, 65536}) == 0);
  EXPECT(intOp("arith.divsi", "i32", {-7, 2}) == -3 && intOp("arith.remsi", "i32", {-7, 2}) == -1);
  EXPECT(intOp("arith.floordivsi", "i32", {-7, 2}) == -4 && intOp("arith.ceildivsi", "i32", {-7, 2}) == -3);
  EXPECT(intOp("arith.floordivsi", "i32", {7, 2}) == 3 && intOp("arith.ceildivsi", "i32", {7, 2}) == 4);
  EXPECT(intOp("arith.divui", "i32", {-2, 2}) == 2147483647.0 && intOp("arith.remui", "i32", {-1, 10}) == 5);
  EXPECT(intOp("arith.divsi", "i32", {1, 0}) == 0 && intOp("arith.divsi", "i32", {-2147483648ll, -1}) == -2147483648.0);
  EXPECT(intOp("arith.shrui", "i32", {-1, 28}) == 15 && intOp("arith.shrsi", "i32", {-16, 2}) == -4);
  EXPECT(intOp("arith.shli", "i32", {1, 31}) == -2147483648.0 && intOp("arith.shli", "i32", {1, 32}) == 0);
  EXPECT(intOp("arith.maxui", "i32", {-1, 1}) == -1 && intOp("arith.maxsi", "i32", {-1, 1}) == 1);
  EXPECT(intOp("arith.xori", "i8", {85, -1}) == -86 && intOp("math.absi", "i32", {-5}) == 5);
  EXPECT(compare("arith.cmpi", "i32", "slt", -1, 1) && !compare("arith.cmpi", "i32", "ult", -1, 1));
  EXPECT(compare("arith.cmpi", "i64", "ne", 1, 2) && compare("arith.cmpi", "i8", "uge", -1, 127));
  const double nan = std::nan("");
  EXPECT(!compare("arith.cmpf", "f32", "oeq", nan, nan) && compare("arith.cmpf", "f32", "une", nan, nan));
  EXPECT(compare("arith.cmpf", "f32", "ult", nan, 1) && compare("arith.cmpf", "f32", "ole", 1, 1));
}

static void casts() {
  Build build;
  const int minus = build.integer("i8", -1);
  EXPECT(build.run(build.op("arith.uitofp", "f32", {minus})) == 255);
  EXPECT(build.run(build.op("arith.sitofp", "f32", {build.op("arith.extui", "i32", {minus})})) == 255);
  EXPECT(build.run(build.op("arith.sitofp", "f32", {build.op("arith.extsi", "i32", {minus})})) == -1);
  const int large = build.number(3e9);
  EXPECT(build.run(build.op("arith.sitofp", "f32", {build.op("arith.fptosi", "i32", {large})})) == 2147483647.0);
  EXPECT(build.run(build.op("arith.uitofp", "f32", {build.op("arith.fptoui", "i32", {large})})) == 3e9);
  // A value of a 16-bit type is rounded to it.
  const int narrow = build.op("arith.truncf", "bf16", {build.number(257)});
  EXPECT(build.run(build.op("arith.extf", "f32", {narrow})) == 256);
  const int bits = build.op("arith.bitcast", "i32", {build.number(1)});
  EXPECT(build.run(build.op("arith.sitofp", "f32", {bits})) == 0x3f800000);
  const int index =
      build.op("arith.index_cast", "index", {build.op("arith.trunci", "i8", {build.integer("i32", 300)})});
  EXPECT(build.run(build.op("arith.sitofp", "f32", {index})) == 44);
}

// score = s + slopes[h] * (k - q)
static void alibi_reads_coordinates_and_captures() {
  const float slopes[2] = {0.5f, 0.25f};
  captures["slopes"] = {slopes, ElementType::f32, {2}, {1}};
  Build build;
  const int slope = build.add({"attn.gather", "f32", {2}, "", "slopes", 0, 0});
  const int distance = build.op("arith.sitofp", "f32", {build.op("arith.subi", "i32", {4, 3})});
  const int biased = build.op("arith.addf", "f32", {0, build.op("arith.mulf", "f32", {slope, distance})});
  EXPECT(build.run(biased, 1.5, 0, 1, 10, 2) == 1.5 - 2);
  // Indices are clamped into the captured tensor.
  EXPECT(build.run(biased, 0, 0, 7, 10, 2) == -2);
  EXPECT(build.run(biased, 0, 0, -3, 10, 2) == -4);
}

static void captured_scalars() {
  const float cap = 30;
  captures["cap"] = {&cap, ElementType::f32, {}, {}};
  Build build;
  const int value = build.add({"capture", "f32", {}, "", "cap", 0, 0});
  const int capped =
      build.op("arith.mulf", "f32", {build.op("math.tanh", "f32", {build.op("arith.divf", "f32", {0, value})}), value});
  EXPECT(near(build.run(capped, 60), 30 * std::tanh(2.0)));
}

static void regions_change_attention() {
  Tensor q({1, 1, 3, 8}), k({1, 1, 4, 8}), v({1, 1, 4, 8}, 1);
  Problem problem;
  problem.q = q.view(), problem.k = k.view(), problem.v = v.view();

  // Keys of the query's parity: 2 of 4.
  Program parity(Program::Kind::Visible);
  EXPECT(parity.append({"arith.xori", "i32", {2, 3}, "", "", 0, 0}, {}).empty());
  EXPECT(parity.append({"arith.trunci", "i1", {4}, "", "", 0, 0}, {}).empty());
  EXPECT(parity.append({"arith.constant", "i1", {}, "", "", 0, 1}, {}).empty());
  EXPECT(parity.append({"arith.xori", "i1", {5, 6}, "", "", 0, 0}, {}).empty());
  EXPECT(parity.yield(7).empty());
  problem.visible = &parity;
  EXPECT(near(compute(problem, {0, 0, 0, 3}).lse[1], std::log(2.0)));

  // A score of its own key number, constant in all else.
  Build build;
  EXPECT(build.program.yield(build.op("arith.sitofp", "f32", {4})).empty());
  problem.score = &build.program;
  EXPECT(near(compute(problem, {0, 0, 0, 3}).lse[1], std::log(std::exp(1) + std::exp(3))));

  // Nothing is visible, told by a value that does not depend on the key.
  Program never(Program::Kind::Visible);
  EXPECT(never.append({"arith.constant", "i1", {}, "", "", 0, 0}, {}).empty());
  EXPECT(never.yield(4).empty());
  problem.visible = &never;
  EXPECT(compute(problem, {0, 0, 0, 3}).lse[1] == -std::numeric_limits<double>::infinity());

  // A score of -inf everywhere is a row without keys, too.
  Build minus;
  EXPECT(minus.program.yield(minus.number(-std::numeric_limits<double>::infinity())).empty());
  problem.visible = nullptr;
  problem.score = &minus.program;
  const RowResult rows = compute(problem, {0, 0, 0, 3});
  EXPECT(rows.exact[0] == 0 && rows.plain[0] == 0 && rows.lse[0] == -std::numeric_limits<double>::infinity());
}

static void refusals_name_the_culprit() {
  Program program(Program::Kind::Score);
  auto refuse = [&](ValueText text) { return program.append(text, captures); };
  EXPECT(refuse({"math.gamma", "f32", {0}, "", "", 0, 0}) ==
         "value 5: operation 'math.gamma' is not known to the reference");
  EXPECT(refuse({"math.exp", "f8", {0}, "", "", 0, 0}) == "value 5 'math.exp' has unknown type 'f8'");
  EXPECT(refuse({"math.exp", "f32", {5}, "", "", 0, 0}) ==
         "value 5 'math.exp' reads value 5, which does not come before it");
  EXPECT(refuse({"math.exp", "f32", {0, 0}, "", "", 0, 0}) == "value 5 'math.exp' expects 1 operand, got 2");
  EXPECT(refuse({"math.exp", "f32", {1}, "", "", 0, 0}) ==
         "value 5 'math.exp' expects float operands of the result's type");
  EXPECT(refuse({"arith.addi", "i64", {1, 2}, "", "", 0, 0}) ==
         "value 5 'arith.addi' expects integer operands of the result's type");
  EXPECT(refuse({"arith.cmpi", "i1", {1, 2}, "less", "", 0, 0}) == "value 5 'arith.cmpi' has unknown predicate 'less'");
  EXPECT(refuse({"attn.gather", "f32", {2}, "", "bias", 0, 0}) ==
         "value 5 'attn.gather' reads 'bias', which is not a captured operand");
  EXPECT(refuse({"attn.gather", "f32", {2, 3}, "", "slopes", 0, 0}) ==
         "value 5 'attn.gather' expects 1 index for 'slopes', got 2");
  EXPECT(refuse({"attn.gather", "i32", {2}, "", "slopes", 0, 0}) ==
         "value 5 'attn.gather' has type i32, but 'slopes' holds f32");
  EXPECT(refuse({"capture", "f32", {}, "", "slopes", 0, 0}) ==
         "value 5 'capture' reads 'slopes', which is a tensor, not a scalar");
  EXPECT(program.yield(1) == "yields i32; this region yields f32");
  EXPECT(program.yield(9) == "yields value 9 of 5");
}

int main() {
  floats();
  integers();
  casts();
  alibi_reads_coordinates_and_captures();
  captured_scalars();
  regions_change_attention();
  refusals_name_the_culprit();
  return finish();
}
