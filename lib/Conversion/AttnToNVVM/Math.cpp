//===- Math.cpp - math on fragments and scalars, by the instructions of the machine
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The back end has no library here, so every function is built from what the machine computes. Errors are relative
// unless said otherwise, in f32:
//
//   exp2    ex2.approx.ftz            2 ulp              tanh   1 - 2 / (1 + 2^(2x log2 e)): 2^-23 absolute
//   exp     exp2(x log2 e)            2 ulp + |x| 2^-24         with fastmath<afn>: tanh.approx, 2^-11
//   log2    lg2.approx.ftz            2^-22 absolute     sin    sin.approx, 2^-21 absolute on [-pi, pi]
//   log     log2(x) ln 2                                 cos    cos.approx
//   x / y   x rcp.approx.ftz(y)       2 ulp              sqrt, rsqrt  .approx, 1 ulp
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;

Value constant(const Emit &e, Type type, double value) {
  auto scalar = FloatAttr::get(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(vector, scalar));
  return arith::ConstantOp::create(e.b, e.loc, scalar);
}

/// Runs a scalar function on every element.
Value forEach(const Emit &e, Value x, function_ref<Value(Value)> function) {
  if (!isa<VectorType>(x.getType()))
    return function(x);
  return e.pack(llvm::map_to_vector(e.unpack(x), function));
}

Value add(const Emit &e, Value x, Value y) { return arith::AddFOp::create(e.b, e.loc, x, y); }
Value mul(const Emit &e, Value x, Value y) { return arith::MulFOp::create(e.b, e.loc, x, y); }
Value mul(const Emit &e, Value x, double y) { return mul(e, x, constant(e, x.getType(), y)); }

Value reciprocal(const Emit &e, Value x) {
  return forEach(e, x, [&](Value v) -> Value { return NVVM::RcpApproxFtzF32Op::create(e.b, e.loc, v.getType(), v); });
}
Value exp2(const Emit &e, Value x) { return LLVM::Exp2Op::create(e.b, e.loc, x.getType(), x); }
Value log2(const Emit &e, Value x) {
  return forEach(e, x, [&](Value v) -> Value {
    return LLVM::CallIntrinsicOp::create(e.b, e.loc, v.getType(), e.b.getStringAttr("llvm.nvvm.lg2.approx.ftz.f"), v)
        .getResult(0);
  });
}

/// The op of the same name that the back end selects.
template <typename To> Value direct(const Emit &e, Operation *, ValueRange x) {
  return To::create(e.b, e.loc, x.front().getType(), x);
}
/// The same, allowed to be the machine's approximation.
template <typename To> Value approximate(const Emit &e, Operation *op, ValueRange x) {
  Value y = direct<To>(e, op, x);
  cast<To>(y.getDefiningOp()).setFastmathFlags(LLVM::FastmathFlags::afn);
  return y;
}

Value lowerExp(const Emit &e, Operation *, ValueRange x) { return exp2(e, mul(e, x[0], kLog2E)); }
Value lowerLog2(const Emit &e, Operation *, ValueRange x) { return log2(e, x[0]); }
Value lowerLog(const Emit &e, Operation *, ValueRange x) { return mul(e, log2(e, x[0]), kLn2); }
Value lowerLog1p(const Emit &e, Operation *, ValueRange x) {
  return mul(e, log2(e, add(e, x[0], constant(e, x[0].getType(), 1.0))), kLn2);
}
Value lowerRsqrt(const Emit &e, Operation *, ValueRange x) {
  return forEach(e, x[0], [&](Value v) -> Value {
    return LLVM::CallIntrinsicOp::create(e.b, e.loc, v.getType(), e.b.getStringAttr("llvm.nvvm.rsqrt.approx.ftz.f"), v)
        .getResult(0);
  });
}
/// 1 - 2 / (1 + e^2x): large |x| saturates by itself, and near 0 the error is absolute, as scores need it.
Value lowerTanh(const Emit &e, Operation *op, ValueRange x) {
  if (bitEnumContainsAll(cast<math::TanhOp>(op).getFastmath(), arith::FastMathFlags::afn))
    return approximate<LLVM::TanhOp>(e, op, x);
  Type type = x[0].getType();
  Value one = constant(e, type, 1.0);
  Value r = reciprocal(e, add(e, exp2(e, mul(e, x[0], 2 * kLog2E)), one));
  return LLVM::FMAOp::create(e.b, e.loc, type, r, constant(e, type, -2.0), one);
}

