//===- Input.cpp - reading a module from text nobody vouches for
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Input.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Pipelines/CheckText.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace attn;

/// A spec is a page; the largest IR of a later stage is two megabytes.
static constexpr size_t kMaxBytes = 16 << 20;

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
    if (isa<AttentionOp>(op)) {
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
