//===- HostPlan.cpp - one host function, line by line
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostPlan.h"
#include "Json.h"

#include "attn/Dialect/Attn/IR/Target.h"
#include "attn/Facts/Facts.h"
#include "attn/Target/Manifest.h"
#include "attn_rt/manifest_keys.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace attn;
using namespace attn::manifest;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Sizes, values, buffers
//===----------------------------------------------------------------------===//

LogicalResult HostPlan::read() {
  for (Operation &op : host.getBody().front()) {
    if (auto launch = dyn_cast<LaunchOp>(op))
      launches.push_back(launch);
    else if (auto section = dyn_cast<SectionOp>(op); section && failed(readSection(section)))
      return failure();
    else if (auto alloc = dyn_cast<memref::AllocOp>(op); alloc && failed(readBuffer(alloc)))
      return failure();
  }
  return success();
}

/// `size / by`, rounded up; null if it is no such form.
static std::optional<json::Value> quotient(const json::Value &size, const json::Value &by) {
  std::optional<int64_t> whole = size.getAsInteger(), parts = by.getAsInteger();
  if (whole && parts && *parts > 0)
    return llvm::divideCeil(*whole, *parts);
  if (size.getAsString() && (parts || by.getAsString()))
    return json::Value(json::Object{{ATTN_KEY_CEIL, size}, {ATTN_KEY_BY, by}});
  return std::nullopt;
}

/// A number is an integer, a size, `ceil(size / n)` or a product: the runtime needs no expression parser.
FailureOr<json::Value> HostPlan::number(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return json::Value(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op))
    return number(cast.getIn());
  if (auto dim = dyn_cast_or_null<memref::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    const Operand *operand = operands.find(dim.getSource());
    if (index && operand && *index < static_cast<int64_t>(operand->sizeNames.size()))
      return json::Value(operand->sizeNames[*index]);
  }
  if (isa_and_nonnull<arith::CeilDivUIOp, arith::CeilDivSIOp, arith::DivUIOp, arith::DivSIOp>(op)) {
    FailureOr<json::Value> size = number(op->getOperand(0)), by = number(op->getOperand(1));
    if (failed(size) || failed(by))
      return failure();
    // Rounding down is the same where nothing is left over.
    bool isExact =
        size->getAsString() && by->getAsString() && operands.isMultiple(*size->getAsString(), *by->getAsString());
    if (isExact || isa<arith::CeilDivUIOp, arith::CeilDivSIOp>(op))
      if (std::optional<json::Value> form = quotient(*size, *by))
        return *form;
  }
  if (isa_and_nonnull<arith::MulIOp>(op)) {
    json::Array product;
    for (Value factor : op->getOperands()) {
      FailureOr<json::Value> part = number(factor);
      if (failed(part))
        return failure();
      if (json::Array *nested = part->getAsArray())
        product.insert(product.end(), nested->begin(), nested->end());
      else
        product.push_back(std::move(*part));
    }
    return json::Value(std::move(product));
  }
  Location loc = op ? op->getLoc() : host.getLoc();
  return emitError(loc, "the manifest has no form for this size; it knows constants, sizes of operands, "
                        "ceiling division of a size and products");
}

FailureOr<json::Array> HostPlan::numbers(ValueRange list) {
  json::Array array;
  for (Value value : list) {
    FailureOr<json::Value> entry = number(value);
    if (failed(entry))
      return failure();
    array.push_back(std::move(*entry));
  }
  return array;
}

/// `base`, `base1`, `base2`, ...; of a base that ends in a digit `base_1`, ...
static std::string numbered(StringRef base, int64_t index) {
  StringRef between = llvm::isDigit(base.back()) ? "_" : "";
  return index ? (base + between + Twine(index)).str() : base.str();
}

