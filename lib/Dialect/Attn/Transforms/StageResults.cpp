//===- StageResults.cpp - results leave a group through shared memory
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Family wgmma. A fragment is spread thinly over the lanes; a result that is a matrix is stored to a buf of its group
// and leaves by TMA:
//
//   drain 0 read   the copy of the tile before has read the buf
//   sync group     .. and all warps know
//   store; sync group publish; copy via tma
//
// The buf may lie over the group's slot of a ring that is filled once a tile. Then the item is released only when the
// copy has read the buf, and all warps know; else the producer would fill the slot under it:
//
//   copy via tma; drain 0 read; sync group; release Q
//
//===----------------------------------------------------------------------===//

#include "StageResults.h"

#include "PartitionRoles.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-partition-roles"

/// Whether slot g of the ring and group g's buf are the same bytes for every g.
static bool canLieOver(BufType buf, const DrainedSlot &slot) {
  auto ring = cast<RingType>(AllocOp(slot.ring).getResult().getType());
  return ring.getSlotBytes() == static_cast<int64_t>(llvm::alignTo(buf.getBytes(), 128));
}

static LogicalResult stageResult(StoreOp store, const DrainedSlot *under, bool wanted, TensorMaps &maps,
                                 std::string label) {
  Location loc = store.getLoc();
  OpBuilder builder(store);
  BufType buf = getBufType(store.getValue().getType());
  FailureOr<Value> map = maps.get(store, store.getDest(), buf);
  if (failed(map))
    return failure();
  StringAttr over = under ? AllocOp(under->ring).getLabelAttr() : StringAttr();
  if (wanted && !under)
    remark::missed(loc, remark::RemarkOpts::name("output").category(DEBUG_TYPE))
        << "has bytes of its own: " << remark::metric("buf", label)
        << remark::metric("why", "no ring that is filled once a tile has one slot a group of its size");
  remark::passed(loc, remark::RemarkOpts::name("output").category(DEBUG_TYPE))
      << "staged through shared memory: " << remark::metric("buf", label)
      << remark::metric("over", over ? over.getValue() : "nothing");

  builder.setInsertionPointToStart(&store->getParentOfType<RoleOp>().getBody().front());
  Value staging = AllocOp::create(builder, loc, buf, builder.getStringAttr(label), IntegerAttr(), IntegerAttr(),
                                  IntegerAttr(), over);
  builder.setInsertionPoint(store);
  DrainOp::create(builder, loc, 0, /*read=*/true);
  SyncOp::create(builder, loc, Scope::Group);
  StoreOp::create(builder, loc, store.getValue(), staging, ValueRange{}, StringAttr());
  SyncOp::create(builder, loc, Scope::Group, /*publish=*/true);
  Operation *end = CopyOp::create(builder, loc, staging, ValueRange{}, *map, store.getAt(), Value(), Value(), Value(),
                                  TransportAttr::get(builder.getContext(), Transport::Tma));
  if (under) {
    DrainOp::create(builder, loc, 0, /*read=*/true);
    end = SyncOp::create(builder, loc, Scope::Group);
    ReleaseOp(under->release)->moveAfter(end);
  }
  store.erase();
  return success();
}

LogicalResult attn::stageResults(TilesOp tiles, Staging out, ArrayRef<DrainedSlot> slots, TensorMaps &maps,
                                 llvm::function_ref<std::string(StringRef)> label) {
  bool any = false, wanted = out == Staging::Alias;
  for (StoreOp store : llvm::make_early_inc_range(tiles.getBody().front().getOps<StoreOp>())) {
    if (store.getValue().getType().getRank() != 2 || !isa<MemRefType>(store.getDest().getType()))
      continue;
    BufType buf = getBufType(store.getValue().getType());
    const DrainedSlot *under = llvm::find_if(slots, [&](const DrainedSlot &slot) { return canLieOver(buf, slot); });
    if (!wanted || under == slots.end())
      under = nullptr;
    if (failed(stageResult(store, under, wanted, maps, label(store.getLabel().value_or("O")))))
      return failure();
    any = true;
  }
  if (any) {
    OpBuilder builder(tiles->getContext());
    builder.setInsertionPointAfter(tiles);
    DrainOp::create(builder, tiles.getLoc(), 0, /*read=*/false);
  }
  return success();
}
