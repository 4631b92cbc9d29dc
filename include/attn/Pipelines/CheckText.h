//===- CheckText.h - text the parser would not survive -----------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The upstream parser recurses into every bracket and takes bytes as they come. The tools look at the text first, so
// that a hostile file is one error with a location and not a crash.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_PIPELINES_CHECKTEXT_H
#define ATTN_PIPELINES_CHECKTEXT_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace attn {
/// Where in the text something is that the parser would not survive, and what; nothing if all is well.
struct TextProblem {
  unsigned line, column; ///< from 1
  std::string what;
};
std::optional<TextProblem> checkText(llvm::StringRef text);
} // namespace attn

#endif // ATTN_PIPELINES_CHECKTEXT_H
