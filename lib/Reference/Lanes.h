//===- Lanes.h - what an Evaluator computes on ------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_LANES_H
#define ATTN_LIB_REFERENCE_LANES_H

#include "Instructions.h"
#include "attn/Reference/Program.h"

namespace attn {
namespace reference {

/// What each value holds: floats in `f`, integers in `i`, sign-extended.
struct Evaluator::Lanes {
  struct Value {
    double f[maxLanes];
    int64_t i[maxLanes];
  };
  struct Slopes {
    double lanes[maxLanes];
  };
  std::vector<Value> values;
  std::vector<Slopes> slopes; ///< d value / d score; empty until one is asked for
  int count = 0;
};

/// An operand read lane by lane; a value with a single lane is repeated.
template <typename T> struct Operand {
  const T *lanes;
  int step;
  T operator[](int lane) const { return lanes[lane * step]; }
};

} // namespace reference
} // namespace attn

#endif // ATTN_LIB_REFERENCE_LANES_H
