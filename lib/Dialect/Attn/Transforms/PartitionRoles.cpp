//===- PartitionRoles.cpp - give the block its roles and its rings
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass, and what the ways of making roles share (PartitionRoles.h).
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "KernelRemark.h"
#include "PartitionRoles.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "attn/Facts/Facts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/DebugLog.h"

namespace attn {
#define GEN_PASS_DEF_PARTITIONROLESPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-partition-roles"

/// The rings a schedule has a depth for, by the label of the load.
static constexpr struct {
  StringLiteral label;
  int64_t (ScheduleAttr::*depth)() const;
} kDepths[] = {{"Q", &ScheduleAttr::getDepthQ},
               {"K", &ScheduleAttr::getDepthK},
               {"V", &ScheduleAttr::getDepthV},
               {"dO", &ScheduleAttr::getDepthDo}};

BufType attn::getBufType(RankedTensorType tile) {
  int64_t rowBytes = tile.getShape().back() * tile.getElementTypeBitWidth() / 8;
  for (int64_t span = facts::kBankBytes; span >= 32; span /= 2)
    if (tile.getRank() == 2 && rowBytes % span == 0)
      return BufType::get(tile.getContext(), tile, span);
  return BufType::get(tile.getContext(), tile, 0);
}

void attn::moveRow(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &at, MemRefType memory,
                   RankedTensorType tile, Value by) {
  size_t row = memory.getRank() - tile.getRank();
  if (at.size() == row)
    at.push_back(by);
  else
    at[row] = builder.createOrFold<arith::AddIOp>(loc, at[row], by);
}

Value RolePartitioner::constant(Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

std::string RolePartitioner::uniqueLabel(StringRef wanted) {
  std::string label = wanted.str();
  for (int64_t n = 1; !labels.insert(label).second; ++n)
    label = wanted.str() + std::to_string(n);
  return label;
}

int64_t RolePartitioner::depthOf(LoadOp load) const {
  for (auto [label, depth] : kDepths)
    if (load.getLabel() == label)
      return (schedule.*depth)();
  return 1;
}

//===----------------------------------------------------------------------===//
// Which loads become rings
//===----------------------------------------------------------------------===//

LogicalResult RolePartitioner::checkDots() {
  WalkResult result = kernel.walk([&](DotOp dot) -> WalkResult {
    auto load = dot.getB().getDefiningOp<LoadOp>();
    if (!load || !isa<MemRefType>(load.getSource().getType()))
      return dot.emitOpError("expects its B operand to be loaded from a memref: family ")
                 << stringifyFamily(family) << " has no way yet to pass a computed tile through shared memory",
             WalkResult::interrupt();
    Operation *parent = load->getParentOp();
    if (isa<SweepOp>(parent)) {
      do
        parent = parent->getParentOp();
      while (isa<scf::ForOp>(parent));
    }
    if (parent != tiles)
      return load.emitOpError("feeds a product from inside a loop; its ring can be filled per tile or per step of a "
                              "sweep only"),
             WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

SmallVector<RingLoad> RolePartitioner::findRingLoads(Block &block) {
  SmallVector<RingLoad> rings;
  for (LoadOp load : block.getOps<LoadOp>()) {
    RingLoad ring{load, {}, {}, {}, {}, {}};
    for (OpOperand &use : load->getUses())
      if (isa<DotOp>(use.getOwner()) && use.getOperandNumber() < 2)
        ring.uses.push_back(&use);
    if (!ring.uses.empty() && isa<MemRefType>(load.getSource().getType()))
      rings.push_back(std::move(ring));
  }
  return rings;
}

void RolePartitioner::makeRing(RingLoad &load, BufType buf, int64_t slots, int64_t readers, Operation *before) {
  Location loc = load.load.getLoc();
  std::string label = uniqueLabel(load.load.getLabel().value_or("tile"));
  load.buf = buf;
  SmallVector<Type> bufs{buf};
  for (LoadOp vector : load.vectors)
    bufs.push_back(getBufType(vector.getResult().getType()));
  load.ring = RingType::get(builder.getContext(), slots, bufs);
  builder.setInsertionPoint(before);
  load.alloc = AllocOp::create(builder, loc, load.ring, builder.getStringAttr(label),
                               builder.getI64IntegerAttr(readers), IntegerAttr(), IntegerAttr(), StringAttr());
  remark::passed(loc, inKernel(load.load, "ring", DEBUG_TYPE))
      << "travels through shared memory: " << remark::metric("ring", label) << remark::metric("depth", slots)
      << remark::metric("bytes", slots * load.ring.getSlotBytes());
}

ReleaseOp RolePartitioner::waitAndRelease(RingLoad &load, Value item) {
  Block *block = load.load->getBlock();
  Operation *first = nullptr, *last = nullptr;
  SmallVector<OpOperand *> uses(load.uses);
  for (LoadOp vector : load.vectors)
    uses.push_back(&vector.getSourceMutable());
  for (OpOperand *use : uses) {
    Operation *user = block->findAncestorOpInBlock(*use->getOwner());
    first = !first || user->isBeforeInBlock(first) ? user : first;
    last = !last || last->isBeforeInBlock(user) ? user : last;
  }
  Location loc = load.load.getLoc();
  builder.setInsertionPoint(first);
  auto wait = WaitOp::create(builder, loc, load.ring.getBufs(), load.alloc, item, IntegerAttr());
  for (OpOperand *use : load.uses)
    use->set(wait.getBufs()[0]);
  for (auto [vector, buf] : llvm::zip_equal(load.vectors, wait.getBufs().drop_front())) {
    vector.getSourceMutable().set(buf);
    vector.getAtMutable().clear();
  }
  builder.setInsertionPointAfter(last);
  return ReleaseOp::create(builder, loc, load.alloc, item);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static LogicalResult partition(KernelOp kernel) {
  TargetAttr target = requireTarget(kernel);
  if (!target)
    return failure();
  if (!kernel.getScheduleAttr())
    return kernel.emitOpError("needs a schedule, got none; run attn-choose-schedule first");
  auto nests = llvm::to_vector(kernel.getBody().getOps<TilesOp>());
  if (nests.size() != 1)
    return kernel.emitOpError("expects one nest of tiles to partition, got ") << nests.size();
  switch (target.getFamily()) {
  case Family::MmaSync:
    return partitionInPlace(kernel, nests.front());
  case Family::Wgmma:
    return partitionProducer(kernel, nests.front());
  case Family::Cpu:
    break;
  }
  return kernel.emitOpError("cannot be partitioned for family ")
         << stringifyFamily(target.getFamily()) << " (chip " << target.getChip()
         << "); roles exist for mma_sync and wgmma";
}

namespace {
struct PartitionRoles : attn::impl::PartitionRolesPassBase<PartitionRoles> {
  using PartitionRolesPassBase::PartitionRolesPassBase;
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      LDBG() << "partition " << kernel.getSymName();
      if (failed(partition(kernel)))
        return signalPassFailure();
    }
  }
};
} // namespace
