//===- Copies.cpp - tiles between global and shared memory
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile moves in 16-byte chunks. The threads of the group (on mma_sync: of the block) stand in rows of one panel:
// chunks-per-row threads on a row, so that neighbours touch one 128-byte line; then the next rows, then the next panel:
//
//   thread t  ->  row t / chunks + i * (threads / chunks), chunk t % chunks, panel p
//
// The row step is a multiple of 8, so the swizzle of a thread's chunk does not change: its address in shared memory is
// one value plus constants. Rows past the end read as 0 (cp.async copies 0 of 16 bytes) and are not written.
//
// A caller may pass any base and any strides. Where they are not multiples of 16 bytes (a uniform flag,
// MemRef::aligned) the same chunks move element by element.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "attn/Analysis/Swizzle.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
/// How the group's threads walk a tile, and where a thread stands in it.
struct Walk {
  TileLayout layout;
  int64_t elementBytes, columns; ///< columns that exist in memory; the tile may be wider
  int64_t rowStep, numRows;      ///< a thread's rows: row + i * rowStep, i < numRows
  Value row, column;             ///< i32: the thread's first row; its first element in a panel
  Value sharedOffset;            ///< i32: its chunk of row 0, panel 0, from the tile's base

  Walk(const Emit &e, BufType buf, const MemRef &m, const KernelState &state) {
    RankedTensorType tile = buf.getTile();
    elementBytes = m.elementBytes();
    columns = m.type.getShape().back();
    layout = {tile.getDimSize(0), tile.getDimSize(1) * elementBytes, buf.getSwizzle()};
    int64_t chunks = layout.chunksPerRow();
    rowStep = state.threads() / chunks;
    numRows = (layout.rows + rowStep - 1) / rowStep;
    row = e.div(state.thread, chunks);
    Value chunk = e.rem(state.thread, chunks);
    column = e.mul(chunk, kChunkBytes / elementBytes);
    if (layout.span)
      chunk = e.bitXor(chunk, e.rem(e.div(row, layout.rowsPerXor()), layout.xorSteps()));
    sharedOffset = e.add(e.mul(row, layout.panelBytesPerRow()), e.mul(chunk, kChunkBytes));
  }

  int64_t columnsPerPanel() const { return layout.panelBytesPerRow() / elementBytes; }
  /// Whether the thread's row `down` rows after its first is one of the tile's (few rows, many threads); null: always.
  Value isInTile(const Emit &e, Value down) const {
    return layout.rows % rowStep ? e.less(e.add(row, down), e.i32(layout.rows)) : Value();
  }
  Value isInTile(const Emit &e, int64_t i) const {
    return (i + 1) * rowStep > layout.rows ? e.less(row, e.i32(layout.rows - i * rowStep)) : Value();
  }
  /// The thread's first element in panel p.
  Value columnIn(const Emit &e, Value p) const { return e.add(column, e.mul(p, columnsPerPanel())); }
  Value sharedAddress(const Emit &e, Value slot, Value down, Value p) const {
    return e.add(slot, e.add(e.mul(down, layout.panelBytesPerRow()), e.mul(p, layout.panelBytes())));
  }
  int64_t sharedConstant(int64_t i, int64_t panel) const {
    return i * rowStep * layout.panelBytesPerRow() + panel * layout.panelBytes();
  }
};

/// i1 or null (always): does this thread's chunk of the panel hold columns that exist? They come in whole chunks.
Value columnExists(const Emit &e, const Walk &walk, int64_t panel) {
  int64_t left = walk.columns - panel * walk.columnsPerPanel();
  return left >= walk.columnsPerPanel() ? Value() : e.less(walk.column, e.i32(left));
}

Value both(const Emit &e, Value x, Value y) { return !x ? y : !y ? x : e.bitAnd(x, y); }

