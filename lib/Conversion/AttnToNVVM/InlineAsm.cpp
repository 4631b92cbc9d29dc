//===- InlineAsm.cpp - PTX written out
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineAsm.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

/// The kind of register that holds a value.
static char constraintOf(Type type) {
  if (type.isF32())
    return 'f';
  if (type.isInteger(1))
    return 'b';
  if (type.isInteger(16))
    return 'h';
  return isa<LLVM::LLVMPointerType>(type) || type.isInteger(64) ? 'l' : 'r';
}

static void addConstraint(std::string &list, const Twine &constraint) {
  if (!list.empty())
    list += ",";
  list += constraint.str();
}

void InlineAsm::output(Type type, int64_t count) {
  assert(inputs.empty() && "outputs come before inputs");
  for (int64_t i = 0; i < count; ++i) {
    outputs.push_back(type);
    addConstraint(outputConstraints, Twine("=") + Twine(constraintOf(type)));
  }
}

void InlineAsm::tie(ValueRange values) {
  const size_t first = outputs.size();
  for (Value value : values)
    output(value.getType(), 1);
  for (auto [i, value] : llvm::enumerate(values)) {
    inputs.push_back(value);
    addConstraint(inputConstraints, Twine(first + i));
  }
}

std::string InlineAsm::use(Value value) {
  inputs.push_back(value);
  addConstraint(inputConstraints, Twine(constraintOf(value.getType())));
  return "$" + std::to_string(outputs.size() + inputs.size() - 1);
}

InlineAsm &InlineAsm::operator<<(const Twine &line) {
  text += (text.empty() ? "" : "\n") + line.str();
  return *this;
}

SmallVector<Value> InlineAsm::build(bool touchesMemory) {
  std::string constraints = outputConstraints;
  for (StringRef more : {StringRef(inputConstraints), StringRef(touchesMemory ? "~{memory}" : "")})
    if (!more.empty())
      addConstraint(constraints, more);
  Type type;
  if (outputs.size() == 1)
    type = outputs.front();
  else if (!outputs.empty())
    type = LLVM::LLVMStructType::getLiteral(e.b.getContext(), outputs);
  auto op = LLVM::InlineAsmOp::create(e.b, e.loc, type, inputs, text, constraints, /*has_side_effects=*/true,
                                      /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                      /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
  if (outputs.size() <= 1)
    return SmallVector<Value>(op->getResults());
  SmallVector<Value> results;
  for (size_t i = 0; i < outputs.size(); ++i)
    results.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, op.getRes(), static_cast<int64_t>(i)));
  return results;
}
