//===- InitAll.h - everything this project registers -*- C++ -*-
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_INITALL_H
#define ATTN_INITALL_H

#include "mlir/IR/DialectRegistry.h"

namespace attn {
/// The attn dialect and every upstream dialect its stages use.
void registerAllDialects(mlir::DialectRegistry &registry);
/// Our passes, conversions and pipelines, and the upstream passes that pipelines use.
void registerAllPasses();
} // namespace attn

#endif // ATTN_INITALL_H
