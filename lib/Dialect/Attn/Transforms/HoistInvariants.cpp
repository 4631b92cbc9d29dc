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
// packed predicates and cost more to unpack than to compute. So only single numbers leave such a loop.
//
//   while tiles {                          number = ..
//     number = ..          =>              while tiles {
//     tile = f(number)                       tile = f(number)
//     for steps { .. tile .. }               for steps { .. tile .. }
//   }                                      }
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
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
}
