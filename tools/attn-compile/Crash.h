//===- Crash.h - the last line of defence -------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_COMPILE_CRASH_H
#define ATTN_COMPILE_CRASH_H

namespace attn {
/// From now on a crash, a stack overflow included, ends as one line that names `input` and what was being done, and
/// exit code 1. What is written by then is in hidden temporary files only.
void catchCrashes(const char *input);
/// What a crash is blamed on: "reading", a stage.
void setCrashPhase(const char *phase);
} // namespace attn

#endif // ATTN_COMPILE_CRASH_H
