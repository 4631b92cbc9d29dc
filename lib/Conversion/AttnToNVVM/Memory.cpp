//===- Memory.cpp - loads and stores of registers
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What does not go through copies: row values such as LSE, and captured operands of regions (element by element, with
// the indices the region computed).
//
//===----------------------------------------------------------------------===//

#include "InlineAsm.h"

#include "attn/Analysis/Swizzle.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
/// One element; an i1 is stored as a byte.
Value loadElement(const Emit &e, const MemRef &m, Value pointer) {
  Type type = m.type.getElementType();
  const bool isBool = type.isInteger(1);
  Value v = LLVM::LoadOp::create(e.b, e.loc, isBool ? e.b.getI8Type() : type, pointer, m.elementBytes());
  if (!isBool)
    return v;
  Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getI8IntegerAttr(0));
  return arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::ne, v, zero);
}

/// Where the elements of a fragment lie in a memref, in the last dimensions of which the tile starts at `at`.
struct Elements {
  MemRef m;
  Fragment f;
  Value base;          ///< ptr<1> to row 0, column 0 of the memref at the leading coordinates
  Value row, column;   ///< i32, of element 0 in the memref; null if the fragment has no such dimension
  Value first;         ///< i32, the tile's first column, likewise
  Value rows, columns; ///< i32, how many exist
  Value rowStride;     ///< i64, elements

  Elements(const Emit &e, MemRef memref, RankedTensorType tile, ValueRange at, const KernelState &state)
      : m(std::move(memref)), f(Fragment::of(tile)) {
    int64_t rank = m.type.getRank(), leading = rank - tile.getRank();
    base = e.offset(m.ptr, elementOffset(e, m, at.take_front(leading)));
    auto start = [&](int64_t dim) { return dim < int64_t(at.size()) ? at[dim] : e.i32(0); };
    if (f.form != Fragment::Form::Cols) {
      row = e.add(start(leading), state.row(e, f));
      rows = m.sizes[leading];
      rowStride = f.form == Fragment::Form::Rows ? e.i64(1) : m.strides[leading];
    }
    if (f.form != Fragment::Form::Rows) {
      first = start(rank - 1);
      column = e.add(first, state.column(e, f));
      columns = m.sizes[rank - 1];
    }
  }

  Value exists(const Emit &e, int64_t i) const {
    Value yes;
    if (row)
      yes = e.less(e.add(row, f.rowOffset(i)), rows);
    if (column) {
      Value c = e.less(e.add(column, f.colOffset(i)), columns);
      yes = yes ? e.bitAnd(yes, c) : c;
    }
    return yes;
  }
  Value pointer(const Emit &e, int64_t i) const {
    Value index = e.i64(0);
    if (row)
      index = e.mul(e.toI64(e.add(row, f.rowOffset(i))), rowStride);
    if (column)
      index = e.add(index, e.toI64(e.add(column, f.colOffset(i))));
    return e.offset(base, e.mul(index, e.i64(m.elementBytes())));
  }
};

