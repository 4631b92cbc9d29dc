//===- Lowering.cpp - types and small builders of the kernel lowerings
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "attn/Analysis/SharedAllocs.h"
#include "attn/Facts/Facts.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

Value KernelState::row(const Emit &e, const Fragment &f) const {
  return e.add(e.div(lane, 4), e.mul(f.warpsN == 1 ? warp : e.rem(warp, f.warpsM), f.warpRows()));
}

Value KernelState::column(const Emit &e, const Fragment &f) const {
  Value column = e.mul(e.rem(lane, 4), 2);
  return f.warpsN == 1 ? column : e.add(column, e.mul(e.div(warp, f.warpsM), f.warpCols()));
}

const KernelState &KernelStates::of(Operation *op) const {
  Region *region = op->getParentRegion();
  while (!states.contains(region))
    region = region->getParentRegion();
  return states.find(region)->second;
}

int64_t attn::nvvm::groupWarps(Operation *op) {
  if (auto role = op->getParentOfType<RoleOp>())
    return role.getWarps() / role.getGroups();
  return *op->getParentOfType<KernelOp>().getThreads() / kWarpLanes;
}

KernelTypeConverter::KernelTypeConverter() {
  addConversion([](Type type) { return type; });
  addConversion([](IndexType type) -> Type { return IntegerType::get(type.getContext(), 32); });
  addConversion([](BufType type) -> Type { return IntegerType::get(type.getContext(), 32); });
  addConversion([](RingType type, SmallVectorImpl<Type> &results) {
    results.append(2, IntegerType::get(type.getContext(), 32));
    return success();
  });
  addConversion([](MapType type) -> Type { return LLVM::LLVMPointerType::get(type.getContext()); });
  addConversion([](PendingType type) -> Type {
    return VectorType::get({Fragment::of(type.getTile()).size()}, type.getTile().getElementType());
  });
  addConversion([](RankedTensorType type) -> Type {
    if (!isa_and_nonnull<FragAttr>(type.getEncoding()))
      return nullptr;
    return VectorType::get({Fragment::of(type).size()}, type.getElementType());
  });
  addConversion([](MemRefType type, SmallVectorImpl<Type> &results) {
    MLIRContext *ctx = type.getContext();
    results.push_back(LLVM::LLVMPointerType::get(ctx, kGlobal));
    results.append(std::max<int64_t>(type.getRank() - 1, 0), IntegerType::get(ctx, 64));
    results.append(type.getRank(), IntegerType::get(ctx, 32));
    results.push_back(IntegerType::get(ctx, 1));
    return success();
  });
}

MemRef MemRef::get(Type type, ValueRange converted) {
  MemRef m;
  m.type = cast<MemRefType>(type);
  int64_t rank = m.type.getRank(), numStrides = std::max<int64_t>(rank - 1, 0);
  m.ptr = converted[0];
  m.strides = llvm::to_vector(converted.slice(1, numStrides));
  m.sizes = llvm::to_vector(converted.slice(1 + numStrides, rank));
  m.aligned = converted.back();
  return m;
}

Ring Ring::get(Type type, ValueRange converted) { return {cast<RingType>(type), converted[0], converted[1]}; }

Value Ring::slot(const Emit &e, Value item) const {
  return type.getDepth() > 1 ? e.rem(item, type.getDepth()) : e.i32(0);
}

SmallVector<Value> Ring::bufs(const Emit &e, Value item) const {
  Value address = data;
  if (type.getDepth() > 1)
    address = e.add(address, e.mul(slot(e, item), type.getSlotBytes()));
  SmallVector<Value> bufs;
  int64_t offset = 0;
  for (Type buf : type.getBufs()) {
    bufs.push_back(offset ? e.add(address, offset) : address);
    offset += llvm::alignTo(cast<BufType>(buf).getBytes(), facts::kBankBytes);
  }
  return bufs;
}

// An i1 is stored as a byte.
int64_t MemRef::elementBytes() const { return llvm::divideCeil(type.getElementTypeBitWidth(), 8); }

Value Emit::i32(int64_t value) const { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value)); }
Value Emit::i64(int64_t value) const { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); }

Value Emit::div(Value x, int64_t by) const {
  if (llvm::isPowerOf2_64(by))
    return b.createOrFold<arith::ShRUIOp>(loc, x, i32(llvm::Log2_64(by)));
  return b.createOrFold<arith::DivUIOp>(loc, x, i32(by));
}
Value Emit::rem(Value x, int64_t by) const {
  if (llvm::isPowerOf2_64(by))
    return bitAnd(x, i32(by - 1));
  return b.createOrFold<arith::RemUIOp>(loc, x, i32(by));
}
Value Emit::toI64(Value x) const { return b.createOrFold<arith::ExtSIOp>(loc, b.getI64Type(), x); }

Value Emit::offset(Value ptr, Value bytes) const {
  return LLVM::GEPOp::create(b, loc, ptr.getType(), b.getI8Type(), ptr, bytes);
}
Value Emit::shared(Value base, int64_t bytes) const {
  Type ptr = LLVM::LLVMPointerType::get(b.getContext(), kShared);
  return LLVM::IntToPtrOp::create(b, loc, ptr, bytes ? add(base, bytes) : base);
}

SharedAddress Emit::splitOffset(Value buf) const {
  auto sum = buf.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return {buf};
  APInt constant;
  if (matchPattern(sum.getRhs(), m_ConstantInt(&constant)) && constant.getSExtValue() % kSwizzleBytes == 0) {
    SharedAddress left = splitOffset(sum.getLhs());
    return {left.value, left.offset + constant.getSExtValue()};
  }
  SharedAddress left = splitOffset(sum.getLhs()), right = splitOffset(sum.getRhs());
  if (!left.offset && !right.offset)
    return {buf};
  return {add(left.value, right.value), left.offset + right.offset};
}

SmallVector<Value> Emit::unpack(Value vector) const {
  auto elements = vector::ToElementsOp::create(b, loc, vector);
  return SmallVector<Value>(elements->getResults());
}
Value Emit::pack(ArrayRef<Value> elements) const {
  auto type = VectorType::get({static_cast<int64_t>(elements.size())}, elements.front().getType());
  return vector::FromElementsOp::create(b, loc, type, elements);
}

Value attn::nvvm::elementOffset(const Emit &e, const MemRef &m, ValueRange at) {
  int64_t rank = m.type.getRank();
  Value sum;
  for (auto [i, index] : llvm::enumerate(at)) {
    Value term = e.toI64(index);
    if (static_cast<int64_t>(i) + 1 < rank)
      term = e.mul(term, m.strides[i]);
    sum = sum ? e.add(sum, term) : term;
  }
  return sum ? e.mul(sum, e.i64(m.elementBytes())) : e.i64(0);
}

Value attn::nvvm::only(ValueRange values) {
  assert(values.size() == 1 && "only memrefs and rings expand into several values");
  return values.front();
}

SmallVector<Value> attn::nvvm::flat(ArrayRef<ValueRange> values) {
  return llvm::map_to_vector(values, [](ValueRange v) { return only(v); });
}
