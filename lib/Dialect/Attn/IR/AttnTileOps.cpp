//===- AttnTileOps.cpp - verifiers of the tile level
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules carry the letter of their op and a number (L load, S store, D dot, E reduce, P spread, O coord, M mask, K
// pack);
// @<op>_<rule> in test/Dialect/Attn/IR/tile-ops-errors.mlir breaks it. Encodings are checked wherever two tiles meet:
// up to `mapped` nobody has one, inside a role everybody has.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include "attn/Facts/Facts.h"

using namespace mlir;
using namespace attn;

/// What a tile or buf holds: shape and element type.
static RankedTensorType contents(Value value) {
  if (auto buf = dyn_cast<BufType>(value.getType()))
    return buf.getTile();
  return cast<RankedTensorType>(value.getType());
}

static FragAttr fragOf(RankedTensorType tile) { return dyn_cast_or_null<FragAttr>(tile.getEncoding()); }

/// The form of a fragment; a tile without encoding has the form its rank suggests.
static Form formOf(RankedTensorType tile) {
  if (FragAttr frag = fragOf(tile))
    return frag.getForm();
  return tile.getRank() == 1 ? Form::Rows : Form::Tile;
}

/// Whether two tiles belong to the same level and, as fragments, to the same warps.
static bool sameWarps(RankedTensorType a, RankedTensorType b) {
  FragAttr x = fragOf(a), y = fragOf(b);
  if (!x || !y)
    return a.getEncoding() == b.getEncoding();
  return x.getWarpsM() == y.getWarpsM() && x.getWarpsN() == y.getWarpsN();
}

//===----------------------------------------------------------------------===//
// Moving tiles
//===----------------------------------------------------------------------===//

/// `memory` is read or written at `coordinates` as `tile`; rules numbered alike for load (L) and store (S).
static LogicalResult verifyAccess(Operation *op, Value memory, ValueRange coordinates, RankedTensorType tile) {
  if (tile.getRank() < 1 || tile.getRank() > 2) // 1
    return op->emitOpError() << "moves tiles of rank 1 or 2, got " << tile;
  if (auto buf = dyn_cast<BufType>(memory.getType())) {
    if (!coordinates.empty()) // 2
      return op->emitOpError() << "takes no coordinates into a buf, got " << coordinates.size();
    if (buf.getTile().getShape() != tile.getShape() || buf.getTile().getElementType() != tile.getElementType()) // 3
      return op->emitOpError() << "expects the tile the buf holds, " << buf.getTile() << ", got " << tile;
    return success();
  }

  auto memref = cast<MemRefType>(memory.getType());
  int64_t leading = memref.getRank() - tile.getRank(), given = coordinates.size();
  if (leading < 0 || given < leading || given > memref.getRank()) // 2
    return op->emitOpError() << "expects a coordinate for each leading dimension of " << memref << " and at most one a "
                             << "dimension, got " << given << " for a tile of rank " << tile.getRank();
  if (memref.getElementType() != tile.getElementType()) // 3
    return op->emitOpError() << "expects a tile of " << memref.getElementType() << ", got " << tile;
  // Without a coordinate a dimension is taken whole: a narrower tile would drop its end.
  for (int64_t i = given; i < memref.getRank(); ++i) // 4
    if (!memref.isDynamicDim(i) && memref.getDimSize(i) > tile.getDimSize(i - leading))
      return op->emitOpError() << "takes dimension " << i << " whole, " << memref.getDimSize(i)
                               << " elements, but the tile has " << tile.getDimSize(i - leading);
  return success();
}

/// Elements in the order threads hold them, in whole blocks of rows: L5, S5.
static LogicalResult verifyRaw(Operation *op, Value memory, ValueRange coordinates, RankedTensorType tile) {
  int64_t rows = facts::kGroupRows;
  if (!isa<MemRefType>(memory.getType()) || !tile.getElementType().isF32() || tile.getRank() != 2 ||
      tile.getDimSize(0) % rows ||
      static_cast<int64_t>(coordinates.size()) + 1 < cast<MemRefType>(memory.getType()).getRank())
    return op->emitOpError() << "is raw, so it expects " << rows
                             << " rows of f32 or a multiple, at a row of a memref; got " << tile << " at "
                             << coordinates.size() << " coordinates of " << memory.getType();
  return success();
}

LogicalResult LoadOp::verify() {
  auto tile = cast<RankedTensorType>(getResult().getType());
  if (getRaw() && failed(verifyRaw(*this, getSource(), getAt(), tile)))
    return failure();
  return verifyAccess(*this, getSource(), getAt(), tile);
}
LogicalResult StoreOp::verify() {
  auto tile = cast<RankedTensorType>(getValue().getType());
  if (getAdd() && (!isa<MemRefType>(getDest().getType()) || !tile.getElementType().isF32())) // S6
    return emitOpError() << "adds f32 into a memref, got " << tile << " into " << getDest().getType();
  if (getRaw() && failed(verifyRaw(*this, getDest(), getAt(), tile)))
    return failure();
  return verifyAccess(*this, getDest(), getAt(), tile);
}

//===----------------------------------------------------------------------===//
// Computing on tiles
//===----------------------------------------------------------------------===//

RankedTensorType DotOp::getTile() {
  if (auto pending = dyn_cast<PendingType>(getResult().getType()))
    return pending.getTile();
  return cast<RankedTensorType>(getResult().getType());
}

/// Whether one pair of operands makes an m x n sum: D1.
static LogicalResult verifyPair(DotOp op, RankedTensorType a, RankedTensorType b, RankedTensorType c) {
  if (a.getRank() != 2 || b.getRank() != 2 || c.getRank() != 2)
    return op.emitOpError() << "expects tiles of rank 2, got " << a << ", " << b << " and " << c;
  bool transA = op.getTransA(), transB = op.getTransB();
  int64_t m = a.getDimSize(transA ? 1 : 0), k = a.getDimSize(transA ? 0 : 1);
  int64_t bk = b.getDimSize(transB ? 1 : 0), n = b.getDimSize(transB ? 0 : 1);
  if (k != bk)
    return op.emitOpError() << "multiplies " << m << "x" << k << (transA ? " (a is stored transposed)" : "") << " by "
                            << bk << "x" << n << (transB ? " (b is stored transposed)" : "")
                            << "; the inner sizes differ";
  if (c.getDimSize(0) != m || c.getDimSize(1) != n)
    return op.emitOpError() << "expects a result of " << m << "x" << n << ", got " << c;
  return success();
}

LogicalResult DotOp::verify() {
  RankedTensorType a = contents(getA()), b = contents(getB()), c = getTile();
  if (getAsync() != isa<PendingType>(getResult().getType())) // D8
    return emitOpError() << (getAsync() ? "is async, so its result is pending; got "
                                        : "is not async, so its result is a tile; got ")
                         << getResult().getType();
  if (failed(verifyPair(*this, a, b, c)))
    return failure();
  if (getA2() && (failed(verifyPair(*this, contents(getA2()), contents(getB2()), c))))
    return failure();
  if (a.getElementType() != b.getElementType()) // D4
    return emitOpError() << "expects a and b of one element type, got " << a.getElementType() << " and "
                         << b.getElementType();
  if (!c.getElementType().isF32()) // D5
    return emitOpError() << "accumulates in f32, got a result of " << c.getElementType();
  if (getAcc() && getAcc().getType() != c) // D6
    return emitOpError() << "expects acc and result of one type, got " << getAcc().getType() << " and " << c;
  // D7: with fragments B comes from shared memory, and A has the result's warps
  if (isa<RankedTensorType>(getA().getType()) && !sameWarps(a, c))
    return emitOpError() << "expects a and result on the same warps, got " << a << " and " << c;
  for (Value operand : {getB(), getB2()})
    if (operand && c.getEncoding() && !isa<BufType>(operand.getType()))
      return emitOpError() << "expects b in a buf once the result is a fragment, got " << operand.getType();
  if (getTransA() && a.getEncoding()) // D9
    return emitOpError() << "reads a transposed, which needs it in memory; got " << getA().getType();
  return success();
}

LogicalResult ReduceOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), result = cast<RankedTensorType>(getResult().getType());
  if (x.getRank() != 2) // E1
    return emitOpError() << "reduces the rows of a tile of rank 2, got " << x;
  if (x.getElementType() != result.getElementType() || !x.getElementType().isF32()) // E2
    return emitOpError() << "reduces f32 to f32, got " << x << " and " << result;
  if (result.getDimSize(0) != x.getDimSize(0)) // E3
    return emitOpError() << "expects a value for each of the " << x.getDimSize(0) << " rows, got " << result;
  // E4: tile -> rows, tile -> quads, quads -> rows
  Form form = formOf(result);
  bool toQuads = form == Form::Quads && formOf(x) == Form::Tile;
  if (!(result.getRank() == 1 && form == Form::Rows) && !toQuads)
    return emitOpError() << "reduces a tile to rows or quads, and quads to rows; got " << x << " to " << result;
  if (!sameWarps(x, result)) // E5
    return emitOpError() << "expects operand and result on the same warps, got " << x << " and " << result;
  return success();
}

