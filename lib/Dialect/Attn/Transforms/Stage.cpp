//===- Stage.cpp - the points between passes that have a name
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Stage.h"

#include "llvm/ADT/STLExtras.h"

using namespace attn;

static constexpr StageInfo stages[] = {
#define STAGE(enumerator, name, where, meaning) {Stage::enumerator, name, StageWhere::where, meaning},
#include "attn/Dialect/Attn/Transforms/Stages.def"
};

llvm::ArrayRef<StageInfo> attn::getStages() { return stages; }

const StageInfo &attn::getStageInfo(Stage stage) { return stages[static_cast<int>(stage)]; }

std::optional<Stage> attn::parseStage(llvm::StringRef name) {
  const StageInfo *info = llvm::find_if(stages, [&](const StageInfo &s) { return s.name == name; });
  return info == std::end(stages) ? std::nullopt : std::optional<Stage>(info->stage);
}

llvm::cl::ValuesClass attn::stageValues() {
  return llvm::cl::ValuesClass({
#define STAGE(enumerator, name, where, meaning) clEnumValN(Stage::enumerator, name, meaning),
#include "attn/Dialect/Attn/Transforms/Stages.def"
  });
}
