//===- AttnRoleOps.cpp - verifiers of roles and rings
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

using namespace mlir;
using namespace attn;

LogicalResult RoleOp::verify() { return success(); }
LogicalResult AllocOp::verify() { return success(); }
LogicalResult AcquireOp::verify() { return success(); }
LogicalResult CopyOp::verify() { return success(); }
LogicalResult WaitOp::verify() { return success(); }
