//===- InFlightState.h - what InFlight knows at a point of a path ---*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_ANALYSIS_INFLIGHTSTATE_H
#define ATTN_LIB_ANALYSIS_INFLIGHTSTATE_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace attn::inflight {

/// base + offset.
struct Number {
  const void *base = nullptr;
  int64_t offset = 0;

  static Number of(mlir::Value value);
  bool operator<(const Number &other) const { return std::tie(base, offset) < std::tie(other.base, other.offset); }
  bool operator==(const Number &other) const { return base == other.base && offset == other.offset; }
};

/// An item of a ring.
struct Item {
  mlir::Operation *ring; ///< its alloc
  Number number;

  bool operator<(const Item &other) const { return std::tie(ring, number) < std::tie(other.ring, other.number); }
  bool operator==(const Item &other) const { return ring == other.ring && number == other.number; }
};

/// What is known of a filled item.
struct Slot {
  bool waited = false;
  std::optional<Number> below; ///< the copy's guard: it is there if its number is less than this

  bool operator<(const Slot &other) const { return std::tie(waited, below) < std::tie(other.waited, other.below); }
  bool operator==(const Slot &other) const { return waited == other.waited && below == other.below; }
};

/// What is true at one point of one path.
struct State {
  std::vector<Item> queue;                 ///< open groups of cp.async, oldest first
  std::map<Item, Slot> slots;              ///< filled and not released
  std::set<Item> released;                 ///< released, and no sync since
  std::set<mlir::Operation *> written;     ///< bufs stored to, and no sync since
  std::set<mlir::Operation *> beingCopied; ///< bufs read, and no sync since

  auto tie() const { return std::tie(queue, slots, released, written, beingCopied); }
  bool operator<(const State &other) const { return tie() < other.tie(); }
  bool operator==(const State &other) const { return tie() == other.tie(); }

  /// Every warp has come this far.
  void sync() {
    released.clear();
    written.clear();
    beingCopied.clear();
  }
};
using States = std::set<State>;

/// Items of the rings in `rings` with numbers from + x become to + x.
State renumber(const State &state, const llvm::SmallPtrSetImpl<mlir::Operation *> &rings, Number from, Number to);

/// The state behind a loop that ends at `end`: fetches that were guarded by it did not happen.
State withoutUnwanted(const State &state, Number end);

/// The number that those of wanted items are less than, if the copy's guard says so.
std::optional<Number> boundOf(CopyOp copy);

/// How many times the body runs, as far as it has a number: the guards of its fetches are the same value.
Number endOf(SweepOp sweep);

} // namespace attn::inflight

#endif // ATTN_LIB_ANALYSIS_INFLIGHTSTATE_H
