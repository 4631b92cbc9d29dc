//===- Failure.h - how attn-run ends early ----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUN_FAILURE_H
#define ATTN_RUN_FAILURE_H

#include "attn_rt/attn_rt.h"

#include <string>

namespace attn {
namespace run {

/// Exit codes, the same for every tool of the project.
enum ExitCode { Right = 0, Refused = 1, Wrong = 2, Machine = 3 };

/// Thrown by whoever notices; main prints the text and returns the code.
struct Failure {
  ExitCode code;
  std::string text;
};

[[noreturn]] inline void refuse(const std::string &text) { throw Failure{Refused, text}; }

/// Turns a status of the runtime into a Failure.
void require(attn_status status);

} // namespace run
} // namespace attn

#endif // ATTN_RUN_FAILURE_H
