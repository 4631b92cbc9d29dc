//===- Report.h - what --report and --time print -------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_COMPILE_REPORT_H
#define ATTN_COMPILE_REPORT_H

#include "attn/Target/Assemble.h"

#include "mlir/IR/BuiltinOps.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace attn {
/// One line about a kernel: threads, shared memory, blocks an SM holds; registers and spills if the assembler told.
std::string reportKernel(mlir::ModuleOp module, llvm::StringRef kernel, const AssemblerReport *assembler);

/// Wall time of each phase, in the order they first ran.
class PhaseTimes {
public:
  explicit PhaseTimes(bool enabled) : enabled(enabled) {}
  /// Adds its own lifetime to a phase.
  class Scope {
  public:
    Scope(PhaseTimes &times, llvm::StringRef phase) : times(times), phase(phase), start(Clock::now()) {}
    ~Scope() { times.add(phase, std::chrono::duration<double, std::milli>(Clock::now() - start).count()); }

  private:
    using Clock = std::chrono::steady_clock;
    PhaseTimes &times;
    llvm::StringRef phase;
    Clock::time_point start;
  };
  void add(llvm::StringRef phase, double milliseconds);
  /// One line to standard error, if enabled.
  void print() const;

private:
  bool enabled;
  std::vector<std::pair<std::string, double>> phases;
};
} // namespace attn

#endif // ATTN_COMPILE_REPORT_H
