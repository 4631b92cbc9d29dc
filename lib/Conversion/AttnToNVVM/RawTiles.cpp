//===- RawTiles.cpp - f32 tiles in the order in which threads hold them
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of 64 rows of a workspace, whatever part of its columns a tile is: the four floats of an atom of thread t lie
// together, and the atoms of all threads of a group one behind the other, so a warp moves 512 consecutive bytes at a
// time. Kernels that keep the same order exchange such tiles through memory without a shuffle.
//
//===----------------------------------------------------------------------===//

#include "InlineAsm.h"
#include "Slots.h"
#include "attn/Dialect/Attn/IR/Target.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
constexpr int64_t kBytes = 4;

/// Where thread's first four elements lie, and how far it is to the next four.
struct RawTile {
  Value pointer;
  int64_t stride; ///< bytes

  RawTile(const Emit &e, const KernelState &state, const MemRef &m, RankedTensorType tile, ValueRange at) {
    const Fragment f = Fragment::of(tile);
    stride = state.threads() * kAtomElements * kBytes;
    // Rows and columns are the last two coordinates; rows are dense.
    const size_t row = m.type.getRank() - 2;
    Value offset = elementOffset(e, m, at.take_front(std::min(at.size(), row + 1)));
    if (at.size() > row + 1)
      offset = e.add(offset, e.toI64(e.mul(at[row + 1], f.rows * kBytes)));
    offset = e.add(offset, e.toI64(e.mul(state.thread, kAtomElements * kBytes)));
    pointer = e.offset(m.ptr, offset);
  }
};

struct RawStoreLowering : Lowering<StoreOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getRaw())
      return rewriter.notifyMatchFailure(op, "has its elements in rows");
    Emit e{rewriter, op.getLoc()};
    RawTile to(e, kernels.of(op), MemRef::get(op.getDest().getType(), adaptor.getDest()), op.getValue().getType(),
               flat(adaptor.getAt()));
    SmallVector<Value> values = e.unpack(only(adaptor.getValue()));
    StringRef what = op.getAdd() ? "red.relaxed.gpu.global.add.v4.f32" : "st.global.v4.f32";
    for (size_t i = 0; i < values.size(); i += kAtomElements) {
      InlineAsm store(e);
      std::string pointer = store.use(to.pointer), four;
      for (int64_t k = 0; k < kAtomElements; ++k)
        four += (k ? ", " : "") + store.use(values[i + k]);
      store << what + " [" + pointer + "+" + Twine(i / kAtomElements * to.stride) + "], {" + four + "};";
      store.build();
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct RawLoadLowering : Lowering<LoadOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getRaw())
      return rewriter.notifyMatchFailure(op, "has its elements in rows");
    Emit e{rewriter, op.getLoc()};
    RankedTensorType tile = op.getResult().getType();
    RawTile from(e, kernels.of(op), MemRef::get(op.getSource().getType(), adaptor.getSource()), tile,
                 flat(adaptor.getAt()));
    auto four = VectorType::get({kAtomElements}, tile.getElementType());
    SmallVector<Value> values;
    for (int64_t i = 0; i < Fragment::of(tile).size(); i += kAtomElements) {
      Value pointer = e.offset(from.pointer, e.i64(i / kAtomElements * from.stride));
      llvm::append_range(values, e.unpack(LLVM::LoadOp::create(e.b, e.loc, four, pointer, kAtomElements * kBytes)));
    }
    rewriter.replaceOp(op, e.pack(values));
    return success();
  }
};
} // namespace

static LogicalResult checkRaw(Operation *op, RankedTensorType tile) {
  const Fragment f = Fragment::of(tile);
  if (f.form == Fragment::Form::Tile && f.warpsM == groupWarps(op) && f.rowAtoms() == 1)
    return success();
  return op->emitOpError("is raw, so it expects a tile with one row of atoms a warp, got ") << tile;
}

LogicalResult attn::nvvm::checkRawTile(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op); store && store.getAdd()) {
    // Four floats at once are added by PTX for sm_90 and later only.
    if (!store.getRaw() || getTarget(op).getFamily() != Family::Wgmma)
      return store.emitOpError("adds in memory, which is done for raw tiles on family wgmma only");
  }
  if (auto store = dyn_cast<StoreOp>(op); store && store.getRaw())
    return checkRaw(op, store.getValue().getType());
  if (auto load = dyn_cast<LoadOp>(op); load && load.getRaw())
    return checkRaw(op, load.getResult().getType());
  return success();
}

void attn::nvvm::populateRawTilePatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<RawStoreLowering, RawLoadLowering>(types, kernels, patterns.getContext());
}
