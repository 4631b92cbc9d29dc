//===- Element.h - element types and strided views of plain buffers -------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference judges what the compiler makes, so nothing in this directory may
// include anything of the compiler, of MLIR or of LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_REFERENCE_ELEMENT_H
#define ATTN_REFERENCE_ELEMENT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn {
namespace reference {

/// Types of tensor elements and of values in score and mask regions.
/// `index` only occurs in regions and is 64 bits wide there.
enum class ElementType { f16, bf16, f32, f64, i1, i8, i16, i32, i64, index };

/// The type MLIR spells `name`, or nothing.
std::optional<ElementType> parseElementType(const std::string &name);
const char *spelling(ElementType type);
bool isFloat(ElementType type);
/// Bits of the value; an i1 has one, though it fills a byte in memory.
int bitWidth(ElementType type);
int64_t sizeInBytes(ElementType type);

/// `value` rounded to nearest even in `type`, which must be a float type.
/// Works from double directly: going through f32 would round twice.
double roundTo(ElementType type, double value);
/// `value` cut to the width of integer `type` and sign-extended back. A true
/// i1 is therefore -1.
int64_t wrapTo(ElementType type, int64_t value);

/// Float elements. `address` points at one element of `type`.
double loadFloat(ElementType type, const void *address);
void storeFloat(ElementType type, void *address, double value);
/// Integer elements, sign-extended as wrapTo does. Any non-zero byte is a true i1.
int64_t loadInteger(ElementType type, const void *address);
void storeInteger(ElementType type, void *address, int64_t value);

/// A strided tensor that somebody else owns. Strides count elements and may be
/// zero (expanded tensors); the stride of a dimension of size 1 is never used.
struct View {
  const void *data = nullptr;
  ElementType type = ElementType::f32;
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;

  int64_t dim(size_t i) const { return dims[i]; }
  /// Address of the element at `indices`, one per dimension.
  const void *at(const std::vector<int64_t> &indices) const;
  const void *at(int64_t i, int64_t j, int64_t k, int64_t l) const;
};

/// Row-major strides of `dims`.
std::vector<int64_t> denseStrides(const std::vector<int64_t> &dims);

} // namespace reference
} // namespace attn

#endif // ATTN_REFERENCE_ELEMENT_H
