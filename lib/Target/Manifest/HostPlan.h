//===- HostPlan.h - one host function, line by line ---------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_TARGET_MANIFEST_HOSTPLAN_H
#define ATTN_LIB_TARGET_MANIFEST_HOSTPLAN_H

#include "Operands.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Target/Manifest.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"

namespace attn::manifest {
/// Entries that the host functions of a manifest share: the same rule is computed once, and since one call runs the
/// kernels of one function, buffers of the same name and size serve all of them.
struct SharedEntries {
  llvm::json::Object values;
  llvm::json::Array workspace;
  size_t restored = 0; ///< buffers that launches leave cleared, the first of them
};

/// The straight line of sizes, values, buffers and launches that a host function is.
class HostPlan {
public:
  HostPlan(mlir::func::FuncOp host, const Operands &operands, SharedEntries &shared)
      : host(host), operands(operands), shared(shared) {}

  /// Names the values and buffers and adds them to the shared entries. Fails on what the manifest has no words for.
  mlir::LogicalResult read();

  /// In the order they run.
  llvm::ArrayRef<LaunchOp> getLaunches() const { return launches; }
  mlir::FailureOr<llvm::json::Object> kernelJson(LaunchOp launch, const KernelFiles &files);

  mlir::func::FuncOp host;

private:
  mlir::FailureOr<llvm::json::Value> number(mlir::Value value);
  mlir::FailureOr<llvm::json::Array> numbers(mlir::ValueRange values);
  mlir::LogicalResult readSection(SectionOp op);
  mlir::LogicalResult readBuffer(mlir::memref::AllocOp op);
  void addBuffer(mlir::memref::AllocOp op, llvm::StringRef base, llvm::json::Object entry);
  mlir::LogicalResult appendArgument(LaunchOp op, mlir::Value value, llvm::json::Array &args);
  mlir::LogicalResult appendMap(TensorMapOp op, llvm::json::Array &args);

  const Operands &operands;
  SharedEntries &shared;
  llvm::SmallVector<LaunchOp> launches;
  llvm::DenseMap<mlir::Value, std::string> names; ///< of computed values and buffers
};
} // namespace attn::manifest

#endif // ATTN_LIB_TARGET_MANIFEST_HOSTPLAN_H
