//===- Nests.cpp - elementwise ops and reductions
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A nest over R rows and C columns is
//
//   for r in 0 .. R step width:            what depends on rows alone is read here
//     for c in 0 .. C:                     one vector of `width` rows of column c
//       every op of the nest; results that other steps read are stored
//     reductions are stored
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

struct KernelLowering::NestEmitter {
  KernelLowering &kernel;
  OpBuilder &b;
  Location loc;
  int64_t width;
  Value row, column; ///< Indices; no column in a rank-1 nest and outside the inner loop.
  llvm::DenseMap<Value, Value> values{};

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  VectorType vectorOf(Type element) { return VectorType::get({width}, getComputeType(element)); }
  VectorType vectorFor(Value tile) { return vectorOf(cast<RankedTensorType>(tile.getType()).getElementType()); }
  Value splat(Value scalar) {
    Type wide = getComputeType(scalar.getType());
    if (wide != scalar.getType())
      scalar = arith::ExtFOp::create(b, loc, wide, scalar);
    return vector::BroadcastOp::create(b, loc, vectorOf(wide), scalar);
  }
  Value toI32(Value position) { return arith::IndexCastOp::create(b, loc, b.getI32Type(), position); }

  /// 16-bit constants become the f32 they stand for; null if the elements differ.
  TypedAttr getSplat(arith::ConstantOp op) {
    auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!dense || !dense.isSplat())
      return {};
    if (auto value = dyn_cast<FloatAttr>(dense.getSplatValue<Attribute>())) {
      auto wide = cast<FloatType>(getComputeType(value.getType()));
      APFloat x = value.getValue();
      bool lost;
      x.convert(wide.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      return b.getFloatAttr(wide, x);
    }
    return cast<TypedAttr>(dense.getSplatValue<Attribute>());
  }

  Value fromStorage(Value x, Type element) {
    if (!element.isInteger(1))
      return x;
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(x.getType()));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x, zero);
  }

  /// The elements of a tile at the current place. For a rank-1 tile that is the current rows.
  Value read(Value tile) {
    auto type = cast<RankedTensorType>(tile.getType());
    if (Value known = values.lookup(tile))
      return known;
    Operation *def = tile.getDefiningOp();
    if (auto constant = dyn_cast_or_null<arith::ConstantOp>(def)) {
      TypedAttr element = getSplat(constant);
      return element ? arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vectorFor(tile), Attribute(element)))
                     : Value();
    }
    if (auto op = dyn_cast_or_null<tensor::SplatOp>(def))
      return splat(kernel.scalars.lookup(op.getInput()));
    if (auto op = dyn_cast_or_null<SpreadOp>(def))
      return op.getDim() == 1 ? read(op.getX()) : splat(readScalar(op.getX()));
    if (auto op = dyn_cast_or_null<CoordOp>(def)) {
      Value base = kernel.scalars.lookup(op.getBase());
      // The positions of a rank-1 tile are lanes, whether it belongs to rows or columns.
      if (op.getDim() == 1 && type.getRank() == 2)
        return splat(arith::AddIOp::create(b, loc, base, toI32(column)));
      auto steps = llvm::to_vector(llvm::seq<int32_t>(0, width));
      Value lane = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vectorOf(b.getI32Type()), ArrayRef(steps)));
      return arith::AddIOp::create(b, loc, splat(arith::AddIOp::create(b, loc, base, toI32(row))), lane);
    }
    Type element = type.getElementType();
    auto vector = VectorType::get({width}, getStorageType(element));
    Value from = kernel.bufferOf.lookup(tile)->memref;
    Value x = vector::LoadOp::create(b, loc, vector, from, type.getRank() == 2 ? ValueRange{column, row} : row);
    return fromStorage(x, element);
  }

  /// The element of a rank-1 tile that belongs to the current column.
  Value readScalar(Value tile) {
    Operation *def = tile.getDefiningOp();
    if (auto constant = dyn_cast_or_null<arith::ConstantOp>(def)) {
      TypedAttr element = getSplat(constant);
      return element ? arith::ConstantOp::create(b, loc, element) : Value();
    }
    if (auto op = dyn_cast_or_null<tensor::SplatOp>(def))
      return kernel.scalars.lookup(op.getInput());
    if (auto op = dyn_cast_or_null<CoordOp>(def))
      return arith::AddIOp::create(b, loc, kernel.scalars.lookup(op.getBase()), toI32(column));
    Value x = memref::LoadOp::create(b, loc, kernel.bufferOf.lookup(tile)->memref, column);
    return fromStorage(x, cast<RankedTensorType>(tile.getType()).getElementType());
  }

  void store(Value x, Buffer *into, ValueRange at) {
    if (getElementTypeOrSelf(x.getType()).isInteger(1))
      x = arith::ExtUIOp::create(b, loc, VectorType::get({width}, b.getI8Type()), x);
    vector::StoreOp::create(b, loc, x, into->memref, at);
  }

  /// Reads what the inner loop would only repeat: everything that depends on rows alone.
  LogicalResult hoist(ArrayRef<Operation *> ops) {
    for (Operation *op : ops)
      for (Value operand : op->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (!isa<RankedTensorType>(operand.getType()) || !def || !isVirtual(def))
          continue;
        if (auto constant = dyn_cast<arith::ConstantOp>(def); constant && !getSplat(constant))
          return constant.emitOpError("is not supported on the CPU: its elements differ");
        auto spread = dyn_cast<SpreadOp>(def);
        auto coord = dyn_cast<CoordOp>(def);
        if ((spread && spread.getDim() != 1) || (coord && coord.getDim() != 0 && coord.getType().getRank() == 2))
          continue;
        values[operand] = read(operand);
      }
    return success();
  }

  FailureOr<Value> emit(Operation *op);
  Value emitGather(GatherOp gather);
};

