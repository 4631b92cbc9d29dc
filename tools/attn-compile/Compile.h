//===- Compile.h - one compilation, from a file to files ----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_COMPILE_COMPILE_H
#define ATTN_COMPILE_COMPILE_H

#include "attn/Dialect/Attn/Transforms/Stage.h"

#include <optional>
#include <string>

namespace attn {
enum class CubinMode { Off, Auto, On };

/// What the command line asks for; empty strings were not given.
struct CompileJob {
  std::string input, output, chip, cpu = "native", schedule, saveStages, ptxas, linker, remarks;
  /// Asked only if neither the command line nor the module names a chip.
  std::string (*defaultChip)() = nullptr;
  std::optional<Stage> stopAfter;
  CubinMode cubin = CubinMode::Off;
  bool backward = false, deterministic = false, noRanges = false, report = false, time = false;
};

/// Returns the exit code. Everything it has to say goes to standard error, a line each.
int compile(const CompileJob &job);
} // namespace attn

#endif // ATTN_COMPILE_COMPILE_H
