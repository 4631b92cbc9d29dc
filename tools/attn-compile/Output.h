//===- Output.h - files that appear whole or not at all ------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_COMPILE_OUTPUT_H
#define ATTN_COMPILE_OUTPUT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace attn {
/// A directory of results. Files are made in a hidden directory beside it and move over in `commit`, the manifest
/// last; without a commit the destructor removes every trace.
class OutputDirectory {
public:
  static llvm::Expected<OutputDirectory> create(llvm::StringRef path);
  OutputDirectory(OutputDirectory &&);
  ~OutputDirectory();

  /// The path to write a file at. Commit moves the files in the order they were asked for.
  std::string add(llvm::StringRef name);
  llvm::Error write(llvm::StringRef name, llvm::StringRef content);
  /// Moves every file over.
  llvm::Error commit();
  /// Moves one file over and forgets it: what stays for the user to look at although the compilation failed.
  llvm::Error keep(llvm::StringRef name);
  /// Leaves a file behind with the hidden directory.
  void forget(llvm::StringRef name);
  /// Where a file is until then, and afterwards.
  std::string temporaryPath(llvm::StringRef name) const;
  std::string finalPath(llvm::StringRef name) const;

private:
  OutputDirectory() = default;
  llvm::Error makeFinal();

  std::string path, temporary;
  llvm::SmallVector<std::string> names;
};

/// Writes a file through a temporary one beside it; "-" is standard output.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef content);
} // namespace attn

#endif // ATTN_COMPILE_OUTPUT_H
