//===- Math.cpp - exp2 and rounding
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;

static Value constant(OpBuilder &b, Location loc, Type type, Attribute element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vector, element));
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(element));
}
static Value constantF32(OpBuilder &b, Location loc, Type like, float value) {
  return constant(b, loc, like, b.getF32FloatAttr(value));
}
static Value constantInt(OpBuilder &b, Location loc, Type like, int64_t value) {
  return constant(b, loc, like, b.getIntegerAttr(getElementTypeOrSelf(like), value));
}
static Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

LogicalResult cpu::checkMath(Operation *op) {
  static constexpr StringLiteral kFunctions[] = {"absf",  "absi",  "atan", "atan2", "ceil",  "copysign",  "cos",
                                                 "erf",   "exp",   "exp2", "expm1", "floor", "fma",       "log",
                                                 "log10", "log1p", "log2", "powf",  "round", "roundeven", "rsqrt",
                                                 "sin",   "sqrt",  "tan",  "tanh",  "trunc"};
  if (!isa<math::MathDialect>(op->getDialect()) || llvm::is_contained(kFunctions, op->getName().stripDialect()))
    return success();
  return op->emitOpError("has no lowering on the CPU; supported are ")
         << llvm::join(llvm::map_range(kFunctions, [](StringRef name) { return ("math." + name).str(); }), ", ");
}

// 2^x = 2^n 2^f, n = round(x), f in [-1/2, 1/2]; 2^f is a polynomial of degree 6 fitted for the smallest relative error
// (2.0e-9; 7.6e-8 with f32 arithmetic). Adding 1.5 * 2^23 rounds x and leaves n in the low bits; shifted into the
// exponent field they make 2^n. n = -127 gives 0 and n = 128 gives inf with no special case (so from 2^127.5 on the
// result is inf). Both clamps are written so that a NaN passes through.
Value cpu::emitExp2(OpBuilder &b, Location loc, Value x) {
  static constexpr float kCoefficients[] = {1.0f,           0.693147182f,   0.240226477f,   0.0555033237f,
                                            0.00961843785f, 0.00133988750f, 0.000153533489f};
  Type type = x.getType();
  Type bits = withElement(type, b.getI32Type());
  auto clamp = [&](Value value, float limit, arith::CmpFPredicate beyond) -> Value {
    Value bound = constantF32(b, loc, type, limit);
    Value out = arith::CmpFOp::create(b, loc, beyond, value, bound);
    return arith::SelectOp::create(b, loc, out, bound, value);
  };
  x = clamp(x, -127.0f, arith::CmpFPredicate::OLT);
  x = clamp(x, 128.0f, arith::CmpFPredicate::OGT);
  Value magic = constantF32(b, loc, type, 0x1.8p23f);
  Value shifted = arith::AddFOp::create(b, loc, x, magic);
  Value n = arith::SubFOp::create(b, loc, shifted, magic);
  Value f = arith::SubFOp::create(b, loc, x, n);
  Value p = constantF32(b, loc, type, kCoefficients[6]);
  for (int i = 5; i >= 0; --i)
    p = math::FmaOp::create(b, loc, p, f, constantF32(b, loc, type, kCoefficients[i]));
  Value word = arith::BitcastOp::create(b, loc, bits, shifted);
  Value exponent = arith::ShLIOp::create(b, loc, word, constantInt(b, loc, bits, 23));
  Value biased = arith::AddIOp::create(b, loc, exponent, constantInt(b, loc, bits, 0x3f800000));
  return arith::MulFOp::create(b, loc, p, arith::BitcastOp::create(b, loc, type, biased));
}

// bf16 is the upper half of f32, so rounding is integer arithmetic: no library call, the same on every CPU.
Value cpu::emitRound(OpBuilder &b, Location loc, Value x, Type narrow) {
  Type type = x.getType();
  if (!narrow.isBF16()) {
    Value half = arith::TruncFOp::create(b, loc, withElement(type, narrow), x);
    return arith::ExtFOp::create(b, loc, type, half);
  }
  Type bits = withElement(type, b.getI32Type());
  Value word = arith::BitcastOp::create(b, loc, bits, x);
  Value upper = arith::ShRUIOp::create(b, loc, word, constantInt(b, loc, bits, 16));
  Value odd = arith::AndIOp::create(b, loc, upper, constantInt(b, loc, bits, 1));
  Value half = arith::AddIOp::create(b, loc, odd, constantInt(b, loc, bits, 0x7fff)); // Ties to even.
  Value sum = arith::AddIOp::create(b, loc, word, half);
  Value rounded = arith::AndIOp::create(b, loc, sum, constantInt(b, loc, bits, 0xffff0000));
  // The carry would turn some NaNs into inf or zero: those become the quiet NaN.
  Value nan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  Value word2 = arith::SelectOp::create(b, loc, nan, constantInt(b, loc, bits, 0x7fc00000), rounded);
  return arith::BitcastOp::create(b, loc, type, word2);
}

Value cpu::emitNarrow(OpBuilder &b, Location loc, Value x, Type narrow) {
  Type type = x.getType();
  if (getElementTypeOrSelf(type) == narrow)
    return x;
  if (!narrow.isBF16())
    return arith::TruncFOp::create(b, loc, withElement(type, narrow), x);
  Value word = arith::BitcastOp::create(b, loc, withElement(type, b.getI32Type()), x);
  Value upper = arith::ShRUIOp::create(b, loc, word, constantInt(b, loc, word.getType(), 16));
  Value half = arith::TruncIOp::create(b, loc, withElement(type, b.getI16Type()), upper);
  return arith::BitcastOp::create(b, loc, withElement(type, narrow), half);
}
