//===- Reductions.cpp - maximum and sum of rows
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row lives in the four lanes of a quad. First each thread reduces its own elements, as a tree (a chain would wait
// for every step); then two butterfly shuffles leave the result in all four lanes.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
struct ReduceLowering : Lowering<ReduceOp> {
  using Lowering::Lowering;
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
      Value result = tree(e, op.getKind(), row);
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

  static Value tree(const Emit &e, ReduceKind kind, SmallVector<Value> values) {
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

void attn::nvvm::populateReductionPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<ReduceLowering>(types, kernels, patterns.getContext());
}
