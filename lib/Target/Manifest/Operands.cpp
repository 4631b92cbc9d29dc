//===- Operands.cpp - what a launch is given
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "Json.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Target/Manifest.h"
#include "attn_rt/manifest_keys.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace attn;
using namespace attn::manifest;
namespace json = llvm::json;

namespace {
/// What attention calls an operand, and what it must be.
struct Part {
  StringRef name, role;
  int64_t rank;
  bool ofKeys = false; ///< one row a key, else one a query
  bool optional = false;
};
} // namespace

// In the order they are listed, in whatever order the spec has them: callers pass inputs by position. Captures stand in
// front of the outputs.
static constexpr StringRef kIn = ATTN_ROLE_NAME_IN, kOut = ATTN_ROLE_NAME_OUT;
static constexpr Part kForwardParts[] = {
    {"q", kIn, 4}, {"k", kIn, 4, true}, {"v", kIn, 4, true}, {"o", kOut, 4}, {"lse", kOut, 3, false, true}};
static constexpr Part kBackwardParts[] = {
    {"q", kIn, 4},  {"k", kIn, 4, true},           {"v", kIn, 4, true}, {"o", kIn, 4},         {"lse", kIn, 3},
    {"do", kIn, 4}, {"dlse", kIn, 3, false, true}, {"dq", kOut, 4},     {"dk", kOut, 4, true}, {"dv", kOut, 4, true}};

/// The operands of what `meaning` computes; empty if that is nothing the manifest knows.
static ArrayRef<Part> getParts(DictionaryAttr meaning) {
  auto op = meaning.getAs<StringAttr>(ATTN_KEY_OP);
  if (op && op.getValue() == ATTN_OP_SDPA)
    return kForwardParts;
  if (op && op.getValue() == ATTN_OP_SDPA_GRAD)
    return kBackwardParts;
  return {};
}

FailureOr<Operands> Operands::read(func::FuncOp host) {
  Operands operands(host);
  if (failed(operands.collect()))
    return failure();
  auto meaning = host->getAttrOfType<DictionaryAttr>(AttnDialect::kMeaningAttr);
  if (!meaning)
    return host.emitOpError("needs attn.meaning: the manifest says what its kernels compute");
  if (failed(operands.order(meaning)))
    return failure();
  return operands;
}

LogicalResult Operands::collect() {
  all.reserve(host.getNumArguments());
  for (BlockArgument argument : host.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto text = [&](StringRef attribute) {
      auto value = host.getArgAttrOfType<StringAttr>(number, attribute);
      return value ? value.getValue().str() : std::string();
    };
    Operand operand{number, argument.getType(), text(AttnDialect::kNameAttr), text(AttnDialect::kRoleAttr), {}};
    if (operand.name.empty() || operand.role.empty())
      return host.emitOpError("argument ") << number << " needs attn.name and attn.role";
    if (!isIdentifier(operand.name))
      return host.emitOpError("argument ")
             << number << " has attn.name '" << operand.name << "', which is not an identifier";
    all.push_back(operand);
  }
  return success();
}

LogicalResult Operands::order(DictionaryAttr meaning) {
  ArrayRef<Part> parts = getParts(meaning);
  if (parts.empty())
    return host.emitOpError("needs attn.meaning to say in '" ATTN_KEY_OP
                            "' what is computed; the manifest knows " ATTN_OP_SDPA " and " ATTN_OP_SDPA_GRAD);
  isGradient = parts.data() == kBackwardParts;
  SmallVector<std::pair<const Part *, std::string>> found; // with the operand's name: sorting moves operands
  llvm::StringMap<size_t> places;
  size_t firstOutput = 0;
  for (auto [place, part] : llvm::enumerate(parts)) {
    FailureOr<Operand *> operand = findPart(meaning, part.name, part.role, part.rank, part.optional);
    if (failed(operand))
      return failure();
    firstOutput += part.role == kIn;
    if (!*operand)
      continue;
    found.emplace_back(&part, (*operand)->name);
    places.try_emplace((*operand)->name, place);
  }
  for (Operand &operand : all)
    if ((operand.role == ATTN_ROLE_NAME_IN || operand.role == ATTN_ROLE_NAME_OUT) && !places.contains(operand.name))
      return host.emitOpError("argument '")
             << operand.name << "' has role " << operand.role << ", but attn.meaning does not say what it is";
  auto placeOf = [&](const Operand &operand) {
    auto it = places.find(operand.name);
    bool isCapture = it == places.end();
    return std::tuple(isCapture ? firstOutput : it->second, !isCapture, operand.number);
  };
  llvm::sort(all, [&](const Operand &a, const Operand &b) { return placeOf(a) < placeOf(b); });
  // Keys or values that are q itself have its sizes; so then have both, and the runtime sees to it.
  StringRef queries = found.front().second;
  bool keysAreQueries =
      llvm::any_of(found, [&](auto &entry) { return entry.first->ofKeys && entry.second == queries; });
  for (const auto &entry : found) {
    Operand &operand = *llvm::find_if(all, [&](const Operand &o) { return o.name == entry.second; });
    if (entry.first->ofKeys && !keysAreQueries)
      nameSizes(operand, {"batch", "k_heads", "k_len"});
    else
      nameSizes(operand, {"batch", "q_heads", "q_len"});
  }
  return success();
}

