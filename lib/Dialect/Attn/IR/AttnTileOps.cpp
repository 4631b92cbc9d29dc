//===- AttnTileOps.cpp - verifiers of the tile level
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

using namespace mlir;
using namespace attn;

LogicalResult LoadOp::verify() { return success(); }
LogicalResult StoreOp::verify() { return success(); }
LogicalResult DotOp::verify() { return success(); }
LogicalResult ReduceOp::verify() { return success(); }
LogicalResult SpreadOp::verify() { return success(); }
LogicalResult CoordOp::verify() { return success(); }
LogicalResult MaskOp::verify() { return success(); }
LogicalResult PackOp::verify() { return success(); }
LogicalResult SweepOp::verify() { return success(); }
LogicalResult KernelOp::verify() { return success(); }
LogicalResult TilesOp::verify() { return success(); }
LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &) { return success(); }

SmallVector<Region *> SweepOp::getLoopRegions() { return {&getBody()}; }
