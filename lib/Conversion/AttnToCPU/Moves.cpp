//===- Moves.cpp - tiles from and to global memory
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses are 64-bit index arithmetic on the strides of the memref. What lies past the end of a dimension is never
// touched: it reads as 0 and is not written.
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

namespace {
/// Where a tile of the last one or two dimensions begins, and how much of it exists.
struct Window {
  OpBuilder &b;
  Location loc;
  Value memref;
  SmallVector<Value> start; ///< One index for each dimension.

  Window(OpBuilder &b, Location loc, Value memref, ValueRange at, IRMapping &scalars)
      : b(b), loc(loc), memref(scalars.lookup(memref)) {
    for (Value coordinate : at)
      start.push_back(arith::IndexCastOp::create(b, loc, b.getIndexType(), scalars.lookup(coordinate)));
    while (start.size() < (size_t)getType().getRank())
      start.push_back(index(0));
  }

  MemRefType getType() const { return cast<MemRefType>(memref.getType()); }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

  /// How many of `wanted` elements from the start exist in the dimension `fromLast` (0: the last).
  Value getExtent(int64_t fromLast, int64_t wanted) {
    int64_t dim = getType().getRank() - 1 - fromLast;
    Value size = memref::DimOp::create(b, loc, memref, dim);
    Value left = arith::SubIOp::create(b, loc, size, start[dim]);
    Value some = arith::MaxSIOp::create(b, loc, left, index(0));
    return arith::MinSIOp::create(b, loc, some, index(wanted));
  }
  /// Indices of element (row, column) of the tile; no row for a rank-1 tile.
  SmallVector<Value> at(Value row, Value column) {
    SmallVector<Value> indices = start;
    indices.back() = arith::AddIOp::create(b, loc, indices.back(), column);
    if (row) {
      Value &outer = indices[indices.size() - 2];
      outer = arith::AddIOp::create(b, loc, outer, row);
    }
    return indices;
  }
  Value add(Value at, int64_t by) { return by ? Value(arith::AddIOp::create(b, loc, at, index(by))) : at; }
  /// `extent` without what is left over from blocks of `block`, a power of two.
  Value wholeBlocks(Value extent, int64_t block) { return arith::AndIOp::create(b, loc, extent, index(-block)); }
  void forEach(Value from, Value to, int64_t step, llvm::function_ref<void(Value)> body) {
    auto loop = scf::ForOp::create(b, loc, from, to, index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
};
} // namespace

static Value widen(OpBuilder &b, Location loc, Value x) {
  Type element = getElementTypeOrSelf(x.getType());
  auto like = [&](Type wide) {
    auto vector = dyn_cast<VectorType>(x.getType());
    return vector ? Type(vector.clone(wide)) : wide;
  };
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, loc, like(getStorageType(element)), x);
  Type wide = getComputeType(element);
  return wide == element ? x : Value(arith::ExtFOp::create(b, loc, like(wide), x));
}

/// n vectors of n elements become their columns: log2 n rounds in which vectors i and i + n / 2 are interleaved.
///   a0 a1 | b0 b1   ->   a0 b0 | a1 b1
static SmallVector<Value> transpose(OpBuilder &b, Location loc, SmallVector<Value> rows) {
  int64_t n = rows.size();
  for (int64_t round = 1; round < n; round *= 2) {
    SmallVector<Value> next;
    for (int64_t i = 0; i < n / 2; ++i) {
      Value both = vector::InterleaveOp::create(b, loc, rows[i], rows[i + n / 2]);
      for (int64_t half : {int64_t(0), n})
        next.push_back(vector::ExtractStridedSliceOp::create(b, loc, both, half, n, 1));
    }
    rows = std::move(next);
  }
  return rows;
}

/// Edge of the square blocks in which a tile is transposed on its way to or from memory with `columns` columns.
static int64_t getBlock(int64_t rows, int64_t columns, int64_t lanes) {
  if (ShapedType::isDynamic(columns))
    return 1;
  while (rows % lanes || columns % lanes)
    lanes /= 2;
  return lanes;
}

LogicalResult KernelLowering::lowerLoad(LoadOp load) {
  if (load.getRaw())
    return load.emitOpError("is not supported on the CPU: no order of threads is there, in which a raw tile would lie");
  Location loc = load.getLoc();
  RankedTensorType type = load.getResult().getType();
  ArrayRef<int64_t> shape = type.getShape();
  Window from(b, loc, load.getSource(), load.getAt(), scalars);
  Type element = from.getType().getElementType();
  bool onlySecondOperand = type.getRank() == 2 && llvm::all_of(load.getResult().getUses(), [](OpOperand &use) {
                             auto dot = dyn_cast<DotOp>(use.getOwner());
                             return dot && use.getOperandNumber() == 1;
                           });
  Buffer *into = acquire(type, onlySecondOperand);
  bind(load.getResult(), into);
  Value memref = into->memref;
  Value c0 = from.index(0);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(getStorageType(element)));

  if (type.getRank() == 1) {
    Value valid = from.getExtent(0, shape[0]);
    from.forEach(c0, valid, 1, [&](Value i) {
      Value x = memref::LoadOp::create(b, loc, from.memref, from.at({}, i));
      memref::StoreOp::create(b, loc, widen(b, loc, x), memref, i);
    });
    from.forEach(valid, from.index(shape[0]), 1, [&](Value i) { memref::StoreOp::create(b, loc, zero, memref, i); });
    return success();
  }

