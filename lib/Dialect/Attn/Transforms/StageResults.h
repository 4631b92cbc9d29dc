//===- StageResults.h - results leave a group through shared memory -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_STAGERESULTS_H
#define ATTN_TRANSFORMS_STAGERESULTS_H

#include "TensorMaps.h"

namespace attn {

/// A ring with one slot a group, which the group has read when its results are ready, and the release of that item.
struct DrainedSlot {
  AllocOp ring;
  ReleaseOp release;
};

/// Stages every matrix that a tile of `tiles`, a nest inside a role, stores. With `out = alias` a result lies over one
/// of `slots`, if its bytes are as many. `label` makes a name unique.
llvm::LogicalResult stageResults(TilesOp tiles, Staging out, llvm::ArrayRef<DrainedSlot> slots, TensorMaps &maps,
                                 llvm::function_ref<std::string(llvm::StringRef)> label);

} // namespace attn

#endif // ATTN_TRANSFORMS_STAGERESULTS_H
