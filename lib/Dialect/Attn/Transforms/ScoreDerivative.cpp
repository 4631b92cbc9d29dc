//===- ScoreDerivative.cpp - the derivative of a score region
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A region is a straight line, so reverse mode is one walk backwards. The block is copied (values), then every op whose
// result has a gradient (adjoint) adds to those of its operands, by the rule of its kind:
//
//   x = s r        y = tanh x       z = y cap            values, as in the region
//   dy = dz cap    dx = dy (1 - y y)     ds = dx r       adjoints, in reverse
//
// Adjoints are f32 whatever the values are.
//
//===----------------------------------------------------------------------===//

#include "ScoreDerivative.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

namespace {
/// What a rule computes with: the values of one op as f32, the adjoint of its result.
struct Step {
  ImplicitLocOpBuilder &b;
  Operation *op; ///< its copy in the new block
  Value dy;

  /// Operand i, and the result.
  Value x(unsigned i = 0) { return toF32(op->getOperand(i)); }
  Value y() { return toF32(op->getResult(0)); }

  Value toF32(Value v) { return v.getType().isF32() ? v : arith::ExtFOp::create(b, b.getF32Type(), v).getResult(); }
  Value constant(double c) { return arith::ConstantOp::create(b, b.getF32FloatAttr(float(c))); }
  Value add(Value l, Value r) { return arith::AddFOp::create(b, l, r); }
  Value sub(Value l, Value r) { return arith::SubFOp::create(b, l, r); }
  Value mul(Value l, Value r) { return arith::MulFOp::create(b, l, r); }
  Value div(Value l, Value r) { return arith::DivFOp::create(b, l, r); }
  Value neg(Value v) { return arith::NegFOp::create(b, v); }
  Value choose(Value condition, Value yes, Value no) { return arith::SelectOp::create(b, condition, yes, no); }
  Value compare(arith::CmpFPredicate predicate, Value l, Value r) { return arith::CmpFOp::create(b, predicate, l, r); }
  /// dy times a slope that may be infinite, 0 where dy is.
  Value steep(Value slope) {
    Value zero = constant(0);
    Value none = compare(arith::CmpFPredicate::OEQ, dy, zero);
    return choose(none, zero, mul(dy, slope));
  }
};

/// What an op adds to the adjoint of its operand i.
using Rule = Value (*)(Step &s, unsigned i);

/// max and min pass the gradient to the operand they are.
Value chosen(Step &s, unsigned i, arith::CmpFPredicate first) {
  Value isFirst = s.compare(first, s.x(0), s.x(1)), zero = s.constant(0);
  return i == 0 ? s.choose(isFirst, s.dy, zero) : s.choose(isFirst, zero, s.dy);
}
Value ofMaximum(Step &s, unsigned i) { return chosen(s, i, arith::CmpFPredicate::OGE); }
Value ofMinimum(Step &s, unsigned i) { return chosen(s, i, arith::CmpFPredicate::OLE); }
Value ofStep(Step &, unsigned) { return {}; }
Value ofCast(Step &s, unsigned) { return s.dy; }

Value ofQuotient(Step &s, unsigned i) {
  return i == 0 ? s.steep(s.div(s.constant(1), s.x(1))) : s.steep(s.neg(s.div(s.y(), s.x(1))));
}
Value ofRemainder(Step &s, unsigned i) {
  return i == 0 ? s.dy : s.steep(s.neg(math::TruncOp::create(s.b, s.div(s.x(0), s.x(1)))));
}
Value ofSum3(Step &s, unsigned i) { return i == 2 ? s.dy : s.mul(s.dy, s.x(1 - i)); } // x0 x1 + x2
Value ofSelect(Step &s, unsigned i) {
  Value condition = s.op->getOperand(0), zero = s.constant(0);
  return i == 1 ? s.choose(condition, s.dy, zero) : s.choose(condition, zero, s.dy);
}
Value ofAbs(Step &s, unsigned) {
  Value zero = s.constant(0), x = s.x();
  Value below = s.choose(s.compare(arith::CmpFPredicate::OLT, x, zero), s.neg(s.dy), zero);
  return s.choose(s.compare(arith::CmpFPredicate::OGT, x, zero), s.dy, below);
}
Value ofCopySign(Step &s, unsigned i) {
  if (i == 1)
    return {};
  Value one = s.constant(1);
  Value signs = s.mul(math::CopySignOp::create(s.b, one, s.x(0)), math::CopySignOp::create(s.b, one, s.x(1)));
  return s.mul(s.dy, signs);
}
Value ofPower(Step &s, unsigned i) {
  if (i == 1)
    return s.steep(s.mul(s.y(), math::LogOp::create(s.b, s.x(0))));
  Value less = math::PowFOp::create(s.b, s.x(0), s.sub(s.x(1), s.constant(1)));
  return s.steep(s.mul(s.x(1), less));
}
Value ofAtan2(Step &s, unsigned i) {
  Value squares = s.add(s.mul(s.x(0), s.x(0)), s.mul(s.x(1), s.x(1)));
  return i == 0 ? s.steep(s.div(s.x(1), squares)) : s.steep(s.neg(s.div(s.x(0), squares)));
}
Value ofErf(Step &s, unsigned) {
  Value bell = math::ExpOp::create(s.b, s.neg(s.mul(s.x(), s.x())));
  return s.mul(s.dy, s.mul(s.constant(2 / std::sqrt(llvm::numbers::pi)), bell));
}

/// The table: every float op a region may compute its score with.
const llvm::StringMap<Rule> &getRules() {
  constexpr double ln2 = llvm::numbers::ln2, ln10 = llvm::numbers::ln10;
  static const llvm::StringMap<Rule> rules{
      {"arith.addf", [](Step &s, unsigned) { return s.dy; }},
      {"arith.subf", [](Step &s, unsigned i) { return i == 0 ? s.dy : s.neg(s.dy); }},
      {"arith.mulf", [](Step &s, unsigned i) { return s.mul(s.dy, s.x(1 - i)); }},
      {"arith.divf", ofQuotient},
      {"arith.remf", ofRemainder},
      {"arith.negf", [](Step &s, unsigned) { return s.neg(s.dy); }},
      {"arith.maximumf", ofMaximum},
      {"arith.maxnumf", ofMaximum},
      {"arith.minimumf", ofMinimum},
      {"arith.minnumf", ofMinimum},
      {"arith.select", ofSelect},
      {"arith.extf", ofCast},
      {"arith.truncf", ofCast},
      {"math.absf", ofAbs},
      {"math.atan", [](Step &s, unsigned) { return s.div(s.dy, s.add(s.constant(1), s.mul(s.x(), s.x()))); }},
      {"math.atan2", ofAtan2},
      {"math.ceil", ofStep},
      {"math.copysign", ofCopySign},
      {"math.cos", [](Step &s, unsigned) { return s.neg(s.mul(s.dy, math::SinOp::create(s.b, s.x()))); }},
      {"math.erf", ofErf},
      {"math.exp", [](Step &s, unsigned) { return s.steep(s.y()); }},
      {"math.exp2", [](Step &s, unsigned) { return s.steep(s.mul(s.y(), s.constant(ln2))); }},
      {"math.expm1", [](Step &s, unsigned) { return s.steep(s.add(s.y(), s.constant(1))); }},
      {"math.floor", ofStep},
      {"math.fma", ofSum3},
      {"math.log", [](Step &s, unsigned) { return s.steep(s.div(s.constant(1), s.x())); }},
      {"math.log10", [](Step &s, unsigned) { return s.steep(s.div(s.constant(1 / ln10), s.x())); }},
      {"math.log1p", [](Step &s, unsigned) { return s.steep(s.div(s.constant(1), s.add(s.x(), s.constant(1)))); }},
      {"math.log2", [](Step &s, unsigned) { return s.steep(s.div(s.constant(1 / ln2), s.x())); }},
      {"math.powf", ofPower},
      {"math.round", ofStep},
      {"math.roundeven", ofStep},
      {"math.rsqrt", [](Step &s, unsigned) { return s.steep(s.div(s.mul(s.constant(-0.5), s.y()), s.x())); }},
      {"math.sin", [](Step &s, unsigned) { return s.mul(s.dy, math::CosOp::create(s.b, s.x())); }},
      {"math.sqrt", [](Step &s, unsigned) { return s.steep(s.div(s.constant(0.5), s.y())); }},
      {"math.tan", [](Step &s, unsigned) { return s.steep(s.add(s.constant(1), s.mul(s.y(), s.y()))); }},
      {"math.tanh", [](Step &s, unsigned) { return s.mul(s.dy, s.sub(s.constant(1), s.mul(s.y(), s.y()))); }},
      {"math.trunc", ofStep},
  };
  return rules;
}
} // namespace