/// Why a copy cannot be done, or success.
LogicalResult checkTile(CopyOp op, BufType buf, MemRefType memref, int64_t threads) {
  RankedTensorType tile = buf.getTile();
  int64_t bits = tile.getElementTypeBitWidth();
  if (tile.getRank() != 2 || memref.getRank() < 2 || tile.getElementType() != memref.getElementType())
    return op.emitOpError("expects a rank-2 tile and a memref of the same element type, got ")
           << tile << " and " << memref;
  if (memref.isDynamicDim(memref.getRank() - 1) || memref.getShape().back() * bits % (8 * kChunkBytes) ||
      tile.getDimSize(1) * bits % (8 * kChunkBytes))
    return op.emitOpError("expects rows of a multiple of 16 bytes, known at compile time, got ") << memref;
  int64_t chunks = TileLayout{tile.getDimSize(0), tile.getDimSize(1) * bits / 8, buf.getSwizzle()}.chunksPerRow();
  if (threads % chunks || threads / chunks % 8)
    return op.emitOpError("expects ") << chunks * 8 << " threads or a multiple, for whole swizzle patterns, got "
                                      << threads;
  return success();
}

/// The tile in global memory: rows from coordinate at[rank - 2] on. `rows`: i32, how many exist (and may be negative).
struct GlobalTile {
  MemRef m;
  Value base;     ///< ptr<1>: this thread's chunk of the memref's row 0, panel 0
  Value firstRow; ///< i32
  Value rowBytes; ///< i64
  Value rows;     ///< i32

  GlobalTile(const Emit &e, MemRef memref, ValueRange at, const Walk &walk) : m(std::move(memref)) {
    int64_t rank = m.type.getRank();
    firstRow = at[rank - 2];
    rowBytes = e.mul(m.strides[rank - 2], e.i64(m.elementBytes()));
    rows = e.sub(m.sizes[rank - 2], firstRow);
    // What does not change from item to item comes first, so that it leaves the loop.
    Value fixed = e.add(elementOffset(e, m, at.take_front(rank - 2)), e.mul(e.toI64(walk.row), rowBytes));
    base = e.offset(m.ptr, e.add(fixed, e.toI64(e.mul(walk.column, m.elementBytes()))));
  }

  /// The thread's chunk of its first row.
  Value firstChunk(const Emit &e) const { return e.offset(base, e.mul(e.toI64(firstRow), rowBytes)); }
};

