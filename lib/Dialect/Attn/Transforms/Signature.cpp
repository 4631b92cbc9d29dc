//===- Signature.cpp - a function on tensors as a function on memrefs
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Signature.h"
#include "Meaning.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace attn;

MemRefType attn::getArgumentMemRef(RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  if (!strides.empty())
    strides.back() = 1;
  auto layout = StridedLayoutAttr::get(type.getContext(), /*offset=*/ShapedType::kDynamic, strides);
  return MemRefType::get(type.getShape(), type.getElementType(), layout);
}

/// A tensor argument becomes a memref, f32 and i32 stay.
static Type getArgumentType(Type type) {
  if (type.isF32() || type.isInteger(32))
    return type;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getEncoding())
    return {};
  Type element = tensor.getElementType();
  bool known = element.isF32() || element.isF16() || element.isBF16() || element.isInteger(32) ||
               element.isInteger(8) || element.isInteger(1);
  return known ? getArgumentMemRef(tensor) : Type();
}

SmallVector<NamedValue> attn::getNamedOperands(AttentionOp op) {
  SmallVector<NamedValue> operands{{"q", op.getQ()}, {"k", op.getK()}, {"v", op.getV()}};
  if (auto grad = dyn_cast<SdpaGradOp>(op.getOperation())) {
    operands.append({{"o", grad.getO()}, {"lse", grad.getLse()}, {"do", grad.getDout()}});
    if (grad.getDlse())
      operands.push_back({"dlse", grad.getDlse()});
  }
  return operands;
}

SmallVector<NamedValue> attn::getNamedResults(AttentionOp op) {
  if (auto grad = dyn_cast<SdpaGradOp>(op.getOperation()))
    return {{"dq", grad.getDq()}, {"dk", grad.getDk()}, {"dv", grad.getDv()}};
  auto sdpa = cast<SdpaOp>(op.getOperation());
  return {{"o", sdpa.getO()}, {"lse", sdpa.getLse()}};
}

/// The function may hold the op, constants and the return of the op's results.
static LogicalResult checkBody(AttentionOp op, func::FuncOp func) {
  for (Operation &other : func.front()) {
    if (&other == op.getOperation() || isa<arith::ConstantOp, func::ReturnOp>(other))
      continue;
    if (isa<AttentionOp>(other))
      return other.emitOpError("is the second one in @") << func.getName() << "; write one function for each";
    return other.emitOpError("cannot be compiled in @")
           << func.getName() << ", which may hold one " << op->getName() << ", constants and the return of its results";
  }
  // What is no argument is a constant then; a scalar one can be repeated in the code.
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (!isa<BlockArgument>(operand) && isa<ShapedType>(operand.getType()))
      return op->emitOpError("operand #")
             << index << " is a tensor constant of @" << func.getName() << "; expects an argument";
  auto ret = cast<func::ReturnOp>(func.front().getTerminator());
  bool once = llvm::all_of(ret.getOperands(), [&](Value value) { return value.getDefiningOp() == op.getOperation(); });
  bool backward = isa<SdpaGradOp>(op.getOperation());
  for (NamedValue result : getNamedResults(op)) {
    int64_t count = llvm::count(ret.getOperands(), result.value);
    once &= count == 1 || (count == 0 && result.name == "lse");
  }
  if (!once)
    return ret.emitOpError("of @") << func.getName() << " expects "
                                   << (backward ? "the three gradients of attn.sdpa_grad, each once"
                                                : "the output of attn.sdpa and at most its LSE, each once");
  return success();
}

namespace {
/// Names the arguments of the new function.
struct ArgumentNames {
  func::FuncOp func;
  llvm::StringMap<unsigned> used;

  /// `written`, or else `fallback`, unless another argument has that name.
  FailureOr<StringAttr> claim(StringAttr written, const Twine &fallback, unsigned index) {
    StringAttr name = written ? written : StringAttr::get(func.getContext(), fallback);
    auto [it, fresh] = used.try_emplace(name.getValue(), index);
    if (fresh)
      return name;
    return func.emitOpError("expects arguments of different names, got '")
           << name.getValue() << "' for both #" << it->second << " and #" << index
           << " (results count behind the arguments)";
  }
};
} // namespace

/// The name of the first of `values` that is `value`, or nothing (a capture).
static StringRef findName(ArrayRef<NamedValue> values, Value value) {
  for (NamedValue named : values)
    if (named.value == value)
      return named.name;
  return {};
}

/// The `attn.name` written in `attributes`, or null.
static StringAttr getWrittenName(DictionaryAttr attributes) {
  return attributes ? attributes.getAs<StringAttr>(AttnDialect::kNameAttr) : StringAttr();
}

