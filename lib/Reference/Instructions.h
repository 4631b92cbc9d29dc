//===- Instructions.h - what a Program is made of ---------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_LIB_REFERENCE_INSTRUCTIONS_H
#define ATTN_LIB_REFERENCE_INSTRUCTIONS_H

#include "attn/Reference/Program.h"

namespace attn {
namespace reference {

/// What an operation takes and gives; one checking rule each.
enum class Shape {
  Argument,     ///< of the region
  Constant,     ///< no operands
  Capture,      ///< no operands, reads a captured scalar
  Gather,       ///< integers -> element of a captured tensor
  FloatUnary,   ///< T -> T
  FloatBinary,  ///< T, T -> T
  FloatTernary, ///< T, T, T -> T
  IntUnary,
  IntBinary,
  CompareInt,   ///< T, T -> i1
  CompareFloat, ///< T, T -> i1
  Select,       ///< i1, T, T -> T
  IntToFloat,   ///< cast
  FloatToInt,   ///< cast
  FloatToFloat, ///< cast
  IntToInt,     ///< cast
  SameWidth     ///< bitcast
};

enum class Op {
#define OP(ID, NAME, SHAPE) ID,
#include "Ops.def"
};

/// In MLIR's order of arith.cmpi and arith.cmpf predicates.
enum class IntPredicate { eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge };
enum class FloatPredicate { False, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno, True };

struct Instruction {
  Op op;
  ElementType type;        ///< of the result
  ElementType operandType; ///< of the last operand
  std::vector<int> in;     ///< operands
  int predicate = 0;       ///< IntPredicate or FloatPredicate
  double value = 0;        ///< of a float constant
  int64_t integer = 0;     ///< of an integer constant
  View source;             ///< of a gather or a capture
  bool perKey = false;     ///< one lane per key, otherwise one lane
  bool ofScore = false;    ///< a float that changes with the score
};

} // namespace reference
} // namespace attn

#endif // ATTN_LIB_REFERENCE_INSTRUCTIONS_H
