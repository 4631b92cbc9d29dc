//===- attn-opt.cpp - run any pass or pipeline on any stage
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/InitAll.h"
#include "attn/Pipelines/CheckText.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/MemoryBuffer.h"

#ifndef NDEBUG // LLVM's own --debug-only is not in a release build of it; LDBG() in our code is.
static llvm::cl::list<std::string>
    debugOnly("attn-debug", llvm::cl::value_desc("pass"),
              llvm::cl::desc("Print what a pass thinks (LDBG), such as attn-tile-forward"),
              llvm::cl::callback([](const std::string &type) {
                llvm::DebugFlag = true;
                llvm::setCurrentDebugType(type.c_str());
              }));
#endif

/// Whether the parser would survive the file; says why not. Standard input and bytecode are taken on trust.
static bool isReadable(llvm::StringRef path) {
  if (path == "-")
    return true;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer || (*buffer)->getBuffer().starts_with("ML\xefR"))
    return true; // MlirOptMain reports files it cannot open
  std::optional<attn::TextProblem> problem = attn::checkText((*buffer)->getBuffer());
  if (problem)
    llvm::errs() << path << ":" << problem->line << ":" << problem->column << ": error: " << problem->what << "\n";
  return !problem;
}

/// One line for one mistake; --mlir-print-op-on-diagnostic brings the op back.
static void quietDiagnostics() {
  llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup("mlir-print-op-on-diagnostic");
  if (option && !option->getNumOccurrences())
    static_cast<llvm::cl::opt<bool> *>(option)->setValue(false);
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  attn::registerAllDialects(registry);
  attn::registerAllPasses();
  auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "attn: attention kernels, stage by stage\n", registry);
  quietDiagnostics();
  if (!isReadable(input))
    return EXIT_FAILURE;
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