/// Row values and whole tiles, element by element. (Into a buf: WordStores.cpp, MatrixStores.cpp.)
struct StoreLowering : Lowering<StoreOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isa<MemRefType>(op.getDest().getType()) || op.getRaw())
      return rewriter.notifyMatchFailure(op, "goes to a buf, or not in rows");
    Emit e{rewriter, op.getLoc()};
    const KernelState &state = kernels.of(op);
    MemRef m = MemRef::get(op.getDest().getType(), adaptor.getDest());
    Elements to(e, m, op.getValue().getType(), flat(adaptor.getAt()), state);
    storeGlobal(e, state, to, only(adaptor.getValue()));
    rewriter.eraseOp(op);
    return success();
  }

  /// The same without a branch.
  static void storeUnder(const Emit &e, Value condition, Value element, Value pointer) {
    int64_t bits = element.getType().getIntOrFloatBitWidth();
    InlineAsm store(e);
    std::string value = store.use(LLVM::BitcastOp::create(e.b, e.loc, e.b.getIntegerType(bits), element));
    store << "@" + store.use(condition) + " st.global.b" + Twine(bits) + " [" + store.use(pointer) + "], " + value +
                 ";";
    store.build();
  }

  static void storeGlobal(const Emit &e, const KernelState &state, const Elements &to, Value value) {
    // Lanes of a quad hold the same rows; one of them writes.
    Value writer;
    if (to.f.form == Fragment::Form::Rows)
      writer = e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::eq, e.rem(state.lane, 4), e.i32(0));
    else if (to.f.form == Fragment::Form::Cols)
      writer = e.less(state.thread, e.i32(4)); // row 0 of warp 0: lanes 0-3 hold all columns
    for (auto [i, element] : llvm::enumerate(e.unpack(value))) {
      Value condition = to.exists(e, i);
      if (writer)
        condition = e.bitAnd(condition, writer);
      if (state.uniformBranches) {
        storeUnder(e, condition, element, to.pointer(e, i));
        continue;
      }
      scf::IfOp::create(e.b, e.loc, condition, [&, i = i, element = element](OpBuilder &b, Location loc) {
        LLVM::StoreOp::create(b, loc, element, to.pointer(e, i), to.m.elementBytes());
        scf::YieldOp::create(b, loc);
      });
    }
  }
};

/// From a memref into a fragment, element by element; what does not exist reads 0 (of an address that does).
struct LoadLowering : Lowering<LoadOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isa<MemRefType>(op.getSource().getType()) || op.getRaw())
      return rewriter.notifyMatchFailure(op, "comes from a buf, or not in rows");
    Emit e{rewriter, op.getLoc()};
    MemRef m = MemRef::get(op.getSource().getType(), adaptor.getSource());
    RankedTensorType tile = op.getResult().getType();
    Elements from(e, m, tile, flat(adaptor.getAt()), kernels.of(op));
    rewriter.replaceOp(op, comesInPairs(from) ? loadByPairs(e, from) : loadElements(e, from));
    return success();
  }

  static Value loadElements(const Emit &e, const Elements &from) {
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(from.m.type.getElementType()));
    SmallVector<Value> values;
    for (int64_t i = 0; i < from.f.size(); ++i) {
      Value exists = from.exists(e, i);
      Value v = loadElement(e, from.m, e.select(exists, from.pointer(e, i), from.base));
      values.push_back(e.select(exists, v, zero));
    }
    return e.pack(values);
  }

  /// A lane's columns are neighbours, two by two.
  static bool comesInPairs(const Elements &from) {
    return from.f.form == Fragment::Form::Cols && from.m.type.getElementTypeBitWidth() == 32;
  }

  /// Of a tile that is all there, in a memref of aligned rows (uniform: how every whole tile of a workspace is): a load
  /// a pair, one address. A tile begins at a multiple of its size, so its pairs are aligned as its rows are.
  static Value loadByPairs(const Emit &e, const Elements &from) {
    Value last = e.add(from.first, from.f.cols - 1);
    Value whole = e.bitAnd(from.m.aligned, e.less(last, from.columns));
    whole = e.bitAnd(whole, e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::eq,
                                                            e.rem(from.first, kChunkBytes / 4), e.i32(0)));
    Type element = from.m.type.getElementType();
    auto pairs = [&](OpBuilder &b, Location loc) {
      Value pointer = from.pointer(e, 0);
      SmallVector<Value> values;
      for (int64_t i = 0; i < from.f.size(); i += 2) {
        Value at = e.offset(pointer, e.i64((from.f.colOffset(i) - from.f.colOffset(0)) * from.m.elementBytes()));
        llvm::append_range(values, e.unpack(LLVM::LoadOp::create(b, loc, VectorType::get({2}, element), at, 8)));
      }
      scf::YieldOp::create(b, loc, e.pack(values));
    };
    // The rare case takes one address at a time.
    auto elements = [&](OpBuilder &b, Location loc) {
      Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
      SmallVector<Value> values;
      for (int64_t i = 0; i < from.f.size(); ++i) {
        auto load = [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, loadElement(e, from.m, from.pointer(e, i)));
        };
        auto none = [&](OpBuilder &b, Location loc) { scf::YieldOp::create(b, loc, zero); };
        values.push_back(scf::IfOp::create(b, loc, from.exists(e, i), load, none).getResult(0));
      }
      scf::YieldOp::create(b, loc, e.pack(values));
    };
    return scf::IfOp::create(e.b, e.loc, whole, pairs, elements).getResult(0);
  }
};

