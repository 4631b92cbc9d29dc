//===- StageResults.h - results leave a group through shared memory -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_STAGERESULTS_H
#define ATTN_TRANSFORMS_STAGERESULTS_H

#include "TensorMaps.h"

#include <optional>

namespace attn {

/// A ring with one slot a group, which the group has read when its results are ready, and the release of that item.
struct DrainedSlot {
  AllocOp ring;
  ReleaseOp release;
};

/// Where results may lie.
struct StagingRoom {
  Staging out;
  llvm::SmallVector<DrainedSlot> slots;
  std::optional<int64_t> bytes; ///< that a group has for results besides; nothing if nobody counts
};

/// Stages every matrix that a tile of `tiles`, a nest inside a role, stores. With `out = alias` a result lies over one
/// of the slots, if its bytes are as many. The others have bytes of their own, in the fewest pieces that fit. `label`
/// makes a name unique.
llvm::LogicalResult stageResults(TilesOp tiles, const StagingRoom &room, TensorMaps &maps,
                                 llvm::function_ref<std::string(llvm::StringRef)> label);

} // namespace attn

#endif // ATTN_TRANSFORMS_STAGERESULTS_H
