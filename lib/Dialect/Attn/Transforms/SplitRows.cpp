//===- SplitRows.cpp - the rows of a tile, shared by groups of warps
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Group g of G works on rows [g n, (g + 1) n) of a tile of rows = G n. Nothing mixes rows, so every value along them
// just gets shorter, and whatever says where a row is moves on by g n:
//
//   tensor<128x64xf32>, tensor<128xf32> of the rows   tensor<64x64xf32>, tensor<64xf32>
//   coord %row along 0                                coord (%row + g n) along 0
//   load, store [.., %row]                            [.., %row + g n]
//
// Values of the columns, and scalars (which blocks a sweep visits, say) stay those of the whole tile.
//
//===----------------------------------------------------------------------===//

#include "PartitionRoles.h"

#include "attn/Analysis/TileForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

namespace {
class RowSplitter {
public:
  RowSplitter(RoleOp role, int64_t rows)
      : role(role), rows(rows), share(rows / static_cast<int64_t>(role.getGroups())), builder(role.getContext()) {}
  LogicalResult run();

private:
  /// What a product makes of a transposed tile has other rows, of which it is a group's share already.
  bool alongRows(Value tile) {
    if (auto dot = tile.getDefiningOp<DotOp>(); dot && dot.getTransA())
      return false;
    return getPlainTile(tile).getRank() == 2 || forms.lookup(tile) == Form::Rows;
  }
  LogicalResult shorten(Value value);
  void moveAccess(Operation *op, MutableOperandRange at, Type memory, Value tile);

  RoleOp role;
  int64_t rows, share;
  OpBuilder builder;
  TileForms forms;
  Value first; ///< g n
};
} // namespace

void RowSplitter::moveAccess(Operation *op, MutableOperandRange at, Type memory, Value tile) {
  auto type = getPlainTile(tile);
  if (!type || !alongRows(tile))
    return;
  SmallVector<Value> moved(OperandRange(at).begin(), OperandRange(at).end());
  moveRow(builder, op->getLoc(), moved, cast<MemRefType>(memory), type, first);
  at.assign(moved);
}

LogicalResult RowSplitter::shorten(Value value) {
  RankedTensorType type = getPlainTile(value);
  if (!type || !alongRows(value))
    return success();
  if (type.getDimSize(0) != rows)
    return emitError(value.getLoc()) << type << " has " << type.getDimSize(0) << " rows; " << role.getGroups()
                                     << " groups share tiles of " << rows;
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = share;
  auto shorter = RankedTensorType::get(shape, type.getElementType());
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    auto elements = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!elements)
      return constant.emitOpError("expects one value for all elements of a tile in a role");
    constant.setValueAttr(elements.resizeSplat(shorter));
  }
  value.setType(shorter);
  return success();
}

LogicalResult RowSplitter::run() {
  ownConstants(role);
  if (failed(forms.run(role)))
    return failure();
  Block &body = role.getBody().front();
  builder.setInsertionPointToStart(&body);
  Value size = arith::ConstantIntOp::create(builder, role.getLoc(), share, 32);
  first = arith::MulIOp::create(builder, role.getLoc(), body.getArgument(0), size);

  role.walk([&](Operation *op) {
    builder.setInsertionPoint(op);
    if (auto coord = dyn_cast<CoordOp>(op); coord && coord.getDim() == 0)
      coord.getBaseMutable().assign(
          coord.getBase() ? builder.createOrFold<arith::AddIOp>(op->getLoc(), coord.getBase(), first) : first);
    else if (auto load = dyn_cast<LoadOp>(op); load && isa<MemRefType>(load.getSource().getType()))
      moveAccess(op, load.getAtMutable(), load.getSource().getType(), load.getResult());
    else if (auto store = dyn_cast<StoreOp>(op); store && isa<MemRefType>(store.getDest().getType()))
      moveAccess(op, store.getAtMutable(), store.getDest().getType(), store.getValue());
  });

  WalkResult result = role.walk([&](Operation *op) -> WalkResult {
    for (Value value : op->getResults())
      if (failed(shorten(value)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (failed(shorten(argument)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult attn::splitRows(RoleOp role, int64_t rows) {
  return role.getGroups() == 1 ? success() : RowSplitter(role, rows).run();
}
