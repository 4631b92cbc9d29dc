//===- WordStores.cpp - fragments into shared memory, a word at a time
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A result staged in shared memory on mma_sync: a lane writes its two neighbours of each row of an atom as one word.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "attn/Analysis/Swizzle.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
struct WordStoreLowering : Lowering<StoreOp> {
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
    SmallVector<Value> pairs = e.unpack(LLVM::BitcastOp::create(rewriter, e.loc, words, only(adaptor.getValue())));
    // Row and chunk 0 of this lane; an 8-column atom is one chunk.
    Value row = state.row(e, f), chunk = e.i32(0);
    if (layout.span)
      chunk = e.rem(e.div(row, layout.rowsPerXor()), layout.xorSteps());
    Value lane = e.add(e.mul(row, layout.panelBytesPerRow()), e.mul(chunk, kChunkBytes));
    lane = e.add(only(adaptor.getDest()), e.add(lane, e.mul(e.rem(state.lane, 4), 4)));
    SmallVector<Value> chunks; // of a panel
    for (int64_t c = 0; c < layout.chunksPerRow(); ++c)
      chunks.push_back(layout.span ? e.bitXor(lane, e.i32(c * kChunkBytes)) : e.add(lane, c * kChunkBytes));
    for (auto [p, word] : llvm::enumerate(pairs)) {
      int64_t i = 2 * p, atom = f.colOffset(i) / kAtomCols;
      int64_t offset = f.rowOffset(i) * layout.panelBytesPerRow() + atom / chunks.size() * layout.panelBytes();
      LLVM::StoreOp::create(rewriter, e.loc, word, e.shared(chunks[atom % chunks.size()], offset), 4);
    }
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void attn::nvvm::populateWordStorePatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<WordStoreLowering>(types, kernels, patterns.getContext());
}
