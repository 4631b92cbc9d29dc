//===- EmitObject.cpp - llvm to a shared library for the CPU
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/EmitObject.h"

using namespace mlir;

void attn::registerObjectTranslations(DialectRegistry &) {}

LogicalResult attn::emitObject(ModuleOp module, llvm::StringRef) {
  return module.emitError("the CPU back end is not there yet");
}
