//===- Meaning.cpp - what a kernel computes, in the words of the manifest
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Meaning.h"
#include "Signature.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace attn;

static DictionaryAttr describeMask(Builder &b, Attribute mask) {
  NamedAttrList entry;
  auto align = [&](Align value) { entry.set("align", b.getStringAttr(stringifyAlign(value))); };
  if (auto causal = dyn_cast<CausalAttr>(mask)) {
    entry.set("kind", b.getStringAttr("causal"));
    align(causal.getAlign());
  } else if (auto window = dyn_cast<WindowAttr>(mask)) {
    entry.set("kind", b.getStringAttr("window"));
    entry.set("left", b.getI64IntegerAttr(window.getLeft()));
    entry.set("right", b.getI64IntegerAttr(window.getRight()));
    align(window.getAlign());
  }
  return entry.getDictionary(b.getContext());
}

namespace {
/// A region as a list of numbered values.
struct Program {
  Builder &b;
  llvm::function_ref<StringAttr(Value)> nameOf;
  llvm::DenseMap<Value, int64_t> numbers;
  SmallVector<Attribute> entries;
  int64_t next = 0;

  Program(Builder &b, llvm::function_ref<StringAttr(Value)> nameOf) : b(b), nameOf(nameOf) {}

  void addEntry(Value value, StringRef op, NamedAttrList entry) {
    std::string type;
    llvm::raw_string_ostream(type) << value.getType();
    entry.set("op", b.getStringAttr(op));
    entry.set("type", b.getStringAttr(type));
    entries.push_back(entry.getDictionary(b.getContext()));
    numbers[value] = next++;
  }

  int64_t numberOf(Value value) {
    if (auto it = numbers.find(value); it != numbers.end())
      return it->second;
    // A captured scalar, or a constant that stands outside the region.
    NamedAttrList entry;
    Attribute constant;
    if (matchPattern(value, m_Constant(&constant))) {
      entry.set("value", constant);
      addEntry(value, "arith.constant", std::move(entry));
    } else {
      entry.set("source", nameOf(value));
      addEntry(value, "capture", std::move(entry));
    }
    return numbers[value];
  }

  void addOp(Operation &op) {
    NamedAttrList entry;
    Attribute constant;
    OperandRange operands = op.getOperands();
    if (matchPattern(&op, m_Constant(&constant)))
      entry.set("value", constant);
    if (auto cmp = dyn_cast<arith::CmpIOp>(op))
      entry.set("predicate", b.getStringAttr(arith::stringifyCmpIPredicate(cmp.getPredicate())));
    if (auto cmp = dyn_cast<arith::CmpFOp>(op))
      entry.set("predicate", b.getStringAttr(arith::stringifyCmpFPredicate(cmp.getPredicate())));
    if (isa<GatherOp>(op)) {
      entry.set("source", nameOf(operands.front()));
      operands = operands.drop_front();
    }
    if (!operands.empty() || isa<GatherOp>(op)) {
      SmallVector<int64_t> in;
      for (Value operand : operands)
        in.push_back(numberOf(operand));
      entry.set("in", b.getI64ArrayAttr(in));
    }
    addEntry(op.getResult(0), op.getName().getStringRef(), std::move(entry));
  }

  DictionaryAttr describe(Block &body) {
    for (Value argument : body.getArguments())
      numbers[argument] = next++;
    for (Operation &op : body.without_terminator())
      addOp(op);
    int64_t yield = numberOf(body.getTerminator()->getOperand(0));
    return b.getDictionaryAttr(
        {b.getNamedAttr("values", b.getArrayAttr(entries)), b.getNamedAttr("yield", b.getI64IntegerAttr(yield))});
  }
};
} // namespace

DictionaryAttr attn::describeMeaning(AttentionOp op, llvm::function_ref<StringAttr(Value)> nameOf) {
  Builder b(op.getContext());
  NamedAttrList meaning;
  meaning.set("op", b.getStringAttr(op->getName().stripDialect()));
  meaning.set("scale", op.getScaleAttr());
  NamedAttrList operands;
  for (const SmallVector<NamedValue> &values : {getNamedOperands(op), getNamedResults(op)})
    for (auto [part, value] : values)
      if (StringAttr name = nameOf(value))
        operands.set(part, name);
  meaning.set("operands", operands.getDictionary(b.getContext()));
  SmallVector<Attribute> masks;
  if (ArrayAttr named = op.getMaskAttr())
    for (Attribute mask : named)
      masks.push_back(describeMask(b, mask));
  meaning.set("masks", b.getArrayAttr(masks));
  if (!op.getScore().empty())
    meaning.set("score", Program(b, nameOf).describe(op.getScore().front()));
  if (!op.getVisible().empty())
    meaning.set("visible", Program(b, nameOf).describe(op.getVisible().front()));
  return meaning.getDictionary(b.getContext());
}
