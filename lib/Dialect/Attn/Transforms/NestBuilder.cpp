//===- NestBuilder.cpp - what every nest over tiles is made with
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NestBuilder.h"

#include "attn/Analysis/SharedPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attn;

Value NestBuilder::i32(int64_t c) { return arith::ConstantOp::create(b, b.getI32IntegerAttr(c)); }

Value NestBuilder::toI32(Value index) { return arith::IndexCastOp::create(b, b.getI32Type(), index); }

Value NestBuilder::dim(Value memref, int64_t index) { return memref::DimOp::create(b, memref, index); }

Value NestBuilder::dense(RankedTensorType type, double c) {
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, b.getF32FloatAttr(c).getValue()));
}

Value NestBuilder::load(StringRef label, Value source, ValueRange at, ArrayRef<int64_t> shape) {
  Type element = cast<MemRefType>(source.getType()).getElementType();
  Value loaded = LoadOp::create(b, RankedTensorType::get(shape, element), source, at, b.getStringAttr(label));
  if (family != Family::Cpu || element.isF32())
    return loaded;
  return arith::ExtFOp::create(b, f32(shape), loaded);
}

void NestBuilder::store(Value tile, Value dest, ValueRange at) {
  Type element = cast<MemRefType>(dest.getType()).getElementType();
  auto type = cast<RankedTensorType>(tile.getType());
  if (!element.isF32())
    tile = arith::TruncFOp::create(b, RankedTensorType::get(type.getShape(), element), tile);
  StoreOp::create(b, tile, dest, at, /*label=*/StringAttr());
}

Value NestBuilder::pack(Value tile, Value with, StringRef label) {
  Type element = cast<RankedTensorType>(with.getType()).getElementType();
  if (element.isF32())
    return tile;
  auto type = RankedTensorType::get(cast<RankedTensorType>(tile.getType()).getShape(), element);
  return PackOp::create(b, type, tile, b.getStringAttr(label));
}

Value NestBuilder::dot(StringRef label, Value a, Value c, bool transB, Value acc) {
  int64_t rows = cast<RankedTensorType>(a.getType()).getDimSize(0);
  int64_t columns = cast<RankedTensorType>(c.getType()).getDimSize(transB ? 0 : 1);
  return DotOp::create(b, f32({rows, columns}), a, c, acc, b.getStringAttr(label), /*async=*/false, transB);
}

int64_t NestBuilder::pad(int64_t headDim) const {
  return family == Family::Cpu ? headDim : paddedHeadDim(headDim, family == Family::Wgmma);
}
