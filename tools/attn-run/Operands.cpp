//===- Operands.cpp - the tensors of one run ------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "Failure.h"
#include "Meaning.h"
#include "Npy.h"
#include "Random.h"

#include <algorithm>
#include <numeric>

namespace attn {
namespace run {
namespace {

using namespace reference;

ElementType toElementType(uint32_t dtype) {
  const auto type = parseElementType(attn_dtype_name(dtype));
  if (!type)
    refuse(std::string("operand type ") + attn_dtype_name(dtype) + " is not known to attn-run");
  return *type;
}

/// Learns named sizes and unnamed dims from a file's shape.
void takeShape(const attn_operand_info &info, const std::string &path, const NpyArray &array, Operand &operand,
               std::map<std::string, int64_t> &sizes) {
  if (!array.holds(operand.type))
    refuse(path + ": " + operand.name + " expects " + spelling(operand.type) +
           (operand.type == ElementType::bf16 ? " (stored as u2)" : "") + ", got " + array.descr);
  if (array.dims.size() != operand.dims.size())
    refuse(path + ": " + operand.name + " expects " + std::to_string(operand.dims.size()) + " dimensions, got shape " +
           shapeText(array.dims));
  for (size_t d = 0; d < array.dims.size(); ++d) {
    int64_t &expected =
        info.dim_names[d] ? sizes.emplace(info.dim_names[d], array.dims[d]).first->second : operand.dims[d];
    if (expected < 0)
      expected = array.dims[d];
    if (expected != array.dims[d])
      refuse(path + ": " + operand.name + ": dimension " + std::to_string(d) +
             (info.dim_names[d] ? std::string(" (") + info.dim_names[d] + ")" : "") + " expected " +
             std::to_string(expected) + ", got " + std::to_string(array.dims[d]));
  }
}

/// Finds q, k, v, o and the others: by the names that the meaning gives, else by position.
void findParts(Operands &operands, const char *meaning) {
  std::vector<size_t> inputs, outputs;
  for (size_t i = 0; i < operands.all.size(); ++i)
    if (operands.all[i].role == ATTN_ROLE_IN)
      inputs.push_back(i);
    else if (operands.all[i].isOutput())
      outputs.push_back(i);
  std::map<std::string, size_t> parts;
  auto inOrder = [&](const std::vector<size_t> &these, size_t least, std::vector<const char *> words) {
    std::string expected;
    for (size_t i = 0; i < words.size(); ++i)
      expected += (i ? ", " : "") + std::string(words[i]);
    if (these.size() < least || these.size() > words.size())
      refuse("the kernel has " + std::to_string(inputs.size()) + " inputs and " + std::to_string(outputs.size()) +
             " outputs; expected " + expected + " among them");
    for (size_t i = 0; i < these.size(); ++i)
      parts[words[i]] = these[i];
  };
  const bool backward = parseOperation(meaning) == Operation::Backward;
  const std::map<std::string, std::string> names = operandNames(meaning);
  if (!names.empty()) {
    for (const auto &[word, name] : names)
      for (size_t i = 0; i < operands.all.size(); ++i)
        if (operands.all[i].name == name)
          parts[word] = i;
  } else if (backward) {
    inOrder(inputs, 6, {"q", "k", "v", "o", "lse", "do", "dlse"});
    inOrder(outputs, 3, {"dq", "dk", "dv"});
  } else {
    inOrder(inputs, 3, {"q", "k", "v"});
    inOrder(outputs, 1, {"o", "lse"});
  }

  auto find = [&](const char *word) {
    const auto part = parts.find(word);
    if (part == parts.end())
      refuse(std::string("meaning: no operand is named as ") + word);
    return part->second;
  };
  auto perhaps = [&](const char *word) {
    return parts.count(word) || names.count(word) ? std::optional<size_t>(find(word)) : std::nullopt;
  };
  operands.q = find("q");
  operands.k = find("k");
  operands.v = find("v");
  operands.o = find("o");
  operands.lse = backward ? find("lse") : perhaps("lse");
  if (backward)
    operands.backward = {find("do"), find("dq"), find("dk"), find("dv"), perhaps("dlse")};
}

/// Well-known sizes, by input (q, k) and dimension.
constexpr const char *wellKnown[2][3] = {{"batch", "q_heads", "q_len"}, {nullptr, "k_heads", "k_len"}};

/// Learns the well-known sizes a kernel was compiled for.
void takeFixedSizes(Operands &operands, const std::vector<attn_operand_info> &infos) {
  const size_t inputs[2] = {operands.q, operands.k};
  for (size_t input = 0; input < 2; ++input)
    for (uint32_t d = 0; d < std::min<uint32_t>(3, infos[inputs[input]].rank); ++d)
      if (const int64_t dim = infos[inputs[input]].dims[d]; dim >= 0 && wellKnown[input][d])
        operands.sizes.emplace(wellKnown[input][d], dim);
}

/// A name that a dimension of the kernel has, or "capture.N" for one without.
bool isSizeName(const std::string &name, const std::vector<attn_operand_info> &infos) {
  for (const auto &input : wellKnown)
    if (std::any_of(std::begin(input), std::end(input), [&](const char *known) { return known && name == known; }))
      return true;
  for (const attn_operand_info &info : infos)
    for (uint32_t d = 0; d < info.rank; ++d)
      if (info.dim_names[d] ? name == info.dim_names[d] : name == std::string(info.name) + "." + std::to_string(d))
        return true;
  return false;
}

/// The dimensions of an input that --expand names. Those of an output would be written many times, and the last one has
/// stride 1.
std::set<size_t> expandedDims(const Operand &operand, const Options &options) {
  std::set<size_t> dims;
  for (size_t d = 0; operand.role != ATTN_ROLE_OUT && d + 1 < operand.dims.size(); ++d)
    if (options.expanded.count(operand.name + "." + std::to_string(d)))
      dims.insert(d);
  if (!dims.empty() && options.inputs.count(operand.name))
    refuse("--expand: the rows of '" + operand.name + "' come from a file");
  return dims;
}

/// Refuses what --expand names and no operand has.
void checkExpanded(const Operands &operands, const Options &options) {
  for (const std::string &name : options.expanded) {
    bool found = false;
    for (const Operand &operand : operands.all)
      for (size_t d = 0; operand.role != ATTN_ROLE_OUT && d + 1 < operand.dims.size(); ++d)
        found |= name == operand.name + "." + std::to_string(d);
    if (!found)
      refuse("--expand: the kernel has no input with a dimension '" + name + "' in front of its last");
  }
}

/// Values of the well-known sizes that neither files nor --shape gave.
void fillDefaults(std::map<std::string, int64_t> &sizes) {
  sizes.emplace("batch", 2);
  sizes.emplace("q_heads", sizes.count("k_heads") ? 4 * sizes["k_heads"] : 8);
  const int64_t heads = sizes["q_heads"];
  sizes.emplace("k_heads", heads % 4 == 0 ? heads / 4 : heads);
  sizes.emplace("q_len", sizes.count("k_len") ? sizes["k_len"] : 512);
  sizes.emplace("k_len", sizes["q_len"]);
}

} // namespace

Captures Operands::captures() const {
  Captures result;
  for (const Operand &operand : all)
    if (!operand.isOutput()) // a region may read q as well
      result[operand.name] = operand.view();
  return result;
}

Problem Operands::problem() const {
  Problem problem;
  problem.q = all[q].view();
  problem.k = all[k].view();
  problem.v = all[v].view();
  return problem;
}

Operands makeOperands(const attn_kernel *kernel, const Options &options) {
  Operands operands;
  std::map<std::string, NpyArray> files;
  std::vector<attn_operand_info> infos(attn_kernel_num_operands(kernel));
  for (uint32_t i = 0; i < infos.size(); ++i) {
    attn_operand_info &info = infos[i];
    info.size = sizeof(info);
    require(attn_kernel_operand_info(kernel, i, &info));
    Operand operand;
    operand.name = info.name;
    operand.role = static_cast<attn_role>(info.role);
    operand.type = toElementType(info.dtype);
    operand.dims.assign(info.dims, info.dims + info.rank);
    if (const auto path = options.inputs.find(operand.name); path != options.inputs.end()) {
      if (operand.isOutput() || operand.role == ATTN_ROLE_SCALAR)
        refuse("--in: '" + operand.name + "' is not an input tensor");
      files[operand.name] = readNpy(path->second);
      takeShape(info, path->second, files[operand.name], operand, operands.sizes);
    }
    operands.all.push_back(std::move(operand));
  }
  findParts(operands, attn_kernel_meaning(kernel));

  auto named = [&](const char *option, const std::string &name, auto accept) {
    for (const Operand &operand : operands.all)
      if (operand.name == name && accept(operand))
        return;
    refuse(std::string(option) + ": the kernel has no such operand '" + name + "'");
  };
  auto anyOperand = [](const Operand &) { return true; };
  for (const auto &[name, path] : options.inputs)
    named("--in", name, anyOperand);
  for (const auto &[name, gain] : options.gains)
    named("--gain", name, anyOperand);
  for (const auto &[name, path] : options.saves)
    named("--save", name, [](const Operand &operand) { return operand.isOutput(); });
  for (const auto &[name, value] : options.scalars)
    named("--set", name, [](const Operand &operand) { return operand.role == ATTN_ROLE_SCALAR; });

  checkExpanded(operands, options);

  takeFixedSizes(operands, infos);
  for (const auto &[name, value] : options.sizes) {
    if (!isSizeName(name, infos))
      refuse("--shape: the kernel has no size '" + name + "'");
    if (name.find('.') != std::string::npos)
      continue; // one dim of a capture
    const auto [known, added] = operands.sizes.emplace(name, value);
    if (!added && known->second != value)
      refuse("--shape: " + name + " is fixed to " + std::to_string(known->second) + " by the kernel or a file, got " +
             std::to_string(value));
  }
  fillDefaults(operands.sizes);

  for (size_t i = 0; i < infos.size(); ++i) {
    Operand &operand = operands.all[i];
    for (size_t d = 0; d < operand.dims.size(); ++d) {
      int64_t &dim = operand.dims[d];
      if (dim >= 0)
        continue;
      const std::string dimName = operand.name + "." + std::to_string(d);
      std::optional<std::string> size;
      if (infos[i].dim_names[d])
        size = infos[i].dim_names[d];
      else if (const auto given = options.sizes.find(dimName); given != options.sizes.end())
        dim = given->second;
      else if (!(size = indexedBy(attn_kernel_meaning(kernel), operand.name, d)))
        dim = std::max(operands.sizes["q_len"], operands.sizes["k_len"]); // a distance, say; gathers clamp
      if (size && !operands.sizes.count(*size))
        refuse("--shape: size '" + *size + "' has no value; give --shape=" + *size + "=N");
      if (size)
        dim = operands.sizes[*size];
    }

    // Only the big tensors are laid out as asked; the rest is dense.
    std::vector<size_t> order(operand.dims.size());
    std::iota(order.begin(), order.end(), 0);
    const bool big = operand.dims.size() == 4 && (operand.role == ATTN_ROLE_IN || operand.isOutput());
    const bool isDO = operands.backward && operands.backward->dO == i && !options.gradLayout.empty();
    const std::string &layout = isDO ? options.gradLayout : options.layout;
    if (big && layout == "bshd")
      order = {0, 2, 1, 3};
    else if (big && layout == "sbhd")
      order = {2, 0, 1, 3};
    operand.allocate(order, expandedDims(operand, options), big ? options.rowPad : 0, big ? options.offset : 0);

    if (operand.role == ATTN_ROLE_SCALAR) {
      const auto value = options.scalars.find(operand.name);
      // A number of order one suits a temperature and a cap alike.
      double number = 1 + static_cast<double>(scramble(options.seed * 64 + i) >> 11) * 0x1p-53;
      if (value != options.scalars.end())
        number = value->second;
      char *address = operand.buffer() + operand.origin();
      if (isFloat(operand.type))
        storeFloat(operand.type, address, number);
      else
        storeInteger(operand.type, address, static_cast<int64_t>(number));
    } else if (const auto file = files.find(operand.name); file != files.end()) {
      operand.assign(file->second.bytes);
    } else if (!operand.isOutput()) {
      const auto gain = options.gains.find(operand.name);
      operand.assign(randomElements(operand.type, operand.numElements(), options.seed * 64 + i,
                                    gain == options.gains.end() ? 1.0 : gain->second));
    }
  }
  return operands;
}

} // namespace run
} // namespace attn
