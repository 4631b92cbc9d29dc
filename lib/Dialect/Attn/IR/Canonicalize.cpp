//===- Canonicalize.cpp - simpler forms of the semantic level
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace attn;

//===----------------------------------------------------------------------===//
// Named masks
//===----------------------------------------------------------------------===//

/// The tighter of two window bounds; -1 is unbounded.
static int64_t tighter(int64_t a, int64_t b) { return a == -1 ? b : b == -1 ? a : std::min(a, b); }

/// The same masks with fewer words. A causal mask is window<-1, 0>, and two windows from one corner meet in the window
/// of their tighter bounds:
///   window<-1, -1, a>               sees everything: dropped
///   window<-1, 0, a>                causal<a>
///   causal<a>, window<l, r, a>      window<l, 0, a>
/// Masks from different corners stay as they are: which is tighter depends on the lengths.
static SmallVector<Attribute> simplifyMasks(ArrayRef<Attribute> masks) {
  CausalAttr causal;
  WindowAttr window;
  for (Attribute mask : masks) {
    if (auto attr = dyn_cast<CausalAttr>(mask))
      causal = attr;
    else
      window = cast<WindowAttr>(mask);
  }
  if (causal && window && causal.getAlign() == window.getAlign()) {
    window = WindowAttr::get(window.getContext(), window.getLeft(), tighter(window.getRight(), 0), window.getAlign());
    causal = nullptr;
  }
  if (window && window.getLeft() == -1 && window.getRight() == -1)
    window = nullptr;
  if (window && !causal && window.getLeft() == -1 && window.getRight() == 0) {
    causal = CausalAttr::get(window.getContext(), window.getAlign());
    window = nullptr;
  }
  SmallVector<Attribute> simple;
  if (causal)
    simple.push_back(causal);
  if (window)
    simple.push_back(window);
  return simple;
}

namespace {
struct SimplifyMasks : OpInterfaceRewritePattern<AttentionOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    ArrayAttr masks = op.getMaskAttr();
    if (!masks)
      return rewriter.notifyMatchFailure(op, "no named mask");
    SmallVector<Attribute> simple = simplifyMasks(masks.getValue());
    ArrayAttr result = simple.empty() ? ArrayAttr() : rewriter.getArrayAttr(simple);
    if (result == masks)
      return rewriter.notifyMatchFailure(op, "masks are as simple as they get");
    rewriter.modifyOpInPlace(op, [&] { op.setMaskAttr(result); });
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Regions and captures
//===----------------------------------------------------------------------===//

/// What a region yields, or null if there is no region.
Value yielded(Region &region) {
  return region.empty() ? Value() : cast<YieldOp>(region.front().getTerminator()).getValues().front();
}

/// A score region that yields its score, a mask region that yields true.
struct DropIdentityRegions : OpInterfaceRewritePattern<AttentionOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    Value score = yielded(op.getScore()), visible = yielded(op.getVisible());
    // The gradient of an identity region is an identity region too, whatever it says.
    bool dropScore = score && score == op.getScore().getArgument(0);
    bool dropVisible = visible && matchPattern(visible, m_One());
    if (!dropScore && !dropVisible)
      return rewriter.notifyMatchFailure(op, "no region, or one that does something");
    rewriter.modifyOpInPlace(op, [&] {
      if (dropScore) {
        rewriter.eraseBlock(&op.getScore().front());
        if (auto grad = dyn_cast<SdpaGradOp>(*op); grad && !grad.getScoreGrad().empty())
          rewriter.eraseBlock(&grad.getScoreGrad().front());
      }
      if (dropVisible)
        rewriter.eraseBlock(&op.getVisible().front());
    });
    return success();
  }
};

/// Captures that no region reads, and those listed twice.
struct DropUnusedCaptures : OpInterfaceRewritePattern<AttentionOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    llvm::SmallSetVector<Value, 4> used;
    for (Value capture : op.getCaptures())
      for (Operation *user : capture.getUsers())
        if (user != op.getOperation() && op->isProperAncestor(user))
          used.insert(capture);
    if (used.size() == op.getCaptures().size())
      return rewriter.notifyMatchFailure(op, "every capture is read");
    rewriter.modifyOpInPlace(op, [&] { op.getCapturesMutable().assign(used.getArrayRef()); });
    return success();
  }
};

/// CSE may give a region the constant of the function around it. A copy inside keeps the region whole.
struct LocalizeConstants : OpInterfaceRewritePattern<AttentionOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op, PatternRewriter &rewriter) const override {
    bool changed = false;
    for (Region *region : llvm::make_pointer_range(op->getRegions()))
      for (Operation &inner : region->getOps())
        for (OpOperand &operand : inner.getOpOperands()) {
          Operation *constant = operand.get().getDefiningOp();
          if (!constant || constant->getParentRegion() == region || !matchPattern(constant, m_Constant()))
            continue;
          OpBuilder::InsertionGuard guard(rewriter);
          rewriter.setInsertionPoint(&inner);
          Operation *copy = rewriter.clone(*constant);
          rewriter.modifyOpInPlace(
              &inner, [&] { operand.set(copy->getResult(cast<OpResult>(operand.get()).getResultNumber())); });
          changed = true;
        }
    return success(changed);
  }
};
} // namespace

static void addPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SimplifyMasks, DropIdentityRegions, DropUnusedCaptures, LocalizeConstants>(context);
}
void SdpaOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  addPatterns(patterns, context);
}
void SdpaGradOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  addPatterns(patterns, context);
}
