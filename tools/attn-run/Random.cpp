//===- Random.cpp - random elements ---------------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Random.h"
#include "attn/Reference/Attention.h"

#include <algorithm>
#include <cmath>

namespace attn {
namespace run {
namespace {

/// In (0, 1).
double uniform(uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

} // namespace

/// The finaliser of SplitMix64: element i of a stream without the ones before.
uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

std::vector<char> randomElements(reference::ElementType type, int64_t count, uint64_t seed, double gain) {
  const int64_t size = reference::sizeInBytes(type), chunk = 1 << 16;
  std::vector<char> bytes(static_cast<size_t>(count * size));
  const uint64_t stream = scramble(seed);
  auto bitsOf = [&](int64_t i) { return scramble(stream + static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u); };
  reference::parallelFor((count + chunk - 1) / chunk, 0, [&](int64_t c) {
    for (int64_t i = c * chunk; i < std::min(count, (c + 1) * chunk); ++i) {
      char *address = bytes.data() + i * size;
      if (reference::isFloat(type)) {
        // Box and Muller's method.
        const double radius = std::sqrt(-2 * std::log(uniform(bitsOf(2 * i))));
        const double angle = 6.283185307179586 * uniform(bitsOf(2 * i + 1));
        reference::storeFloat(type, address, gain * radius * std::cos(angle));
      } else {
        reference::storeInteger(type, address,
                                static_cast<int64_t>(bitsOf(2 * i) >> 40 & 3) >> (type == reference::ElementType::i1));
      }
    }
  });
  return bytes;
}

} // namespace run
} // namespace attn
