//===- EmitObject.h - llvm to a shared library for the CPU -*- C++ -*-
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TARGET_EMITOBJECT_H
#define ATTN_TARGET_EMITOBJECT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace attn {

/// The processor code is made for.
struct CpuTarget {
  std::string cpu;  ///< LLVM's name: what the artefact needs.
  std::string tune; ///< The machine it is scheduled for.
  std::string triple;
  std::string features; ///< Switches of the code generator.
  int64_t vectorLanes;  ///< f32 values in a vector register.
  int64_t vectorRegisters;
};

/// "native": the highest level of the x86-64 ABI that the machine compiled on reaches (elsewhere that machine itself).
/// Else a name LLVM knows, such as x86-64-v3 (AVX2, the portable choice). Fails on other names.
llvm::Expected<CpuTarget> getCpuTarget(llvm::StringRef name);

/// What emitObject needs to know of the dialects it translates. Call before the context is made.
void registerObjectTranslations(mlir::DialectRegistry &registry);

/// Compiles the kernels of a module at the llvm stage for the processor `attn.cpu` names. The object needs only libc
/// and libm. The host function beside the kernels and the module itself stay as they are. Fails with a diagnostic.
mlir::FailureOr<llvm::SmallVector<char, 0>> emitObject(mlir::ModuleOp module);

/// Links an object into a shared library at `path`, which appears whole or not at all. The linker is `linker` if given,
/// else $CC, else the first of cc, clang-22, clang, gcc, ld.lld-22, ld.lld on PATH. Where there is none, fails and says
/// what was looked for.
llvm::Error linkSharedLibrary(llvm::ArrayRef<char> object, llvm::StringRef path, llvm::StringRef linker = {});

} // namespace attn

#endif // ATTN_TARGET_EMITOBJECT_H
