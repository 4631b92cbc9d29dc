//===- Entry.cpp - the C entry of a kernel
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace attn;

/// What the runtime calls a parameter of the type: it compares them with the manifest's before the first call.
static char getLetter(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 'p';
  if (type.isF32())
    return 'f';
  return type.isInteger(64) ? 'l' : 'i';
}

void cpu::emitEntry(OpBuilder &b, func::FuncOp body, StringRef name) {
  Location loc = body.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  auto entry = func::FuncOp::create(b, loc, name, b.getFunctionType({pointer, i64, i64}, {}));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(entry.addEntryBlock());
  Value params = entry.getArgument(0);
  std::string letters;
  auto readParam = [&](Type type) -> Value {
    auto number = static_cast<int32_t>(letters.size());
    letters += getLetter(type);
    Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, params, ArrayRef<LLVM::GEPArg>{number});
    return LLVM::LoadOp::create(b, loc, type, LLVM::LoadOp::create(b, loc, pointer, slot));
  };

  SmallVector<Value> arguments;
  for (Type type : body.getArgumentTypes().drop_back(2)) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref) {
      arguments.push_back(readParam(type));
      continue;
    }
    // The descriptor upstream lowers a memref to: allocated and aligned pointer, offset, and unless of rank 0 sizes and
    // strides.
    int64_t rank = memref.getRank();
    Type list = LLVM::LLVMArrayType::get(i64, rank);
    SmallVector<Type> parts{pointer, pointer, i64};
    if (rank > 0)
      parts.append(2, list);
    Type descriptor = LLVM::LLVMStructType::getLiteral(b.getContext(), parts);
    Value whole = LLVM::PoisonOp::create(b, loc, descriptor);
    auto put = [&](Value part, ArrayRef<int64_t> at) { whole = LLVM::InsertValueOp::create(b, loc, whole, part, at); };
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(value));
    };
    Value base = readParam(pointer);
    put(base, 0);
    put(base, 1);
    put(constant(0), 2);
    for (int64_t dim = 0; dim + 1 < rank; ++dim)
      put(readParam(i64), {4, dim});
    if (rank > 0)
      put(constant(1), {4, rank - 1});
    for (int64_t dim = 0; dim < rank; ++dim) {
      Value size = LLVM::SExtOp::create(b, loc, i64, readParam(i32));
      put(memref.isDynamicDim(dim) ? size : constant(memref.getDimSize(dim)), {3, dim});
    }
    arguments.push_back(UnrealizedConversionCastOp::create(b, loc, memref, whole).getResult(0));
  }
  arguments.push_back(entry.getArgument(1));
  arguments.push_back(entry.getArgument(2));
  func::CallOp::create(b, loc, body, arguments);
  func::ReturnOp::create(b, loc);

  b.setInsertionPoint(entry);
  letters.push_back(0);
  LLVM::GlobalOp::create(b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), letters.size()), /*isConstant=*/true,
                         LLVM::Linkage::External, (name + "_params").str(), b.getStringAttr(letters));
}
