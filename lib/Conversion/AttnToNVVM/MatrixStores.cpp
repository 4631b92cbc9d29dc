//===- MatrixStores.cpp - fragments into shared memory by stmatrix
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// stmatrix.x4 stores 16 x 16 elements, four 8 x 8 matrices in the order of a fragment's registers: rows 0-7, rows 8-15,
// then both again eight columns on. Lanes 0-7 name the rows of the first matrix, 8-15 of the second, and so on:
//
//   lane l   row (l % 8) + 8 (l / 8 % 2), chunk l / 16 of the two that 16 columns are
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "attn/Analysis/Swizzle.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
constexpr int64_t kColumns = 16, kRegisters = 4;

struct MatrixStoreLowering : Lowering<StoreOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto buf = dyn_cast<BufType>(op.getDest().getType());
    if (!buf)
      return rewriter.notifyMatchFailure(op, "does not go to a buf");
    Emit e{rewriter, op.getLoc()};
    const KernelState &state = kernels.of(op);
    const Fragment f = Fragment::of(op.getValue().getType());
    TileLayout layout{f.rows, f.cols * 2, buf.getSwizzle()};
    auto words = VectorType::get({f.size() / 2}, rewriter.getI32Type());
    SmallVector<Value> regs = e.unpack(LLVM::BitcastOp::create(rewriter, e.loc, words, only(adaptor.getValue())));

    Value row = e.add(e.rem(state.lane, 16), e.mul(state.warp, f.warpRows())), chunk = e.div(state.lane, 16);
    if (layout.span)
      chunk = e.bitXor(chunk, e.rem(e.div(row, layout.rowsPerXor()), layout.xorSteps()));
    Value lane =
        e.add(only(adaptor.getDest()), e.add(e.mul(row, layout.panelBytesPerRow()), e.mul(chunk, kChunkBytes)));
    const int64_t perPanel = layout.panelBytesPerRow() / (2 * kColumns); // stores of a row of a panel
    SmallVector<Value> lanes;
    for (int64_t c = 0; c < perPanel; ++c) {
      int64_t bytes = c * 2 * kColumns;
      lanes.push_back(layout.span ? e.bitXor(lane, e.i32(bytes)) : e.add(lane, bytes));
    }
    for (int64_t a = 0; a < f.rowAtoms(); ++a)
      for (int64_t c = 0; c < f.cols / kColumns; ++c) {
        int64_t offset = a * kAtomRows * layout.panelBytesPerRow() + c / perPanel * layout.panelBytes();
        NVVM::StMatrixOp::create(rewriter, e.loc, e.shared(lanes[c % perPanel], offset),
                                 ArrayRef(regs).slice(f.operandA(a, c) / 2, kRegisters),
                                 NVVM::MMALayoutAttr::get(getContext(), NVVM::MMALayout::row),
                                 NVVM::LdStMatrixShapeAttr::get(getContext(), kAtomCols, kAtomCols),
                                 NVVM::LdStMatrixEltTypeAttr::get(getContext(), NVVM::LdStMatrixEltType::B16));
      }
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

LogicalResult attn::nvvm::checkMatrixStore(Operation *op) {
  auto store = dyn_cast<StoreOp>(op);
  if (!store || !isa<BufType>(store.getDest().getType()))
    return success();
  const Fragment f = Fragment::of(store.getValue().getType());
  if (f.warpsN != 1 || f.cols % kColumns)
    return op->emitOpError(
               "to shared memory expects whole rows a warp (warps [m, 1]), of 16 columns or a multiple, got ")
           << store.getValue().getType();
  return success();
}

void attn::nvvm::populateMatrixStorePatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<MatrixStoreLowering>(types, kernels, patterns.getContext());
}
