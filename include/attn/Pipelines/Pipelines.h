//===- Pipelines.h - one function per stage ----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tool never adds a pass: it calls these. Each function ends with the check of its stage's promises.
//
//   spec --tile--> tiled --map--> mapped --partition--> partitioned --nvvm--> nvvm   (EmitPTX, WriteManifest)
//   `-gradients-'                    `----cpu--> llvm                                (EmitObject, WriteManifest)
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_PIPELINES_PIPELINES_H
#define ATTN_PIPELINES_PIPELINES_H

#include "attn/Dialect/Attn/Transforms/Stage.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace attn {

struct TileStageOptions : mlir::PassPipelineOptions<TileStageOptions> {
  Option<std::string> chip{*this, "chip",
                           llvm::cl::desc("Machine to compile for; empty keeps the module's attn.target")};
  Option<std::string> schedule{
      *this, "schedule", llvm::cl::desc("Schedule for every attention op, `#attn.schedule<...>`; empty: the table's")};
  Option<bool> noRanges{*this, "no-ranges", llvm::cl::desc("Visit and mask every key tile"), llvm::cl::init(false)};
  Option<bool> backward{*this, "backward", llvm::cl::desc("Of a spec, compile the gradients"), llvm::cl::init(false)};
  Option<bool> deterministic{*this, "deterministic", llvm::cl::desc("Gradients without sums in no order"),
                             llvm::cl::init(false)};
};
/// In: semantic ops on tensors. Out: their gradients, in the same words.
void buildGradients(mlir::OpPassManager &pm);
/// In: semantic ops on tensors. Out: loops over tiles with online softmax, for `attn.target`.
void buildTileStage(mlir::OpPassManager &pm, const TileStageOptions &options);

struct MapStageOptions : mlir::PassPipelineOptions<MapStageOptions> {};
/// In: a nest of tile loops. Out: a kernel over a grid, and the host function that launches it.
void buildMapStage(mlir::OpPassManager &pm, const MapStageOptions &options);

struct PartitionStageOptions : mlir::PassPipelineOptions<PartitionStageOptions> {};
/// In: a kernel over tiles. Out: warps with their registers, shared memory and copies in flight.
void buildPartitionStage(mlir::OpPassManager &pm, const PartitionStageOptions &options);

struct NVVMStageOptions : mlir::PassPipelineOptions<NVVMStageOptions> {};
/// In: a partitioned kernel. Out: llvm and nvvm.
void buildNVVMStage(mlir::OpPassManager &pm, const NVVMStageOptions &options);

struct CPUStageOptions : mlir::PassPipelineOptions<CPUStageOptions> {
  Option<std::string> cpu{*this, "cpu", llvm::cl::init("native"),
                          llvm::cl::desc("Processor: native (this machine), or LLVM's name, such as x86-64-v3")};
};
/// In: a kernel over tiles (family cpu). Out: llvm, with the C entry `void NAME(void *const *params, begin, end)`.
void buildCPUStage(mlir::OpPassManager &pm, const CPUStageOptions &options);

/// Everything a compilation is told, for the tools.
struct CompileOptions {
  std::string chip;           ///< Empty: the module's own attn.target.
  std::string schedule;       ///< Empty: the table's choice.
  bool noRanges = false;      ///< Visit and mask every key tile: to check the analysis of masks.
  bool deterministic = false; ///< Gradients that are the same, bit by bit, from run to run.
  std::string cpu = "native"; ///< Family cpu: the processor, as CPUStageOptions.
};
/// The stage function whose result is `stage` (never spec, ptx or object: no pass makes those).
void buildStage(mlir::OpPassManager &pm, Stage stage, const CompileOptions &options);
/// Nothing but the check of what a stage promises.
void buildStageCheck(mlir::OpPassManager &pm, Stage stage);
/// The stages a module of this family still passes through after `from`, up to and including `to`.
llvm::SmallVector<Stage> getStagesBetween(Stage from, Stage to, bool cpu);

/// attn-to-tiled, attn-to-mapped, ... : from the spec to a stage; attn-tiled, attn-mapped, ...: one stage only.
void registerPipelines();

} // namespace attn

#endif // ATTN_PIPELINES_PIPELINES_H
