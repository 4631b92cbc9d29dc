//===- Meaning.h - what a manifest says its kernel computes -----*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUN_MEANING_H
#define ATTN_RUN_MEANING_H

#include "attn/Reference/Attention.h"

#include <map>
#include <optional>
#include <string>

namespace attn {
namespace run {

enum class Operation { Forward, Backward };

/// The operation of a manifest's "meaning"; refuses one that is not known here.
Operation parseOperation(const char *json);

/// The manifest's "meaning" in Reference's terms, whichever the operation.
struct Meaning {
  double scale = 1;
  std::vector<reference::NamedMask> masks;
  std::optional<reference::Program> score, visible;
};

/// Reads a manifest's "meaning". `captures` are the captured tensors and scalars
/// its regions may read. Refuses, by name, whatever Reference cannot judge.
Meaning parseMeaning(const char *json, const reference::Captures &captures);

/// The names of q, k, v, o, lse, do, dlse, dq, dk and dv among the operands, by those words; empty where the manifest
/// does not say.
std::map<std::string, std::string> operandNames(const char *json);

/// The size that dimension `d` of the captured tensor `name` is indexed by
/// ("q_heads", ...), if a gather of a region uses a coordinate as it is.
std::optional<std::string> indexedBy(const char *json, const std::string &name, size_t d);

} // namespace run
} // namespace attn

#endif // ATTN_RUN_MEANING_H
