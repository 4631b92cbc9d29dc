//===- OutputWrites.h - which outputs a function's kernels write ----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_OUTPUTWRITES_H
#define ATTN_ANALYSIS_OUTPUTWRITES_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace attn {

/// The arguments of role `out` that nothing writes: no store or copy in the function's loops (`tiled`) or in a kernel
/// it launches (`mapped`, `partitioned`). That every element is written is not looked into.
llvm::SmallVector<mlir::BlockArgument> getUnwrittenOutputs(mlir::func::FuncOp function);

} // namespace attn

#endif // ATTN_ANALYSIS_OUTPUTWRITES_H
