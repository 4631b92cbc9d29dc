//===- Buffers.cpp - memory of tiles
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Buffers are taken from the heap at entry and live until the end of the call: the stack of a worker thread may be
// small, and a call computes many tiles. A buffer whose tile is dead serves the next tile of its shape.
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

/// One cache line and one AVX-512 register.
static constexpr int64_t kAlignment = 64;

Type cpu::getComputeType(Type element) {
  auto floating = dyn_cast<FloatType>(element);
  return floating && floating.getWidth() < 32 ? Float32Type::get(element.getContext()) : element;
}

Type cpu::getStorageType(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : getComputeType(element);
}

static MemRefType getBufferType(RankedTensorType tile, bool rowMajor) {
  Type element = getStorageType(tile.getElementType());
  SmallVector<int64_t> shape(tile.getShape());
  if (shape.size() == 2 && !rowMajor)
    std::swap(shape[0], shape[1]);
  // Rows a power of two apart would share a few sets of the cache.
  if (rowMajor && shape[1] % 64 == 0)
    shape[1] += 16;
  return MemRefType::get(shape, element);
}

Buffer *KernelLowering::acquire(RankedTensorType type, bool rowMajor) {
  MemRefType wanted = getBufferType(type, rowMajor);
  for (auto it = pool.rbegin(); it != pool.rend(); ++it)
    if ((*it)->memref.getType() == wanted && (*it)->rowMajor == rowMajor) {
      Buffer *buffer = *it;
      pool.erase(std::next(it).base());
      return buffer;
    }
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(allocs);
  Value memref = memref::AllocOp::create(b, func.getLoc(), wanted, b.getI64IntegerAttr(kAlignment));
  allocs = b.saveInsertionPoint();
  buffers.push_back(std::make_unique<Buffer>(Buffer{memref, rowMajor}));
  return buffers.back().get();
}

void KernelLowering::release(Buffer *buffer) {
  if (buffer->carried)
    return;
  buffer->occupant = nullptr;
  pool.push_back(buffer);
}

void KernelLowering::bind(Value tile, Buffer *buffer) {
  bufferOf[tile] = buffer;
  buffer->occupant = tile;
}

bool KernelLowering::isFree(Buffer *buffer, Value tile, unsigned index, const BlockPlan &plan) {
  Value old = buffer->occupant;
  if (!old)
    return true;
  // A tile of an outer block outlives every step of this one.
  if (old.getParentBlock() != tile.getParentBlock())
    return false;
  auto last = plan.lastUse.find(old);
  if (last == plan.lastUse.end() || last->second < index)
    return true;
  if (last->second > index)
    return false;
  const Step &step = plan.steps[index];
  if (auto dot = dyn_cast<DotOp>(step.ops.front()))
    return dot.getAcc() == old && dot.getA() != old && dot.getB() != old;
  if (!step.isNest() || isa<ReduceOp>(tile.getDefiningOp()))
    return false;
  bool inPlace = true;
  for (Operation *op : step.ops)
    forEachRead(op, [&](Value read, bool direct) { inPlace &= read != old || direct; });
  return inPlace;
}

Buffer *KernelLowering::claim(Value tile, unsigned index, const BlockPlan &plan) {
  auto type = cast<RankedTensorType>(tile.getType());
  Buffer *carrier = carrierOf.lookup(tile);
  if (carrier && isFree(carrier, tile, index, plan)) {
    bind(tile, carrier);
    return carrier;
  }
  Buffer *found = nullptr;
  for (Operation *op : plan.steps[index].ops)
    forEachRead(op, [&](Value read, bool) {
      Buffer *buffer = bufferOf.lookup(read);
      if (!found && buffer && !buffer->carried && buffer->occupant == read &&
          read.getParentBlock() == tile.getParentBlock() && buffer->memref.getType() == getBufferType(type, false) &&
          !buffer->rowMajor && isFree(buffer, tile, index, plan))
        found = buffer;
    });
  if (!found)
    found = acquire(type);
  bind(tile, found);
  return found;
}

Buffer *KernelLowering::getBuffer(Value tile, Location loc) {
  if (Buffer *buffer = bufferOf.lookup(tile))
    return buffer;
  Buffer *buffer = acquire(cast<RankedTensorType>(tile.getType()));
  copyTile(tile, buffer, loc);
  temporaries.push_back(buffer);
  return buffer;
}

void KernelLowering::freeAll() {
  for (const std::unique_ptr<Buffer> &buffer : buffers)
    memref::DeallocOp::create(b, func.getLoc(), buffer->memref);
}
