//===- OutputWrites.cpp - which outputs a function's kernels write
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/OutputWrites.h"

using namespace mlir;
using namespace attn;

/// True if an element of the memref, or of what a tensor map describes, is written somewhere.
static bool isWritten(Value memory) {
  return llvm::any_of(memory.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto store = dyn_cast<StoreOp>(user))
      return store.getDest() == use.get();
    if (auto copy = dyn_cast<CopyOp>(user))
      return copy.getDest() == use.get();
    if (auto map = dyn_cast<TensorMapOp>(user))
      return isWritten(map.getResult());
    auto launch = dyn_cast<LaunchOp>(user);
    if (!launch)
      return false;
    auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(launch, launch.getKernelAttr());
    if (!kernel) // Not here, or past the stages that show it.
      return true;
    for (auto [given, taken] : llvm::zip(launch.getArgs(), kernel.getBody().getArguments()))
      if (given == use.get() && isWritten(taken))
        return true;
    return false;
  });
}

SmallVector<BlockArgument> attn::getUnwrittenOutputs(func::FuncOp function) {
  SmallVector<BlockArgument> unwritten;
  for (BlockArgument argument : function.getArguments()) {
    auto role = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), AttnDialect::kRoleAttr);
    if (role && role.getValue() == "out" && !isWritten(argument))
      unwritten.push_back(argument);
  }
  return unwritten;
}