/// The operand that `meaning` calls `name`; null if it need not be there and is not.
FailureOr<Operand *> Operands::findPart(DictionaryAttr meaning, StringRef name, StringRef role, int64_t rank,
                                        bool optional) {
  auto parts = meaning.getAs<DictionaryAttr>(ATTN_KEY_OPERANDS);
  auto wanted = parts ? parts.getAs<StringAttr>(name) : StringAttr();
  if (!wanted && optional)
    return nullptr;
  if (!wanted)
    return host.emitOpError("needs attn.meaning to say in '" ATTN_KEY_OPERANDS "' which argument is ") << name;
  Operand *found = llvm::find_if(all, [&](Operand &o) { return o.name == wanted.getValue(); });
  if (found == all.end())
    return host.emitOpError("has no argument '") << wanted.getValue() << "', which attn.meaning says is " << name;
  auto type = dyn_cast<MemRefType>(found->type);
  if (found->role != role || !type || type.getRank() != rank)
    return host.emitOpError("argument '")
           << found->name << "' is " << name << " and must be a memref of rank " << rank << " and role " << role;
  return found;
}

/// The first operand that has a size gives it; the others must agree, which the runtime checks. One argument may be
/// several operands of attention (k and v, say): its dimensions keep their first names.
void Operands::nameSizes(Operand &operand, std::initializer_list<StringRef> names) {
  bool named = !operand.sizeNames.empty();
  for (auto [dim, name] : llvm::enumerate(names)) {
    if (!hasSize(name))
      sizes.emplace_back(name, operand.name, dim);
    if (!named)
      operand.sizeNames.push_back(name.str());
  }
}

const Operand *Operands::find(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !isa_and_nonnull<func::FuncOp>(argument.getOwner()->getParentOp()))
    return nullptr;
  auto found = llvm::find_if(all, [&](const Operand &o) { return o.number == argument.getArgNumber(); });
  return found == all.end() ? nullptr : found;
}

const Operand *Operands::find(StringRef name) const {
  auto found = llvm::find_if(all, [&](const Operand &o) { return o.name == name; });
  return found == all.end() ? nullptr : found;
}

bool Operands::hasSize(StringRef name) const {
  return llvm::any_of(sizes, [&](auto &size) { return std::get<0>(size) == name; });
}

bool Operands::isMultiple(StringRef size, StringRef of) const {
  return size == "q_heads" && of == "k_heads" && hasSize("k_heads"); // what requireJson asks for
}

//===----------------------------------------------------------------------===//
// Entries of the manifest
//===----------------------------------------------------------------------===//

static json::Value operandJson(const Operand &operand) {
  json::Object object{{ATTN_KEY_NAME, operand.name}, {ATTN_KEY_ROLE, operand.role}};
  json::Array dims;
  Type element = operand.type;
  if (auto memref = dyn_cast<MemRefType>(element)) {
    element = memref.getElementType();
    for (auto [dim, size] : llvm::enumerate(memref.getShape()))
      if (!ShapedType::isDynamic(size))
        dims.push_back(size);
      else if (dim < operand.sizeNames.size())
        dims.push_back(operand.sizeNames[dim]);
      else
        dims.push_back(nullptr);
  }
  object[ATTN_KEY_TYPE] = typeText(element);
  object[ATTN_KEY_DIMS] = std::move(dims);
  return object;
}

json::Value Operands::operandsJson() const {
  json::Array list;
  for (const Operand &operand : all)
    list.push_back(operandJson(operand));
  return list;
}

json::Value Operands::sizesJson() const {
  json::Object object;
  for (auto &[name, operand, dim] : sizes)
    object[name] = json::Array{operand, dim};
  return object;
}

json::Value Operands::requireJson() const {
  json::Array require;
  if (hasSize("k_heads"))
    require.push_back(json::Object{{ATTN_KEY_DIVIDES, json::Array{"k_heads", "q_heads"}}});
  return require;
}

/// What a call without work leaves in the outputs.
json::Value Operands::emptyJson() const {
  json::Object fill;
  for (const Operand &operand : all) // A row without any key: O = 0, LSE = log 0. Gradients: a sum of nothing.
    if (operand.role == ATTN_ROLE_NAME_OUT)
      fill[operand.name] = cast<ShapedType>(operand.type).getRank() == 4 ? json::Value(0) : json::Value("-inf");
  json::Array none{"batch", "q_heads", "q_len"};
  if (isGradient) {
    // Who has no query or no key hands nothing on; outputs without elements stay as they are.
    if (hasSize("k_len"))
      none.push_back("k_len");
    return json::Array{json::Object{{ATTN_KEY_ZERO, std::move(none)}, {ATTN_KEY_FILL, std::move(fill)}}};
  }
  json::Array empty{json::Object{{ATTN_KEY_ZERO, std::move(none)}, {ATTN_KEY_DO, ATTN_DO_NOTHING}}};
  if (hasSize("k_len"))
    empty.push_back(json::Object{{ATTN_KEY_ZERO, json::Array{"k_len"}}, {ATTN_KEY_FILL, std::move(fill)}});
  return empty;
}
