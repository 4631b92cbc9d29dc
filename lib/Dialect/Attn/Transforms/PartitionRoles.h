//===- PartitionRoles.h - what every way of making roles shares ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loads go through shared memory, what their rings look like, where an item is waited for and released. Who fills
// the rings is the family's choice: PartitionInPlace.cpp, PartitionProducer.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_PARTITIONROLES_H
#define ATTN_TRANSFORMS_PARTITIONROLES_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

namespace attn {

/// A loaded tile that goes through shared memory.
struct RingLoad {
  LoadOp load;
  llvm::SmallVector<mlir::OpOperand *> uses; ///< operands of products
  llvm::SmallVector<LoadOp, 1> vectors = {}; ///< rows of numbers that travel in the same slot, behind the tile
  RingType ring;
  BufType buf;
  mlir::Value alloc;

  int64_t depth() const { return ring.getDepth(); }
};

class RolePartitioner {
public:
  RolePartitioner(KernelOp kernel, TilesOp tiles, Family family)
      : kernel(kernel), tiles(tiles), family(family), schedule(kernel.getScheduleAttr()), builder(kernel.getContext()) {
  }

protected:
  /// Products read their B operand from shared memory, so it has to be a loaded tile, of the tile or of a sweep of it.
  llvm::LogicalResult checkDots();
  /// The loads of `block` that a product reads, in order; without rings yet.
  llvm::SmallVector<RingLoad> findRingLoads(mlir::Block &block);
  /// Gives the load a ring of `slots` slots of `buf`, allocated in front of `before`.
  void makeRing(RingLoad &load, BufType buf, int64_t slots, int64_t readers, mlir::Operation *before);
  /// Waits in front of the first product that reads the item, releases it behind the last one.
  ReleaseOp waitAndRelease(RingLoad &load, mlir::Value item);

  mlir::Value constant(mlir::Location loc, int64_t value);
  /// `wanted`, or with a number behind it if an alloc has that label already.
  std::string uniqueLabel(llvm::StringRef wanted);
  /// Slots of the load's ring: what the schedule says where it has a depth of that label, else one.
  int64_t depthOf(LoadOp load) const;

  KernelOp kernel;
  TilesOp tiles;
  Family family;
  ScheduleAttr schedule;
  mlir::OpBuilder builder;
  llvm::StringSet<> labels;
};

/// The widest span that divides a row: the wider, the fewer panels (128 bytes reach all banks with eight rows).
BufType getBufType(mlir::RankedTensorType tile);

/// Moves an access to a tile in memory on by so many rows. Coordinates are those that choose a matrix (or a row of
/// numbers), then the tile's own; a dimension taken whole has none yet.
void moveRow(mlir::OpBuilder &builder, mlir::Location loc, llvm::SmallVectorImpl<mlir::Value> &at,
             mlir::MemRefType memory, mlir::RankedTensorType tile, mlir::Value by);

/// Family mma_sync: one role that fills its own rings.
llvm::LogicalResult partitionInPlace(KernelOp kernel, TilesOp tiles);
/// Family wgmma: one thread that copies, groups of warps that compute.
llvm::LogicalResult partitionProducer(KernelOp kernel, TilesOp tiles);

/// Gives every group of `role` its share of a tile of `rows` rows: group g gets rows [g n, (g + 1) n), n = rows /
/// groups.
llvm::LogicalResult splitRows(RoleOp role, int64_t rows);

/// Narrows the sweeps of a nest in `role` to the blocks that a group's own rows see.
void narrowSweeps(RoleOp role, TilesOp tiles, ScheduleAttr schedule);

} // namespace attn

#endif // ATTN_TRANSFORMS_PARTITIONROLES_H
