//===- Output.cpp - files that appear whole or not at all
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Output.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn;
using llvm::Error;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static Error cannotWrite(StringRef where, std::error_code error) {
  return llvm::createStringError(error, "cannot write '" + where + "': " + error.message());
}

static std::string join(StringRef directory, StringRef name) {
  llvm::SmallString<128> result(directory);
  path::append(result, name);
  return std::string(result);
}

llvm::Expected<OutputDirectory> OutputDirectory::create(StringRef where) {
  if (fs::exists(where) && !fs::is_directory(where))
    return cannotWrite(where, std::make_error_code(std::errc::not_a_directory));
  OutputDirectory output;
  llvm::SmallString<128> absolute(where);
  if (std::error_code error = fs::make_absolute(absolute))
    return cannotWrite(where, error);
  path::remove_dots(absolute, /*remove_dot_dot=*/true);
  output.path = std::string(absolute);
  // Beside the final place, so that moving is renaming. A parent that is missing is not made up: it is a typo.
  llvm::SmallString<128> hidden(path::parent_path(absolute));
  path::append(hidden, "." + path::filename(absolute) + ".%%%%%%");
  llvm::SmallString<128> unique;
  fs::createUniquePath(hidden, unique, false);
  if (std::error_code error = fs::create_directory(unique, false))
    return cannotWrite(where, error);
  output.temporary = std::string(unique);
  return output;
}

OutputDirectory::OutputDirectory(OutputDirectory &&other)
    : path(std::move(other.path)), temporary(std::move(other.temporary)), names(std::move(other.names)) {
  other.temporary.clear();
}

OutputDirectory::~OutputDirectory() {
  if (!temporary.empty())
    fs::remove_directories(temporary);
}

std::string OutputDirectory::add(StringRef name) {
  names.push_back(name.str());
  return join(temporary, name);
}

void OutputDirectory::forget(StringRef name) { llvm::erase(names, name); }

std::string OutputDirectory::temporaryPath(StringRef name) const { return join(temporary, name); }

std::string OutputDirectory::finalPath(StringRef name) const { return join(path, name); }

Error OutputDirectory::write(StringRef name, StringRef content) {
  std::error_code error;
  llvm::raw_fd_ostream os(add(name), error);
  if (error)
    return cannotWrite(finalPath(name), error);
  os << content;
  os.close();
  if (os.has_error()) {
    error = os.error();
    os.clear_error();
    return cannotWrite(finalPath(name), error);
  }
  return Error::success();
}

Error OutputDirectory::makeFinal() {
  if (std::error_code error = fs::create_directory(path))
    return cannotWrite(path, error);
  return Error::success();
}

Error OutputDirectory::keep(StringRef name) {
  if (Error error = makeFinal())
    return error;
  forget(name);
  if (std::error_code error = fs::rename(join(temporary, name), finalPath(name)))
    return cannotWrite(finalPath(name), error);
  return Error::success();
}

Error OutputDirectory::commit() {
  while (!names.empty())
    if (Error error = keep(std::string(names.front())))
      return error;
  return Error::success();
}

Error attn::writeFile(StringRef where, StringRef content) {
  if (where == "-") {
    llvm::outs() << content;
    llvm::outs().flush();
    return Error::success();
  }
  // A device or a pipe is written, not replaced.
  fs::file_status status;
  bool replace = fs::status(where, status) || status.type() == fs::file_type::regular_file;
  llvm::SmallString<128> temporary(where);
  int descriptor;
  std::error_code error = replace ? fs::createUniqueFile(where + ".%%%%%%", descriptor, temporary, fs::OF_None, 0644)
                                  : fs::openFileForWrite(where, descriptor, fs::CD_OpenExisting);
  if (error)
    return cannotWrite(where, error);
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << content;
  os.close();
  if (os.has_error())
    error = os.error();
  os.clear_error();
  if (replace && !error)
    error = fs::rename(temporary, where);
  if (!error)
    return Error::success();
  if (replace)
    fs::remove(temporary);
  return cannotWrite(where, error);
}
