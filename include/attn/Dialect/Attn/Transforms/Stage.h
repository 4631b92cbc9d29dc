//===- Stage.h - the points between passes that have a name ------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_ATTN_TRANSFORMS_STAGE_H
#define ATTN_DIALECT_ATTN_TRANSFORMS_STAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"

#include <optional>

namespace attn {
/// A point of the pipeline. IR at any of them compiles onward; `attn-verify-stage` checks what each promises.
enum class Stage {
#define STAGE(enumerator, name, where, meaning) enumerator,
#include "attn/Dialect/Attn/Transforms/Stages.def"
};

/// Which families pass through a stage.
enum class StageWhere { Any, GPU, CPU };

struct StageInfo {
  Stage stage;
  llvm::StringLiteral name;
  StageWhere where;
  llvm::StringLiteral meaning;
};

/// Every stage, in the order of the pipeline (the GPU's last stages before the CPU's).
llvm::ArrayRef<StageInfo> getStages();
const StageInfo &getStageInfo(Stage stage);
std::optional<Stage> parseStage(llvm::StringRef name);
/// The alternatives of an option of type Stage, with their meanings.
llvm::cl::ValuesClass stageValues();
} // namespace attn

#endif // ATTN_DIALECT_ATTN_TRANSFORMS_STAGE_H
