//===- Passes.td - passes from spec to partitioned --------------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_PASSES_TD
#define ATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetTargetPass : Pass<"attn-set-target", "::mlir::ModuleOp"> {
  let summary = "Put the facts of a chip on the module";
  let options = [Option<"chip", "chip", "std::string", "", "A row of Facts; empty keeps the attn.target there is">];
}

def ChooseSchedulePass : Pass<"attn-choose-schedule", "::mlir::ModuleOp"> {
  let summary = "Choose how every attention op is tiled and pipelined";
  let options = [Option<"schedule", "schedule", "std::string", "",
                        "`#attn.schedule<...>` for every attention op; empty: the op's own, else the table's">];
}

def TileForwardPass : Pass<"attn-tile-forward", "::mlir::ModuleOp"> {
  let summary = "Rewrite attention into loops over tiles with online softmax";
}

def MapToGridPass : Pass<"attn-map-to-grid", "::mlir::ModuleOp"> {
  let summary = "Turn the nest over query tiles, heads and batch into a kernel and its launch";
}

def PartitionRolesPass : Pass<"attn-partition-roles", "::mlir::ModuleOp"> {
  let summary = "Give the block its roles, and every operand a ring filled ahead of its use";
}

def AssignFragmentsPass : Pass<"attn-assign-fragments", "::mlir::ModuleOp"> {
  let summary = "Spread every tile over the registers of the warps that own it";
}

def PlanMemoryPass : Pass<"attn-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place every buffer in shared memory";
}

def CountWaitsPass : Pass<"attn-count-waits", "::mlir::ModuleOp"> {
  let summary = "Count the copies that may still be open at every wait";
}

def SplitSweepsPass : Pass<"attn-split-sweeps", "::mlir::ModuleOp"> {
  let summary = "Split every sweep into masked and plain loops";
}

def LowerTilesPass : Pass<"attn-lower-tiles", "::mlir::ModuleOp"> {
  let summary = "Find the tile of a block from its id";
}

def VerifyStagePass : Pass<"attn-verify-stage", "::mlir::ModuleOp"> {
  let summary = "Check what a stage promises";
  let options = [Option<"stage", "stage", "::attn::Stage", "::attn::Stage::Spec", "The stage the module must be at",
                        "::attn::stageValues()">];
}

#endif // ATTN_TRANSFORMS_PASSES_TD
