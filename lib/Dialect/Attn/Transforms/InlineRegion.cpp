//===- InlineRegion.cpp - score and mask regions on whole tiles
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineRegion.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace attn;

static Extent join(Extent a, Extent b) { return Extent(unsigned(a) | unsigned(b)); }

bool attn::gathersTiles(Region &region) {
  if (region.empty())
    return false;
  Block &body = region.front();
  DenseMap<Value, Extent> extents; // not in there: Uniform
  const unsigned arguments = body.getNumArguments();
  extents[body.getArgument(arguments - 2)] = Extent::Rows;
  extents[body.getArgument(arguments - 1)] = Extent::Cols;
  if (arguments == 5) // a score comes first
    extents[body.getArgument(0)] = Extent::Tile;
  for (Operation &op : body) {
    Extent extent = Extent::Uniform;
    for (Value operand : op.getOperands())
      extent = join(extent, extents.lookup(operand));
    if (isa<GatherOp>(op) && extent == Extent::Tile)
      return true;
    for (Value result : op.getResults())
      extents[result] = extent;
  }
  return false;
}

Type RegionInliner::typeAt(Type element, Extent extent) const {
  switch (extent) {
  case Extent::Uniform:
    return element;
  case Extent::Rows:
    return RankedTensorType::get({rows}, element);
  case Extent::Cols:
    return RankedTensorType::get({columns}, element);
  case Extent::Tile:
    return RankedTensorType::get({rows, columns}, element);
  }
  llvm_unreachable("no other extent");
}

Value RegionInliner::spread(TileValue value, Extent extent, Location loc) {
  if (value.extent == extent)
    return value.value;
  Value &result = spreads[{value.value, unsigned(extent)}];
  if (result)
    return result;
  OpBuilder &b = builderFor(extent);
  auto type = cast<RankedTensorType>(typeAt(getElementTypeOrSelf(value.value), extent));
  Attribute constant;
  if (value.extent != Extent::Uniform)
    result = SpreadOp::create(b, loc, type, value.value, b.getI64IntegerAttr(value.extent == Extent::Rows ? 1 : 0));
  else if (matchPattern(value.value, m_Constant(&constant)))
    result = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, constant));
  else
    result = tensor::SplatOp::create(b, loc, value.value, type);
  return result;
}

/// Uniform indices name one element: a clamped scalar load. Others read element by element; indices stay scalars where
/// they are uniform.
TileValue RegionInliner::inlineGather(Operation &op, Value source, ArrayRef<TileValue> indices, Extent extent) {
  OpBuilder &b = builderFor(extent);
  Location loc = op.getLoc();
  if (extent != Extent::Uniform) {
    SmallVector<Value> at;
    for (TileValue index : indices)
      at.push_back(index.extent == Extent::Uniform ? index.value : spread(index, extent, loc));
    return {GatherOp::create(b, loc, typeAt(op.getResult(0).getType(), extent), source, at), extent};
  }
  SmallVector<Value> at;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value size = memref::DimOp::create(b, loc, source, dim);
    size = arith::IndexCastOp::create(b, loc, b.getI32Type(), size);
    Value one = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(1));
    Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
    Value last = arith::SubIOp::create(b, loc, size, one);
    Value clamped = arith::MinSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, index.value, zero), last);
    at.push_back(arith::IndexCastOp::create(b, loc, b.getIndexType(), clamped));
  }
  return {memref::LoadOp::create(b, loc, source, at), extent};
}

LogicalResult RegionInliner::inlineOp(Operation &op, DenseMap<Value, TileValue> &values) {
  Extent extent = Extent::Uniform;
  SmallVector<TileValue> operands;
  for (Value operand : op.getOperands()) {
    operands.push_back(values.lookup(operand));
    if (!operands.back().value)
      return op.emitOpError("in a region of attn.sdpa uses a value that is not listed in its captures");
    extent = join(extent, operands.back().extent);
  }
  if (isa<GatherOp>(op)) {
    values[op.getResult(0)] = inlineGather(op, operands[0].value, ArrayRef(operands).drop_front(), extent);
    return success();
  }
  if (op.getNumRegions() || (extent != Extent::Uniform && !OpTrait::hasElementwiseMappableTraits(&op)))
    return op.emitOpError("in a region of attn.sdpa cannot be computed for a whole tile");

  IRMapping mapping;
  for (auto [operand, value] : llvm::zip(op.getOperands(), operands))
    mapping.map(operand, spread(value, extent, op.getLoc()));
  Operation *clone = builderFor(extent).clone(op, mapping);
  for (auto [old, result] : llvm::zip(op.getResults(), clone->getResults())) {
    result.setType(typeAt(old.getType(), extent));
    values[old] = {result, extent};
  }
  return success();
}

Value RegionInliner::inlineTile(Block &body, ArrayRef<TileValue> arguments, const IRMapping &captures) {
  DenseMap<Value, TileValue> values;
  for (auto [from, to] : captures.getValueMap())
    values[from] = {to, Extent::Uniform};
  for (auto [argument, value] : llvm::zip(body.getArguments(), arguments))
    values[argument] = value;
  for (Operation &op : body.without_terminator())
    if (failed(inlineOp(op, values)))
      return {};
  Operation *yield = body.getTerminator();
  return spread(values.lookup(yield->getOperand(0)), Extent::Tile, yield->getLoc());
}
