//===- SharedAllocs.h - who shares which bytes ----------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ANALYSIS_SHAREDALLOCS_H
#define ATTN_ANALYSIS_SHAREDALLOCS_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Facts/Facts.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace attn {

/// Bytes of shared memory an alloc takes: all slots of a ring, all groups of a role.
int64_t getSharedBytes(AllocOp alloc);

/// Bytes from a group's part of an alloc inside a role to the next group's.
int64_t getGroupStride(AllocOp alloc);

/// A ring through which the groups of one role hand tiles to each other: each fills its part of an item and waits for
/// the whole. They meet once an item, at a barrier of the role, so that slots have no barriers of their own.
bool isExchange(AllocOp alloc);

/// Bytes of the barriers a ring of the kernel needs where roles meet at them: for each slot one that says full, then
/// for each one that says empty.
int64_t getBarrierBytes(AllocOp alloc);

/// A swizzle of any span repeats within so many bytes (B2).
constexpr int64_t kSwizzleBytes = 8 * facts::kBankBytes;

/// What its offset must be a multiple of. Swizzled bufs: `kSwizzleBytes`, so that an address is a function of row and
/// chunk alone; others begin at the first bank.
int64_t getSharedAlignment(AllocOp alloc);

/// "Q": 1 x tensor<128x128xbf16>
std::string describeAlloc(AllocOp alloc);

/// The labels of a kernel's allocs and who lies over whom.
class SharedAllocs {
public:
  explicit SharedAllocs(mlir::Operation *kernel);
  /// The alloc whose bytes this one uses: itself, or what `over` leads to in one or more steps. Null if a step names no
  /// alloc or leads back.
  AllocOp getRoot(AllocOp alloc) const;
  AllocOp lookup(llvm::StringRef label) const { return byLabel.lookup(label); }

private:
  llvm::StringMap<AllocOp> byLabel;
};

} // namespace attn

#endif // ATTN_ANALYSIS_SHAREDALLOCS_H
