//===- Assemble.h - PTX to a cubin, by the CUDA assembler ---------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TARGET_ASSEMBLE_H
#define ATTN_TARGET_ASSEMBLE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace attn {
/// What the assembler says of one kernel.
struct AssemblerReport {
  int64_t registers = 0;       ///< per thread
  int64_t spillStoreBytes = 0; ///< per thread
  int64_t spillLoadBytes = 0;  ///< per thread
  int64_t stackBytes = 0;      ///< per thread
  int64_t staticSmemBytes = 0; ///< per block, without the dynamic part
};

/// What it says of a file of kernels.
struct Assembly {
  llvm::StringMap<AssemblerReport> kernels;
  /// Warnings, and the notes C75xx that ptxas prints as information: a serialised wgmma, an ignored setmaxnreg.
  std::vector<std::string> complaints;
};

/// Where the assembler is looked for: `option` if not empty, else PATH, $CUDA_HOME/bin, /usr/local/cuda/bin. The error
/// names every place.
llvm::Expected<std::string> findPtxas(llvm::StringRef option);

/// Assembles `ptxPath` for `chip` into `cubinPath`. The error quotes the assembler and names the PTX file, which stays.
llvm::Expected<Assembly> assemble(llvm::StringRef ptxas, llvm::StringRef ptxPath, llvm::StringRef chip,
                                  llvm::StringRef cubinPath);

/// The reports in what `ptxas -v` printed.
Assembly parseAssembly(llvm::StringRef text);
} // namespace attn

#endif // ATTN_TARGET_ASSEMBLE_H