LogicalResult HostPlan::readSection(SectionOp op) {
  FailureOr<json::Array> of = numbers(op.getOf());
  FailureOr<json::Value> unit = number(op.getUnit());
  if (failed(of) || failed(unit))
    return failure();
  json::Array bytes;
  if (json::Array *product = unit->getAsArray())
    bytes = *product;
  else
    bytes.push_back(*unit);
  json::Object keys{{ATTN_KEY_RULE, ATTN_RULE_LARGEST_DIVISOR},
                    {ATTN_KEY_OF, std::move(*of)},
                    {ATTN_KEY_UNIT_BYTES, std::move(bytes)},
                    {ATTN_KEY_BUDGET, static_cast<int64_t>(op.getBudget())}};
  if (std::optional<uint64_t> whole = op.getWhole())
    keys[ATTN_KEY_WHOLE] = static_cast<int64_t>(*whole);
  json::Value rule = std::move(keys);
  int64_t index = 0;
  while (const json::Value *taken = shared.values.get(numbered("section", index))) {
    if (*taken == rule)
      break;
    ++index;
  }
  names[op.getResult()] = numbered("section", index);
  shared.values[numbered("section", index)] = std::move(rule);
  return success();
}

/// The counter of dynamic tiles, which every launch leaves as it found it.
static bool isCounter(MemRefType type) {
  return type.getRank() == 1 && type.hasStaticShape() && type.getElementType().isInteger(32);
}

/// A buffer of the name `base` with a number behind it if that is taken: by an operand, by another buffer of this
/// function, by a different one of another function.
void HostPlan::addBuffer(memref::AllocOp op, StringRef base, json::Object entry) {
  for (int64_t index = 0;; ++index) {
    std::string name = numbered(base, index);
    if (operands.find(name) || llvm::is_contained(llvm::make_second_range(names), name))
      continue;
    entry[ATTN_KEY_NAME] = name;
    json::Value value = json::Object(entry);
    auto other = llvm::find_if(shared.workspace, [&](const json::Value &other) {
      return other.getAsObject()->getString(ATTN_KEY_NAME) == StringRef(name);
    });
    if (other != shared.workspace.end() && *other != value)
      continue;
    names[op.getResult()] = name;
    if (other != shared.workspace.end())
      return;
    // What one launch leaves for the next lies at the same place in both, in front of what has other sizes there.
    if (isCounter(op.getType()))
      shared.workspace.insert(shared.workspace.begin() + shared.restored++, std::move(value));
    else
      shared.workspace.push_back(std::move(value));
    return;
  }
}

LogicalResult HostPlan::readBuffer(memref::AllocOp op) {
  MemRefType type = op.getType();
  if (type.getRank() == 0 || !type.getElementType().isIntOrFloat() || !type.getLayout().isIdentity())
    return op.emitOpError("has no form in a manifest, which knows dense buffers; got ") << type;
  json::Array dims;
  auto dynamic = op.getDynamicSizes().begin();
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      dims.push_back(size);
      continue;
    }
    FailureOr<json::Value> dim = number(*dynamic++);
    if (failed(dim))
      return failure();
    dims.push_back(std::move(*dim));
  }
  json::Object entry{{ATTN_KEY_TYPE, typeText(type.getElementType())}, {ATTN_KEY_DIMS, std::move(dims)}};
  entry[ATTN_KEY_ZERO] = isCounter(type) ? ATTN_ZERO_RESTORED : ATTN_ZERO_BY_KERNEL;
  auto name = op->getAttrOfType<StringAttr>(AttnDialect::kNameAttr);
  if (name && !isIdentifier(name.getValue()))
    return op.emitOpError("has attn.name '") << name.getValue() << "', which is not an identifier";
  addBuffer(op, name ? name.getValue() : isCounter(type) ? "counter" : "workspace", std::move(entry));
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult HostPlan::appendMap(TensorMapOp op, json::Array &args) {
  const Operand *operand = operands.find(op.getSource());
  MapType type = op.getResult().getType();
  int64_t rows = type.getTile().getDimSize(0);
  if (!operand)
    return op.emitOpError("must describe an argument of the function, which the manifest has a name for");
  if (ShapedType::isDynamic(cast<MemRefType>(operand->type).getShape().back()))
    return op.emitOpError("describes '") << operand->name << "', whose number of columns must be static";
  if (type.getSwizzle() == 0 || rows > facts::kMaxBoxRows)
    return op.emitOpError("has no box: expects a swizzle of 32, 64 or 128 and at most ")
           << facts::kMaxBoxRows << " rows, got " << type.getSwizzle() << " and " << rows;
  args.push_back(json::Object{{ATTN_ARG_MAP, operand->name},
                              {ATTN_KEY_LAYOUT, ATTN_LAYOUT_ROWS4},
                              {ATTN_KEY_ROWS, rows},
                              {ATTN_KEY_SWIZZLE, static_cast<int64_t>(type.getSwizzle())}});
  return success();
}

