//===- SdpaRegions.cpp - what score and mask regions may hold
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A region is evaluated once for every pair of query and key, in any order, past the end of both as well. So it is
// a straight line of scalar operations without effects, whose every input is an argument or a capture.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

namespace {
/// Every op is cloned for every element a thread holds; a region of this size is a mistake or an attack.
constexpr size_t kMaxRegionOps = 4096;

struct RegionRules {
  StringRef name, other;
  Type yields;
  SmallVector<Type> arguments;
  StringRef signature;
};
} // namespace

/// Scalars a thread can compute with, on every target with the same result: index has no width of its own.
static bool isRegionScalar(Type type) {
  return type.isF32() || type.isF16() || type.isBF16() || type.isInteger(1) || type.isInteger(8) ||
         type.isInteger(16) || type.isInteger(32) || type.isInteger(64);
}

/// Whether an integer divisor is visibly not 0: a constant, or the maximum with a positive constant.
static bool isNonZero(Value divisor) {
  APInt constant;
  if (matchPattern(divisor, m_ConstantInt(&constant)))
    return !constant.isZero();
  if (Operation *op = divisor.getDefiningOp(); op && isa<arith::MaxSIOp, arith::MaxUIOp>(op))
    for (Value operand : op->getOperands())
      if (matchPattern(operand, m_ConstantInt(&constant)) && constant.isStrictlyPositive())
        return true;
  return false;
}

/// One op of a region that is not its terminator.
static LogicalResult verifyRegionOp(AttentionOp op, Region &region, const RegionRules &kind, Operation &inner) {
  auto refuse = [&]() {
    InFlightDiagnostic error = inner.emitError();
    error.attachNote(op->getLoc()) << "in the " << kind.name << " of this op";
    return error;
  };
  // C15: arith, math, attn.gather; nothing else, and nothing that does more than compute
  bool known = isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()) || isa<GatherOp>(inner);
  if (!isMemoryEffectFree(&inner))
    return refuse() << kind.name << " must be side-effect free; found " << inner.getName();
  if (!known || inner.getNumRegions() || inner.getNumSuccessors())
    return refuse() << kind.name << " may hold arith, math and attn.gather only; found " << inner.getName();
  if (inner.getNumResults() != 1)
    return refuse() << kind.name << " may hold operations with one result only; found " << inner.getName();
  // C16: scalars
  for (Value result : inner.getResults())
    if (!isRegionScalar(result.getType()))
      return refuse() << kind.name << " computes on scalars i1, i8, i16, i32, i64, f16, bf16 and f32; "
                      << inner.getName() << " makes " << result.getType();
  // C17: whatever an element past the end computes must not trap
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
          arith::FloorDivSIOp>(inner) &&
      !isNonZero(inner.getOperand(1)))
    return refuse() << kind.name << " divides by an integer that may be 0 (" << inner.getName()
                    << "); use a constant, or arith.maxsi with a positive constant";
  // C14: inputs are arguments, captures, or constants
  for (Value operand : inner.getOperands()) {
    if (operand.getParentRegion() == &region || llvm::is_contained(op.getCaptures(), operand) ||
        matchPattern(operand, m_Constant()))
      continue;
    InFlightDiagnostic error = refuse() << kind.name << " uses a " << operand.getType()
                                        << " from outside; list it in captures";
    error.attachNote(operand.getLoc()) << "the value comes from here";
    return error;
  }
  return success();
}

static LogicalResult verifyRegion(AttentionOp op, Region &region, const RegionRules &kind) {
  if (region.empty())
    return success();
  if (!region.hasOneBlock()) // C12
    return op->emitOpError() << kind.name << " must be a single block";
  Block &block = region.front();
  if (block.getArgumentTypes() != ArrayRef(kind.arguments)) // C12
    return op->emitOpError() << kind.name << " takes " << kind.signature << ", got (" << block.getArgumentTypes()
                             << ")";
  if (block.getOperations().size() > kMaxRegionOps + 1) // C18
    return op->emitOpError() << kind.name << " has " << block.getOperations().size() - 1 << " ops; at most "
                             << kMaxRegionOps << " are compiled";
  for (Operation &inner : block.without_terminator())
    if (failed(verifyRegionOp(op, region, kind, inner)))
      return failure();

  auto yield = dyn_cast<YieldOp>(block.getTerminator()); // C13
  if (!yield)
    return op->emitOpError() << kind.name << " must end with attn.yield";
  if (yield.getValues().size() != 1)
    return yield.emitError() << "yields " << yield.getValues().size() << " values; a " << kind.name << " yields one "
                             << kind.yields;
  Value result = yield.getValues().front();
  if (result.getType() != kind.yields) {
    InFlightDiagnostic error = yield.emitError()
                               << "yields " << result.getType() << "; a " << kind.name << " yields " << kind.yields;
    bool swapped = kind.yields.isF32() ? result.getType().isInteger(1) : isa<FloatType>(result.getType());
    if (swapped)
      error << " (did you mean a " << kind.other << "?)";
    return error;
  }
  if (result.getParentRegion() != &region && !llvm::is_contained(op.getCaptures(), result) &&
      !matchPattern(result, m_Constant())) // C14
    return yield.emitError() << kind.name << " yields a " << result.getType() << " from outside; list it in captures";
  return success();
}

static LogicalResult verifyForwardRegions(AttentionOp op) {
  MLIRContext *context = op->getContext();
  Type f32 = Float32Type::get(context), i32 = IntegerType::get(context, 32);
  RegionRules score{"score region", "mask region", f32, {f32, i32, i32, i32, i32}, "(score: f32, b, h, q, k: i32)"};
  RegionRules mask{
      "mask region", "score region", IntegerType::get(context, 1), {i32, i32, i32, i32}, "(b, h, q, k: i32)"};
  return success(succeeded(verifyRegion(op, op.getScore(), score)) &&
                 succeeded(verifyRegion(op, op.getVisible(), mask)));
}

LogicalResult SdpaOp::verifyRegions() { return verifyForwardRegions(*this); }

LogicalResult SdpaGradOp::verifyRegions() {
  Type f32 = Float32Type::get(getContext()), i32 = IntegerType::get(getContext(), 32);
  RegionRules derivative{"derivative of the score region",
                         "mask region",
                         f32,
                         {f32, i32, i32, i32, i32, f32},
                         "(score: f32, b, h, q, k: i32, dz: f32)"};
  return success(succeeded(verifyForwardRegions(*this)) && succeeded(verifyRegion(*this, getScoreGrad(), derivative)));
}
