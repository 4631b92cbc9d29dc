//===- Random.h - random elements -------------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUN_RANDOM_H
#define ATTN_RUN_RANDOM_H

#include "attn/Reference/Element.h"

namespace attn {
namespace run {

/// 64 bits that look random, from a counter.
uint64_t scramble(uint64_t x);

/// `count` elements, the same for the same seed on every machine: floats are
/// normal numbers times `gain`, integers 0 to 3, i1 one half each.
std::vector<char> randomElements(reference::ElementType type, int64_t count, uint64_t seed, double gain);

} // namespace run
} // namespace attn

#endif // ATTN_RUN_RANDOM_H