/// Indices are clamped into range. Scalars and fragments may mix; all-scalar indices give a scalar.
///
/// Element by element, address and load: a step at a time for all elements would hold an address of two registers for
/// each of them.
struct GatherLowering : Lowering<GatherOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(GatherOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    MemRef m = MemRef::get(op.getSource().getType(), adaptor.getSource());
    auto bytes = [&](int64_t dim, Value at) {
      Value clamped = arith::MinSIOp::create(e.b, e.loc, at, e.add(m.sizes[dim], -1));
      clamped = arith::MaxSIOp::create(e.b, e.loc, clamped, e.i32(0));
      bool last = dim + 1 == m.type.getRank();
      return e.mul(e.toI64(clamped), last ? e.i64(m.elementBytes()) : e.mul(m.strides[dim], e.i64(m.elementBytes())));
    };
    Value base = m.ptr;
    SmallVector<std::pair<int64_t, SmallVector<Value>>> varying; // a dimension, its indices
    for (auto [dim, at] : llvm::enumerate(flat(adaptor.getAt()))) {
      if (isa<VectorType>(at.getType()))
        varying.push_back({dim, e.unpack(at)});
      else
        base = e.offset(base, bytes(dim, at));
    }
    if (varying.empty()) {
      rewriter.replaceOp(op, loadElement(e, m, base));
      return success();
    }
    SmallVector<Value> values;
    for (size_t i = 0; i < varying.front().second.size(); ++i) {
      Value pointer = base;
      for (auto &[dim, indices] : varying)
        pointer = e.offset(pointer, bytes(dim, indices[i]));
      values.push_back(loadElement(e, m, pointer));
    }
    rewriter.replaceOp(op, e.pack(values));
    return success();
  }
};

/// A captured scalar per head or batch, at indices that are in range.
struct ScalarLoadLowering : Lowering<memref::LoadOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(memref::LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    MemRef m = MemRef::get(op.getMemRefType(), adaptor.getMemref());
    Value pointer = e.offset(m.ptr, elementOffset(e, m, flat(adaptor.getIndices())));
    rewriter.replaceOp(op, loadElement(e, m, pointer));
    return success();
  }
};
} // namespace

LogicalResult attn::nvvm::checkMemory(Operation *op) {
  auto sameElement = [&](Type memref, Type tile) -> LogicalResult {
    Type expected = getElementTypeOrSelf(tile), got = getElementTypeOrSelf(memref);
    if (expected == got)
      return success();
    return op->emitOpError("expects a memref of ") << expected << ", got " << got;
  };
  if (auto store = dyn_cast<StoreOp>(op)) {
    RankedTensorType tile = store.getValue().getType();
    if (isa<MemRefType>(store.getDest().getType())) {
      if (tile.getElementType().isInteger(1))
        return op->emitOpError("has no lowering for i1");
      return sameElement(store.getDest().getType(), tile);
    }
    if (Fragment::of(tile).form != Fragment::Form::Tile || tile.getElementTypeBitWidth() != 16)
      return op->emitOpError("to shared memory expects a 16-bit tile, got ") << tile;
  }
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (isa<BufType>(load.getSource().getType()))
      return success(); // a family's own
    return sameElement(load.getSource().getType(), load.getResult().getType());
  }
  if (auto gather = dyn_cast<GatherOp>(op))
    if (!isa<MemRefType>(gather.getSource().getType()))
      return op->emitOpError("expects a memref in a kernel, got ") << gather.getSource().getType();
  return success();
}

void attn::nvvm::populateMemoryPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<StoreLowering, LoadLowering, GatherLowering, ScalarLoadLowering>(types, kernels, patterns.getContext());
}
