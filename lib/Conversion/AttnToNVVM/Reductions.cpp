//===- Reductions.cpp - maximum and sum of rows
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row lives in the four lanes of a quad. First each thread reduces its own elements; then two butterfly shuffles
// leave the result in all four lanes. The first part is
//
//   mma_sync   a tree: the shortest way, where other warps of the block are few
//   wgmma      a few chains, side by side: a tree's leaves are half as many registers as the tile, all alive at once,
//              where every register is taken
//
// A vote is the same for a warp's rows.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
struct ReduceLowering : Lowering<ReduceOp> {
  /// How a thread reduces its elements of a row, in order.
  using Combine = Value (*)(const Emit &, ReduceKind, ArrayRef<Value>);
  ReduceLowering(TypeConverter &types, KernelStates &kernels, MLIRContext *ctx, Combine ofThread)
      : Lowering(types, kernels, ctx), ofThread(ofThread) {}
  const Combine ofThread;

  LogicalResult matchAndRewrite(ReduceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    const Fragment from = Fragment::of(op.getX().getType()), to = Fragment::of(op.getResult().getType());
    SmallVector<Value> x = e.unpack(only(adaptor.getX()));
    SmallVector<SmallVector<Value>> rows(to.size());
    for (auto [i, value] : llvm::enumerate(x))
      rows[from.rowIndex(i)].push_back(value);
    SmallVector<Value> results;
    for (SmallVector<Value> &row : rows) {
      Value result = ofThread(e, op.getKind(), row);
      if (to.form == Fragment::Form::Rows)
        for (int64_t lanes : {1, 2})
          result = combine(e, op.getKind(), result, neighbour(e, result, lanes));
      results.push_back(result);
    }
    rewriter.replaceOp(op, e.pack(results));
    return success();
  }

  static Value combine(const Emit &e, ReduceKind kind, Value x, Value y) {
    if (kind == ReduceKind::Max)
      return arith::MaxNumFOp::create(e.b, e.loc, x, y);
    return arith::AddFOp::create(e.b, e.loc, x, y);
  }

  static Value chains(const Emit &e, ReduceKind kind, ArrayRef<Value> values) {
    const size_t count = kind == ReduceKind::Max ? 4 : 2;
    SmallVector<Value> partial(values.take_front(count));
    for (auto [i, value] : llvm::enumerate(values.drop_front(partial.size())))
      partial[i % count] = combine(e, kind, partial[i % count], value);
    return tree(e, kind, partial);
  }

  static Value tree(const Emit &e, ReduceKind kind, ArrayRef<Value> all) {
    SmallVector<Value> values(all);
    while (values.size() > 1) {
      SmallVector<Value> half;
      for (size_t i = 0; i + 1 < values.size(); i += 2)
        half.push_back(combine(e, kind, values[i], values[i + 1]));
      if (values.size() % 2)
        half.push_back(values.back());
      values = std::move(half);
    }
    return values.front();
  }

  static Value neighbour(const Emit &e, Value x, int64_t lanes) {
    return NVVM::ShflOp::create(e.b, e.loc, x.getType(), e.i32(-1), x, e.i32(lanes), e.i32(31), NVVM::ShflKind::bfly,
                                /*return_value_and_is_valid=*/UnitAttr());
  }
};

struct AnyLowering : Lowering<AnyOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(AnyOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    SmallVector<Value> x = e.unpack(only(adaptor.getX()));
    Value mine = x.front();
    for (Value other : ArrayRef(x).drop_front())
      mine = arith::OrIOp::create(rewriter, e.loc, mine, other);
    rewriter.replaceOpWithNewOp<NVVM::VoteSyncOp>(op, rewriter.getI1Type(), e.i32(-1), mine, NVVM::VoteSyncKind::any);
    return success();
  }
};
} // namespace

LogicalResult attn::nvvm::checkReduction(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce)
    return success();
  const Fragment f = Fragment::of(reduce.getX().getType());
  if (f.warpsN != 1)
    return op->emitOpError("expects every warp to own whole rows (warps [m, 1]), got warps [")
           << f.warpsM << ", " << f.warpsN << "]";
  return success();
}

void attn::nvvm::populateVotePatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<AnyLowering>(types, kernels, patterns.getContext());
}

void attn::nvvm::populateTreeReductionPatterns(TypeConverter &types, KernelStates &kernels,
                                               RewritePatternSet &patterns) {
  patterns.add<ReduceLowering>(types, kernels, patterns.getContext(), ReduceLowering::tree);
}

void attn::nvvm::populateChainReductionPatterns(TypeConverter &types, KernelStates &kernels,
                                                RewritePatternSet &patterns) {
  patterns.add<ReduceLowering>(types, kernels, patterns.getContext(), ReduceLowering::chains);
}