LogicalResult SpreadOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), result = cast<RankedTensorType>(getResult().getType());
  int64_t along = getDim();
  if (x.getRank() != 1 || result.getRank() != 2) // P1
    return emitOpError() << "spreads a value of rank 1 over a tile of rank 2, got " << x << " and " << result;
  if (along != 0 && along != 1) // P2
    return emitOpError() << "spreads along 0 or 1, got " << along;
  if (x.getElementType() != result.getElementType()) // P3
    return emitOpError() << "expects one element type, got " << x << " and " << result;
  if (x.getDimSize(0) != result.getDimSize(1 - along)) // P4
    return emitOpError() << "spreads " << x.getDimSize(0) << " values along " << along << ", so the result needs "
                         << x.getDimSize(0) << (along ? " rows" : " columns") << "; got " << result;
  if (!sameWarps(x, result)) // P5
    return emitOpError() << "expects operand and result on the same warps, got " << x << " and " << result;
  if (x.getEncoding() && formOf(x) != (along ? Form::Rows : Form::Cols)) // P6
    return emitOpError() << "spreads " << (along ? "rows" : "cols") << " along " << along << ", got " << x;
  return success();
}

LogicalResult CoordOp::verify() {
  auto result = cast<RankedTensorType>(getResult().getType());
  if (result.getRank() < 1 || result.getRank() > 2 || !result.getElementType().isInteger(32)) // O1
    return emitOpError() << "makes a tile of i32 of rank 1 or 2, got " << result;
  // Along 1 a value of rank 1 counts columns: it is the row of a tile that all its rows share.
  if (int64_t along = getDim(); along != 0 && along != 1) // O2
    return emitOpError() << "counts along 0 or 1, got " << along;
  return success();
}

LogicalResult MaskOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), visible = cast<RankedTensorType>(getVisible().getType());
  if (!x.getElementType().isF32()) // M1
    return emitOpError() << "masks f32 scores, got " << x;
  if (!visible.getElementType().isInteger(1) || visible.getShape() != x.getShape() ||
      visible.getEncoding() != x.getEncoding()) // M2
    return emitOpError() << "expects an i1 for every score, got " << visible << " for " << x;
  return success();
}

LogicalResult PackOp::verify() {
  auto x = cast<RankedTensorType>(getX().getType()), result = cast<RankedTensorType>(getResult().getType());
  Type to = result.getElementType();
  if (!x.getElementType().isF32() || (!to.isF16() && !to.isBF16())) // K1
    return emitOpError() << "packs f32 into f16 or bf16, got " << x << " and " << result;
  if (x.getShape() != result.getShape() || x.getEncoding() != result.getEncoding()) // K2
    return emitOpError() << "expects one shape and encoding, got " << x << " and " << result;
  return success();
}
