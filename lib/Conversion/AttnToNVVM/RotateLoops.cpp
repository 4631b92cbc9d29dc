//===- RotateLoops.cpp - loops and ifs of a kernel become branches
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// scf.for is lowered with its test at the bottom, guarded by one at the top, and asks not to be unrolled:
//
//   if (lo < hi) { i = lo; do { body; i += step; } while (i < hi); }
//
// Left alone the assembler unrolls the short loops that copy operands element by element into the middle of the main
// loop, where they cost registers though they never run for aligned operands. The upstream lowering has nowhere to put
// the annotation: its back edge is a plain branch.
//
//===----------------------------------------------------------------------===//

#include "attn/Conversion/Passes.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn {
#define GEN_PASS_DEF_ROTATELOOPSPASS
#include "attn/Conversion/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-rotate-loops"

namespace {
LLVM::LoopAnnotationAttr neverUnroll(MLIRContext *ctx) {
  auto unroll = LLVM::LoopUnrollAttr::get(ctx, /*disable=*/BoolAttr::get(ctx, true), {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(ctx, {}, {}, {}, unroll, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

struct RotateFor : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ForOp loop, PatternRewriter &rewriter) const override {
    Location loc = loop.getLoc();
    Block *before = rewriter.getInsertionBlock();
    Block *after = rewriter.splitBlock(before, rewriter.getInsertionPoint());
    for (Type type : loop.getResultTypes())
      after->addArgument(type, loc);
    Block *first = &loop.getRegion().front(), *last = &loop.getRegion().back();
    rewriter.inlineRegionBefore(loop.getRegion(), after);

    auto runs = [&](Value i) -> Value {
      return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, i, loop.getUpperBound());
    };
    auto branch = [&](Value i, ValueRange carried) {
      SmallVector<Value> arguments{i};
      llvm::append_range(arguments, carried);
      return LLVM::CondBrOp::create(rewriter, loc, runs(i), first, arguments, after, carried);
    };
    Operation *yield = last->getTerminator();
    rewriter.setInsertionPoint(yield);
    Value next = arith::AddIOp::create(rewriter, loc, first->getArgument(0), loop.getStep());
    branch(next, yield->getOperands()).setLoopAnnotationAttr(neverUnroll(rewriter.getContext()));
    rewriter.eraseOp(yield);

    rewriter.setInsertionPointToEnd(before);
    branch(loop.getLowerBound(), loop.getInitArgs());
    rewriter.replaceOp(loop, after->getArguments());
    return success();
  }
};

/// The 32-bit registers of a fragment of 16-bit floats, or null for other types.
VectorType pairsOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.getRank() != 1 || vector.getNumElements() % 2 ||
      (!vector.getElementType().isF16() && !vector.getElementType().isBF16()))
    return {};
  return VectorType::get({vector.getNumElements() / 2}, IntegerType::get(type.getContext(), 32));
}

/// Between blocks the back end takes a vector of 16-bit floats apart, and an instruction that reads pairs puts them
/// together again: what a loop carries is pairs.
class CarryPairs {
public:
  explicit CarryPairs(Operation *root) : b(root->getContext()) {}
  void run(scf::ForOp loop);
  void run(scf::WhileOp loop);

private:
  /// Makes a value pairs where it is handed to the loop, or to its next round.
  void pack(OpOperand &operand, Type pairs) {
    b.setInsertionPoint(operand.getOwner());
    operand.set(b.createOrFold<LLVM::BitcastOp>(operand.getOwner()->getLoc(), pairs, operand.get()));
  }
  /// Gives a value another type for everybody but the cast back.
  void retype(Value value, Type pairs) {
    Type type = value.getType();
    value.setType(pairs);
    b.setInsertionPointAfterValue(value);
    auto back = LLVM::BitcastOp::create(b, value.getLoc(), type, value);
    value.replaceAllUsesExcept(back, back);
  }

  OpBuilder b;
};

void CarryPairs::run(scf::ForOp loop) {
  for (auto [i, type] : llvm::enumerate(llvm::to_vector(loop.getResultTypes()))) {
    VectorType pairs = pairsOf(type);
    if (!pairs)
      continue;
    pack(loop.getInitArgsMutable()[i], pairs);
    retype(loop.getRegionIterArg(i), pairs);
    pack(loop.getBody()->getTerminator()->getOpOperand(i), pairs);
    retype(loop.getResult(i), pairs);
  }
}

void CarryPairs::run(scf::WhileOp loop) {
  for (auto [i, argument] : llvm::enumerate(loop.getBeforeArguments()))
    if (VectorType pairs = pairsOf(argument.getType())) {
      pack(loop.getInitsMutable()[i], pairs);
      retype(argument, pairs);
      pack(loop.getYieldOp()->getOpOperand(i), pairs);
    }
  for (auto [i, argument] : llvm::enumerate(loop.getAfterArguments()))
    if (VectorType pairs = pairsOf(argument.getType())) {
      pack(loop.getConditionOp().getArgsMutable()[i], pairs);
      retype(argument, pairs);
      retype(loop.getResult(i), pairs);
    }
}

/// There and back is nothing.
void foldCasts(Operation *root) {
  SmallVector<LLVM::BitcastOp> casts;
  root->walk([&](LLVM::BitcastOp cast) { casts.push_back(cast); });
  for (LLVM::BitcastOp there : casts)
    for (Operation *user : there->getUsers())
      if (auto back = dyn_cast<LLVM::BitcastOp>(user); back && back.getType() == there.getArg().getType())
        back.replaceAllUsesWith(there.getArg());
  for (LLVM::BitcastOp cast : llvm::reverse(casts))
    if (cast->use_empty())
      cast.erase();
}

struct RotateLoops : attn::impl::RotateLoopsPassBase<RotateLoops> {
  using RotateLoopsPassBase::RotateLoopsPassBase;
  void runOnOperation() override {
    CarryPairs pairs(getOperation());
    getOperation().walk([&](scf::ForOp loop) { pairs.run(loop); });
    getOperation().walk([&](scf::WhileOp loop) { pairs.run(loop); });
    foldCasts(getOperation());
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    patterns.add<RotateFor>(&getContext(), /*benefit=*/2);
    ConversionTarget target(getContext());
    target.addIllegalOp<scf::ForOp, scf::IfOp, scf::WhileOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
