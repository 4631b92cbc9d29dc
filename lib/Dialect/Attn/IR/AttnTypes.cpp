//===- AttnTypes.cpp - bufs and rings
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Facts/Facts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

#define GET_TYPEDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnTypes.cpp.inc"

void AttnDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "attn/Dialect/Attn/IR/AttnTypes.cpp.inc"
      >();
}

LogicalResult BufType::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType tile, int64_t swizzle) {
  if (!tile.hasStaticShape() || tile.getRank() < 1 || tile.getRank() > 2) // B1
    return emitError() << "expects a buf of static shape and rank 1 or 2, got " << tile;
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return emitError() << "expects a swizzle span of 0, 32, 64 or 128 bytes, got " << swizzle;
  if (tile.getRank() == 1 && swizzle) // B3
    return emitError() << "expects no swizzle on a rank-1 buf, got a span of " << swizzle;
  int64_t rowBytes = tile.getShape().back() * tile.getElementTypeBitWidth() / 8;
  if (swizzle && rowBytes % swizzle) // B2
    return emitError() << "expects rows of a multiple of " << swizzle << " bytes for that swizzle span, got "
                       << rowBytes;
  return success();
}

int64_t BufType::getBytes() const { return getTile().getNumElements() * getTile().getElementTypeBitWidth() / 8; }

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t depth, ArrayRef<Type> bufs) {
  if (depth < 1) // R1
    return emitError() << "expects a ring of at least one slot, got " << depth;
  for (Type buf : bufs) // R2
    if (!isa<BufType>(buf))
      return emitError() << "expects only bufs in a ring, got " << buf;
  return success();
}

int64_t RingType::getSlotBytes() const {
  int64_t bytes = 0;
  for (Type buf : getBufs())
    bytes += llvm::alignTo(cast<BufType>(buf).getBytes(), facts::kBankBytes);
  return bytes;
}

LogicalResult PendingType::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType tile) {
  auto frag = dyn_cast_or_null<FragAttr>(tile.getEncoding());
  if (!tile.getElementType().isF32() || !frag || frag.getForm() != Form::Tile) // P1
    return emitError() << "expects an f32 tile with #attn.frag of form tile, got " << tile;
  return success();
}

LogicalResult MapType::verify(function_ref<InFlightDiagnostic()> emitError, RankedTensorType tile, int64_t swizzle) {
  if (tile.getRank() != 2 || !swizzle) // N1
    return emitError() << "expects a swizzled tile of rank 2, got " << tile << " with a swizzle span of " << swizzle;
  return BufType::verify(emitError, tile, swizzle);
}
