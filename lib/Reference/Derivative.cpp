//===- Derivative.cpp - the slope of a score region ------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forward mode: every value carries its own derivative by the score along with
// it, so that one walk over the region in its order gives both. The compiler
// goes the other way, from the result to the score; what the two have in common
// is the rules of calculus only.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <algorithm>
#include <cmath>

namespace attn {
namespace reference {
namespace {

constexpr double ln2 = 0.69314718055994530942, ln10 = 2.30258509299404568402, pi = 3.14159265358979323846;

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

/// d op(x) / dx, where r = op(x). Steps (floor, round) are flat everywhere.
double slopeOfUnary(Op op, double x, double r) {
  switch (op) {
  case Op::NegF:
    return -1;
  case Op::Exp:
    return r;
  case Op::Exp2:
    return r * ln2;
  case Op::ExpM1:
    return std::exp(x);
  case Op::Log:
    return 1 / x;
  case Op::Log2:
    return 1 / (x * ln2);
  case Op::Log10:
    return 1 / (x * ln10);
  case Op::Log1p:
    return 1 / (1 + x);
  case Op::Sin:
    return std::cos(x);
  case Op::Cos:
    return -std::sin(x);
  case Op::Tan:
    return 1 + r * r;
  case Op::Atan:
    return 1 / (1 + x * x);
  case Op::Tanh: { // 1 - r * r would cancel
    const double cosh = std::cosh(x);
    return 1 / (cosh * cosh);
  }
  case Op::Erf:
    return 2 / std::sqrt(pi) * std::exp(-x * x);
  case Op::Sqrt:
    return 0.5 / r;
  case Op::Rsqrt:
    return -0.5 * r / x;
  case Op::AbsF:
    return sign(x);
  default:
    return 0;
  }
}

/// Derivatives of op(x, y) by x and by y. Where maximum and minimum meet, the first operand counts.
std::pair<double, double> slopesOfBinary(Op op, double x, double y, double r) {
  switch (op) {
  case Op::AddF:
    return {1, 1};
  case Op::SubF:
    return {1, -1};
  case Op::MulF:
    return {y, x};
  case Op::DivF:
    return {1 / y, -x / (y * y)};
  case Op::RemF: // x - trunc(x / y) * y
    return {1, -std::trunc(x / y)};
  case Op::MaximumF:
  case Op::MinimumF:
    if (std::isnan(r))
      return {r, r};
    [[fallthrough]];
  case Op::MaxNumF:
  case Op::MinNumF:
    return r == x ? std::make_pair(1.0, 0.0) : std::make_pair(0.0, 1.0);
  case Op::CopySign:
    return {std::signbit(x) == std::signbit(y) ? 1 : -1, 0};
  case Op::Atan2:
    return {y / (x * x + y * y), -x / (x * x + y * y)};
  default: // Powf
    return {y * std::pow(x, y - 1), r * std::log(x)};
  }
}

/// A value that does not change stays so, however steep what is made of it: 0 * inf is 0 here.
double chain(double outer, double inner) { return inner == 0 ? 0 : outer * inner; }

} // namespace

void Evaluator::derive() {
  const auto &instructions = program.instructions();
  lanes->slopes.resize(program.numValues());
  auto each = [&](int n, auto slope) {
    const int count = instructions[n].perKey ? lanes->count : 1;
    for (int lane = 0; lane < count; ++lane)
      lanes->slopes[n].lanes[lane] = slope(lane);
  };
  auto value = [&](int n) { return Operand<double>{lanes->values[n].f, instructions[n].perKey ? 1 : 0}; };
  auto slope = [&](int n) { return Operand<double>{lanes->slopes[n].lanes, instructions[n].perKey ? 1 : 0}; };

  for (int n = 0; n < program.numValues(); ++n) {
    const Instruction &now = instructions[n];
    const std::vector<int> &in = now.in;
    if (!now.ofScore) {
      each(n, [](int) { return 0.0; });
      continue;
    }
    const auto r = value(n);
    switch (now.op) {
    case Op::Argument: // the score itself
      each(n, [](int) { return 1.0; });
      break;
    case Op::Select: {
      const Operand<int64_t> condition{lanes->values[in[0]].i, instructions[in[0]].perKey ? 1 : 0};
      each(n, [c = condition, x = slope(in[1]), y = slope(in[2])](int lane) { return c[lane] ? x[lane] : y[lane]; });
      break;
    }
    case Op::ExtF:
    case Op::TruncF:
      each(n, [x = slope(in[0])](int lane) { return x[lane]; });
      break;
    case Op::Fma:
      each(n, [x = value(in[0]), y = value(in[1]), dx = slope(in[0]), dy = slope(in[1]), dz = slope(in[2])](int lane) {
        return chain(y[lane], dx[lane]) + chain(x[lane], dy[lane]) + dz[lane];
      });
      break;
    default:
      if (in.size() == 1)
        each(n, [x = value(in[0]), dx = slope(in[0]), r, op = now.op](int lane) {
          return chain(slopeOfUnary(op, x[lane], r[lane]), dx[lane]);
        });
      else
        each(n, [x = value(in[0]), y = value(in[1]), dx = slope(in[0]), dy = slope(in[1]), r, op = now.op](int lane) {
          const auto [byX, byY] = slopesOfBinary(op, x[lane], y[lane], r[lane]);
          return chain(byX, dx[lane]) + chain(byY, dy[lane]);
        });
    }
  }
}

void Evaluator::score(int64_t b, int64_t h, int64_t q, int64_t k, int count, double *scores, double *slopes) {
  score(b, h, q, k, count, scores);
  derive();
  const int yielded = program.yielded();
  const bool perKey = program.instructions()[yielded].perKey;
  for (int lane = 0; lane < count; ++lane)
    slopes[lane] = lanes->slopes[yielded].lanes[perKey ? lane : 0];
}

} // namespace reference
} // namespace attn