struct CopyLowering : Lowering<CopyOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(CopyOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const KernelState &state = kernels.of(op);
    Emit e{rewriter, op.getLoc()};
    if (auto buf = dyn_cast<BufType>(op.getDest().getType())) {
      MemRef m = MemRef::get(op.getSource().getType(), adaptor.getSource());
      Walk walk(e, buf, m, state);
      GlobalTile tile(e, m, flat(adaptor.getFrom()), walk);
      if (op.getGuard()) // an item that is not wanted has no rows
        tile.rows = e.select(only(adaptor.getGuard()), tile.rows, e.i32(0));
      fill(e, walk, tile, only(adaptor.getDest()));
      NVVM::CpAsyncCommitGroupOp::create(rewriter, op.getLoc());
    } else {
      auto source = cast<BufType>(op.getSource().getType());
      MemRef m = MemRef::get(op.getDest().getType(), adaptor.getDest());
      Walk walk(e, source, m, state);
      GlobalTile tile(e, m, flat(adaptor.getInto()), walk);
      drain(e, walk, tile, only(adaptor.getSource()));
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Runs `chunk(i, panel, pointer)` for each of the thread's chunks, unrolled.
  static void forEachChunk(const Emit &e, const Walk &walk, const GlobalTile &tile,
                           function_ref<void(int64_t, int64_t, Value)> chunk) {
    Value pointer = tile.firstChunk(e);
    Value step = e.mul(tile.rowBytes, e.i64(walk.rowStep));
    for (int64_t i = 0; i < walk.numRows; ++i) {
      if (i)
        pointer = e.offset(pointer, step);
      for (int64_t p = 0; p < walk.layout.panels(); ++p)
        chunk(i, p, p ? e.offset(pointer, e.i64(p * walk.layout.panelBytesPerRow())) : pointer);
    }
  }

  /// The same, as two loops with i and panel as values: the road for operands that are not aligned stays short.
  static void loopOverChunks(const Emit &e, const Walk &walk, const GlobalTile &tile,
                             function_ref<void(Value, Value, Value)> chunk) {
    Value zero = e.i32(0), one = e.i32(1);
    Value first = tile.firstChunk(e);
    scf::ForOp::create(e.b, e.loc, zero, e.i32(walk.numRows), one, ValueRange(),
                       [&](OpBuilder &b, Location loc, Value i, ValueRange) {
                         Value down = e.mul(tile.rowBytes, e.toI64(e.mul(i, walk.rowStep)));
                         Value pointer = e.offset(first, down);
                         scf::ForOp::create(b, loc, zero, e.i32(walk.layout.panels()), one, ValueRange(),
                                            [&](OpBuilder &b, Location loc, Value p, ValueRange) {
                                              Value right = e.toI64(e.mul(p, walk.layout.panelBytesPerRow()));
                                              chunk(i, p, e.offset(pointer, right));
                                              scf::YieldOp::create(b, loc);
                                            });
                         scf::YieldOp::create(b, loc);
                       });
  }

  static void onlyIf(const Emit &e, Value condition, function_ref<void()> body) {
    if (!condition)
      return body();
    scf::IfOp::create(e.b, e.loc, condition, [&](OpBuilder &b, Location loc) {
      body();
      scf::YieldOp::create(b, loc);
    });
  }

  static void byAlignment(const Emit &e, Value aligned, function_ref<void()> chunks, function_ref<void()> elements) {
    auto branch = [](function_ref<void()> body) {
      return [body](OpBuilder &b, Location loc) {
        body();
        scf::YieldOp::create(b, loc);
      };
    };
    scf::IfOp::create(e.b, e.loc, aligned, branch(chunks), branch(elements));
  }

  static VectorType chunkType(const Emit &e, const Walk &walk) {
    return VectorType::get({kChunkBytes / walk.elementBytes}, e.b.getIntegerType(walk.elementBytes * 8));
  }

  static void fill(const Emit &e, const Walk &walk, const GlobalTile &tile, Value buf) {
    SharedAddress address = e.splitOffset(buf);
    Value slot = e.add(address.value, walk.sharedOffset);
    Value rowsLeft = e.sub(tile.rows, walk.row); // from the thread's first row on
    auto chunks = [&] {
      forEachChunk(e, walk, tile, [&](int64_t i, int64_t p, Value pointer) {
        onlyIf(e, walk.isInTile(e, i), [&] {
          Value exists = e.less(e.i32(i * walk.rowStep), rowsLeft);
          exists = both(e, exists, columnExists(e, walk, p));
          NVVM::CpAsyncOp::create(e.b, e.loc, e.shared(slot, address.offset + walk.sharedConstant(i, p)), pointer,
                                  int32_t(kChunkBytes), NVVM::LoadCacheModifierKind::CG,
                                  e.select(exists, e.i32(kChunkBytes), e.i32(0)));
        });
      });
    };
    auto elements = [&] {
      loopOverChunks(e, walk, tile, [&](Value i, Value p, Value pointer) {
        Value down = e.mul(i, walk.rowStep);
        VectorType type = chunkType(e, walk);
        Value exists = e.bitAnd(e.less(down, rowsLeft), e.less(walk.columnIn(e, p), e.i32(walk.columns)));
        auto read = scf::IfOp::create(
            e.b, e.loc, exists,
            [&](OpBuilder &b, Location loc) {
              SmallVector<Value> values;
              for (int64_t j = 0; j < type.getNumElements(); ++j)
                values.push_back(LLVM::LoadOp::create(
                    b, loc, type.getElementType(), e.offset(pointer, e.i64(j * walk.elementBytes)), walk.elementBytes));
              scf::YieldOp::create(b, loc, e.pack(values));
            },
            [&](OpBuilder &b, Location loc) {
              Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
              scf::YieldOp::create(b, loc, zero);
            });
        onlyIf(e, walk.isInTile(e, down), [&] {
          LLVM::StoreOp::create(e.b, e.loc, read.getResult(0),
                                e.shared(walk.sharedAddress(e, slot, down, p), address.offset), kChunkBytes);
        });
      });
    };
    byAlignment(e, tile.m.aligned, chunks, elements);
  }

  static void drain(const Emit &e, const Walk &walk, const GlobalTile &tile, Value buf) {
    Value slot = e.add(buf, walk.sharedOffset);
    Value rowsLeft = e.sub(tile.rows, walk.row);
    auto chunks = [&] {
      auto wide = VectorType::get({4}, e.b.getI32Type());
      SmallVector<Value> values; // all loads first: they overlap
      for (int64_t i = 0; i < walk.numRows; ++i)
        for (int64_t p = 0; p < walk.layout.panels(); ++p)
          values.push_back(
              LLVM::LoadOp::create(e.b, e.loc, wide, e.shared(slot, walk.sharedConstant(i, p)), kChunkBytes));
      forEachChunk(e, walk, tile, [&](int64_t i, int64_t p, Value pointer) {
        Value exists = both(e, e.less(e.i32(i * walk.rowStep), rowsLeft), columnExists(e, walk, p));
        onlyIf(e, both(e, exists, walk.isInTile(e, i)),
               [&] { LLVM::StoreOp::create(e.b, e.loc, values[i * walk.layout.panels() + p], pointer, kChunkBytes); });
      });
    };
    auto elements = [&] {
      loopOverChunks(e, walk, tile, [&](Value i, Value p, Value pointer) {
        Value down = e.mul(i, walk.rowStep);
        Value exists = e.bitAnd(e.less(down, rowsLeft), e.less(walk.columnIn(e, p), e.i32(walk.columns)));
        onlyIf(e, both(e, exists, walk.isInTile(e, down)), [&] {
          VectorType type = chunkType(e, walk);
          Value chunk =
              LLVM::LoadOp::create(e.b, e.loc, type, e.shared(walk.sharedAddress(e, slot, down, p), 0), kChunkBytes);
          for (auto [j, value] : llvm::enumerate(e.unpack(chunk)))
            LLVM::StoreOp::create(e.b, e.loc, value, e.offset(pointer, e.i64(j * walk.elementBytes)),
                                  walk.elementBytes);
        });
      });
    };
    byAlignment(e, tile.m.aligned, chunks, elements);
  }
};
} // namespace

LogicalResult attn::nvvm::checkCpAsyncCopy(Operation *op) {
  auto copy = dyn_cast<CopyOp>(op);
  if (!copy)
    return success();
  Type source = copy.getSource().getType(), dest = copy.getDest().getType();
  if (isa<MemRefType>(source) && isa<BufType>(dest) && copy.getVia() == Transport::CpAsync)
    return checkTile(copy, cast<BufType>(dest), cast<MemRefType>(source), groupWarps(op) * kWarpLanes);
  if (isa<BufType>(source) && isa<MemRefType>(dest) && copy.getVia() == Transport::Vector)
    return checkTile(copy, cast<BufType>(source), cast<MemRefType>(dest), groupWarps(op) * kWarpLanes);
  return copy.emitOpError("on this family goes from a memref to a buf via cp_async or from a buf to a memref via "
                          "vector, got ")
         << source << " to " << dest << " via " << stringifyTransport(copy.getVia());
}

void attn::nvvm::populateCpAsyncCopyPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<CopyLowering>(types, kernels, patterns.getContext());
}
