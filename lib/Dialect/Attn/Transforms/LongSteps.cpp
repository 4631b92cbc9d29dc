//===- LongSteps.cpp - steps of a sweep with many products
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LongSteps.h"

#include "attn/Facts/Facts.h"

using namespace mlir;
using namespace attn;

bool attn::isLongStep(Block &body) { return llvm::range_size(body.getOps<DotOp>()) > 2; }

/// Instructions of a product in a warp, below which it is short: m16n8k16 takes about eight cycles, 64 of them what a
/// load from the second-level cache takes.
static constexpr int64_t kShort = 64;

static int64_t countInstructions(DotOp dot, int64_t warps) {
  int64_t depth = cast<RankedTensorType>(dot.getA().getType()).getDimSize(1);
  const facts::MmaShape *shape = facts::findMmaShape(facts::Family::MmaSync, "bf16");
  return dot.getTile().getNumElements() * depth / (shape->m * facts::kAtomCols * shape->k) / warps;
}

void attn::orderStep(Block &body, int64_t warps) {
  auto firstReader = [&](Operation *op) {
    Operation *first = nullptr;
    for (Operation *user : op->getUsers()) {
      user = body.findAncestorOpInBlock(*user);
      first = !first || user->isBeforeInBlock(first) ? user : first;
    }
    return first;
  };
  auto isLoaded = [&](Value operand) { return operand.getDefiningOp<LoadOp>() != nullptr; };
  if (llvm::any_of(body.getOps<DotOp>(), [&](DotOp dot) { return countInstructions(dot, warps) < kShort; }))
    return;
  // The first product stays: what stands between it and its reader (coordinates, a mask) need not wait in registers.
  auto dots = llvm::to_vector(body.getOps<DotOp>());
  for (DotOp dot : ArrayRef(dots).drop_front())
    if (Operation *reader = firstReader(dot); reader && isLoaded(dot.getA()) && isLoaded(dot.getB()) && !dot.getAcc())
      dot->moveBefore(reader);
  for (SpreadOp spread : llvm::to_vector(body.getOps<SpreadOp>())) // no reader of a vector in front of the product
    if (Operation *reader = firstReader(spread))
      spread->moveBefore(reader);
  for (LoadOp load : llvm::to_vector(body.getOps<LoadOp>())) {
    Operation *at = firstReader(load);
    if (load.getResult().getType().getRank() != 1 || !at)
      continue;
    while (at != load && !isa<DotOp>(at))
      at = at->getPrevNode();
    if (at != load)
      load->moveBefore(at);
  }
}

void attn::waitTogether(ArrayRef<RingLoad> rings, Block &body) {
  Operation *last = nullptr;
  for (WaitOp wait : llvm::make_early_inc_range(body.getOps<WaitOp>())) {
    const RingLoad *ring = llvm::find_if(rings, [&](const RingLoad &r) { return r.alloc == wait.getRing(); });
    if (ring == rings.end() || ring->depth() == 1)
      continue;
    if (last)
      wait->moveAfter(last);
    last = wait;
  }
}
