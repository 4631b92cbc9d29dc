//===- Assemble.cpp - PTX to a cubin, by the CUDA assembler
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Assemble.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"

using namespace attn;
using llvm::StringRef;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Expected<std::string> attn::findPtxas(StringRef option) {
  if (!option.empty()) {
    if (llvm::sys::fs::can_execute(option))
      return option.str();
    return makeError("ptxas: '" + option + "' is not a program");
  }
  if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  std::vector<std::string> prefixes;
  if (std::optional<std::string> home = llvm::sys::Process::GetEnv("CUDA_HOME"); home && !home->empty())
    prefixes.push_back(*home);
  prefixes.push_back("/usr/local/cuda");
  std::string places = "PATH";
  for (const std::string &prefix : prefixes) {
    llvm::SmallString<128> path(prefix);
    llvm::sys::path::append(path, "bin", "ptxas");
    if (llvm::sys::fs::can_execute(path))
      return std::string(path);
    places += ", " + std::string(path);
  }
  return makeError("ptxas was not found; looked at: --ptxas, " + places);
}

/// `number` in front of `what`: "Used 168 registers", "8 bytes spill stores".
static int64_t numberBefore(StringRef text, StringRef what) {
  size_t at = text.find(what);
  if (at == StringRef::npos)
    return 0;
  StringRef before = text.take_front(at).rtrim();
  int64_t value = 0;
  before.take_back(before.size() - (before.find_last_not_of("0123456789") + 1)).getAsInteger(10, value);
  return value;
}

/// The part of the text that is about one kernel.
static AssemblerReport parseKernel(StringRef text) {
  AssemblerReport report;
  report.registers = numberBefore(text, "registers");
  report.spillStoreBytes = numberBefore(text, "bytes spill stores");
  report.spillLoadBytes = numberBefore(text, "bytes spill loads");
  report.stackBytes = numberBefore(text, "bytes stack frame");
  report.staticSmemBytes = numberBefore(text, "bytes smem");
  return report;
}

Assembly attn::parseAssembly(StringRef text) {
  Assembly assembly;
  static constexpr llvm::StringLiteral begin = "Compiling entry function '";
  for (StringRef rest = text.split(begin).second; !rest.empty(); rest = rest.split(begin).second) {
    auto [kernel, about] = rest.split('\'');
    assembly.kernels[kernel] = parseKernel(about.split(begin).first);
  }
  llvm::Regex complaint("\\(C7[0-9][0-9][0-9]\\)|^ptxas warning|; warning");
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    if (complaint.match(line))
      assembly.complaints.push_back(line.trim().str());
    text = rest;
  }
  return assembly;
}

llvm::Expected<Assembly> attn::assemble(StringRef ptxas, StringRef ptxPath, StringRef chip, StringRef cubinPath) {
  llvm::SmallString<128> logPath;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile("ptxas", "log", logPath))
    return makeError("ptxas: no temporary file for its output: " + error.message());
  llvm::FileRemover removeLog(logPath);
  std::string arch = ("-arch=" + chip).str();
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(logPath), StringRef(logPath)};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(ptxas, {ptxas, "-v", arch, ptxPath, "-o", cubinPath}, std::nullopt, redirects,
                                         /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  std::string text;
  if (auto buffer = llvm::MemoryBuffer::getFile(logPath))
    text = (*buffer)->getBuffer().str();
  if (status != 0) {
    // The first line that is a complaint; a wrong PTX file makes hundreds.
    StringRef first = text, line;
    do
      std::tie(line, first) = first.split('\n');
    while (!first.empty() && !line.contains("error") && !line.contains("fatal"));
    return makeError("ptxas refuses " + ptxPath + ": " + (line.empty() ? StringRef(message) : line.trim()));
  }
  return parseAssembly(text);
}
