//===- Evaluator.cpp - runs a region for many keys at once -----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace attn {
namespace reference {

namespace {

uint64_t asUnsigned(ElementType type, int64_t value) {
  const int bits = bitWidth(type);
  return bits == 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ((uint64_t(1) << bits) - 1);
}

double floatUnary(Op op, double x) {
  switch (op) {
  case Op::NegF:
    return -x;
  case Op::Exp:
    return std::exp(x);
  case Op::Exp2:
    return std::exp2(x);
  case Op::ExpM1:
    return std::expm1(x);
  case Op::Log:
    return std::log(x);
  case Op::Log2:
    return std::log2(x);
  case Op::Log10:
    return std::log10(x);
  case Op::Log1p:
    return std::log1p(x);
  case Op::Sin:
    return std::sin(x);
  case Op::Cos:
    return std::cos(x);
  case Op::Tan:
    return std::tan(x);
  case Op::Atan:
    return std::atan(x);
  case Op::Tanh:
    return std::tanh(x);
  case Op::Erf:
    return std::erf(x);
  case Op::Sqrt:
    return std::sqrt(x);
  case Op::Rsqrt:
    return 1 / std::sqrt(x);
  case Op::AbsF:
    return std::fabs(x);
  case Op::Floor:
    return std::floor(x);
  case Op::Ceil:
    return std::ceil(x);
  case Op::Trunc:
    return std::trunc(x);
  case Op::Round:
    return std::round(x);
  default: // RoundEven
    return std::nearbyint(x);
  }
}

double floatBinary(Op op, double x, double y) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  switch (op) {
  case Op::AddF:
    return x + y;
  case Op::SubF:
    return x - y;
  case Op::MulF:
    return x * y;
  case Op::DivF:
    return x / y;
  case Op::RemF:
    return std::fmod(x, y);
  case Op::MaximumF: // a NaN wins
    return std::isnan(x) || std::isnan(y) ? nan : std::max(x, y);
  case Op::MinimumF:
    return std::isnan(x) || std::isnan(y) ? nan : std::min(x, y);
  case Op::MaxNumF: // a number wins
    return std::fmax(x, y);
  case Op::MinNumF:
    return std::fmin(x, y);
  case Op::CopySign:
    return std::copysign(x, y);
  case Op::Atan2:
    return std::atan2(x, y);
  default: // Powf
    return std::pow(x, y);
  }
}

/// Quotients of 64-bit numbers that cannot trap: x / 0 is 0, and the one
/// quotient that overflows wraps, as it does at every narrower width.
int64_t divide(int64_t x, int64_t y) {
  return y == 0 ? 0 : y == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(x)) : x / y;
}
int64_t remainder(int64_t x, int64_t y) { return y == 0 || y == -1 ? 0 : x % y; }

/// `x` and `y` are sign-extended; the caller wraps the result.
int64_t intBinary(Op op, ElementType type, int64_t x, int64_t y) {
  const uint64_t ux = asUnsigned(type, x), uy = asUnsigned(type, y);
  const bool inexact = remainder(x, y) != 0;
  const bool pastWidth = uy >= static_cast<uint64_t>(bitWidth(type)); // shifts: poison in MLIR, here all bits leave
  switch (op) {
  case Op::AddI:
    return static_cast<int64_t>(ux + uy);
  case Op::SubI:
    return static_cast<int64_t>(ux - uy);
  case Op::MulI:
    return static_cast<int64_t>(ux * uy);
  case Op::AndI:
    return x & y;
  case Op::OrI:
    return x | y;
  case Op::XOrI:
    return x ^ y;
  case Op::ShLI:
    return pastWidth ? 0 : static_cast<int64_t>(ux << uy);
  case Op::ShRUI:
    return pastWidth ? 0 : static_cast<int64_t>(ux >> uy);
  case Op::ShRSI:
    return x >> (pastWidth ? 63 : uy);
  case Op::DivSI:
    return divide(x, y);
  case Op::DivUI:
    return uy == 0 ? 0 : static_cast<int64_t>(ux / uy);
  case Op::RemSI:
    return remainder(x, y);
  case Op::RemUI:
    return uy == 0 ? 0 : static_cast<int64_t>(ux % uy);
  case Op::FloorDivSI:
    return divide(x, y) - (inexact && (x < 0) != (y < 0) ? 1 : 0);
  case Op::CeilDivSI:
    return divide(x, y) + (inexact && (x < 0) == (y < 0) ? 1 : 0);
  case Op::CeilDivUI:
    return uy == 0 ? 0 : static_cast<int64_t>(ux / uy + (ux % uy != 0));
  case Op::MaxSI:
    return std::max(x, y);
  case Op::MinSI:
    return std::min(x, y);
  case Op::MaxUI:
    return ux > uy ? x : y;
  default: // MinUI
    return ux < uy ? x : y;
  }
}

