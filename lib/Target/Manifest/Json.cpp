//===- Json.cpp - attributes as JSON, and how it is printed
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn_rt/manifest_keys.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;
namespace json = llvm::json;

std::string manifest::typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// JSON has no infinities; the manifest writes them as words.
static json::Value floatJson(const APFloat &value) {
  if (value.isNaN())
    return "nan";
  if (value.isInfinity())
    return value.isNegative() ? "-inf" : "inf";
  APFloat wide = value;
  bool lost;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return wide.convertToDouble();
}

json::Value manifest::attributeJson(Attribute attribute) {
  return llvm::TypeSwitch<Attribute, json::Value>(attribute)
      .Case([](StringAttr a) { return json::Value(a.getValue()); })
      .Case([](TypeAttr a) { return json::Value(typeText(a.getValue())); })
      .Case([](FloatAttr a) { return floatJson(a.getValue()); })
      .Case([](IntegerAttr a) {
        bool isBool = a.getType().isInteger(1);
        return json::Value(isBool ? static_cast<int64_t>(a.getValue().getZExtValue()) : a.getValue().getSExtValue());
      })
      .Case([](DenseI64ArrayAttr a) { return json::Value(json::Array(a.asArrayRef())); })
      .Case([](ArrayAttr a) {
        json::Array array;
        for (Attribute element : a)
          array.push_back(attributeJson(element));
        return json::Value(std::move(array));
      })
      .Case([](DictionaryAttr a) {
        json::Object object;
        for (NamedAttribute entry : a)
          object[entry.getName().getValue()] = attributeJson(entry.getValue());
        return json::Value(std::move(object));
      })
      .Case([](CausalAttr a) {
        return json::Value(
            json::Object{{ATTN_KEY_KIND, ATTN_MASK_CAUSAL}, {ATTN_KEY_ALIGN, stringifyAlign(a.getAlign())}});
      })
      .Case([](WindowAttr a) {
        return json::Value(json::Object{{ATTN_KEY_KIND, ATTN_MASK_WINDOW},
                                        {ATTN_KEY_LEFT, a.getLeft()},
                                        {ATTN_KEY_RIGHT, a.getRight()},
                                        {ATTN_KEY_ALIGN, stringifyAlign(a.getAlign())}});
      })
      .Default([](Attribute a) {
        std::string text;
        llvm::raw_string_ostream(text) << a;
        return json::Value(std::move(text));
      });
}

void manifest::printJson(json::OStream &out, const json::Value &value) {
  std::string line;
  llvm::raw_string_ostream(line) << value;
  const json::Object *object = value.getAsObject();
  const json::Array *array = value.getAsArray();
  if (line.size() <= 110 || (!object && !array))
    return out.rawValue(line);
  if (array)
    return out.array([&] {
      for (const json::Value &element : *array)
        printJson(out, element);
    });
  SmallVector<StringRef> keys =
      llvm::to_vector(llvm::map_range(*object, [](auto &entry) { return StringRef(entry.first); }));
  llvm::sort(keys);
  out.object([&] {
    for (StringRef key : keys)
      out.attributeBegin(key), printJson(out, *object->get(key)), out.attributeEnd();
  });
}