  Value validRows = from.getExtent(1, shape[0]), validColumns = from.getExtent(0, shape[1]);
  Value rows = from.index(shape[0]), columns = from.index(shape[1]);
  auto place = [&](Value row, Value column) {
    return into->rowMajor ? SmallVector<Value>{row, column} : SmallVector<Value>{column, row};
  };
  auto fill = [&](Value row0, Value row1, Value column0, Value column1) {
    from.forEach(row0, row1, 1, [&](Value row) {
      from.forEach(column0, column1, 1,
                   [&](Value column) { memref::StoreOp::create(b, loc, zero, memref, place(row, column)); });
    });
  };
  // Whole vectors where the number of columns is known.
  int64_t known = std::min(from.getType().getShape().back(), shape[1]); // Negative if dynamic.
  bool fromFirst = load.getAt().size() < (size_t)from.getType().getRank();
  int64_t width = known > 0 && fromFirst ? getBlock(shape[0], known, machine.lanes) : 1;
  auto vector = VectorType::get({width}, element);
  auto read = [&](Value row, Value column) -> Value {
    return widen(b, loc, vector::LoadOp::create(b, loc, vector, from.memref, from.at(row, column)));
  };
  auto copyElement = [&](Value row, Value column) {
    Value x = memref::LoadOp::create(b, loc, from.memref, from.at(row, column));
    memref::StoreOp::create(b, loc, widen(b, loc, x), memref, place(row, column));
  };
  Value done = c0;
  if (into->rowMajor && width > 1) {
    from.forEach(c0, validRows, 1, [&](Value row) {
      from.forEach(c0, validColumns, width, [&](Value column) {
        vector::StoreOp::create(b, loc, read(row, column), memref, ValueRange{row, column});
      });
    });
    done = validRows;
  } else if (width > 1) {
    done = from.wholeBlocks(validRows, width);
    from.forEach(c0, done, width, [&](Value row) {
      from.forEach(c0, validColumns, width, [&](Value column) {
        SmallVector<Value> block;
        for (int64_t i = 0; i < width; ++i)
          block.push_back(read(from.add(row, i), column));
        for (auto [i, lanes] : llvm::enumerate(transpose(b, loc, block)))
          vector::StoreOp::create(b, loc, lanes, memref, ValueRange{from.add(column, i), row});
      });
    });
  }
  from.forEach(done, validRows, 1,
               [&](Value row) { from.forEach(c0, validColumns, 1, [&](Value column) { copyElement(row, column); }); });
  fill(validRows, rows, c0, columns);
  if (known != shape[1]) // The padding of the head dimension.
    fill(c0, validRows, validColumns, columns);
  return success();
}

LogicalResult KernelLowering::lowerStore(StoreOp store) {
  if (store.getAdd() || store.getRaw())
    return store.emitOpError("is not supported on the CPU: nothing is added up across tiles there");
  Location loc = store.getLoc();
  auto type = cast<RankedTensorType>(store.getValue().getType());
  ArrayRef<int64_t> shape = type.getShape();
  Window into(b, loc, store.getDest(), store.getAt(), scalars);
  Type element = into.getType().getElementType();
  Buffer *buffer = getBuffer(store.getValue(), loc);
  Value from = buffer->memref;
  Value c0 = into.index(0);
  auto copy = [&](ValueRange source, SmallVector<Value> dest) {
    Value x = memref::LoadOp::create(b, loc, from, source);
    if (element.isInteger(1))
      x = arith::TruncIOp::create(b, loc, element, x);
    memref::StoreOp::create(b, loc, emitNarrow(b, loc, x, element), into.memref, dest);
  };
  if (type.getRank() == 1) {
    into.forEach(c0, into.getExtent(0, shape[0]), 1, [&](Value i) { copy(i, into.at({}, i)); });
    return success();
  }
  Value validRows = into.getExtent(1, shape[0]), validColumns = into.getExtent(0, shape[1]);
  int64_t known = std::min(into.getType().getShape().back(), shape[1]);
  bool fromFirst = store.getAt().size() < (size_t)into.getType().getRank();
  int64_t width = known > 0 && fromFirst && !buffer->rowMajor && !element.isInteger(1)
                      ? getBlock(shape[0], known, machine.lanes)
                      : 1;
  Value done = c0;
  if (width > 1) {
    done = into.wholeBlocks(validRows, width);
    auto vector = VectorType::get({width}, getStorageType(element));
    into.forEach(c0, done, width, [&](Value row) {
      into.forEach(c0, validColumns, width, [&](Value column) {
        SmallVector<Value> block;
        for (int64_t i = 0; i < width; ++i)
          block.push_back(vector::LoadOp::create(b, loc, vector, from, ValueRange{into.add(column, i), row}));
        for (auto [i, lanes] : llvm::enumerate(transpose(b, loc, block)))
          vector::StoreOp::create(b, loc, emitNarrow(b, loc, lanes, element), into.memref,
                                  into.at(into.add(row, i), column));
      });
    });
  }
  into.forEach(done, validRows, 1, [&](Value row) {
    into.forEach(c0, validColumns, 1, [&](Value column) {
      copy(buffer->rowMajor ? ValueRange{row, column} : ValueRange{column, row}, into.at(row, column));
    });
  });
  return success();
}
