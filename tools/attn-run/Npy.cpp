//===- Npy.cpp - arrays in NumPy's file format ----------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"
#include "Failure.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace attn {
namespace run {
namespace {

using reference::ElementType;

const std::string magic = "\x93NUMPY";

/// What follows `'key':` in the header's Python dict, up to its value's end.
std::string field(const std::string &header, const std::string &key) {
  const size_t at = header.find("'" + key + "'");
  if (at == std::string::npos)
    return "";
  size_t from = header.find(':', at);
  if (from == std::string::npos)
    return "";
  from = header.find_first_not_of(" ", from + 1);
  if (from == std::string::npos)
    return "";
  if (header[from] == '(')
    return header.substr(from, header.find(')', from) - from + 1);
  if (header[from] == '\'')
    return header.substr(from + 1, header.find('\'', from + 1) - from - 1);
  return header.substr(from, header.find_first_of(",}", from) - from);
}

/// "(2, 8, 64)" to numbers; false if it is anything else.
bool parseShape(const std::string &text, std::vector<int64_t> &dims) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')')
    return false;
  for (size_t at = 1; at + 1 < text.size();) {
    at = text.find_first_not_of(" ,", at);
    if (at == std::string::npos || text[at] == ')')
      break;
    const size_t end = text.find_first_not_of("0123456789", at);
    if (end == at || end - at > 18)
      return false;
    dims.push_back(std::stoll(text.substr(at, end - at)));
    at = end;
  }
  return true;
}

const char *descrOf(ElementType type) {
  switch (type) {
  case ElementType::f16:
    return "<f2";
  case ElementType::bf16:
    return "<u2";
  case ElementType::f32:
    return "<f4";
  case ElementType::i1:
    return "|b1";
  case ElementType::i8:
    return "|i1";
  case ElementType::i32:
    return "<i4";
  default:
    return "?";
  }
}

} // namespace

bool NpyArray::holds(ElementType type) const {
  if (type == ElementType::bf16)
    return descr == "<u2" || descr == "<V2" || descr == "|V2";
  return descr == descrOf(type);
}

NpyArray readNpy(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    refuse(path + ": cannot be read");
  const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(content[i])); };
  if (content.size() < 12 || content.compare(0, magic.size(), magic) != 0)
    refuse(path + ": not a .npy file");

  // Version 1 has a 2-byte header length, later ones 4 bytes.
  const size_t lengthBytes = byte(6) == 1 ? 2 : 4;
  size_t length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= byte(8 + i) << (8 * i);
  const size_t start = 8 + lengthBytes + length;
  if (byte(6) < 1 || byte(6) > 3 || start > content.size())
    refuse(path + ": not a .npy file of version 1 to 3");

  const std::string header = content.substr(8 + lengthBytes, length);
  NpyArray array;
  array.descr = field(header, "descr");
  if (array.descr.size() < 3 || !parseShape(field(header, "shape"), array.dims))
    refuse(path + ": the header has no plain 'descr' and 'shape'");
  if (array.descr[0] == '>')
    refuse(path + ": holds big-endian " + array.descr + "; save it little-endian");
  if (field(header, "fortran_order") != "False")
    refuse(path + ": is in Fortran order; save it with numpy.ascontiguousarray");

  size_t size = std::strtoul(array.descr.c_str() + 2, nullptr, 10);
  const size_t got = content.size() - start;
  for (int64_t dim : array.dims)
    if (dim != 0 && size > (size_t(1) << 60) / static_cast<size_t>(dim))
      refuse(path + ": the shape is too large");
    else
      size *= static_cast<size_t>(dim);
  if (got != size)
    refuse(path + ": expected " + std::to_string(size) + " bytes of elements, got " + std::to_string(got));
  array.bytes.assign(content.begin() + static_cast<std::ptrdiff_t>(start), content.end());
  return array;
}

void writeNpy(const std::string &path, ElementType type, const std::vector<int64_t> &dims,
              const std::vector<char> &bytes) {
  std::string shape;
  for (int64_t dim : dims)
    shape += std::to_string(dim) + ", ";
  if (dims.size() > 1)
    shape.resize(shape.size() - 2); // "(3, )" needs its comma, "(3, 4)" has none
  std::string header =
      std::string("{'descr': '") + descrOf(type) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The elements start at a multiple of 64 bytes, as NumPy has it.
  header.append(64 - (magic.size() + 4 + header.size() + 1) % 64, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << magic << '\1' << '\0' << static_cast<char>(header.size() & 255) << static_cast<char>(header.size() >> 8)
       << header;
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file)
    refuse(path + ": cannot be written");
}

} // namespace run
} // namespace attn
