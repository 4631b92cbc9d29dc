//===- HoistInvariants.cpp - move what does not change in front of loops
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loop-invariant code motion that counts registers. In front of a sweep's loop even whole tiles are worth keeping: the
// loop runs many times and nothing else is alive there. A loop over the tiles of a block is long, and whatever waits in
// front of it takes registers in all of its sweeps; a mask of the last keys, the same for every tile, waited there as
// packed predicates and cost more to unpack than to compute. So only single numbers leave such a loop, and a tile that
// stands in front of it, for the first of overlapped tiles, say, is computed again inside.
//
//   tile = f(constant)                     tile = f(constant); number = ..
//   while tiles {                          while tiles {
//     number = ..          =>                other = f(number); tile1 = f(constant)
//     other = f(number)                      for steps { .. tile1, other .. }
//     for steps { .. tile, other .. }      }
//   }
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/Support/DebugLog.h"

namespace attn {
#define GEN_PASS_DEF_HOISTINVARIANTSPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-hoist-invariants"

/// Tiles and fragments: more than one register.
static bool isWide(Type type) { return isa<ShapedType>(type) && !isa<MemRefType>(type); }

namespace {
struct HoistInvariants : attn::impl::HoistInvariantsPassBase<HoistInvariants> {
  using HoistInvariantsPassBase::HoistInvariantsPassBase;
  void runOnOperation() override;
};
} // namespace

/// Computes again, in front of `before`, what `value` is made of, as far as it is wide and costs no more than
/// arithmetic on coordinates; null if that does not lead to single numbers.
static Value sinkInto(Operation *before, Value value, IRMapping &sunk) {
  Operation *op = value.getDefiningOp();
  if (Value known = sunk.lookupOrNull(value))
    return known;
  if (!isWide(value.getType()) || (op && op->hasTrait<OpTrait::ConstantLike>()))
    return value;
  if (!op || op->getNumRegions() || !isMemoryEffectFree(op) ||
      !isa<IntegerType>(cast<ShapedType>(value.getType()).getElementType()))
    return {};
  IRMapping map;
  for (Value operand : op->getOperands()) {
    Value inside = sinkInto(before, operand, sunk);
    if (!inside)
      return {};
    map.map(operand, inside);
  }
  OpBuilder builder(before);
  sunk.map(op->getResults(), builder.clone(*op, map)->getResults());
  return sunk.lookup(value);
}

/// Wide values of integers (coordinates, masks) that a loop over tiles reads from in front of it.
static void sinkTiles(scf::WhileOp loop) {
  for (Region *region : loop.getLoopRegions())
    for (Operation &top : region->front()) {
      IRMapping sunk;
      top.walk([&](Operation *op) {
        for (OpOperand &operand : op->getOpOperands())
          if (isWide(operand.get().getType()) && loop.isDefinedOutsideOfLoop(operand.get()))
            if (Value inside = sinkInto(&top, operand.get(), sunk))
              operand.set(inside);
      });
    }
}

void HoistInvariants::runOnOperation() {
  // Inner loops first, so that what leaves one may leave the next as well.
  getOperation()->walk([&](LoopLikeOpInterface loop) {
    const bool overTiles = isa<scf::WhileOp>(loop);
    moveLoopInvariantCode(
        loop.getLoopRegions(), [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
        [&](Operation *op, Region *) {
          if (!isMemoryEffectFree(op) || !isSpeculatable(op))
            return false;
          if (!overTiles || llvm::none_of(op->getResultTypes(), isWide))
            return true;
          LDBG() << "stays in a loop over tiles: " << *op;
          return false;
        },
        [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
  });
  getOperation()->walk(sinkTiles);
}