bool compareInt(IntPredicate predicate, ElementType type, int64_t x, int64_t y) {
  const uint64_t ux = asUnsigned(type, x), uy = asUnsigned(type, y);
  switch (predicate) {
  case IntPredicate::eq:
    return x == y;
  case IntPredicate::ne:
    return x != y;
  case IntPredicate::slt:
    return x < y;
  case IntPredicate::sle:
    return x <= y;
  case IntPredicate::sgt:
    return x > y;
  case IntPredicate::sge:
    return x >= y;
  case IntPredicate::ult:
    return ux < uy;
  case IntPredicate::ule:
    return ux <= uy;
  case IntPredicate::ugt:
    return ux > uy;
  default:
    return ux >= uy;
  }
}

bool compareFloat(FloatPredicate predicate, double x, double y) {
  const bool unordered = std::isnan(x) || std::isnan(y);
  switch (predicate) {
  case FloatPredicate::False:
    return false;
  case FloatPredicate::True:
    return true;
  case FloatPredicate::ord:
    return !unordered;
  case FloatPredicate::uno:
    return unordered;
  case FloatPredicate::oeq:
    return x == y;
  case FloatPredicate::ogt:
    return x > y;
  case FloatPredicate::oge:
    return x >= y;
  case FloatPredicate::olt:
    return x < y;
  case FloatPredicate::ole:
    return x <= y;
  case FloatPredicate::one:
    return !unordered && x != y;
  case FloatPredicate::ueq:
    return unordered || x == y;
  case FloatPredicate::ugt:
    return unordered || x > y;
  case FloatPredicate::uge:
    return unordered || x >= y;
  case FloatPredicate::ult:
    return unordered || x < y;
  case FloatPredicate::ule:
    return unordered || x <= y;
  default: // une
    return unordered || x != y;
  }
}

/// `x` cut towards zero and clamped into [low, high], both exact in double.
int64_t clampToInt(double x, int bits, bool isSigned) {
  if (std::isnan(x))
    return 0;
  const int magnitude = isSigned ? bits - 1 : bits;
  const double high = std::ldexp(1.0, magnitude); // first number too large
  x = std::trunc(x);
  if (x >= high)
    return isSigned ? static_cast<int64_t>((uint64_t(1) << magnitude) - 1) : -1;
  if (isSigned ? x < -high : x < 0)
    return isSigned ? static_cast<int64_t>(-(uint64_t(1) << magnitude)) : 0;
  return isSigned ? static_cast<int64_t>(x) : static_cast<int64_t>(static_cast<uint64_t>(x));
}

} // namespace

Evaluator::Evaluator(const Program &program) : program(program), lanes(std::make_unique<Lanes>()) {
  lanes->values.resize(program.numValues());
}

Evaluator::~Evaluator() = default;

void Evaluator::score(int64_t b, int64_t h, int64_t q, int64_t k, int count, double *scores) {
  lanes->count = count;
  std::copy(scores, scores + count, lanes->values[0].f);
  lanes->values[1].i[0] = b;
  lanes->values[2].i[0] = h;
  lanes->values[3].i[0] = q;
  for (int lane = 0; lane < count; ++lane)
    lanes->values[4].i[lane] = k + lane;
  run();
  const bool perKey = program.instructions()[program.yielded()].perKey;
  const double *result = lanes->values[program.yielded()].f;
  for (int lane = 0; lane < count; ++lane)
    scores[lane] = result[perKey ? lane : 0];
}

void Evaluator::visible(int64_t b, int64_t h, int64_t q, int64_t k, int count, bool *visible) {
  lanes->count = count;
  lanes->values[0].i[0] = b;
  lanes->values[1].i[0] = h;
  lanes->values[2].i[0] = q;
  for (int lane = 0; lane < count; ++lane)
    lanes->values[3].i[lane] = k + lane;
  run();
  const bool perKey = program.instructions()[program.yielded()].perKey;
  const int64_t *result = lanes->values[program.yielded()].i;
  for (int lane = 0; lane < count; ++lane)
    visible[lane] = visible[lane] && result[perKey ? lane : 0] != 0;
}

