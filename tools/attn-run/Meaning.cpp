//===- Meaning.cpp - what a manifest says its kernel computes -------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Meaning.h"
#include "Failure.h"
#include "attn_rt/manifest_keys.h"

#include <cjson/cJSON.h>

#include <cmath>
#include <limits>
#include <memory>

namespace attn {
namespace run {
namespace {

using namespace reference;

struct Deleter {
  void operator()(cJSON *json) const { cJSON_Delete(json); }
};
using Json = std::unique_ptr<cJSON, Deleter>;

const cJSON *member(const cJSON *object, const char *key) { return cJSON_GetObjectItemCaseSensitive(object, key); }

std::string text(const cJSON *object, const char *key) {
  const cJSON *item = member(object, key);
  return cJSON_IsString(item) ? item->valuestring : "";
}

/// JSON's numbers are doubles: integers up to here are exact.
constexpr double kLargestInteger = 9007199254740992.0;

bool isInteger(const cJSON *item) {
  return cJSON_IsNumber(item) && item->valuedouble == std::floor(item->valuedouble) &&
         std::fabs(item->valuedouble) <= kLargestInteger;
}

int64_t integer(const cJSON *object, const char *key, const std::string &where) {
  const cJSON *item = member(object, key);
  if (!isInteger(item))
    refuse("meaning: " + where + " has no integer '" + key + "'");
  return static_cast<int64_t>(item->valuedouble);
}

/// What may be left out, but is nothing else if it is there: text in its place would silently be no mask or no region.
const cJSON *optional(const cJSON *object, const char *key, bool isList, const std::string &where) {
  const cJSON *item = member(object, key);
  if (item && !(isList ? cJSON_IsArray(item) : cJSON_IsObject(item)))
    refuse("meaning: " + where + "'" + key + "' is not " + (isList ? "a list" : "an object"));
  return item;
}

NamedMask parseMask(const cJSON *json) {
  const std::string kind = text(json, ATTN_KEY_KIND), align = text(json, ATTN_KEY_ALIGN);
  NamedMask mask;
  if (kind == ATTN_MASK_CAUSAL)
    mask.right = 0;
  else if (kind == ATTN_MASK_WINDOW) {
    mask.left = integer(json, ATTN_KEY_LEFT, "mask 'window'");
    mask.right = integer(json, ATTN_KEY_RIGHT, "mask 'window'");
  } else
    refuse("meaning: mask '" + kind + "' is not known to attn-run");
  if (align != ATTN_ALIGN_TOP_LEFT && align != ATTN_ALIGN_BOTTOM_RIGHT)
    refuse("meaning: mask '" + kind + "' has alignment '" + align +
           "'; expected " ATTN_ALIGN_TOP_LEFT " or " ATTN_ALIGN_BOTTOM_RIGHT);
  mask.bottomRight = align == ATTN_ALIGN_BOTTOM_RIGHT;
  return mask;
}

/// JSON has no infinities and no NaN, so those are words.
double constant(const cJSON *item, const std::string &where) {
  if (cJSON_IsNumber(item))
    return item->valuedouble;
  if (cJSON_IsBool(item))
    return cJSON_IsTrue(item);
  const std::string word = cJSON_IsString(item) ? item->valuestring : "";
  if (word == "inf" || word == "-inf")
    return (word == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
  if (word != "nan")
    refuse("meaning: " + where + " has a constant that is no number");
  return std::nan("");
}

Program parseRegion(const cJSON *region, const char *key, Program::Kind kind, const Captures &captures) {
  Program program(kind);
  const cJSON *json;
  const std::string where = std::string(key) + " region: ";
  cJSON_ArrayForEach(json, optional(region, ATTN_KEY_VALUES, /*isList=*/true, where)) {
    ValueText value;
    value.op = text(json, ATTN_KEY_OP);
    value.type = text(json, ATTN_KEY_TYPE);
    value.predicate = text(json, ATTN_KEY_PREDICATE);
    value.source = text(json, ATTN_KEY_SOURCE);
    if (const cJSON *number = member(json, ATTN_KEY_VALUE)) {
      value.value = constant(number, key);
      value.integer = std::isfinite(value.value) ? static_cast<int64_t>(value.value) : 0;
    }
    const cJSON *operand;
    cJSON_ArrayForEach(operand, optional(json, ATTN_KEY_IN, /*isList=*/true, where)) {
      if (!isInteger(operand))
        refuse("meaning: " + where + "'" + value.op + "' has an operand that is no number of a value");
      value.in.push_back(operand->valueint);
    }
    if (std::string wrong = program.append(value, captures); !wrong.empty())
      refuse("meaning: " + where + wrong);
  }
  const int64_t yield = integer(region, ATTN_KEY_YIELD, std::string(key) + " region");
  const int index = yield == static_cast<int>(yield) ? static_cast<int>(yield) : -1;
  if (std::string wrong = program.yield(index); !wrong.empty())
    refuse(std::string("meaning: ") + key + " region " + wrong);
  return program;
}

} // namespace

Operation parseOperation(const char *json) {
  const Json root(cJSON_Parse(json));
  const std::string op = text(root.get(), ATTN_KEY_OP);
  if (op != ATTN_OP_SDPA && op != ATTN_OP_SDPA_GRAD)
    refuse("meaning: operation '" + op + "' is not known to attn-run");
  return op == ATTN_OP_SDPA ? Operation::Forward : Operation::Backward;
}

Meaning parseMeaning(const char *json, const Captures &captures) {
  const Json root(cJSON_Parse(json));
  Meaning meaning;
  const cJSON *scale = member(root.get(), ATTN_KEY_SCALE);
  if (!cJSON_IsNumber(scale))
    refuse("meaning: has no number 'scale'");
  // The spec's scale is an f32; its decimal spelling may be a little off.
  meaning.scale = roundTo(ElementType::f32, scale->valuedouble);
  const cJSON *mask;
  cJSON_ArrayForEach(mask, optional(root.get(), ATTN_KEY_MASKS, /*isList=*/true, ""))
      meaning.masks.push_back(parseMask(mask));
  if (const cJSON *region = optional(root.get(), ATTN_KEY_SCORE, /*isList=*/false, ""))
    meaning.score = parseRegion(region, ATTN_KEY_SCORE, Program::Kind::Score, captures);
  if (const cJSON *region = optional(root.get(), ATTN_KEY_VISIBLE, /*isList=*/false, ""))
    meaning.visible = parseRegion(region, ATTN_KEY_VISIBLE, Program::Kind::Visible, captures);
  return meaning;
}

std::map<std::string, std::string> operandNames(const char *json) {
  const Json root(cJSON_Parse(json));
  std::map<std::string, std::string> names;
  const cJSON *name;
  cJSON_ArrayForEach(name, optional(root.get(), ATTN_KEY_OPERANDS, /*isList=*/false, "")) {
    if (!cJSON_IsString(name))
      refuse(std::string("meaning: operand '") + name->string + "' has no name");
    names[name->string] = name->valuestring;
  }
  return names;
}

std::optional<std::string> indexedBy(const char *json, const std::string &name, size_t d) {
  const Json root(cJSON_Parse(json));
  static const char *const sizes[] = {"batch", "q_heads", "q_len", "k_len"};
  for (const char *key : {ATTN_KEY_SCORE, ATTN_KEY_VISIBLE}) {
    // Arguments before the coordinates: the score has itself.
    const int first = key == std::string(ATTN_KEY_SCORE) ? 1 : 0;
    const cJSON *values = member(member(root.get(), key), ATTN_KEY_VALUES);
    const cJSON *value;
    cJSON_ArrayForEach(value, values) {
      if (text(value, ATTN_KEY_SOURCE) != name)
        continue;
      const cJSON *index = cJSON_GetArrayItem(member(value, ATTN_KEY_IN), static_cast<int>(d));
      // A coordinate may come through casts.
      for (int before = std::numeric_limits<int>::max(); index && index->valueint >= first + 4;) {
        const cJSON *cast = cJSON_GetArrayItem(values, index->valueint - first - 4);
        const std::string op = text(cast, ATTN_KEY_OP);
        if (index->valueint >= before || (op.find("index_cast") == std::string::npos && op.find("arith.ext") != 0))
          return std::nullopt;
        before = index->valueint;
        index = cJSON_GetArrayItem(member(cast, ATTN_KEY_IN), 0);
      }
      if (index && index->valueint >= first)
        return sizes[index->valueint - first];
    }
  }
  return std::nullopt;
}

} // namespace run
} // namespace attn
