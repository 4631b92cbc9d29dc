//===- AttnLoopOps.cpp - verifiers of sweeps, kernels, tiles and launches
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules: W sweep, K kernel, T tiles, J tensor_map, N launch, X section. See the -errors tests beside
// test/Dialect/Attn/IR/tile-ops.mlir.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace attn;

/// `got` as text, for messages that compare lists of types.
static std::string typeList(TypeRange types) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "(";
  llvm::interleaveComma(types, os);
  os << ")";
  return text;
}

//===----------------------------------------------------------------------===//
// attn.sweep
//===----------------------------------------------------------------------===//

SmallVector<Region *> SweepOp::getLoopRegions() { return {&getBody()}; }

LogicalResult SweepOp::verify() {
  Type i32 = IntegerType::get(getContext(), 32);
  SmallVector<Type> expected{i32, i32};
  llvm::append_range(expected, getInit().getTypes());
  Block &body = getBody().front();
  // W1, where it shows. A rotated sweep over one block has none left, so equal bounds are no mistake.
  APInt lo, hi;
  if (matchPattern(getLo(), m_ConstantInt(&lo)) && matchPattern(getHi(), m_ConstantInt(&hi)) && lo.sgt(hi))
    return emitOpError() << "expects lo of at most hi, got " << lo.getSExtValue() << " and " << hi.getSExtValue();
  if (std::optional<uint64_t> edge = getEdge(); edge && static_cast<int64_t>(*edge) < 0) // W3
    return emitOpError() << "expects 'edge' of at least 0, got " << static_cast<int64_t>(*edge);
  if (body.getArgumentTypes() != ArrayRef(expected)) // W4
    return emitOpError() << "body takes t, j and the carried values, " << typeList(expected) << "; got "
                         << typeList(body.getArgumentTypes());
  if (getResultTypes() != getInit().getTypes()) // W5
    return emitOpError() << "results are the carried values, " << typeList(getInit().getTypes()) << "; got "
                         << typeList(getResultTypes());
  return success();
}

LogicalResult SweepOp::verifyRegions() {
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (yield.getValues().getTypes() == getInit().getTypes()) // W6
    return success();
  InFlightDiagnostic error = yield.emitOpError() << "carries " << typeList(getInit().getTypes())
                                                 << " to the next step, got " << typeList(yield.getValues().getTypes());
  error.attachNote(getLoc()) << "in this sweep";
  return error;
}

//===----------------------------------------------------------------------===//
// attn.kernel
//===----------------------------------------------------------------------===//

LogicalResult KernelOp::verify() {
  for (BlockArgument argument : getBody().getArguments()) { // K2
    Type type = argument.getType();
    auto memref = dyn_cast<MemRefType>(type);
    if (memref ? memref.isStrided() : type.isSignlessIntOrFloat() || isa<MapType>(type))
      continue;
    return emitOpError() << "argument " << argument.getArgNumber() << " is " << type
                         << "; expects strided memrefs, tensor maps, integers and floats";
  }
  if (std::optional<uint64_t> threads = getThreads();
      threads && (*threads == 0 || *threads > 1024 || *threads % 32)) // K3
    return emitOpError() << "expects threads in whole warps, 32 to 1024; got " << static_cast<int64_t>(*threads);
  if (std::optional<uint64_t> bytes = getSmemBytes(); bytes && static_cast<int64_t>(*bytes) < 0) // K4
    return emitOpError() << "expects smem_bytes of at least 0, got " << static_cast<int64_t>(*bytes);
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  // U1: the roles of a kernel have warps of their own and together all of the block
  SmallVector<RoleOp> roles(getBody().front().getOps<RoleOp>());
  int64_t warps = 0;
  for (auto [i, role] : llvm::enumerate(roles)) {
    int64_t first = role.getFirstWarp(), end = first + role.getWarps();
    for (RoleOp earlier : ArrayRef(roles).take_front(i)) {
      int64_t otherFirst = earlier.getFirstWarp(), otherEnd = otherFirst + earlier.getWarps();
      if (first >= otherEnd || otherFirst >= end)
        continue;
      InFlightDiagnostic error = role.emitOpError()
                                 << "takes warps " << first << " to " << end - 1 << ", some of which another role has";
      error.attachNote(earlier.getLoc()) << "that one takes " << otherFirst << " to " << otherEnd - 1;
      return error;
    }
    warps += role.getWarps();
  }
  if (!roles.empty() && getThreads() && static_cast<int64_t>(*getThreads()) != 32 * warps)
    return emitOpError() << "has " << *getThreads() << " threads, its roles need " << 32 * warps;
  return success();
}

