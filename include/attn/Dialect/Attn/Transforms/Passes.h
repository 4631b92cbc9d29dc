//===- Passes.h - passes from spec to partitioned -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_PASSES_H
#define ATTN_TRANSFORMS_PASSES_H

#include "attn/Dialect/Attn/Transforms/Stage.h"

#include "mlir/Pass/Pass.h"

namespace attn {
#define GEN_PASS_DECL
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

#endif // ATTN_TRANSFORMS_PASSES_H
