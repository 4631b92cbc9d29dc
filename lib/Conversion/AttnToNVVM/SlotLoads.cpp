//===- SlotLoads.cpp - registers from shared memory
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Family wgmma. A row of numbers, read as the values of a tile's columns (two neighbours a lane and atom) or rows; and
// an operand of products that stays in registers, by ldmatrix: four matrices of 8 x 8 are the A operand of a k16 step.
//
//===----------------------------------------------------------------------===//

#include "Slots.h"

#include "attn/Analysis/Swizzle.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
constexpr int64_t kColumns = 16, kRegisters = 4;

struct SlotLoadLowering : Lowering<LoadOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto buf = dyn_cast<BufType>(op.getSource().getType());
    if (!buf)
      return rewriter.notifyMatchFailure(op, "comes from a memref");
    Emit e{rewriter, op.getLoc()};
    const KernelState &state = kernels.of(op);
    const Fragment f = Fragment::of(op.getResult().getType());
    Value base = only(adaptor.getSource());
    if (f.form != Fragment::Form::Tile) {
      rewriter.replaceOp(op, loadVector(e, state, f, base, buf.getTile().getElementType()));
      return success();
    }
    Value words = e.pack(loadMatrix(e, state, f, base, buf));
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, typeConverter->convertType(op.getResult().getType()), words);
    return success();
  }

  static Value loadVector(const Emit &e, const KernelState &state, const Fragment &f, Value base, Type element) {
    const bool columns = f.form == Fragment::Form::Cols;
    const int64_t bytes = element.getIntOrFloatBitWidth() / 8, together = columns ? 2 : 1;
    Value lane = e.add(base, e.mul(columns ? state.column(e, f) : state.row(e, f), bytes));
    SmallVector<Value> values;
    for (int64_t i = 0; i < f.size(); i += together) {
      Value from = e.shared(lane, (columns ? f.colOffset(i) : f.rowOffset(i)) * bytes);
      auto type = VectorType::get({together}, element);
      llvm::append_range(values, e.unpack(LLVM::LoadOp::create(e.b, e.loc, type, from, together * bytes)));
    }
    return e.pack(values);
  }

  static SmallVector<Value> loadMatrix(const Emit &e, const KernelState &state, const Fragment &f, Value base,
                                       BufType buf) {
    TileLayout layout{f.rows, f.cols * 2, buf.getSwizzle()};
    Value row = e.add(e.rem(state.lane, kAtomRows), e.mul(state.warp, f.warpRows()));
    Value chunk = e.div(state.lane, kAtomRows);
    if (layout.span)
      chunk = e.bitXor(chunk, e.rem(e.div(row, layout.rowsPerXor()), layout.xorSteps()));
    Value lane = e.add(base, e.add(e.mul(row, layout.panelBytesPerRow()), e.mul(chunk, kChunkBytes)));
    const int64_t perPanel = layout.panelBytesPerRow() / (2 * kColumns);
    Type word = e.b.getI32Type();
    auto four = LLVM::LLVMStructType::getLiteral(e.b.getContext(), SmallVector<Type>(kRegisters, word));
    SmallVector<Value> words;
    for (int64_t a = 0; a < f.rowAtoms(); ++a)
      for (int64_t c = 0; c < f.cols / kColumns; ++c) {
        int64_t inPanel = c % perPanel * 2 * kColumns;
        int64_t offset = a * kAtomRows * layout.panelBytesPerRow() + c / perPanel * layout.panelBytes();
        Value from = layout.span ? e.bitXor(lane, e.i32(inPanel)) : e.add(lane, inPanel);
        Value matrices = NVVM::LdMatrixOp::create(
            e.b, e.loc, four, e.shared(from, offset), kRegisters, NVVM::MMALayout::row,
            NVVM::LdStMatrixShapeAttr::get(e.b.getContext(), kAtomCols, kAtomCols), NVVM::LdStMatrixEltType::B16);
        for (int64_t i = 0; i < kRegisters; ++i)
          words.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, matrices, i));
      }
    return words;
  }
};

/// Panels begin where the columns say: the bytes of whole panels are consecutive.
struct SliceLowering : Lowering<SliceOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(SliceOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    int64_t rows = op.getSource().getType().getTile().getDimSize(0);
    int64_t bytes = op.getSource().getType().getTile().getElementTypeBitWidth() / 8;
    rewriter.replaceOp(op, e.add(only(adaptor.getSource()), e.mul(only(adaptor.getCol()), rows * bytes)));
    return success();
  }
};
} // namespace

LogicalResult attn::nvvm::checkSlotLoad(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  if (!load || !isa<BufType>(load.getSource().getType()))
    return success();
  RankedTensorType tile = load.getResult().getType();
  const Fragment f = Fragment::of(tile);
  if (f.form == Fragment::Form::Tile ? tile.getElementTypeBitWidth() == 16 && f.warpsN == 1 && f.cols % kColumns == 0
                                     : tile.getElementTypeBitWidth() == 32 && f.form != Fragment::Form::Quads)
    return success();
  return load.emitOpError("from shared memory expects a vector of 32-bit elements, or a tile of 16-bit elements with "
                          "whole rows a warp (warps [m, 1]), of 16 columns or a multiple; got ")
         << tile;
}

void attn::nvvm::populateSlotLoadPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<SlotLoadLowering, SliceLowering>(types, kernels, patterns.getContext());
}
