//===- TmaCopies.cpp - tiles by the tensor memory accelerator
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One thread hands over a box per panel of the tile; the map knows the operand (dimensions: column, row, head, batch)
// and the swizzle:
//
//   load     arrive at the item's full barrier and announce the bytes of the whole slot (what lies outside the operand
//            is read as 0 and counts), then a box per panel, which complete on that barrier; a row of numbers in the
//            same slot is one copy of consecutive bytes, which completes there too
//   store    a box per panel, then close the group that `drain` counts
//
// The one thread is a predicate, not a branch: after a branch by thread the assembler keeps no value in uniform
// registers, and a loop of products moves its descriptors there again and again (docs/Rationale/Warpgroups.md: what
// that was seen to cost).
//
//===----------------------------------------------------------------------===//

#include "InlineAsm.h"

#include "attn/Analysis/Swizzle.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
/// The boxes of a tile.
struct Boxes {
  TileLayout layout;
  int64_t columns; ///< of a box
  Value b, h, row, column;

  Boxes(const Emit &e, BufType buf, ValueRange at) {
    RankedTensorType tile = buf.getTile();
    int64_t elementBytes = tile.getElementTypeBitWidth() / 8;
    layout = {tile.getDimSize(0), tile.getDimSize(1) * elementBytes, buf.getSwizzle()};
    columns = layout.panelBytesPerRow() / elementBytes;
    auto coordinate = [&](size_t dim) { return dim < at.size() ? at[dim] : e.i32(0); };
    b = coordinate(0), h = coordinate(1), row = coordinate(2), column = coordinate(3);
  }

  /// Runs `box(coordinates, byte offset)` for each.
  void forEach(const Emit &e, InlineAsm &text, function_ref<void(StringRef, int64_t)> box) const {
    std::string rest = text.use(row);
    rest += ", " + text.use(h);
    rest += ", " + text.use(b);
    for (int64_t p = 0; p < layout.panels(); ++p)
      box("{" + text.use(e.add(column, p * columns)) + ", " + rest + "}", p * layout.panelBytes());
  }
};

/// Starts a text whose lines are for one thread of the group; returns what to put in front of each.
StringRef openForOne(InlineAsm &text, const KernelState &state) {
  if (state.elected) {
    text << "{";
    return "";
  }
  text << "{\n.reg .pred one;\nsetp.eq.u32 one, " + text.use(state.thread) + ", 0;";
  return "@one ";
}

struct CopyLowering : Lowering<CopyOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(CopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    InlineAsm text(e);
    StringRef one = openForOne(text, kernels.of(op));
    if (op.getVia() == Transport::Bulk) {
      copyRow(e, text, one, op, adaptor);
    } else if (auto buf = dyn_cast<BufType>(op.getDest().getType())) {
      Boxes boxes(e, buf, flat(adaptor.getFrom()));
      Ring ring = Ring::get(op.getRing().getType(), adaptor.getRing());
      std::string full = "[" + text.use(ring.fullBarrier(e, only(adaptor.getItem()))) + "]";
      std::string to = text.use(only(adaptor.getDest())), map = text.use(only(adaptor.getSource()));
      text << one + "mbarrier.arrive.expect_tx.shared::cta.b64 _, " + full + ", " + Twine(slotBytes(ring.type)) + ";";
      boxes.forEach(e, text, [&](StringRef at, int64_t offset) {
        text << one + "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [" + to + "+" +
                    Twine(offset) + "], [" + map + ", " + at + "], " + full + ";";
      });
    } else {
      Boxes boxes(e, cast<BufType>(op.getSource().getType()), flat(adaptor.getInto()));
      std::string from = text.use(only(adaptor.getSource())), map = text.use(only(adaptor.getDest()));
      boxes.forEach(e, text, [&](StringRef at, int64_t offset) {
        text << one + "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [" + map + ", " + at + "], [" + from +
                    "+" + Twine(offset) + "];";
      });
      text << one + "cp.async.bulk.commit_group;";
    }
    text << "}";
    text.build();
    rewriter.eraseOp(op);
    return success();
  }

  /// What a slot's barrier waits for: the copy via tma announces all of it, those via bulk only add up.
  static int64_t slotBytes(RingType ring) {
    int64_t bytes = 0;
    for (Type buf : ring.getBufs())
      bytes += cast<BufType>(buf).getBytes();
    return bytes;
  }

  static void copyRow(const Emit &e, InlineAsm &text, StringRef one, CopyOp op, OneToNOpAdaptor adaptor) {
    MemRef m = MemRef::get(op.getSource().getType(), adaptor.getSource());
    Ring ring = Ring::get(op.getRing().getType(), adaptor.getRing());
    std::string full = text.use(ring.fullBarrier(e, only(adaptor.getItem()))), to = text.use(only(adaptor.getDest()));
    std::string from = text.use(e.offset(m.ptr, elementOffset(e, m, flat(adaptor.getFrom()))));
    int64_t bytes = cast<BufType>(op.getDest().getType()).getBytes();
    text << one + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + to + "], [" + from + "], " +
                Twine(bytes) + ", [" + full + "];";
  }
};

struct DrainLowering : Lowering<DrainOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(DrainOp op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, op.getLoc(), rewriter.getI32IntegerAttr(op.getLeaves()),
                                         op.getReadAttr());
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void attn::nvvm::prefetchMaps(const Emit &e, ValueRange maps, const KernelState &state) {
  if (maps.empty())
    return;
  InlineAsm text(e);
  StringRef one = openForOne(text, state);
  for (Value map : maps)
    text << one + "prefetch.tensormap [" + text.use(map) + "];";
  text << "}";
  text.build();
}

LogicalResult attn::nvvm::checkTmaCopy(Operation *op) {
  auto copy = dyn_cast<CopyOp>(op);
  if (!copy)
    return success();
  if (copy.getVia() != Transport::Tma && copy.getVia() != Transport::Bulk)
    return op->emitOpError("on this family goes via tma or bulk, got ") << stringifyTransport(copy.getVia());
  if (copy.getGuard())
    return op->emitOpError("via ") << stringifyTransport(copy.getVia()) << " has no condition";
  // One copy via tma announces the bytes of the slot, so an item has one.
  if (auto ring = copy.getRing()) {
    auto isTile = [](Type buf) { return cast<BufType>(buf).getTile().getRank() == 2; };
    if (int64_t tiles = llvm::count_if(ring.getType().getBufs(), isTile); tiles != 1)
      return op->emitOpError("expects a slot with one tile, which announces its bytes, got ") << tiles;
  }
  return success();
}

void attn::nvvm::populateTmaCopyPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<CopyLowering, DrainLowering>(types, kernels, patterns.getContext());
}
