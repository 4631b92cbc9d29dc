//===- Target.h - the machine a module is for -----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_TARGET_H
#define ATTN_DIALECT_TARGET_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"

namespace attn {

/// The target of the function, kernel or module that `op` is or stands in, whichever is nearest; null if there is none.
inline TargetAttr getTarget(mlir::Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target = op->getAttrOfType<TargetAttr>(AttnDialect::kTargetAttr))
      return target;
  return {};
}

/// The same; if there is none: an error at `op`, and null.
inline TargetAttr requireTarget(mlir::Operation *op) {
  TargetAttr target = getTarget(op);
  if (!target)
    op->emitOpError("needs ") << AttnDialect::kTargetAttr << " on the module; run attn-set-target first";
  return target;
}

/// The same machine without its warpgroup instructions.
inline TargetAttr asMmaSync(TargetAttr target) {
  return TargetAttr::get(target.getContext(), target.getChip(), Family::MmaSync, target.getSmem(), target.getSmemSm(),
                         target.getSms(), target.getRegs());
}

} // namespace attn

#endif // ATTN_DIALECT_TARGET_H
