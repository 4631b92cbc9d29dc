//===- Input.cpp - reading a module from text nobody vouches for
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Input.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace attn;

/// A spec is a page; the largest IR of a later stage is two megabytes.
static constexpr size_t kMaxBytes = 16 << 20;
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

OwningOpRef<ModuleOp> attn::readModule(StringRef path, MLIRContext *context) {
  Location file = FileLineColLoc::get(context, path == "-" ? "<stdin>" : path, 0, 0);
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false);
  if (!buffer) {
    emitError(file, "cannot be read: ") << buffer.getError().message();
    return nullptr;
  }
  StringRef text = (*buffer)->getBuffer();
  if (text.size() > kMaxBytes) {
    emitError(file, "is ") << text.size() << " bytes long; at most " << kMaxBytes << " are read";
    return nullptr;
  }
  text.consume_front("\xEF\xBB\xBF"); // The mark that some editors put first.
  if (std::optional<TextProblem> problem = checkText(text)) {
    emitError(FileLineColLoc::get(context, path, problem->line, problem->column)) << problem->what;
    return nullptr;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, path == "-" ? "<stdin>" : path), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, context);
}

std::optional<Stage> attn::detectStage(ModuleOp module) {
  std::optional<Stage> stage;
  auto found = [&](Stage s) { // The earliest: what is furthest behind decides where to go on.
    if (!stage || s < *stage)
      stage = s;
  };
  auto target = module->getAttrOfType<TargetAttr>(AttnDialect::kTargetAttr);
  bool cpu = target && target.getFamily() == Family::Cpu;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    StringRef name = op->getName().getStringRef();
    if (isa<SdpaOp>(op)) {
      found(Stage::Spec);
    } else if (auto kernel = dyn_cast<KernelOp>(op)) {
      bool partitioned = kernel.getThreads() || !kernel.getBody().getOps<RoleOp>().empty();
      found(partitioned ? Stage::Partitioned : Stage::Mapped);
      return WalkResult::skip();
    } else if (isa<SweepOp>(op)) { // Outside a kernel.
      found(Stage::Tiled);
    } else if (name == "llvm.func") {
      if (cpu)
        found(Stage::LLVM);
      else if (op->hasAttr("nvvm.kernel"))
        found(Stage::NVVM);
      return WalkResult::skip();
    }
    return WalkResult::advance();
  });
  return stage;
}
