//===- ProducerPartitioner.h - one thread copies, groups compute -----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the parts of partitioning for family wgmma share: PartitionProducer.cpp says what comes out and where the parts
// are.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_PRODUCERPARTITIONER_H
#define ATTN_TRANSFORMS_PRODUCERPARTITIONER_H

#include "PartitionRoles.h"
#include "StageResults.h"
#include "TensorMaps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace attn {

/// A ring, and how the items in it are made.
struct TmaLoad : RingLoad {
  mlir::Value map;
  SweepOp sweep;          ///< null: filled once a tile
  bool perGroup = false;  ///< A of products: every group has its own rows, an item of its own
  bool forOthers = false; ///< and every group reads the items of all
  ReleaseOp release;
};

class ProducerPartitioner : RolePartitioner {
public:
  ProducerPartitioner(KernelOp kernel, TilesOp tiles);
  llvm::LogicalResult run();

private:
  using Numbers = llvm::MutableArrayRef<mlir::Value>; ///< one for each sweep

  // Rings and tensor maps.
  llvm::LogicalResult check();
  llvm::LogicalResult collect(mlir::Block &block);
  void takeVectors(mlir::Block &block, llvm::MutableArrayRef<RingLoad> loads);
  llvm::LogicalResult prepare(TmaLoad &ring, RingLoad load, SweepOp sweep);
  StagingRoom findRoom();

  // Numbers of items.
  llvm::SmallVector<size_t> sweepsIn(mlir::Operation *op) const;
  mlir::Value itemOf(SweepOp sweep, llvm::ArrayRef<mlir::Value> first, mlir::Value tile, mlir::Value step);
  mlir::Value itemOf(TmaLoad &ring, llvm::ArrayRef<mlir::Value> first, mlir::Value tile, mlir::Value step,
                     mlir::Value group);
  void countSweeps(mlir::Block &block, Numbers next, llvm::function_ref<mlir::Value(mlir::Value)> lookup);

  RoleOp makeRole(llvm::StringRef name, int64_t first, int64_t warps, int64_t groups, int64_t regsIndex, bool elect);
  TilesOp makeTiles(mlir::Block *into);

  // The role that copies: ProducerRole.cpp.
  llvm::LogicalResult need(mlir::Value value, LoadOp load);
  llvm::LogicalResult findNeeded();
  void makeProducer();
  void fillBlock(mlir::Block &from, Numbers next, mlir::IRMapping &map);
  void fillSweep(SweepOp sweep, Numbers next, mlir::IRMapping &map);
  void fillLoop(mlir::scf::ForOp loop, Numbers next, mlir::IRMapping &map);
  void fill(TmaLoad &ring, llvm::ArrayRef<mlir::Value> next, mlir::IRMapping &map);

  // The role that computes: ComputeRole.cpp.
  void makeCompute();
  void carryNumbers(mlir::Block &block, Numbers next);
  void dropDeadAddresses(llvm::ArrayRef<mlir::Value> roots);
  /// A loaded operand that stays in registers for a whole tile, or part of it does.
  llvm::LogicalResult holdOperands();
  llvm::LogicalResult hold(TmaLoad &ring, DotOp dot, int64_t columns);

  // A computed tile that all groups need: ExchangeTiles.cpp.
  llvm::LogicalResult exchangeTiles();
  llvm::LogicalResult exchange(DotOp dot);
  mlir::Value handOver(mlir::Value tile, SweepOp sweep);
  llvm::SmallVector<mlir::Value> waitForOthers(mlir::Value own);

  int64_t groups, rows;
  llvm::MapVector<mlir::Operation *, TmaLoad> rings; ///< by load, in program order
  llvm::SmallVector<SweepOp> sweeps;                 ///< that fill rings; each carries the number of its next item
  llvm::SmallVector<mlir::Value> first;              ///< in the role that computes: the number of a sweep's first item
  TensorMaps maps;
  llvm::SetVector<mlir::Operation *> needed; ///< what addresses and sweeps' bounds are computed from
  llvm::DenseMap<mlir::Value, mlir::Value>
      items; ///< numbers that several rings share, by what counts: a tile or a step
  RoleOp producer, compute;
};

} // namespace attn

#endif // ATTN_TRANSFORMS_PRODUCERPARTITIONER_H