SmallVector<StringAttr> attn::getMatrixNames(AttentionOp op) {
  auto func = op->getParentOfType<func::FuncOp>();
  SmallVector<StringAttr> names;
  auto add = [&](DictionaryAttr attributes, StringRef fallback) {
    StringAttr name = getWrittenName(attributes);
    if (!name)
      name = StringAttr::get(op.getContext(), fallback);
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  };
  auto isMatrix = [](Value value) { return cast<ShapedType>(value.getType()).getRank() == 4; };
  SmallVector<NamedValue> operands = getNamedOperands(op);
  for (NamedValue operand : operands)
    // No product reads the o of a forward that is over.
    if (auto argument = dyn_cast<BlockArgument>(operand.value); argument && isMatrix(argument) && operand.name != "o")
      add(func.getArgAttrDict(argument.getArgNumber()), findName(operands, argument));
  for (NamedValue result : getNamedResults(op))
    for (OpOperand &use : result.value.getUses())
      if (isMatrix(result.value) && isa<func::ReturnOp>(use.getOwner()))
        add(func.getResultAttrDict(use.getOperandNumber()), result.name);
  return names;
}

FailureOr<DestinationFunction> attn::makeDestinationFunction(AttentionOp op) {
  auto func = dyn_cast<func::FuncOp>(op->getParentOp());
  if (!func || !llvm::hasSingleElement(func.getBody()))
    return op->emitOpError("expects to stand in the only block of a func.func");
  if (failed(checkBody(op, func)))
    return failure();

  Builder b(op.getContext());
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attrs;
  SmallVector<Location> locs;
  ArgumentNames names{func, {}};
  auto addArgument = [&](Type specType, DictionaryAttr specAttrs, const Twine &name, StringRef role,
                         Location loc) -> LogicalResult {
    unsigned index = types.size();
    Type type = getArgumentType(specType);
    if (!type)
      return func.emitOpError("argument #")
             << index << " has type " << specType
             << "; expects a tensor of f16, bf16, f32, i32, i8 or i1, or a scalar f32 or i32";
    NamedAttrList list(specAttrs);
    FailureOr<StringAttr> unique = names.claim(getWrittenName(specAttrs), name, index);
    if (failed(unique))
      return failure();
    list.set(AttnDialect::kNameAttr, *unique);
    list.set(AttnDialect::kRoleAttr, b.getStringAttr(role));
    types.push_back(type);
    attrs.push_back(list.getDictionary(op.getContext()));
    locs.push_back(loc);
    return success();
  };

  unsigned captures = 0;
  SmallVector<NamedValue> operands = getNamedOperands(op), results = getNamedResults(op);
  for (BlockArgument argument : func.getArguments()) {
    StringRef name = findName(operands, argument);
    StringRef role = !name.empty() ? "in" : isa<ShapedType>(argument.getType()) ? "capture" : "scalar";
    if (failed(addArgument(argument.getType(), func.getArgAttrDict(argument.getArgNumber()),
                           name.empty() ? "capture" + Twine(captures) : Twine(name), role, argument.getLoc())))
      return failure();
    captures += name.empty();
  }
  auto ret = cast<func::ReturnOp>(func.front().getTerminator());
  for (auto [index, value] : llvm::enumerate(ret.getOperands()))
    if (failed(
            addArgument(value.getType(), func.getResultAttrDict(index), findName(results, value), "out", op.getLoc())))
      return failure();

  OpBuilder builder(func);
  DestinationFunction result;
  result.func = func::FuncOp::create(builder, func.getLoc(), func.getName(), builder.getFunctionType(types, {}));
  result.func.setVisibility(func.getVisibility());
  result.func->setDiscardableAttrs(func->getDiscardableAttrDictionary());
  result.func.setAllArgAttrs(attrs);
  result.func->setDiscardableAttr(AttnDialect::kMeaningAttr, describeMeaning(op, [&](Value value) {
                                    std::optional<unsigned> index;
                                    if (auto argument = dyn_cast<BlockArgument>(value))
                                      index = argument.getArgNumber();
                                    for (auto [i, returned] : llvm::enumerate(ret.getOperands()))
                                      if (returned == value)
                                        index = func.getNumArguments() + i;
                                    return index ? attrs[*index].getAs<StringAttr>(AttnDialect::kNameAttr)
                                                 : StringAttr();
                                  }));

  Block *entry = builder.createBlock(&result.func.getBody(), {}, types, locs);
  result.values.map(func.getArguments(), entry->getArguments().take_front(func.getNumArguments()));
  for (auto constant : func.front().getOps<arith::ConstantOp>())
    builder.clone(*constant, result.values);
  func::ReturnOp::create(builder, ret.getLoc());
  for (auto [index, value] : llvm::enumerate(ret.getOperands()))
    result.values.map(value, entry->getArgument(func.getNumArguments() + index));
  return result;
}