/// The values of `block` that change with its score. What was rounded to an integer or compared is a constant; the bits
/// of a float are not.
static DenseSet<Value> findActive(Block &block) {
  DenseSet<Value> active{block.getArgument(0)};
  for (Operation &op : block.without_terminator()) {
    bool changes = false, bits = isa<arith::BitcastOp>(op);
    for (Value operand : op.getOperands())
      if (active.contains(operand)) {
        changes = true;
        bits |= !isa<FloatType>(operand.getType());
      }
    for (Value result : op.getResults())
      if (changes && (bits || isa<FloatType>(result.getType())) && !result.getType().isInteger(1))
        active.insert(result);
  }
  return active;
}

LogicalResult attn::deriveScore(Region &score, Region &derivative) {
  Block &from = score.front();
  DenseSet<Value> active = findActive(from);

  SmallVector<Location> locs;
  for (BlockArgument argument : from.getArguments())
    locs.push_back(argument.getLoc());
  ImplicitLocOpBuilder b(from.getTerminator()->getLoc(), score.getContext());
  auto *to = new Block;
  derivative.push_back(to);
  to->addArguments(from.getArgumentTypes(), locs);
  Value dz = to->addArgument(b.getF32Type(), b.getLoc());
  b.setInsertionPointToStart(to);
  IRMapping copies;
  copies.map(from.getArguments(), to->getArguments().drop_back());
  SmallVector<Operation *> copied;
  for (Operation &op : from.without_terminator())
    copied.push_back(b.clone(op, copies));

  llvm::DenseMap<Value, Value> adjoints{{from.getTerminator()->getOperand(0), dz}};
  for (Operation &op : llvm::reverse(from.without_terminator())) {
    Value dy = op.getNumResults() == 1 ? adjoints.lookup(op.getResult(0)) : Value();
    if (llvm::any_of(op.getResults(), [&](Value result) { return adjoints.contains(result); }) && !dy)
      return op.emitOpError("has no derivative with respect to the score");
    if (!dy || !active.contains(op.getResult(0)))
      continue;
    auto rule = getRules().find(op.getName().getStringRef());
    if (rule == getRules().end())
      return op.emitOpError("has no derivative with respect to the score");
    b.setLoc(op.getLoc());
    Operation *copy = copies.lookup(op.getResult(0)).getDefiningOp();
    Step step{b, copy, dy};
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      if (!active.contains(operand))
        continue;
      Value more = rule->second(step, i);
      if (!more)
        continue;
      Value &adjoint = adjoints[operand];
      adjoint = adjoint ? step.add(adjoint, more) : more;
    }
  }

  b.setLoc(from.getTerminator()->getLoc());
  Value ds = adjoints.lookup(from.getArgument(0));
  if (!ds)
    ds = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  YieldOp::create(b, ds);
  // The block's own reverse iterators: those of a range stand on the operation behind.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*to)))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
  return success();
}
