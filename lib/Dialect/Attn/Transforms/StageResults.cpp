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
// A buf of its own need not hold the whole result: a few columns at a time go the way above, each piece behind the one
// before.
//
//   | columns 0 .. 127 | 128 .. 255 |     of each: drain; sync; store; sync publish; copy [.., column]
//
//===----------------------------------------------------------------------===//

#include "StageResults.h"

#include "KernelRemark.h"
#include "PartitionRoles.h"
#include "attn/Analysis/SharedPlan.h"
#include "attn/Facts/Facts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-partition-roles"

/// Operands are (batch, heads, rows, columns).
static constexpr size_t kColumnDim = 3;

namespace {
/// A matrix on its way out.
struct Result {
  StoreOp store;
  BufType whole;
  const DrainedSlot *under = nullptr; ///< null: in bytes of its own
  int64_t pieces = 1;

  RankedTensorType tile() const { return whole.getTile(); }
  /// Columns are taken apart between panels: a box is one.
  int64_t panels() const {
    int64_t rowBytes = tile().getDimSize(1) * tile().getElementTypeBitWidth() / 8;
    return whole.getSwizzle() ? rowBytes / whole.getSwizzle() : 1;
  }
  int64_t columns() const { return tile().getDimSize(1) / pieces; }
  BufType piece() const {
    return getBufType(RankedTensorType::get({tile().getDimSize(0), columns()}, tile().getElementType()));
  }
};

class ResultStager {
public:
  ResultStager(TilesOp tiles, const StagingRoom &room, TensorMaps &maps, function_ref<std::string(StringRef)> label)
      : tiles(tiles), room(room), maps(maps), label(label), builder(tiles.getContext()) {}
  LogicalResult run();

private:
  void collect();
  void choosePieces();
  LogicalResult stage(Result &result);
  void stagePiece(Result &result, int64_t index, Value staging, Value map);

  TilesOp tiles;
  const StagingRoom &room;
  TensorMaps &maps;
  function_ref<std::string(StringRef)> label;
  OpBuilder builder;
  SmallVector<Result> results;
};
} // namespace

/// Whether slot g of the ring and group g's buf are the same bytes for every g.
static bool canLieOver(BufType buf, const DrainedSlot &slot) {
  auto ring = cast<RingType>(AllocOp(slot.ring).getResult().getType());
  return ring.getSlotBytes() == static_cast<int64_t>(llvm::alignTo(buf.getBytes(), facts::kBankBytes));
}

void ResultStager::collect() {
  for (StoreOp store : tiles.getBody().front().getOps<StoreOp>()) {
    if (store.getValue().getType().getRank() != 2 || !isa<MemRefType>(store.getDest().getType()))
      continue;
    Result &result = results.emplace_back(Result{store, getBufType(store.getValue().getType())});
    const DrainedSlot *under =
        llvm::find_if(room.slots, [&](const DrainedSlot &slot) { return canLieOver(result.whole, slot); });
    if (room.out == Staging::Alias && under != room.slots.end())
      result.under = under;
  }
}

/// The fewest for all with which all fit (as in fewestOutPieces); panel by panel if none do.
void ResultStager::choosePieces() {
  int64_t panels = 1;
  for (const Result &result : results)
    panels = std::max(panels, result.panels());
  for (int64_t most = 1; most <= panels; ++most) {
    int64_t bytes = 0;
    for (Result &result : results) {
      if (result.under)
        continue;
      result.pieces = outPieces(result.panels(), std::min(most, result.panels()));
      bytes += llvm::alignTo(result.piece().getBytes(), facts::kBankBytes);
    }
    if (!room.bytes || bytes <= *room.bytes)
      return;
  }
}

/// Stores and sends one piece, at the builder's point.
void ResultStager::stagePiece(Result &result, int64_t index, Value staging, Value map) {
  StoreOp store = result.store;
  Location loc = store.getLoc();
  Value value = store.getValue();
  SmallVector<Value> at(store.getAt());
  int64_t rows = result.tile().getDimSize(0), columns = result.columns(), first = index * columns;
  DrainOp::create(builder, loc, 0, /*read=*/true);
  SyncOp::create(builder, loc, Scope::Group);
  if (result.pieces > 1) {
    auto sizes = [&](int64_t r, int64_t c) -> SmallVector<OpFoldResult> {
      return {builder.getIndexAttr(r), builder.getIndexAttr(c)};
    };
    value = tensor::ExtractSliceOp::create(builder, loc, result.piece().getTile(), value, sizes(0, first),
                                           sizes(rows, columns), sizes(1, 1));
  }
  StoreOp::create(builder, loc, value, staging, ValueRange{}, StringAttr());
  SyncOp::create(builder, loc, Scope::Group, /*publish=*/true);
  if (first) {
    auto constant = [&](int64_t number) { return arith::ConstantIntOp::create(builder, loc, number, 32); };
    while (at.size() < kColumnDim)
      at.push_back(constant(0));
    if (at.size() == kColumnDim)
      at.push_back(constant(first));
    else
      at.back() = arith::AddIOp::create(builder, loc, at.back(), constant(first));
  }
  CopyOp::create(builder, loc, staging, ValueRange{}, map, at, Value(), Value(), Value(),
                 TransportAttr::get(builder.getContext(), Transport::Tma));
}

LogicalResult ResultStager::stage(Result &result) {
  StoreOp store = result.store;
  Location loc = store.getLoc();
  const DrainedSlot *under = result.under;
  BufType buf = result.piece();
  FailureOr<Value> map = maps.get(store, store.getDest(), buf);
  if (failed(map))
    return failure();
  std::string name = label(store.getLabel().value_or("O"));
  StringAttr over = under ? AllocOp(under->ring).getLabelAttr() : StringAttr();
  if (room.out == Staging::Alias && !under)
    remark::missed(loc, inKernel(store, "output", DEBUG_TYPE))
        << "has bytes of its own: " << remark::metric("buf", name)
        << remark::metric("why", "no ring that is filled once a tile has one slot a group of its size");
  remark::passed(loc, inKernel(store, "output", DEBUG_TYPE))
      << "staged through shared memory: " << remark::metric("buf", name)
      << remark::metric("over", over ? over.getValue() : "nothing") << remark::metric("pieces", result.pieces)
      << remark::metric("bytes", buf.getBytes());

  builder.setInsertionPointToStart(&store->getParentOfType<RoleOp>().getBody().front());
  Value staging = AllocOp::create(builder, loc, buf, builder.getStringAttr(name), IntegerAttr(), IntegerAttr(),
                                  IntegerAttr(), over);
  builder.setInsertionPoint(store);
  for (int64_t index = 0; index < result.pieces; ++index)
    stagePiece(result, index, staging, *map);
  if (under) {
    DrainOp::create(builder, loc, 0, /*read=*/true);
    SyncOp::create(builder, loc, Scope::Group);
    ReleaseOp(under->release)->moveBefore(store);
  }
  store.erase();
  return success();
}

LogicalResult ResultStager::run() {
  collect();
  choosePieces();
  for (Result &result : results)
    if (failed(stage(result)))
      return failure();
  if (!results.empty()) {
    builder.setInsertionPointAfter(tiles);
    DrainOp::create(builder, tiles.getLoc(), 0, /*read=*/false);
  }
  return success();
}

LogicalResult attn::stageResults(TilesOp tiles, const StagingRoom &room, TensorMaps &maps,
                                 function_ref<std::string(StringRef)> label) {
  return ResultStager(tiles, room, maps, label).run();
}