void Evaluator::run() {
  const auto &instructions = program.instructions();
  for (int n = program.numArguments(); n < program.numValues(); ++n) {
    const Instruction &now = instructions[n];
    double *f = lanes->values[n].f;
    int64_t *i = lanes->values[n].i;
    const int count = now.perKey ? lanes->count : 1;
    const ElementType from = now.operandType;
    auto floats = [&](int operand) {
      const int value = now.in[operand];
      return Operand<double>{lanes->values[value].f, instructions[value].perKey ? 1 : 0};
    };
    auto integers = [&](int operand) {
      const int value = now.in[operand];
      return Operand<int64_t>{lanes->values[value].i, instructions[value].perKey ? 1 : 0};
    };
    auto eachFloat = [&](auto compute) {
      for (int lane = 0; lane < count; ++lane)
        f[lane] = compute(lane);
    };
    auto eachInt = [&](auto compute) {
      for (int lane = 0; lane < count; ++lane)
        i[lane] = compute(lane);
    };

    switch (now.op) {
    case Op::Argument:
      break;
    case Op::Constant:
      f[0] = now.value;
      i[0] = now.integer;
      break;
    case Op::Capture:
    case Op::Gather: {
      std::vector<int64_t> at(now.in.size());
      const bool empty = std::find(now.source.dims.begin(), now.source.dims.end(), 0) != now.source.dims.end();
      for (int lane = 0; lane < count; ++lane) {
        for (size_t d = 0; d < at.size(); ++d)
          at[d] = std::clamp<int64_t>(integers(d)[lane], 0, std::max<int64_t>(now.source.dims[d] - 1, 0));
        if (isFloat(now.type))
          f[lane] = empty ? 0 : loadFloat(now.type, now.source.at(at));
        else
          i[lane] = empty ? 0 : loadInteger(now.type, now.source.at(at));
      }
      break;
    }
    case Op::CmpI:
      eachInt([&, x = integers(0), y = integers(1), p = static_cast<IntPredicate>(now.predicate)](int lane) {
        return compareInt(p, from, x[lane], y[lane]) ? -1 : 0;
      });
      break;
    case Op::CmpF:
      eachInt([x = floats(0), y = floats(1), p = static_cast<FloatPredicate>(now.predicate)](int lane) {
        return compareFloat(p, x[lane], y[lane]) ? -1 : 0;
      });
      break;
    case Op::Select:
      if (isFloat(now.type))
        eachFloat([c = integers(0), x = floats(1), y = floats(2)](int lane) { return c[lane] ? x[lane] : y[lane]; });
      else
        eachInt([c = integers(0), x = integers(1), y = integers(2)](int lane) { return c[lane] ? x[lane] : y[lane]; });
      break;
    case Op::SIToFP:
      eachFloat([x = integers(0)](int lane) { return static_cast<double>(x[lane]); });
      break;
    case Op::UIToFP:
      eachFloat([x = integers(0), from](int lane) { return static_cast<double>(asUnsigned(from, x[lane])); });
      break;
    case Op::FPToSI:
    case Op::FPToUI:
      eachInt([x = floats(0), bits = bitWidth(now.type), s = now.op == Op::FPToSI](int lane) {
        return clampToInt(x[lane], bits, s);
      });
      break;
    case Op::ExtF:
    case Op::TruncF:
      eachFloat([x = floats(0)](int lane) { return x[lane]; });
      break;
    case Op::ExtSI:
    case Op::TruncI:
    case Op::IndexCast:
      eachInt([x = integers(0)](int lane) { return x[lane]; });
      break;
    case Op::ExtUI:
    case Op::IndexCastUI:
      eachInt([x = integers(0), from](int lane) { return static_cast<int64_t>(asUnsigned(from, x[lane])); });
      break;
    case Op::Bitcast:
      for (int lane = 0; lane < count; ++lane) {
        char bytes[8];
        if (isFloat(from))
          storeFloat(from, bytes, floats(0)[lane]);
        else
          storeInteger(from, bytes, integers(0)[lane]);
        if (isFloat(now.type))
          f[lane] = loadFloat(now.type, bytes);
        else
          i[lane] = loadInteger(now.type, bytes);
      }
      break;
    case Op::Fma: // the product of two floats is exact in double
      eachFloat(
          [x = floats(0), y = floats(1), z = floats(2)](int lane) { return std::fma(x[lane], y[lane], z[lane]); });
      break;
    case Op::AbsI:
      eachInt([x = integers(0)](int lane) {
        return x[lane] < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(x[lane])) : x[lane];
      });
      break;
    // The commonest ones get a loop of their own, which the compiler vectorises.
    case Op::AddF:
      eachFloat([x = floats(0), y = floats(1)](int lane) { return x[lane] + y[lane]; });
      break;
    case Op::MulF:
      eachFloat([x = floats(0), y = floats(1)](int lane) { return x[lane] * y[lane]; });
      break;
    default:
      if (!isFloat(now.type))
        eachInt(
            [&, x = integers(0), y = integers(1)](int lane) { return intBinary(now.op, now.type, x[lane], y[lane]); });
      else if (now.in.size() == 1)
        eachFloat([x = floats(0), op = now.op](int lane) { return floatUnary(op, x[lane]); });
      else
        eachFloat([x = floats(0), y = floats(1), op = now.op](int lane) { return floatBinary(op, x[lane], y[lane]); });
    }

    if (now.type == ElementType::f16 || now.type == ElementType::bf16)
      eachFloat([&](int lane) { return roundTo(now.type, f[lane]); });
    else if (!isFloat(now.type))
      eachInt([&](int lane) { return wrapTo(now.type, i[lane]); });
  }
}

} // namespace reference
} // namespace attn
