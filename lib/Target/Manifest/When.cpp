//===- When.cpp - the calls a function is for
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "When.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn_rt/manifest_keys.h"

using namespace mlir;
using namespace attn;
using namespace attn::manifest;
namespace json = llvm::json;

FailureOr<When> When::read(func::FuncOp host, const Operands &operands) {
  When when;
  auto attribute = host->getAttrOfType<DictionaryAttr>(AttnDialect::kWhenAttr);
  if (!attribute)
    return when;
  auto bad = [&](Twine what) { return host.emitOpError("has an attn.when that ") << what; };
  for (NamedAttribute entry : attribute) {
    StringRef key = entry.getName();
    if (key == ATTN_WHEN_ALIGNED) {
      auto list = dyn_cast<ArrayAttr>(entry.getValue());
      for (Attribute name : list ? list.getValue() : ArrayRef<Attribute>()) {
        auto text = dyn_cast<StringAttr>(name);
        const Operand *operand = text ? operands.find(text.getValue()) : nullptr;
        if (!operand || !isa<MemRefType>(operand->type))
          return bad("wants aligned operands; none of them is ") << name;
        when.aligned.push_back(text.getValue());
      }
      if (!list || list.empty())
        return bad("wants a list of operands in 'aligned', got ") << entry.getValue();
    } else if (key == ATTN_WHEN_SIZE) {
      auto text = dyn_cast<StringAttr>(entry.getValue());
      if (!text || !operands.hasSize(text.getValue()))
        return bad("compares a size; no operand gives ") << entry.getValue();
      when.size = text.getValue();
    } else if (key == ATTN_WHEN_FROM || key == ATTN_WHEN_BELOW) {
      auto bound = dyn_cast<IntegerAttr>(entry.getValue());
      if (!bound || bound.getInt() < (key == ATTN_WHEN_FROM ? 0 : 1))
        return bad("wants a positive bound in '") << key << "', got " << entry.getValue();
      (key == ATTN_WHEN_FROM ? when.from : when.below) = bound.getInt();
    } else {
      return bad("says '") << key << "'; the manifest knows aligned, size, from and below";
    }
  }
  if (when.size.empty() && (attribute.contains(ATTN_WHEN_FROM) || attribute.contains(ATTN_WHEN_BELOW)))
    return bad("has bounds but no 'size'");
  return when;
}

bool When::takesAllOf(const When &other) const {
  bool fewer = llvm::all_of(aligned, [&](StringRef name) { return llvm::is_contained(other.aligned, name); });
  return fewer && (size.empty() || (size == other.size && from <= other.from && other.below <= below));
}

json::Value When::toJson() const {
  json::Array all;
  if (!aligned.empty()) {
    json::Array names;
    for (StringRef name : aligned)
      names.push_back(name);
    all.push_back(json::Object{{ATTN_WHEN_ALIGNED, std::move(names)}});
  }
  if (!size.empty()) {
    json::Object bounds{{ATTN_WHEN_SIZE, size}};
    if (from > 0)
      bounds[ATTN_WHEN_FROM] = from;
    if (below < std::numeric_limits<int64_t>::max())
      bounds[ATTN_WHEN_BELOW] = below;
    all.push_back(std::move(bounds));
  }
  if (all.size() == 1)
    return std::move(all.front());
  return all;
}
