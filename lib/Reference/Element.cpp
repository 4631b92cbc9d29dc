//===- Element.cpp - element types and strided views ----------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Reference/Element.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace attn {
namespace reference {
namespace {

struct TypeFacts {
  const char *name;
  bool isFloat;
  int bits;
  int64_t bytes;
};

// In the order of ElementType.
constexpr TypeFacts facts[] = {
    {"f16", true, 16, 2}, {"bf16", true, 16, 2}, {"f32", true, 32, 4},  {"f64", true, 64, 8},  {"i1", false, 1, 1},
    {"i8", false, 8, 1},  {"i16", false, 16, 2}, {"i32", false, 32, 4}, {"i64", false, 64, 8}, {"index", false, 64, 8}};

const TypeFacts &factsOf(ElementType type) { return facts[static_cast<int>(type)]; }

template <typename T> T read(const void *address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}
template <typename T> void write(void *address, T value) { std::memcpy(address, &value, sizeof(T)); }

/// Rounds to `digits` bits of significand, with numbers below 2^minExponent on
/// the fixed grid of the subnormals and what exceeds `largest` gone to infinity.
///
/// Adding 1.5 * 2^(u + 52) leaves a sum whose last bit is worth 2^u, so the
/// hardware's own round-half-to-even does the work; subtracting is exact.
/// (Called for every score and every weight, so no libm calls here.)
double roundToGrid(double value, int digits, int minExponent, double largest) {
  if (!(std::fabs(value) <= 2 * largest)) // too large, infinite or NaN
    return std::isnan(value) ? value : std::copysign(std::numeric_limits<double>::infinity(), value);
  const int exponent = static_cast<int>(read<uint64_t>(&value) >> 52 & 0x7ff) - 1023;
  const int unit = std::max(exponent, minExponent) - (digits - 1);
  const uint64_t magicBits = static_cast<uint64_t>(unit + 52 + 1023) << 52 | uint64_t(1) << 51;
  const double magic = read<double>(&magicBits);
  const double rounded = (value + magic) - magic;
  if (std::fabs(rounded) > largest)
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return std::copysign(rounded, value);
}

double halfToDouble(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double magnitude;
  if (exponent == 31)
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, -24);
  else
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// All 65536 halves: converting one key at a time is what loading K costs most.
const double *halfTable() {
  static const std::vector<double> table = [] {
    std::vector<double> values(1 << 16);
    for (int bits = 0; bits < 1 << 16; ++bits)
      values[bits] = halfToDouble(static_cast<uint16_t>(bits));
    return values;
  }();
  return table.data();
}

uint16_t doubleToHalf(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | 0x7e00;
  const double magnitude = std::fabs(roundTo(ElementType::f16, value));
  if (std::isinf(magnitude))
    return sign | 0x7c00;
  if (magnitude < std::ldexp(1.0, -14))
    return sign | static_cast<uint16_t>(std::ldexp(magnitude, 24));
  int exponent;
  const double fraction = std::frexp(magnitude, &exponent); // in [0.5, 1)
  return sign | static_cast<uint16_t>((exponent + 14) << 10) | (static_cast<uint16_t>(std::ldexp(fraction, 11)) & 1023);
}

uint16_t doubleToBfloat(double value) {
  if (std::isnan(value))
    return 0x7fc0;
  // After rounding, the value is a float whose lower half is zero.
  const float rounded = static_cast<float>(roundTo(ElementType::bf16, value));
  return static_cast<uint16_t>(read<uint32_t>(&rounded) >> 16);
}

double bfloatToDouble(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  return read<float>(&wide);
}

} // namespace

std::optional<ElementType> parseElementType(const std::string &name) {
  for (int i = 0; i < static_cast<int>(sizeof(facts) / sizeof(facts[0])); ++i)
    if (name == facts[i].name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

const char *spelling(ElementType type) { return factsOf(type).name; }
bool isFloat(ElementType type) { return factsOf(type).isFloat; }
int bitWidth(ElementType type) { return factsOf(type).bits; }
int64_t sizeInBytes(ElementType type) { return factsOf(type).bytes; }

double roundTo(ElementType type, double value) {
  switch (type) {
  case ElementType::f16:
    return roundToGrid(value, 11, -14, 65504.0);
  case ElementType::bf16:
    return roundToGrid(value, 8, -126, 0x1.fep127);
  case ElementType::f32:
    return static_cast<double>(static_cast<float>(value));
  default:
    return value;
  }
}

int64_t wrapTo(ElementType type, int64_t value) {
  const int unused = 64 - bitWidth(type);
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused;
}

double loadFloat(ElementType type, const void *address) {
  switch (type) {
  case ElementType::f16:
    return halfTable()[read<uint16_t>(address)];
  case ElementType::bf16:
    return bfloatToDouble(read<uint16_t>(address));
  case ElementType::f32:
    return read<float>(address);
  default:
    return read<double>(address);
  }
}

void storeFloat(ElementType type, void *address, double value) {
  switch (type) {
  case ElementType::f16:
    return write(address, doubleToHalf(value));
  case ElementType::bf16:
    return write(address, doubleToBfloat(value));
  case ElementType::f32:
    return write(address, static_cast<float>(value));
  default:
    return write(address, value);
  }
}

int64_t loadInteger(ElementType type, const void *address) {
  switch (type) {
  case ElementType::i1:
    return read<uint8_t>(address) ? -1 : 0;
  case ElementType::i8:
    return read<int8_t>(address);
  case ElementType::i16:
    return read<int16_t>(address);
  case ElementType::i32:
    return read<int32_t>(address);
  default:
    return read<int64_t>(address);
  }
}

void storeInteger(ElementType type, void *address, int64_t value) {
  switch (type) {
  case ElementType::i1:
    return write(address, static_cast<uint8_t>(value != 0));
  case ElementType::i8:
    return write(address, static_cast<int8_t>(value));
  case ElementType::i16:
    return write(address, static_cast<int16_t>(value));
  case ElementType::i32:
    return write(address, static_cast<int32_t>(value));
  default:
    return write(address, value);
  }
}

const void *View::at(const std::vector<int64_t> &indices) const {
  int64_t offset = 0;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1)
      offset += indices[d] * strides[d];
  return static_cast<const char *>(data) + offset * sizeInBytes(type);
}

const void *View::at(int64_t i, int64_t j, int64_t k, int64_t l) const {
  const int64_t indices[4] = {i, j, k, l};
  int64_t offset = 0;
  for (int d = 0; d < 4; ++d)
    if (dims[d] != 1)
      offset += indices[d] * strides[d];
  return static_cast<const char *>(data) + offset * sizeInBytes(type);
}

std::vector<int64_t> denseStrides(const std::vector<int64_t> &dims) {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;)
    strides[d - 1] = strides[d] * dims[d];
  return strides;
}

} // namespace reference
} // namespace attn
