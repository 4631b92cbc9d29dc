//===- Json.h - attributes as JSON, and how it is printed ---------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_MANIFEST_JSON_H
#define ATTN_LIB_TARGET_MANIFEST_JSON_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"
#include "llvm/Support/JSON.h"

namespace attn::manifest {
std::string typeText(mlir::Type type);

/// Masks as objects, infinities as words (JSON has none), what has no form of its own as MLIR prints it.
llvm::json::Value attributeJson(mlir::Attribute attribute);

/// Keys in order, one entry a line, and on one line whatever fits there.
void printJson(llvm::json::OStream &out, const llvm::json::Value &value);
} // namespace attn::manifest

#endif // ATTN_LIB_TARGET_MANIFEST_JSON_H