struct MathFunction {
  StringLiteral name;
  Value (*build)(const Emit &, Operation *, ValueRange);
};
constexpr MathFunction kFunctions[] = {
    {"math.absf", direct<LLVM::FAbsOp>},
    {"math.ceil", direct<LLVM::FCeilOp>},
    {"math.copysign", direct<LLVM::CopySignOp>},
    {"math.cos", approximate<LLVM::CosOp>},
    {"math.exp", lowerExp},
    {"math.exp2", direct<LLVM::Exp2Op>},
    {"math.floor", direct<LLVM::FFloorOp>},
    {"math.fma", direct<LLVM::FMAOp>},
    {"math.log", lowerLog},
    {"math.log1p", lowerLog1p},
    {"math.log2", lowerLog2},
    {"math.roundeven", direct<LLVM::RoundEvenOp>},
    {"math.rsqrt", lowerRsqrt},
    {"math.sin", approximate<LLVM::SinOp>},
    {"math.sqrt", approximate<LLVM::SqrtOp>},
    {"math.tanh", lowerTanh},
    {"math.trunc", direct<LLVM::FTruncOp>},
};

const MathFunction *find(Operation *op) {
  for (const MathFunction &f : kFunctions)
    if (f.name == op->getName().getStringRef())
      return &f;
  return nullptr;
}

struct MathLowering : ConversionPattern {
  MathLowering(TypeConverter &types, MLIRContext *ctx) : ConversionPattern(types, MatchAnyOpTypeTag(), 1, ctx) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isa<math::MathDialect>(op->getDialect()))
      return rewriter.notifyMatchFailure(op, "not an operation of math");
    rewriter.replaceOp(op, find(op)->build(Emit{rewriter, op->getLoc()}, op, operands));
    return success();
  }
};

/// A division is a multiplication by the reciprocal; with one reciprocal for a whole row where TileForward wrote it so.
struct DivLowering : OpConversionPattern<arith::DivFOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::DivFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    Value r = reciprocal(e, adaptor.getRhs());
    DenseElementsAttr splat;
    FloatAttr scalar;
    bool isOne = (matchPattern(adaptor.getLhs(), m_Constant(&splat)) && splat.isSplat() &&
                  splat.getSplatValue<APFloat>().isExactlyValue(1.0)) ||
                 (matchPattern(adaptor.getLhs(), m_Constant(&scalar)) && scalar.getValue().isExactlyValue(1.0));
    rewriter.replaceOp(op, isOne ? r : mul(e, adaptor.getLhs(), r));
    return success();
  }
};
} // namespace

LogicalResult attn::nvvm::checkMath(Operation *op) {
  const bool isMath = isa<math::MathDialect>(op->getDialect());
  if (!isMath && !isa<arith::DivFOp>(op))
    return success();
  if (isMath && !find(op)) {
    auto names = llvm::map_range(kFunctions, [](const MathFunction &f) { return StringRef(f.name); });
    return op->emitOpError("has no lowering on a GPU; supported are ") << llvm::join(names, ", ");
  }
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  if (!element.isF32())
    return op->emitOpError("is computed in f32 on a GPU, got ") << element << "; extend the operands first";
  return success();
}

void attn::nvvm::populateMathPatterns(TypeConverter &types, KernelStates &, RewritePatternSet &patterns) {
  patterns.add<MathLowering, DivLowering>(types, patterns.getContext());
}