//===----------------------------------------------------------------------===//
// attn.tiles, attn.section, attn.launch
//===----------------------------------------------------------------------===//

LogicalResult TilesOp::verify() {
  if (getExtents().size() != 3) // T1
    return emitOpError() << "expects three extents, row tiles, heads and batch; got " << getExtents().size();
  Type i32 = IntegerType::get(getContext(), 32);
  if (getBody().getArgumentTypes() != SmallVector<Type>(4 + getInit().size(), i32)) // T2
    return emitOpError() << "body takes t, i, h, b and " << getInit().size() << " carried values, all i32; got "
                         << typeList(getBody().getArgumentTypes());
  if (getResultTypes() != getInit().getTypes()) // T3
    return emitOpError() << "results are the carried values, " << typeList(getInit().getTypes()) << "; got "
                         << typeList(getResultTypes());
  if ((getKind() == Tiling::Dynamic) != bool(getCounter())) // T4
    return emitOpError() << "takes a counter if and only if it is dynamic";
  return success();
}

LogicalResult TilesOp::verifyRegions() {
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (yield.getValues().getTypes() == getInit().getTypes()) // T5
    return success();
  InFlightDiagnostic error = yield.emitOpError() << "carries " << typeList(getInit().getTypes())
                                                 << " to the next tile, got " << typeList(yield.getValues().getTypes());
  error.attachNote(getLoc()) << "in this nest";
  return error;
}

LogicalResult TensorMapOp::verify() {
  MemRefType memref = getSource().getType();
  SmallVector<int64_t> strides;
  int64_t offset;
  Type element = getResult().getType().getTile().getElementType();
  if (memref.getRank() == 4 && succeeded(memref.getStridesAndOffset(strides, offset)) && strides.back() == 1 &&
      memref.getElementType() == element) // J1
    return success();
  return emitOpError() << "describes (batch, heads, rows, columns) of " << element << " with dense columns, got "
                       << memref;
}

LogicalResult SectionOp::verify() {
  if (getOf().empty()) // X1
    return emitOpError() << "expects at least one size to divide";
  if (int64_t budget = getBudget(); budget < 1) // X2
    return emitOpError() << "expects a positive budget in bytes, got " << budget;
  return success();
}

/// The CPU's kernels take the range of tiles they compute as two more arguments.
static bool hasRange(TypeRange kernel, TypeRange launch) {
  return kernel.size() == launch.size() + 2 && kernel.take_back(2)[0].isInteger(64) &&
         kernel.take_back(2)[1].isInteger(64);
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *callee = symbols.lookupNearestSymbolFrom(*this, getKernelAttr());
  if (!callee) // N1
    return emitOpError() << "finds no kernel '" << getKernel() << "'";
  if (getTiles().size() != 3) // N2
    return emitOpError() << "expects three extents, row tiles, heads and batch; got " << getTiles().size();
  auto kernel = dyn_cast<KernelOp>(callee);
  if (!kernel) {
    // Converted kernels are functions of the target's dialect, on the CPU in a module of their own; their arguments are
    // the conversion's business.
    if (isa<FunctionOpInterface, ModuleOp>(callee))
      return success();
    InFlightDiagnostic error = emitOpError() << "expects '" << getKernel() << "' to be a kernel"; // N3
    error.attachNote(callee->getLoc()) << "it is this " << callee->getName();
    return error;
  }
  TypeRange expected = kernel.getBody().getArgumentTypes(), got = getArgs().getTypes();
  if (hasRange(expected, got))
    expected = expected.drop_back(2);
  if (expected == got)
    return success();
  InFlightDiagnostic error = emitOpError(); // N4
  if (expected.size() != got.size())
    error << "passes " << got.size() << " arguments, '" << getKernel() << "' takes " << expected.size();
  else
    for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(expected, got)))
      if (std::get<0>(pair) != std::get<1>(pair)) {
        error << "argument " << i << " is " << std::get<1>(pair) << ", '" << getKernel() << "' takes "
              << std::get<0>(pair);
        break;
      }
  error.attachNote(kernel.getLoc()) << "the kernel is here";
  return error;
}
