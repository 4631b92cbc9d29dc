//===- TensorMaps.cpp - operands described to the tensor memory accelerator
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorMaps.h"

#include "attn/Facts/Facts.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace attn;

/// The only swizzle span in use.
static constexpr int64_t kSpan = facts::kBankBytes;

FailureOr<Value> TensorMaps::get(Operation *op, Value memref, BufType buf) {
  auto operand = dyn_cast<BlockArgument>(memref);
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!operand || operand.getOwner() != &kernel.getBody().front())
    return op->emitOpError(
        "cannot travel through a tensor map: expects an argument of the kernel, got a value computed "
        "in it");
  if (type.getRank() != 4 || failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return op->emitOpError("cannot travel through a tensor map: expects (batch, heads, rows, columns) with a last "
                           "dimension of stride 1, got ")
           << type;
  if (buf.getTile().getDimSize(0) > facts::kMaxBoxRows)
    return op->emitOpError("cannot travel through a tensor map: a box has at most ")
           << facts::kMaxBoxRows << " rows, got " << buf.getTile().getDimSize(0);
  if (buf.getSwizzle() != kSpan)
    return op->emitOpError("cannot travel through a tensor map: expects rows in multiples of ")
           << kSpan << " bytes, got " << buf.getTile();

  auto mapType = MapType::get(kernel.getContext(), buf.getTile(), buf.getSwizzle());
  Value &map = maps[{memref, mapType}];
  if (map)
    return map;
  map = kernel.getBody().addArgument(mapType, op->getLoc());
  kernel->getParentOfType<ModuleOp>().walk([&](LaunchOp launch) {
    if (launch.getKernel() != kernel.getSymName())
      return;
    OpBuilder host(launch);
    Value source = launch.getArgs()[operand.getArgNumber()];
    launch.getArgsMutable().append(TensorMapOp::create(host, launch.getLoc(), mapType, source).getResult());
  });
  return map;
}
