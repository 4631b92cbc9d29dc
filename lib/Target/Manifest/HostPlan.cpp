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
#include "attn_rt/manifest_keys.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

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
  if (isa_and_nonnull<arith::CeilDivUIOp, arith::CeilDivSIOp>(op)) {
    FailureOr<json::Value> size = number(op->getOperand(0)), by = number(op->getOperand(1));
    if (failed(size) || failed(by))
      return failure();
    if (size->getAsString() && by->getAsInteger())
      return json::Value(json::Object{{ATTN_KEY_CEIL, *size}, {ATTN_KEY_BY, *by}});
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

/// `base`, `base1`, `base2`, ...
static std::string numbered(StringRef base, int64_t index) { return index ? (base + Twine(index)).str() : base.str(); }

/// Whether blocks that fetch their tiles from a counter walk the section.
static bool hasCounter(SectionOp op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    auto launch = dyn_cast<LaunchOp>(user);
    return launch && launch.getPersistent() && llvm::any_of(launch.getArgs(), [](Value argument) {
             return argument.getDefiningOp<memref::AllocOp>() != nullptr;
           });
  });
}

/// Few heads are one section where blocks fetch their tiles (docs/Rationale/GridMapping.md).
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
  if (TargetAttr target = getTarget(op); target && hasCounter(op))
    keys[ATTN_KEY_WHOLE] = target.getSms() / 2;
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

LogicalResult HostPlan::readBuffer(memref::AllocOp op) {
  MemRefType type = op.getType();
  if (type.getRank() != 1 || type.isDynamicDim(0) || !type.getElementType().isInteger(32) ||
      !type.getLayout().isIdentity())
    return op.emitOpError("has no form in a manifest, which knows counters, memref<1xi32>; got ") << type;
  std::string name = numbered("counter", buffers++);
  names[op.getResult()] = name;
  json::Value entry = json::Object{{ATTN_KEY_NAME, name},
                                   {ATTN_KEY_TYPE, typeText(type.getElementType())},
                                   {ATTN_KEY_DIMS, json::Array{type.getDimSize(0)}},
                                   {ATTN_KEY_ZERO, ATTN_ZERO_RESTORED}};
  for (const json::Value &other : shared.workspace) {
    if (other == entry)
      return success();
    if (other.getAsObject()->getString(ATTN_KEY_NAME) == name)
      return op.emitOpError("is ") << type << ", but the same buffer of another function is not";
  }
  shared.workspace.push_back(std::move(entry));
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

LogicalResult HostPlan::appendArgument(LaunchOp op, Value value, json::Array &args) {
  if (auto map = value.getDefiningOp<TensorMapOp>())
    return appendMap(map, args);
  auto memref = dyn_cast<MemRefType>(value.getType());
  if (auto named = names.find(value); named != names.end()) {
    args.push_back(json::Object{{memref ? ATTN_ARG_PTR : ATTN_ARG_VALUE, named->second}});
    if (memref) // A memref is its pointer and its sizes, which are known here.
      for (int64_t size : memref.getShape())
        args.push_back(json::Object{{ATTN_ARG_I32, size}});
    return success();
  }
  if (const Operand *operand = operands.find(value)) {
    if (!memref) {
      args.push_back(json::Object{{value.getType().isF32() ? ATTN_ARG_F32 : ATTN_ARG_I32, operand->name}});
      return success();
    }
    args.push_back(json::Object{{ATTN_ARG_PTR, operand->name}});
    if (memref.getRank() > 1) // The last dimension has unit stride.
      args.push_back(json::Object{{ATTN_ARG_STRIDES, operand->name}});
    if (memref.getRank() > 0)
      args.push_back(json::Object{{ATTN_ARG_SIZES, operand->name}});
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
