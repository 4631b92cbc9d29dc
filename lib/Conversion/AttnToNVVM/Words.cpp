//===- Words.cpp - one number from thread to thread
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How blocks share out tiles: a counter in global memory, and a word of shared memory in which the thread that asked it
// tells the others.
//
//===----------------------------------------------------------------------===//

#include "InlineAsm.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
constexpr int64_t kWordBytes = 4;

struct PutLowering : Lowering<PutOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(PutOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, only(adaptor.getValue()), e.shared(only(adaptor.getDest()), 0),
                                               kWordBytes);
    return success();
  }
};

/// Lane 0 reads for its warp. It is the one that will release the item, and an arrival of one lane says nothing of what
/// the others have read. The shuffle is also how the assembler learns that all lanes have the same.
struct GetLowering : Lowering<GetOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(GetOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    Type i32 = rewriter.getI32Type();
    Value source = only(adaptor.getSource());
    if (kernels.of(op).elected) {
      rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, i32, e.shared(source, 0), kWordBytes);
      return success();
    }
    InlineAsm read(e);
    read.output(i32, 1);
    read << "{\n.reg .pred first;\nsetp.eq.u32 first, " + read.use(kernels.of(op).lane) + ", 0;";
    read << "@first ld.shared.b32 $0, [" + read.use(source) + "];\n@!first mov.b32 $0, 0;\n}";
    Value word = read.build().front();
    rewriter.replaceOpWithNewOp<NVVM::ShflOp>(op, i32, e.i32(-1), word, e.i32(0), e.i32(kWarpLanes - 1),
                                              NVVM::ShflKind::idx, UnitAttr());
    return success();
  }
};

struct FetchLowering : Lowering<FetchOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(FetchOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    MemRef counter = MemRef::get(op.getCounter().getType(), adaptor.getCounter());
    rewriter.replaceOpWithNewOp<LLVM::AtomicRMWOp>(op, LLVM::AtomicBinOp::uinc_wrap, counter.ptr,
                                                   only(adaptor.getLast()), LLVM::AtomicOrdering::monotonic, "device",
                                                   kWordBytes);
    return success();
  }
};
} // namespace

LogicalResult attn::nvvm::checkWords(Operation *op) {
  if (isa<PutOp, FetchOp>(op) && !op->getParentOfType<RoleOp>().getElect())
    return op->emitOpError("is done once: expects a role of one thread ('elect')");
  return success();
}

void attn::nvvm::populateWordPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<PutLowering, GetLowering, FetchLowering>(types, kernels, patterns.getContext());
}
