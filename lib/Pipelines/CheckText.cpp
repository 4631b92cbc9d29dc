//===- CheckText.cpp - text the parser would not survive
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Pipelines/CheckText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ConvertUTF.h"

using namespace attn;
using llvm::StringRef;
using llvm::Twine;

/// The deepest IR of any stage nests 12 brackets. The parser needs up to a kilobyte of stack for one.
static constexpr unsigned kMaxNesting = 256;

static bool isWordCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }

std::optional<TextProblem> attn::checkText(StringRef text) {
  unsigned line = 1, nesting = 0;
  size_t lineStart = 0;
  auto problem = [&](size_t at, const Twine &what) {
    return TextProblem{line, static_cast<unsigned>(at - lineStart) + 1, what.str()};
  };
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\n') {
      ++line;
      lineStart = i + 1;
      continue;
    }
    if (c == '\0')
      return problem(i, "is not text: found a zero byte");
    if (static_cast<unsigned char>(c) >= 0x80) {
      const auto *from = reinterpret_cast<const llvm::UTF8 *>(text.data() + i);
      unsigned length = llvm::getNumBytesForUTF8(*from);
      if (length > text.size() - i || !llvm::isLegalUTF8Sequence(from, from + length))
        return problem(i, "is not UTF-8 text");
      i += length - 1;
      continue;
    }
    char before = i ? text[i - 1] : ' ', after = i + 1 < text.size() ? text[i + 1] : ' ';
    if (c == '/' && after == '/') { // A comment: only its bytes matter.
      while (i + 1 < text.size() && text[i + 1] != '\n' && text[i + 1] > 0)
        ++i;
    } else if (c == '"') { // A string: skip to its end, over escaped quotes.
      while (i + 1 < text.size() && text[i + 1] != '"' && text[i + 1] != '\n' && text[i + 1] > 0)
        i += text[i + 1] == '\\' ? 2 : 1;
      if (i + 1 < text.size() && text[i + 1] == '"')
        ++i;
    } else if (c == '(' || c == '[' || c == '{' || (c == '<' && isWordCharacter(before))) {
      if (++nesting > kMaxNesting)
        return problem(i, "nests brackets deeper than " + Twine(kMaxNesting));
    } else if (c == ')' || c == ']' || c == '}' || (c == '>' && before != '-' && after != '=')) {
      nesting -= nesting > 0;
    }
  }
  return std::nullopt;
}
