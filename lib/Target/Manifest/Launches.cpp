//===- Launches.cpp - which kernels a module launches, and how
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Manifest.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;

bool attn::isIdentifier(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

SmallVector<StringRef> attn::getLaunchedKernels(ModuleOp module) {
  SmallVector<StringRef> names;
  auto add = [&](func::FuncOp func) {
    for (LaunchOp launch : func.getOps<LaunchOp>())
      if (!llvm::is_contained(names, launch.getKernel()))
        names.push_back(launch.getKernel());
  };
  auto isAlternative = [](func::FuncOp func) { return func->hasAttr(AttnDialect::kAlternativeAttr); };
  SmallVector<func::FuncOp> hosts(module.getOps<func::FuncOp>());
  llvm::stable_sort(hosts, [&](func::FuncOp a, func::FuncOp b) { return isAlternative(a) < isAlternative(b); });
  llvm::for_each(hosts, add);
  return names;
}

LaunchBounds attn::getLaunchBounds(ModuleOp module, StringRef kernel) {
  LaunchBounds bounds;
  Operation *op = module.lookupSymbol(kernel);
  if (auto partitioned = dyn_cast_or_null<KernelOp>(op)) {
    bounds.threads = partitioned.getThreads().value_or(0);
    bounds.smemBytes = partitioned.getSmemBytes().value_or(0);
    if (ScheduleAttr schedule = partitioned.getScheduleAttr())
      bounds.blocksPerSm = schedule.getBlocks();
  } else if (op) {
    if (auto block = op->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid"); block && !block.empty())
      bounds.threads = block[0];
    if (auto bytes = op->getAttrOfType<IntegerAttr>(AttnDialect::kSmemBytesAttr))
      bounds.smemBytes = bytes.getInt();
    if (auto blocks = op->getAttrOfType<IntegerAttr>("nvvm.minctasm"))
      bounds.blocksPerSm = blocks.getInt();
  }
  return bounds;
}
