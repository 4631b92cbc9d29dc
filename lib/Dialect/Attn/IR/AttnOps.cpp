//===- AttnOps.cpp - verifiers of the semantic level
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace attn;

#define GET_OP_CLASSES
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"

LogicalResult SdpaOp::verify() { return success(); }
LogicalResult SdpaOp::verifyRegions() { return success(); }
LogicalResult GatherOp::verify() { return success(); }