static void appendMemRef(StringRef name, MemRefType type, json::Array &args) {
  args.push_back(json::Object{{ATTN_ARG_PTR, name}});
  if (type.getRank() > 1) // The last dimension has unit stride.
    args.push_back(json::Object{{ATTN_ARG_STRIDES, name}});
  if (type.getRank() > 0)
    args.push_back(json::Object{{ATTN_ARG_SIZES, name}});
}

LogicalResult HostPlan::appendArgument(LaunchOp op, Value value, json::Array &args) {
  if (auto map = value.getDefiningOp<TensorMapOp>())
    return appendMap(map, args);
  auto memref = dyn_cast<MemRefType>(value.getType());
  if (auto named = names.find(value); named != names.end()) {
    if (memref)
      appendMemRef(named->second, memref, args);
    else
      args.push_back(json::Object{{ATTN_ARG_VALUE, named->second}});
    return success();
  }
  if (const Operand *operand = operands.find(value)) {
    if (!memref) {
      args.push_back(json::Object{{value.getType().isF32() ? ATTN_ARG_F32 : ATTN_ARG_I32, operand->name}});
      return success();
    }
    appendMemRef(operand->name, memref, args);
    return success();
  }
  if (!value.getType().isInteger(32))
    return op.emitOpError("passes a ") << value.getType() << " that is neither an argument nor a size";
  FailureOr<json::Value> size = number(value);
  if (failed(size))
    return failure();
  args.push_back(json::Object{{ATTN_ARG_I32, std::move(*size)}});
  return success();
}

FailureOr<json::Object> HostPlan::kernelJson(LaunchOp op, const KernelFiles &files) {
  auto module = host->getParentOfType<ModuleOp>();
  TargetAttr target = requireTarget(op);
  if (!target)
    return failure();
  StringRef name = op.getKernel();
  json::Object kernel{{ATTN_KEY_NAME, name},
                      {ATTN_KEY_CHIP, target.getChip()},
                      {ATTN_KEY_GRID, op.getPersistent() ? ATTN_GRID_MIN_SMS : ATTN_GRID_ONE_PER_TILE}};
  for (auto &[key, file] :
       {std::pair(ATTN_KEY_PTX, files.ptx), {ATTN_KEY_CUBIN, files.cubin}, {ATTN_KEY_CODE, files.code}})
    if (!file.empty())
      kernel[key] = file;
  if (auto cpu = module->getAttrOfType<StringAttr>(AttnDialect::kCpuAttr))
    kernel[ATTN_KEY_CPU] = cpu.getValue();
  if (target.getFamily() != Family::Cpu) {
    LaunchBounds bounds = getLaunchBounds(module, name);
    kernel[ATTN_KEY_THREADS] = bounds.threads;
    kernel[ATTN_KEY_SMEM_BYTES] = bounds.smemBytes;
    if (op.getPersistent())
      kernel[ATTN_KEY_BLOCKS_PER_SM] = bounds.blocksPerSm;
  }
  FailureOr<json::Array> tiles = numbers(op.getTiles());
  if (failed(tiles))
    return failure();
  kernel[ATTN_KEY_TILES] = std::move(*tiles);
  json::Array args;
  for (Value value : op.getArgs())
    if (failed(appendArgument(op, value, args)))
      return failure();
  kernel[ATTN_KEY_ARGS] = std::move(args);
  return kernel;
}
