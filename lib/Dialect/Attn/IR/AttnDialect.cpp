//===- AttnDialect.cpp - registration and dialect-wide checks
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FoldInterfaces.h"

using namespace mlir;
using namespace attn;

#include "attn/Dialect/Attn/IR/AttnDialect.cpp.inc"
#include "attn/Dialect/Attn/IR/AttnEnums.cpp.inc"
#include "attn/Dialect/Attn/IR/AttnInterfaces.cpp.inc"

namespace {
/// Constants of a score or mask region stay in it: the region is all its readers (tiling, the manifest) look at.
struct FoldIntoRegions : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const override { return isa<AttentionOp>(region->getParentOp()); }
};
} // namespace

void AttnDialect::initialize() {
  addInterfaces<FoldIntoRegions>();
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "attn/Dialect/Attn/IR/AttnOps.cpp.inc"
      >();
}

/// The discardable attributes that passes leave for each other, and the type each must have.
static LogicalResult verifyDiscardable(function_ref<InFlightDiagnostic()> error, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  auto expect = [&](bool ok, StringRef what) -> LogicalResult {
    if (ok)
      return success();
    return error() << "expects '" << name << "' to be " << what << ", got " << attribute.getValue();
  };
  if (name == AttnDialect::kTargetAttr)
    return expect(isa<TargetAttr>(attribute.getValue()), "an #attn.target");
  if (name == AttnDialect::kScheduleAttr)
    return expect(isa<ScheduleAttr>(attribute.getValue()), "an #attn.schedule");
  if (llvm::is_contained(
          {AttnDialect::kCpuAttr, AttnDialect::kNestAttr, AttnDialect::kNameAttr, AttnDialect::kRoleAttr}, name))
    return expect(isa<StringAttr>(attribute.getValue()), "a string");
  if (name == AttnDialect::kAlternativeAttr)
    return expect(isa<FlatSymbolRefAttr>(attribute.getValue()), "a symbol");
  if (name == AttnDialect::kMeaningAttr || name == AttnDialect::kWhenAttr)
    return expect(isa<DictionaryAttr>(attribute.getValue()), "a dictionary");
  if (name == AttnDialect::kSmemBytesAttr)
    return expect(isa<IntegerAttr>(attribute.getValue()), "an integer");
  return error() << "unknown attribute '" << name << "'";
}

LogicalResult AttnDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyDiscardable([&] { return op->emitOpError(); }, attribute);
}

LogicalResult AttnDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verifyDiscardable([&] { return op->emitOpError(); }, attribute);
}
