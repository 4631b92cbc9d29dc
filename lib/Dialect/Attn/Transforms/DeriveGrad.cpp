//===- DeriveGrad.cpp - the backward op of a forward spec
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "ScoreDerivative.h"
#include "Signature.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"

namespace attn {
#define GEN_PASS_DEF_DERIVEGRADPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-derive-grad"

/// What is appended to the name of a function.
static constexpr StringLiteral kGradSuffix = "_grad";

/// The attributes of the result of `func` that is `value`; empty if it returns none.
static DictionaryAttr getReturnedAttrs(func::FuncOp func, Value value) {
  for (OpOperand &use : value.getUses())
    if (isa<func::ReturnOp>(use.getOwner()))
      if (DictionaryAttr attrs = func.getResultAttrDict(use.getOperandNumber()))
        return attrs;
  return DictionaryAttr::get(func.getContext());
}

/// Turns the function around `op` into that of its gradients.
static FailureOr<SdpaGradOp> makeGradFunction(SdpaOp op, SymbolTable &symbols, bool withDlse) {
  auto func = dyn_cast<func::FuncOp>(op->getParentOp());
  if (!func || !llvm::hasSingleElement(func.getBody()))
    return op.emitOpError("expects to stand in the only block of a func.func");
  for (Value result : op.getResults())
    for (Operation *user : result.getUsers())
      if (!isa<func::ReturnOp>(user))
        return user->emitOpError("uses a result of attn.sdpa; gradients are derived where nothing but the return does");
  auto ret = cast<func::ReturnOp>(func.front().getTerminator());
  for (Value value : ret.getOperands())
    if (value.getDefiningOp() != op)
      return ret.emitOpError("of @") << func.getName() << " returns more than the results of attn.sdpa";
  std::string name = (func.getName() + kGradSuffix).str();
  if (symbols.lookup(name))
    return func.emitOpError("needs the name @") << name << " for its gradients, which is taken";

  // The arguments of the forward, then its results, then the gradients of these.
  DictionaryAttr none = DictionaryAttr::get(func.getContext());
  auto addArgument = [&](Value like, DictionaryAttr attrs) {
    unsigned index = func.getNumArguments();
    (void)func.insertArgument(index, like.getType(), attrs, op.getLoc());
    return func.getArgument(index);
  };
  Value o = addArgument(op.getO(), getReturnedAttrs(func, op.getO()));
  Value lse = addArgument(op.getLse(), getReturnedAttrs(func, op.getLse()));
  Value dout = addArgument(op.getO(), none);
  Value dlse = withDlse ? addArgument(op.getLse(), none) : Value();

  OpBuilder b(op);
  SmallVector<Type> types{op.getQ().getType(), op.getK().getType(), op.getV().getType()};
  auto grad = SdpaGradOp::create(b, op.getLoc(), types, op.getQ(), op.getK(), op.getV(), o, lse, dout, dlse,
                                 op.getCaptures(), op.getScaleAttr(), op.getMaskAttr(), /*schedules=*/ArrayAttr());
  grad.getScore().takeBody(op.getScore());
  grad.getVisible().takeBody(op.getVisible());

  while (func.getNumResults())
    (void)func.eraseResult(func.getNumResults() - 1);
  for (auto [index, type] : llvm::enumerate(types))
    (void)func.insertResult(index, type, none);
  ret->setOperands(grad.getResults());
  op.erase();
  (void)symbols.rename(func, name);
  remark::passed(grad.getLoc(), remark::RemarkOpts::name("gradients").category(DEBUG_TYPE).function(name));
  return grad;
}

namespace {
struct DeriveGrad : attn::impl::DeriveGradPassBase<DeriveGrad> {
  using DeriveGradPassBase::DeriveGradPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<SdpaOp> forward;
    getOperation().walk([&](SdpaOp op) { forward.push_back(op); });
    const bool withDlse = dlse;
    for (SdpaOp op : forward)
      if (failed(makeGradFunction(op, symbols, withDlse)))
        return signalPassFailure();

    WalkResult walked = getOperation().walk([&](SdpaGradOp op) {
      if (op.getScore().empty() || !op.getScoreGrad().empty())
        return WalkResult::advance();
      // Captures count as constants; what the op differentiates by is not one.
      for (auto [name, value] : {std::pair("q", op.getQ()), std::pair("k", op.getK()), std::pair("v", op.getV())})
        if (llvm::is_contained(op.getCaptures(), value)) {
          op.emitOpError() << "captures " << name << ", and its score region may depend on it; the gradient of " << name
                           << " through a region is not made";
          return WalkResult::interrupt();
        }
      if (succeeded(deriveScore(op.getScore(), op.getScoreGrad())))
        return WalkResult::advance();
      return WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
