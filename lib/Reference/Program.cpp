//===- Program.cpp - checks a region value by value ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Program.h"
#include "Instructions.h"

#include <algorithm>

namespace attn {
namespace reference {
namespace {

struct OpFacts {
  const char *name;
  Shape shape;
};

// In the order of Op.
constexpr OpFacts opFacts[] = {
#define OP(ID, NAME, SHAPE) {NAME, Shape::SHAPE},
#include "Ops.def"
};

constexpr const char *intPredicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
constexpr const char *floatPredicates[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                           "ueq",   "ugt", "uge", "ult", "ule", "une", "uno", "true"};

template <size_t N> int indexOf(const char *const (&names)[N], const std::string &name) {
  for (size_t i = 0; i < N; ++i)
    if (name == names[i])
      return static_cast<int>(i);
  return -1;
}

std::string count(size_t n, const char *noun) { return std::to_string(n) + " " + noun + (n == 1 ? "" : "s"); }

int numOperands(Shape shape) {
  switch (shape) {
  case Shape::Argument:
  case Shape::Constant:
  case Shape::Capture:
    return 0;
  case Shape::FloatBinary:
  case Shape::IntBinary:
  case Shape::CompareInt:
  case Shape::CompareFloat:
    return 2;
  case Shape::FloatTernary:
  case Shape::Select:
    return 3;
  default:
    return 1;
  }
}

/// Why operand and result types do not suit the operation, or "".
std::string checkTypes(Shape shape, const Instruction &value, const std::vector<Instruction> &values) {
  const ElementType result = value.type;
  auto operand = [&](size_t i) { return values[value.in[i]].type; };
  auto expect = [](bool holds, const char *what) { return holds ? std::string() : std::string(what); };
  auto allEqual = [&](size_t from) {
    return std::all_of(value.in.begin() + from, value.in.end(), [&](int i) { return values[i].type == result; });
  };
  switch (shape) {
  case Shape::FloatUnary:
  case Shape::FloatBinary:
  case Shape::FloatTernary:
    return expect(isFloat(result) && allEqual(0), "expects float operands of the result's type");
  case Shape::IntUnary:
  case Shape::IntBinary:
    return expect(!isFloat(result) && allEqual(0), "expects integer operands of the result's type");
  case Shape::CompareInt:
    return expect(result == ElementType::i1 && !isFloat(operand(0)) && operand(0) == operand(1),
                  "expects two integers of one type and an i1 result");
  case Shape::CompareFloat:
    return expect(result == ElementType::i1 && isFloat(operand(0)) && operand(0) == operand(1),
                  "expects two floats of one type and an i1 result");
  case Shape::Select:
    return expect(operand(0) == ElementType::i1 && allEqual(1), "expects an i1 and two operands of the result's type");
  case Shape::IntToFloat:
    return expect(!isFloat(operand(0)) && isFloat(result), "expects an integer operand and a float result");
  case Shape::FloatToInt:
    return expect(isFloat(operand(0)) && !isFloat(result), "expects a float operand and an integer result");
  case Shape::FloatToFloat:
    return expect(isFloat(operand(0)) && isFloat(result), "expects a float operand and a float result");
  case Shape::IntToInt:
    return expect(!isFloat(operand(0)) && !isFloat(result), "expects an integer operand and an integer result");
  case Shape::SameWidth:
    return expect(bitWidth(operand(0)) == bitWidth(result), "expects operand and result of one width");
  case Shape::Gather:
    return expect(std::none_of(value.in.begin(), value.in.end(), [&](int i) { return isFloat(values[i].type); }),
                  "expects integer indices");
  default:
    return "";
  }
}

} // namespace

Program::Program(Kind kind) : programKind(kind) {
  Instruction argument{};
  argument.op = Op::Argument;
  if (kind == Kind::Score) {
    argument.type = ElementType::f32;
    argument.perKey = true;
    argument.ofScore = true;
    values.push_back(argument);
  }
  argument.ofScore = false;
  argument.type = ElementType::i32;
  argument.perKey = false;
  for (int i = 0; i < 3; ++i) // b, h, q
    values.push_back(argument);
  argument.perKey = true; // k
  values.push_back(argument);
}

Program::~Program() = default;
Program::Program(Program &&) = default;
Program &Program::operator=(Program &&) = default;
int Program::numValues() const { return static_cast<int>(values.size()); }

std::string Program::append(const ValueText &text, const Captures &captures) {
  const std::string where = "value " + std::to_string(numValues()) + " '" + text.op + "' ";
  const auto *found = std::find_if(std::begin(opFacts) + 1, std::end(opFacts),
                                   [&](const OpFacts &facts) { return text.op == facts.name; });
  if (found == std::end(opFacts))
    return "value " + std::to_string(numValues()) + ": operation '" + text.op + "' is not known to the reference";
  const Shape shape = found->shape;

  Instruction value{};
  value.op = static_cast<Op>(found - std::begin(opFacts));
  const auto type = parseElementType(text.type);
  if (!type)
    return where + "has unknown type '" + text.type + "'";
  value.type = *type;

  for (int operand : text.in) {
    if (operand < 0 || operand >= numValues())
      return where + "reads value " + std::to_string(operand) + ", which does not come before it";
    value.perKey |= values[operand].perKey;
  }
  value.in = text.in;
  if (!value.in.empty())
    value.operandType = values[value.in.back()].type;

  if (shape == Shape::Gather || shape == Shape::Capture) {
    const auto capture = captures.find(text.source);
    if (capture == captures.end())
      return where + "reads '" + text.source + "', which is not a captured operand";
    value.source = capture->second;
    const size_t rank = value.source.dims.size();
    if (shape == Shape::Capture && rank != 0)
      return where + "reads '" + text.source + "', which is a tensor, not a scalar";
    if (value.source.type != value.type)
      return where + "has type " + text.type + ", but '" + text.source + "' holds " + spelling(value.source.type);
    if (text.in.size() != rank)
      return where + "expects " + count(rank, "index") + " for '" + text.source + "', got " +
             std::to_string(text.in.size());
  } else if (static_cast<int>(text.in.size()) != numOperands(shape)) {
    return where + "expects " + count(numOperands(shape), "operand") + ", got " + std::to_string(text.in.size());
  }

  if (shape == Shape::CompareInt || shape == Shape::CompareFloat) {
    value.predicate =
        shape == Shape::CompareInt ? indexOf(intPredicates, text.predicate) : indexOf(floatPredicates, text.predicate);
    if (value.predicate < 0)
      return where + "has unknown predicate '" + text.predicate + "'";
  }
  if (std::string wrong = checkTypes(shape, value, values); !wrong.empty())
    return where + wrong;

  // An integer made of a score, by a cast or by a comparison, is flat between its steps.
  const bool readsScore = std::any_of(value.in.begin(), value.in.end(), [&](int i) { return values[i].ofScore; });
  value.ofScore = readsScore && isFloat(value.type);
  if (readsScore && value.op == Op::Bitcast && noSlope.empty())
    noSlope = where + "has no derivative, and the score region applies it to the score";

  // A constant is the number its type can hold, however the text spelled it.
  value.value = roundTo(value.type, text.value);
  value.integer = wrapTo(value.type, text.integer);
  values.push_back(std::move(value));
  return "";
}

std::string Program::yield(int value) {
  if (value < 0 || value >= numValues())
    return "yields value " + std::to_string(value) + " of " + std::to_string(numValues());
  const ElementType expected = programKind == Kind::Score ? ElementType::f32 : ElementType::i1;
  if (values[value].type != expected)
    return std::string("yields ") + spelling(values[value].type) + "; this region yields " + spelling(expected);
  yieldValue = value;
  return "";
}

} // namespace reference
} // namespace attn