Value KernelLowering::NestEmitter::emitGather(GatherOp gather) {
  // offset = sum of index * stride, each index clamped into its dimension.
  Value source = kernel.scalars.lookup(gather.getSource());
  auto type = cast<MemRefType>(source.getType());
  auto i64s = VectorType::get({width}, b.getI64Type());
  auto splatIndex = [&](Value x) {
    return vector::BroadcastOp::create(b, loc, i64s, arith::IndexCastOp::create(b, loc, b.getI64Type(), x));
  };
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(i64s));
  Value offset = zero;
  auto layout = memref::ExtractStridedMetadataOp::create(b, loc, source);
  for (auto [dim, at] : llvm::enumerate(gather.getAt())) {
    Value narrow = isa<RankedTensorType>(at.getType()) ? read(at) : splat(kernel.scalars.lookup(at));
    Value i = arith::ExtSIOp::create(b, loc, i64s, narrow);
    Value last = arith::SubIOp::create(b, loc, memref::DimOp::create(b, loc, source, dim), index(1));
    i = arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, i, splatIndex(last)), zero);
    Value stride = dim + 1 == (size_t)type.getRank() ? index(1) : layout.getStrides()[dim];
    offset = arith::AddIOp::create(b, loc, offset, arith::MulIOp::create(b, loc, i, splatIndex(stride)));
  }
  auto elements = VectorType::get({width}, type.getElementType());
  Value all = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vectorOf(b.getI1Type()), true));
  Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(elements));
  SmallVector<Value> start(type.getRank(), index(0));
  Value x = vector::GatherOp::create(b, loc, elements, source, start, offset, all, none);
  VectorType wide = vectorOf(type.getElementType());
  return wide == elements ? x : Value(arith::ExtFOp::create(b, loc, wide, x));
}

FailureOr<Value> KernelLowering::NestEmitter::emit(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<RankedTensorType>(operand.getType()) ? read(operand) : kernel.scalars.lookup(operand));
  Type element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  if (auto mask = dyn_cast<MaskOp>(op)) {
    Value hidden = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(vectorOf(element), Attribute(b.getF32FloatAttr(mask.getHidden()))));
    return Value(arith::SelectOp::create(b, loc, operands[1], operands[0], hidden));
  }
  if (auto gather = dyn_cast<GatherOp>(op))
    return emitGather(gather);
  if (isa<PackOp>(op))
    return emitRound(b, loc, operands[0], element);
  if (isa<arith::TruncFOp>(op) && operands[0].getType() == vectorOf(element))
    return emitRound(b, loc, operands[0], element);
  if (isa<arith::ExtFOp>(op) && operands[0].getType() == vectorOf(element))
    return operands[0];
  if (isa<arith::BitcastOp>(op) &&
      (getComputeType(element) != element ||
       getComputeType(cast<RankedTensorType>(op->getOperand(0).getType()).getElementType()) !=
           cast<RankedTensorType>(op->getOperand(0).getType()).getElementType()))
    return op->emitOpError("is not supported on the CPU for 16-bit floats: they are kept as f32");
  Value x;
  if (isa<math::Exp2Op>(op) && vectorOf(element).getElementType().isF32()) {
    x = emitExp2(b, loc, operands[0]);
  } else {
    OperationState state(loc, op->getName(), operands, vectorOf(element), op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    x = b.create(state)->getResult(0);
  }
  return getComputeType(element) == element ? x : emitRound(b, loc, x, element);
}

/// The widest vector that divides the rows and leaves registers for the values of a nest.
static int64_t getWidth(int64_t rows, Machine machine) {
  int64_t width = machine.lanes * machine.registers / 8;
  while (rows % width)
    width /= 2;
  return width;
}

