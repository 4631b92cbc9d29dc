//===- Operand.cpp - one tensor in guarded memory -------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operand.h"
#include "Failure.h"

#include <cstring>
#include <numeric>

namespace attn {
namespace run {

using namespace reference;

namespace {

constexpr size_t alignment = 256;             // of a buffer, as cuMemAlloc gives it
constexpr size_t guardBytes = 4096;           // before and after the elements
constexpr int64_t unusedStride = 0x123456789; // of a dimension of size 1: odd, and far outside

uint32_t toDtype(ElementType type) {
  for (uint32_t dtype = ATTN_F16; dtype <= ATTN_I32; ++dtype)
    if (std::string(attn_dtype_name(dtype)) == spelling(type))
      return dtype;
  return 0;
}

} // namespace

std::string shapeText(const std::vector<int64_t> &dims) {
  std::string text = "(";
  for (size_t d = 0; d < dims.size(); ++d)
    text += (d ? ", " : "") + (dims[d] < 0 ? std::string("?") : std::to_string(dims[d]));
  return text + ")";
}

int64_t Operand::numElements() const {
  return std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies<int64_t>());
}

void Operand::allocate(const std::vector<size_t> &order, const std::set<size_t> &expanded, int64_t rowPad,
                       int64_t offset) {
  double wanted = static_cast<double>(sizeInBytes(type));
  for (int64_t dim : dims)
    wanted *= static_cast<double>(dim);
  if (wanted > 0x1p40)
    refuse(name + ": shape " + shapeText(dims) + " is too large");
  strides.assign(dims.size(), 1);
  int64_t extent = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = expanded.count(order[i]) ? 0 : extent;
    extent *= dims[order[i]] && expanded.count(order[i]) ? 1 : dims[order[i]];
    if (i + 1 == order.size() && order.size() > 1)
      extent += rowPad;
    // Nobody may use the stride of a dimension of one: views of all kinds come with anything there.
    if (dims[order[i]] == 1 && order[i] + 1 < dims.size())
      strides[order[i]] = unusedStride;
  }
  const int64_t size = sizeInBytes(type);
  start = guardBytes + static_cast<size_t>(offset * size);
  bytes = start + static_cast<size_t>(std::max<int64_t>(extent, 0) * size) + guardBytes;
  memory.reset(new char[bytes + alignment]);
  aligned = memory.get() + (alignment - reinterpret_cast<uintptr_t>(memory.get()) % alignment);
  std::memset(aligned, 0xff, bytes);
}

attn_tensor Operand::tensor(void *base) const {
  attn_tensor tensor = {};
  tensor.size = sizeof(tensor);
  tensor.dtype = toDtype(type);
  tensor.data = static_cast<char *>(base) + start;
  tensor.rank = static_cast<uint32_t>(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    tensor.sizes[d] = dims[d];
    tensor.strides[d] = strides[d];
  }
  return tensor;
}

/// Calls visit(element, address) in row-major order, a row at a time.
template <typename Visit> void Operand::eachElement(Visit visit) const {
  const int64_t count = numElements(), row = dims.empty() ? 1 : dims.back(), size = sizeInBytes(type);
  std::vector<int64_t> at(dims.size(), 0);
  for (int64_t element = 0; element < count; element += row) {
    int64_t offset = 0;
    for (size_t d = 0; d < dims.size(); ++d)
      offset += at[d] * strides[d];
    char *address = aligned + start + offset * size;
    for (int64_t i = 0; i < row; ++i) // the last stride is 1
      visit(element + i, address + i * size);
    for (size_t d = dims.size(); d-- > 1 && ++at[d - 1] == dims[d - 1];)
      at[d - 1] = 0;
  }
}

void Operand::assign(const std::vector<char> &rowMajor) {
  const size_t size = static_cast<size_t>(sizeInBytes(type));
  eachElement([&](int64_t i, char *address) { std::memcpy(address, rowMajor.data() + i * size, size); });
}

std::vector<char> Operand::rowMajor() const {
  const size_t size = static_cast<size_t>(sizeInBytes(type));
  std::vector<char> result(static_cast<size_t>(numElements()) * size);
  eachElement([&](int64_t i, char *address) { std::memcpy(result.data() + i * size, address, size); });
  return result;
}

void Operand::storeRows(int64_t b, int64_t h, int64_t begin, int64_t end, const std::vector<double> &numbers) {
  const int64_t columns = dims.size() == 4 ? dims[3] : 1;
  // The stride of a dimension of size 1 is not one.
  const int64_t head = (dims[0] > 1 ? b * strides[0] : 0) + (dims[1] > 1 ? h * strides[1] : 0);
  for (int64_t row = begin; row < end; ++row)
    for (int64_t d = 0; d < columns; ++d) {
      const int64_t element = head + (dims[2] > 1 ? row * strides[2] : 0) + d;
      storeFloat(type, aligned + start + element * sizeInBytes(type), numbers[(row - begin) * columns + d]);
    }
}

std::optional<int64_t> Operand::strayWrite() const {
  std::vector<char> rest(aligned, aligned + bytes);
  const size_t size = static_cast<size_t>(sizeInBytes(type));
  eachElement([&](int64_t, char *address) { std::memset(rest.data() + (address - aligned), 0xff, size); });
  for (size_t i = 0; i < bytes; ++i)
    if (rest[i] != '\xff')
      return static_cast<int64_t>(i) - static_cast<int64_t>(start);
  return std::nullopt;
}

} // namespace run
} // namespace attn
