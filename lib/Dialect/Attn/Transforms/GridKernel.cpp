//===- GridKernel.cpp - a nest as a kernel, and what its launch needs to know
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GridNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attn;

static void buildTiles(OpBuilder &b, GridNest &nest, IRMapping &values, Value section, Value counter) {
  Location loc = nest.loop.getLoc();
  Type i32 = b.getI32Type();
  // Extents in the order of attn.tiles: row tiles, heads, batch.
  SmallVector<Value> extents;
  for (OpFoldResult bound : llvm::reverse(nest.loop.getMixedUpperBound())) {
    auto value = dyn_cast<Value>(bound);
    if (value)
      extents.push_back(arith::IndexCastOp::create(b, loc, i32, values.lookup(value)));
    else
      extents.push_back(arith::ConstantIntOp::create(b, loc, *getConstantIntValue(bound), 32));
  }
  auto tiles = TilesOp::create(b, loc, TypeRange(), nest.schedule.getTiles(), extents, section, counter,
                               /*init=*/ValueRange(), nest.isHeaviestLast());
  Block *body = b.createBlock(&tiles.getBody(), {}, TypeRange{i32, i32, i32, i32}, SmallVector<Location>(4, loc));

  // The nest counts in index, tiles in i32: its casts to i32 disappear, any other use gets a cast back.
  llvm::SmallPtrSet<Operation *, 4> casts;
  for (auto [dim, iv] : llvm::enumerate(nest.loop.getInductionVars())) {
    Value tile = body->getArgument(3 - dim);
    bool usedAsIndex = false;
    for (Operation *user : iv.getUsers()) {
      auto cast = dyn_cast<arith::IndexCastOp>(user);
      if (!cast || cast.getType() != i32) {
        usedAsIndex = true;
        continue;
      }
      casts.insert(user);
      values.map(cast.getResult(), tile);
    }
    if (usedAsIndex)
      values.map(iv, arith::IndexCastOp::create(b, loc, b.getIndexType(), tile).getResult());
  }
  for (Operation &op : nest.loop.getBody()->without_terminator())
    if (!casts.contains(&op))
      b.clone(op, values);
  YieldOp::create(b, loc, ValueRange());
}

KernelOp attn::buildKernel(OpBuilder &builder, GridNest &nest, bool sectioned) {
  OpBuilder::InsertionGuard guard(builder);
  OpBuilder &b = builder;
  Location loc = nest.loop.getLoc();
  auto kernel =
      KernelOp::create(b, loc, nest.kernel, nest.schedule, /*smem_bytes=*/IntegerAttr(), /*threads=*/IntegerAttr());
  for (Operation *op : {nest.loop.getOperation(), nest.loop->getParentOp()})
    if (Attribute target = op->getAttr(AttnDialect::kTargetAttr); target && !kernel->hasAttr(AttnDialect::kTargetAttr))
      kernel->setAttr(AttnDialect::kTargetAttr, target);
  Block *entry = b.createBlock(&kernel.getBody());
  IRMapping values;
  for (Value argument : nest.arguments)
    values.map(argument, entry->addArgument(argument.getType(), argument.getLoc()));
  Value section = sectioned ? entry->addArgument(b.getI32Type(), loc) : BlockArgument();
  MemRefType counterType = nest.getCounterType();
  Value counter = counterType ? entry->addArgument(counterType, loc) : BlockArgument();
  for (Operation *size : nest.sizes) // computed once a block
    b.clone(*size, values);
  buildTiles(b, nest, values, section, counter);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Section
//===----------------------------------------------------------------------===//

/// `value`, a number of the nest, as one of the function; null if it depends on the tile.
static Value copyToHost(OpBuilder &b, scf::ForallOp loop, Value value) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return value;
  Operation *def = value.getDefiningOp();
  if (!def || !isMemoryEffectFree(def) || def->getNumRegions())
    return {};
  IRMapping operands;
  for (Value operand : def->getOperands()) {
    Value copy = copyToHost(b, loop, operand);
    if (!copy)
      return {};
    operands.map(operand, copy);
  }
  return b.clone(*def, operands)->getResult(cast<OpResult>(value).getResultNumber());
}

Value attn::buildSweptBytes(OpBuilder &b, GridNest &nest) {
  if (!nest.sweep)
    return {};
  Location loc = nest.loop.getLoc();
  int64_t bytesPerRow = 0;
  Value rows;
  for (auto load : nest.sweep.getBody().getOps<LoadOp>()) {
    Value source = load.getSource();
    auto type = dyn_cast<MemRefType>(source.getType());
    if (!type || nest.loop.getRegion().isAncestor(source.getParentRegion()))
      continue;
    bool isMatrix = cast<RankedTensorType>(load.getResult().getType()).getRank() == 2;
    bytesPerRow += (isMatrix ? type.getShape().back() : 1) * type.getElementTypeBitWidth() / 8;
    if (!rows && isMatrix)
      rows = memref::DimOp::create(b, loc, source, type.getRank() - 2);
  }
  Value bytes = arith::ConstantIndexOp::create(b, loc, bytesPerRow);
  if (rows)
    bytes = arith::MulIOp::create(b, loc, rows, bytes);
  for (Operation *op = nest.sweep->getParentOp(); op != nest.loop; op = op->getParentOp())
    if (auto heads = dyn_cast<scf::ForOp>(op))
      if (Value count = copyToHost(b, nest.loop, heads.getUpperBound())) {
        if (!count.getType().isIndex())
          count = arith::IndexCastOp::create(b, loc, b.getIndexType(), count);
        bytes = arith::MulIOp::create(b, loc, bytes, count);
      }
  return bytes;
}