LogicalResult KernelLowering::lowerNest(unsigned index, const BlockPlan &plan) {
  const Step &step = plan.steps[index];
  Location loc = step.ops.front()->getLoc();
  NestEmitter nest{*this, b, loc, getWidth(step.shape[0], machine), {}, {}};
  SmallVector<ReduceOp> reductions;
  llvm::DenseMap<Operation *, Buffer *> results;
  // Virtual operands of the rank-1 tile a reduction reads need no buffer; the others have one by now.
  for (Operation *op : step.ops) {
    if (auto reduce = dyn_cast<ReduceOp>(op))
      reductions.push_back(reduce);
    if (isa<ReduceOp>(op) || plan.isRead(op->getResult(0)))
      results[op] = claim(op->getResult(0), index, plan);
  }

  auto rows = scf::ForOp::create(b, loc, nest.index(0), nest.index(step.shape[0]), nest.index(nest.width));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  nest.row = rows.getInductionVar();
  if (failed(nest.hoist(step.ops)))
    return failure();
  auto emitAll = [&]() -> LogicalResult {
    SmallVector<std::pair<Value, Buffer *>> stores;
    for (Operation *op : step.ops) {
      nest.loc = op->getLoc();
      if (isa<ReduceOp>(op))
        continue;
      FailureOr<Value> x = nest.emit(op);
      if (failed(x))
        return failure();
      nest.values[op->getResult(0)] = *x;
      if (Buffer *into = results.lookup(op))
        stores.push_back({*x, into});
    }
    for (auto [x, into] : stores)
      nest.store(x, into, nest.column ? ValueRange{nest.column, nest.row} : nest.row);
    return success();
  };
  if (step.shape.size() == 1)
    return emitAll();

  SmallVector<Value> sums;
  for (ReduceOp reduce : reductions) {
    auto type = nest.vectorFor(reduce.getResult());
    auto element = cast<FloatType>(type.getElementType());
    APFloat start = reduce.getKind() == ReduceKind::Max ? APFloat::getInf(element.getFloatSemantics(), true)
                                                        : APFloat::getZero(element.getFloatSemantics());
    sums.push_back(
        arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(b.getFloatAttr(element, start)))));
  }
  auto columns = scf::ForOp::create(b, loc, nest.index(0), nest.index(step.shape[1]), nest.index(1), sums);
  b.setInsertionPointToStart(columns.getBody());
  nest.column = columns.getInductionVar();
  if (failed(emitAll()))
    return failure();
  SmallVector<Value> next;
  for (auto [reduce, sum] : llvm::zip(reductions, columns.getRegionIterArgs())) {
    Value x = nest.read(reduce.getX());
    if (reduce.getKind() == ReduceKind::Sum) {
      next.push_back(arith::AddFOp::create(b, loc, sum, x));
      continue;
    }
    // One instruction; a NaN is left to the exponential, which carries it into the sum.
    Value more = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, sum);
    next.push_back(arith::SelectOp::create(b, loc, more, x, sum));
  }
  if (!next.empty())
    scf::YieldOp::create(b, loc, next);
  b.setInsertionPointAfter(columns);
  for (auto [reduce, sum] : llvm::zip(reductions, columns.getResults()))
    nest.store(sum, results[reduce], nest.row);
  return success();
}

void KernelLowering::copyTile(Value tile, Buffer *into, Location loc) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (Buffer *from = bufferOf.lookup(tile)) {
    if (from->rowMajor == into->rowMajor) {
      memref::CopyOp::create(b, loc, from->memref, into->memref);
      return;
    }
  }
  NestEmitter nest{*this, b, loc, getWidth(type.getShape()[0], machine), {}, {}};
  OpBuilder::InsertionGuard guard(b);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    auto loop =
        scf::ForOp::create(b, loc, nest.index(0), nest.index(type.getShape()[dim]), nest.index(dim ? 1 : nest.width));
    b.setInsertionPointToStart(loop.getBody());
    (dim ? nest.column : nest.row) = loop.getInductionVar();
  }
  nest.store(nest.read(tile), into, nest.column ? ValueRange{nest.column, nest.row} : nest.row);
}

LogicalResult KernelLowering::lowerScalarGather(GatherOp gather) {
  Location loc = gather.getLoc();
  if (!isa<MemRefType>(gather.getSource().getType()))
    return gather.emitOpError("is not supported on the CPU: its source is no memref");
  Value source = scalars.lookup(gather.getSource());
  SmallVector<Value> indices;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  for (auto [dim, at] : llvm::enumerate(gather.getAt())) {
    Value i = arith::IndexCastOp::create(b, loc, b.getIndexType(), scalars.lookup(at));
    Value last = arith::SubIOp::create(b, loc, memref::DimOp::create(b, loc, source, dim), one);
    indices.push_back(arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, i, last), zero));
  }
  Value x = memref::LoadOp::create(b, loc, source, indices);
  scalars.map(gather.getResult(), x);
  return success();
}
