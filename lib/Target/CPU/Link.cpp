//===- Link.cpp - an object into a shared library
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Target/EmitObject.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace {
/// A file beside the result, with a name of its own; gone at the end unless it was renamed.
struct ScratchFile {
  SmallString<128> path;
  FileRemover remover;

  Error create(StringRef beside, StringRef suffix, ArrayRef<char> content = {}) {
    int fd;
    if (std::error_code code = sys::fs::createUniqueFile(beside + ".%%%%%%%%" + suffix, fd, path))
      return createStringError(code, "cannot write beside " + beside + ": " + code.message());
    remover.setFile(path);
    raw_fd_ostream stream(fd, /*shouldClose=*/true);
    stream.write(content.data(), content.size());
    stream.close();
    if (stream.has_error()) {
      std::error_code code = stream.error();
      stream.clear_error();
      return createStringError(code, "cannot write " + path + ": " + code.message());
    }
    return Error::success();
  }
};
} // namespace

/// The program and its first arguments.
static Expected<SmallVector<std::string>> findLinker(StringRef wanted) {
  auto split = [](StringRef command) {
    SmallVector<StringRef> words;
    command.split(words, ' ', -1, /*KeepEmpty=*/false);
    return SmallVector<std::string>(words.begin(), words.end());
  };
  auto find = [&](StringRef command) -> SmallVector<std::string> {
    SmallVector<std::string> words = split(command);
    if (words.empty())
      return {};
    ErrorOr<std::string> program = sys::findProgramByName(words.front());
    if (!program)
      return {};
    words.front() = *program;
    return words;
  };
  if (!wanted.empty()) {
    SmallVector<std::string> words = find(wanted);
    if (words.empty())
      return createStringError("linker '" + wanted + "' not found");
    return words;
  }
  std::string searched;
  std::optional<std::string> cc = sys::Process::GetEnv("CC");
  if (cc && !cc->empty()) {
    SmallVector<std::string> words = find(*cc);
    if (!words.empty())
      return words;
    searched = "$CC (" + *cc + "), ";
  }
  static constexpr StringLiteral names[] = {"cc", "clang-22", "clang", "gcc", "ld.lld-22", "ld.lld"};
  for (StringRef name : names)
    if (SmallVector<std::string> words = find(name); !words.empty())
      return words;
  return createStringError("no linker for the shared library: looked for " + searched +
                           join(std::begin(names), std::end(names), ", ") +
                           " on PATH; name one with the linker option or $CC");
}

/// A bare linker does not know where libm is; a compiler driver does.
static void addLibraries(StringRef program, SmallVectorImpl<std::string> &arguments) {
  if (!sys::path::filename(program).starts_with("ld")) {
    arguments.push_back("-lm");
    return;
  }
  Triple triple(sys::getProcessTriple());
  std::string multiarch = (triple.getArchName() + "-linux-gnu").str();
  for (const std::string &directory : {"/lib/" + multiarch, "/usr/lib/" + multiarch, std::string("/lib64"),
                                       std::string("/usr/lib64"), std::string("/usr/lib")})
    if (sys::fs::exists(directory + "/libm.so.6")) {
      arguments.insert(arguments.end(), {"-L" + directory, "--as-needed", "-l:libm.so.6", "-l:libc.so.6"});
      return;
    }
}

Error attn::linkSharedLibrary(ArrayRef<char> object, StringRef path, StringRef linker) {
  Expected<SmallVector<std::string>> command = findLinker(linker);
  if (!command)
    return command.takeError();
  ScratchFile input, output, messages;
  if (Error error = joinErrors(joinErrors(input.create(path, ".o", object), output.create(path, ".so")),
                               messages.create(path, ".txt")))
    return error;

  SmallVector<std::string> arguments = *command;
  arguments.insert(arguments.end(), {"-shared", "-o", output.path.str().str(), input.path.str().str()});
  addLibraries(arguments.front(), arguments);
  SmallVector<StringRef> words(arguments.begin(), arguments.end());
  std::string failure;
  int status = sys::ExecuteAndWait(words.front(), words, std::nullopt,
                                   {std::nullopt, StringRef(messages.path), StringRef(messages.path)}, 0, 0, &failure);
  if (status != 0) {
    if (auto text = MemoryBuffer::getFile(messages.path); text && failure.empty())
      failure = (*text)->getBuffer().trim().str();
    return createStringError(words.front() + " could not link " + path + ": " + failure);
  }
  uint64_t bytes = 0;
  if (sys::fs::file_size(output.path, bytes) || bytes == 0)
    return createStringError(words.front() + " reported success but wrote no " + path);
  if (std::error_code code = sys::fs::rename(output.path, path))
    return createStringError(code, "cannot write " + path + ": " + code.message());
  output.remover.releaseFile();
  return Error::success();
}
