//===- Pipelines.cpp - one function per stage
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With NVVMStage.cpp and CPU.cpp, the only place that adds passes.
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/Pipelines.h"

#include "attn/Dialect/Attn/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace attn;

void attn::buildStageCheck(OpPassManager &pm, Stage stage) {
  VerifyStagePassOptions options;
  options.stage = stage;
  pm.addPass(createVerifyStagePass(options));
}

void attn::buildGradients(OpPassManager &pm) {
  pm.addPass(createDeriveGradPass());
  buildStageCheck(pm, Stage::Spec);
}

void attn::buildTileStage(OpPassManager &pm, const TileStageOptions &options) {
  if (options.backward)
    buildGradients(pm);
  SetTargetPassOptions target;
  target.chip = options.chip;
  ChooseSchedulePassOptions schedule;
  schedule.schedule = options.schedule;
  schedule.deterministic = options.deterministic;
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createSetTargetPass(target));
  pm.addPass(createChooseSchedulePass(schedule));
  TileForwardPassOptions tile;
  tile.noRanges = options.noRanges;
  pm.addPass(createTileForwardPass(tile));
  TileBackwardPassOptions tileBackward;
  tileBackward.noRanges = options.noRanges;
  pm.addPass(createTileBackwardPass(tileBackward));
  // No canonicalisation before map-to-grid: it would drop loops of the nest that run once (a batch of 1 in the spec).
  pm.addPass(createCSEPass());
  buildStageCheck(pm, Stage::Tiled);
}

void attn::buildMapStage(OpPassManager &pm, const MapStageOptions &) {
  pm.addPass(createMapToGridPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  buildStageCheck(pm, Stage::Mapped);
}

void attn::buildPartitionStage(OpPassManager &pm, const PartitionStageOptions &) {
  pm.addPass(createPartitionRolesPass());
  pm.addPass(createAssignFragmentsPass());
  pm.addPass(createSkipRescalePass());
  pm.addPass(createScheduleSweepPass());
  pm.addPass(createLowerTilesPass());
  pm.addPass(createOverlapTilesPass());
  pm.addPass(createPlanMemoryPass());
  pm.addPass(createCountWaitsPass());
  pm.addPass(createSplitSweepsPass());
  // The plain loops lost their masks: the coordinates that fed them go here, and what is the same in every iteration
  // moves in front of the loop.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createHoistInvariantsPass());
  buildStageCheck(pm, Stage::Partitioned);
}

void attn::buildStage(OpPassManager &pm, Stage stage, const CompileOptions &options) {
  switch (stage) {
  case Stage::Tiled: {
    TileStageOptions tile;
    tile.chip = options.chip;
    tile.schedule = options.schedule;
    tile.noRanges = options.noRanges;
    tile.deterministic = options.deterministic;
    return buildTileStage(pm, tile);
  }
  case Stage::Mapped:
    return buildMapStage(pm, {});
  case Stage::Partitioned:
    return buildPartitionStage(pm, {});
  case Stage::NVVM:
    return buildNVVMStage(pm, {});
  case Stage::LLVM: {
    CPUStageOptions cpu;
    cpu.cpu = options.cpu;
    return buildCPUStage(pm, cpu);
  }
  case Stage::Spec:
  case Stage::PTX:
  case Stage::Object:
    return;
  }
}

SmallVector<Stage> attn::getStagesBetween(Stage from, Stage to, bool cpu) {
  SmallVector<Stage> between;
  for (const StageInfo &info : getStages())
    if (info.stage > from && info.stage <= to && info.where != (cpu ? StageWhere::GPU : StageWhere::CPU))
      between.push_back(info.stage);
  return between;
}

/// `attn-to-<stage>`: every stage function from the spec on.
template <Stage stage> static void registerPipelineTo(StringRef name) {
  PassPipelineRegistration<TileStageOptions>(
      name, getStageInfo(stage).meaning, [](OpPassManager &pm, const TileStageOptions &options) {
        if (options.backward)
          buildGradients(pm);
        CompileOptions all{options.chip, options.schedule, options.noRanges, options.deterministic};
        for (Stage s : getStagesBetween(Stage::Spec, stage, getStageInfo(stage).where == StageWhere::CPU))
          buildStage(pm, s, all);
      });
}

void attn::registerPipelines() {
  registerPipelineTo<Stage::Tiled>("attn-to-tiled");
  registerPipelineTo<Stage::Mapped>("attn-to-mapped");
  registerPipelineTo<Stage::Partitioned>("attn-to-partitioned");
  registerPipelineTo<Stage::NVVM>("attn-to-nvvm");
  registerPipelineTo<Stage::LLVM>("attn-to-llvm");
  // One stage only, for IR that is at the stage before it.
  PassPipelineRegistration<TileStageOptions>("attn-stage-tiled", "spec to tiled", buildTileStage);
  PassPipelineRegistration<MapStageOptions>("attn-stage-mapped", "tiled to mapped", buildMapStage);
  PassPipelineRegistration<PartitionStageOptions>("attn-stage-partitioned", "mapped to partitioned",
                                                  buildPartitionStage);
  PassPipelineRegistration<NVVMStageOptions>("attn-stage-nvvm", "partitioned to nvvm", buildNVVMStage);
  PassPipelineRegistration<CPUStageOptions>("attn-stage-llvm", "mapped to llvm, family cpu", buildCPUStage);
}
