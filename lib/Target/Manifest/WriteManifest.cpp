//===- WriteManifest.cpp - the host function, printed for the runtime
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There is nothing to keep in step: every number of the manifest is read off the host function, its arguments'
// attributes and `attn.meaning`. What attention itself adds (which operand gives which size, what an empty input means)
// is in SdpaWords.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Manifest.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "attn_rt/manifest_keys.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace attn;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Attributes as JSON
//===----------------------------------------------------------------------===//

static std::string typeText(Type type) {
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

static json::Value attributeJson(Attribute attribute) {
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

/// Keys in order, one entry a line, and on one line whatever fits there.
static void printJson(json::OStream &out, const json::Value &value) {
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

//===----------------------------------------------------------------------===//
// The host function
//===----------------------------------------------------------------------===//

namespace {
struct Operand {
  BlockArgument value;
  std::string name, role;
  SmallVector<std::string> sizeNames; ///< of each dimension; empty: it has none
};

class Writer {
public:
  Writer(func::FuncOp host, llvm::function_ref<KernelFiles(StringRef)> filesOf) : host(host), filesOf(filesOf) {}

  LogicalResult write(raw_ostream &os);

private:
  LogicalResult collectOperands(DictionaryAttr meaning);
  FailureOr<Operand *> part(DictionaryAttr meaning, StringRef name, bool optional = false);
  bool hasSize(StringRef name) const {
    return llvm::any_of(sizes, [&](auto &size) { return std::get<0>(size) == name; });
  }
  void nameSizes(Operand &operand, std::initializer_list<StringRef> names);
  FailureOr<json::Value> number(Value value);
  FailureOr<json::Array> numbers(ValueRange values);
  json::Value operandJson(Operand &operand);
  FailureOr<json::Value> sectionJson(SectionOp op);
  FailureOr<json::Value> kernelJson(LaunchOp op);
  LogicalResult appendArgument(LaunchOp op, Value value, json::Array &args);

  func::FuncOp host;
  llvm::function_ref<KernelFiles(StringRef)> filesOf;
  SmallVector<Operand> operands;
  /// Where each size is read: name, operand, dimension. In the order they are printed.
  SmallVector<std::tuple<std::string, std::string, int64_t>> sizes;
  llvm::MapVector<Value, std::string> values;
};
} // namespace

/// The first operand that has a size gives it; the others must agree, which the runtime checks. One argument may be
/// several operands of attention (k and v, say): its dimensions keep their first names.
void Writer::nameSizes(Operand &operand, std::initializer_list<StringRef> names) {
  bool named = !operand.sizeNames.empty();
  for (auto [dim, name] : llvm::enumerate(names)) {
    if (!hasSize(name))
      sizes.emplace_back(name, operand.name, dim);
    if (!named)
      operand.sizeNames.push_back(name.str());
  }
}

/// The operand that `meaning` calls q, k, v, o or lse; null if it need not be there and is not.
FailureOr<Operand *> Writer::part(DictionaryAttr meaning, StringRef name, bool optional) {
  auto parts = meaning.getAs<DictionaryAttr>(ATTN_KEY_OPERANDS);
  auto wanted = parts ? parts.getAs<StringAttr>(name) : StringAttr();
  if (!wanted && optional)
    return nullptr;
  if (!wanted)
    return host.emitOpError("needs attn.meaning to say in '" ATTN_KEY_OPERANDS "' which argument is ") << name;
  Operand *found = llvm::find_if(operands, [&](Operand &o) { return o.name == wanted.getValue(); });
  if (found == operands.end())
    return host.emitOpError("has no argument '") << wanted.getValue() << "', which attn.meaning says is " << name;
  bool isOutput = name == "o" || name == "lse";
  StringRef role = isOutput ? ATTN_ROLE_NAME_OUT : ATTN_ROLE_NAME_IN;
  int64_t rank = name == "lse" ? 3 : 4;
  auto type = dyn_cast<MemRefType>(found->value.getType());
  if (found->role != role || !type || type.getRank() != rank)
    return host.emitOpError("argument '")
           << found->name << "' is " << name << " and must be a memref of rank " << rank << " and role " << role;
  return found;
}

LogicalResult Writer::collectOperands(DictionaryAttr meaning) {
  operands.reserve(host.getNumArguments());
  for (BlockArgument argument : host.getArguments()) {
    auto text = [&](StringRef attribute) {
      auto value = host.getArgAttrOfType<StringAttr>(argument.getArgNumber(), attribute);
      return value ? value.getValue().str() : std::string();
    };
    Operand operand{argument, text(AttnDialect::kNameAttr), text(AttnDialect::kRoleAttr), {}};
    if (operand.name.empty() || operand.role.empty())
      return host.emitOpError("argument ") << argument.getArgNumber() << " needs attn.name and attn.role";
    if (!isIdentifier(operand.name))
      return host.emitOpError("argument ")
             << argument.getArgNumber() << " has attn.name '" << operand.name << "', which is not an identifier";
    operands.push_back(operand);
  }
  if (!meaning)
    return host.emitOpError("needs attn.meaning: the manifest says what its kernels compute");

  // Listed as q, k, v, the rest, o, lse, in whatever order the spec has them: callers pass inputs by position.
  static constexpr StringRef names[] = {"q", "k", "v", "o", "lse"};
  llvm::StringMap<int> places;
  for (auto [place, name] : llvm::enumerate(names)) {
    FailureOr<Operand *> found = part(meaning, name, /*optional=*/name == "lse");
    if (failed(found))
      return failure();
    if (*found)
      places.try_emplace((*found)->name, static_cast<int>(place));
  }
  auto placeOf = [&](const Operand &operand) {
    auto it = places.find(operand.name);
    // Captures stand between v and o, in their own order.
    return std::pair(it == places.end() ? 2.5 : it->second, operand.value.getArgNumber());
  };
  for (Operand &operand : operands)
    if ((operand.role == ATTN_ROLE_NAME_IN || operand.role == ATTN_ROLE_NAME_OUT) && !places.contains(operand.name))
      return host.emitOpError("argument '")
             << operand.name << "' has role " << operand.role << ", but attn.meaning does not say what it is";
  llvm::sort(operands, [&](const Operand &a, const Operand &b) { return placeOf(a) < placeOf(b); });
  // Keys or values that are q itself have its sizes; so then have both, and the runtime sees to it.
  bool keysAreQueries = llvm::count_if(ArrayRef(names).take_front(3),
                                       [&](StringRef name) { return *part(meaning, name) == *part(meaning, "q"); }) > 1;
  for (StringRef name : names) {
    Operand *operand = *part(meaning, name, /*optional=*/true);
    if (operand && !keysAreQueries && (name == "k" || name == "v"))
      nameSizes(*operand, {"batch", "k_heads", "k_len"});
    else if (operand)
      nameSizes(*operand, {"batch", "q_heads", "q_len"});
  }
  return success();
}

/// A number is an integer, a size, `ceil(size / n)` or a product: the runtime needs no expression parser.
FailureOr<json::Value> Writer::number(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return json::Value(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op))
    return number(cast.getIn());
  if (auto dim = dyn_cast_or_null<memref::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    Operand *operand = llvm::find_if(operands, [&](Operand &o) { return o.value == dim.getSource(); });
    if (index && operand != operands.end() && *index < static_cast<int64_t>(operand->sizeNames.size()))
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

FailureOr<json::Array> Writer::numbers(ValueRange list) {
  json::Array array;
  for (Value value : list) {
    FailureOr<json::Value> entry = number(value);
    if (failed(entry))
      return failure();
    array.push_back(std::move(*entry));
  }
  return array;
}

json::Value Writer::operandJson(Operand &operand) {
  json::Object object{{ATTN_KEY_NAME, operand.name}, {ATTN_KEY_ROLE, operand.role}};
  json::Array dims;
  Type element = operand.value.getType();
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

FailureOr<json::Value> Writer::sectionJson(SectionOp op) {
  FailureOr<json::Array> of = numbers(op.getOf());
  FailureOr<json::Value> unit = number(op.getUnit());
  if (failed(of) || failed(unit))
    return failure();
  json::Array bytes;
  if (json::Array *product = unit->getAsArray())
    bytes = *product;
  else
    bytes.push_back(*unit);
  return json::Value(json::Object{{ATTN_KEY_RULE, ATTN_RULE_LARGEST_DIVISOR},
                                  {ATTN_KEY_OF, std::move(*of)},
                                  {ATTN_KEY_UNIT_BYTES, std::move(bytes)},
                                  {ATTN_KEY_BUDGET, static_cast<int64_t>(op.getBudget())}});
}

LogicalResult Writer::appendArgument(LaunchOp op, Value value, json::Array &args) {
  auto named = values.find(value);
  if (named != values.end()) {
    args.push_back(json::Object{{ATTN_ARG_VALUE, named->second}});
    return success();
  }
  Operand *operand = llvm::find_if(operands, [&](Operand &o) { return o.value == value; });
  if (operand != operands.end()) {
    auto memref = dyn_cast<MemRefType>(value.getType());
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

FailureOr<json::Value> Writer::kernelJson(LaunchOp op) {
  auto module = host->getParentOfType<ModuleOp>();
  TargetAttr target = requireTarget(op);
  if (!target)
    return failure();
  StringRef name = op.getKernel();
  json::Object kernel{
      {ATTN_KEY_NAME, name}, {ATTN_KEY_CHIP, target.getChip()}, {ATTN_KEY_GRID, ATTN_GRID_ONE_PER_TILE}};
  KernelFiles files = filesOf(name);
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
  return json::Value(std::move(kernel));
}

LogicalResult Writer::write(raw_ostream &os) {
  auto meaning = host->getAttrOfType<DictionaryAttr>(AttnDialect::kMeaningAttr);
  if (failed(collectOperands(meaning)))
    return failure();

  // Everything that can fail comes before the first character.
  json::Object ruleOf;
  json::Array kernels;
  for (Operation &op : host.getBody().front()) {
    if (auto section = dyn_cast<SectionOp>(op)) {
      FailureOr<json::Value> rule = sectionJson(section);
      if (failed(rule))
        return failure();
      std::string name = "section";
      if (!values.empty())
        name += std::to_string(values.size());
      values[section.getResult()] = name;
      ruleOf[name] = std::move(*rule);
    } else if (auto launch = dyn_cast<LaunchOp>(op)) {
      FailureOr<json::Value> kernel = kernelJson(launch);
      if (failed(kernel))
        return failure();
      kernels.push_back(std::move(*kernel));
    }
  }

  json::Object noKey; // What a row without any key gets: O = 0, LSE = log 0.
  for (Operand &operand : operands)
    if (operand.role == ATTN_ROLE_NAME_OUT)
      noKey[operand.name] =
          cast<ShapedType>(operand.value.getType()).getRank() == 4 ? json::Value(0) : json::Value("-inf");

  json::Object sizeOf;
  for (auto &[name, operand, dim] : sizes)
    sizeOf[name] = json::Array{operand, dim};
  json::Array operandList;
  for (Operand &operand : operands)
    operandList.push_back(operandJson(operand));
  json::Array require,
      empty{json::Object{{ATTN_KEY_ZERO, json::Array{"batch", "q_heads", "q_len"}}, {ATTN_KEY_DO, ATTN_DO_NOTHING}}};
  if (hasSize("k_heads"))
    require.push_back(json::Object{{ATTN_KEY_DIVIDES, json::Array{"k_heads", "q_heads"}}});
  if (hasSize("k_len"))
    empty.push_back(json::Object{{ATTN_KEY_ZERO, json::Array{"k_len"}}, {ATTN_KEY_FILL, std::move(noKey)}});
  std::pair<StringRef, json::Value> entries[] = {
      {ATTN_KEY_MANIFEST, ATTN_MANIFEST_VERSION}, {ATTN_KEY_MEANING, attributeJson(meaning)},
      {ATTN_KEY_SIZES, std::move(sizeOf)},        {ATTN_KEY_OPERANDS, std::move(operandList)},
      {ATTN_KEY_REQUIRE, std::move(require)},     {ATTN_KEY_EMPTY, std::move(empty)},
      {ATTN_KEY_WORKSPACE, json::Array()},        {ATTN_KEY_VALUES, std::move(ruleOf)},
      {ATTN_KEY_KERNELS, std::move(kernels)}};
  json::OStream out(os, /*IndentSize=*/2);
  out.object([&] {
    for (auto &[key, value] : entries)
      out.attributeBegin(key), printJson(out, value), out.attributeEnd();
  });
  os << "\n";
  return success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

static bool launches(func::FuncOp func) { return !func.isExternal() && !func.getOps<LaunchOp>().empty(); }

LogicalResult attn::writeManifest(ModuleOp module, llvm::function_ref<KernelFiles(StringRef)> filesOf,
                                  raw_ostream &os) {
  SmallVector<func::FuncOp> hosts = llvm::filter_to_vector(module.getOps<func::FuncOp>(), launches);
  if (hosts.empty())
    return module.emitError("has no function that launches kernels");
  if (hosts.size() > 1)
    return hosts[1].emitOpError("is the second one that launches kernels; a manifest describes one: write two modules");
  return Writer(hosts.front(), filesOf).write(os);
}

bool attn::isIdentifier(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

SmallVector<StringRef> attn::getLaunchedKernels(ModuleOp module) {
  SmallVector<StringRef> names;
  for (func::FuncOp func : module.getOps<func::FuncOp>())
    for (LaunchOp launch : func.getOps<LaunchOp>())
      if (!llvm::is_contained(names, launch.getKernel()))
        names.push_back(launch.getKernel());
  return names;
}

LaunchBounds attn::getLaunchBounds(ModuleOp module, StringRef kernel) {
  LaunchBounds bounds;
  Operation *op = module.lookupSymbol(kernel);
  if (auto partitioned = dyn_cast_or_null<KernelOp>(op)) {
    bounds.threads = partitioned.getThreads().value_or(0);
    bounds.smemBytes = partitioned.getSmemBytes().value_or(0);
  } else if (op) {
    if (auto block = op->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid"); block && !block.empty())
      bounds.threads = block[0];
    if (auto bytes = op->getAttrOfType<IntegerAttr>(AttnDialect::kSmemBytesAttr))
      bounds.smemBytes = bytes.getInt();
  }
  return bounds;
}
