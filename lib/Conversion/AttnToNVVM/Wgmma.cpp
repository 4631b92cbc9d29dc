//===- Wgmma.cpp - dots by the matrix unit that a group of four warps shares
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dot async     one inline asm: fence, every instruction of the product, commit (WgmmaText.h)
//   await         one inline asm through which the accumulators pass: LLVM reads none of them earlier. Operands in
//                 registers are inputs, so their registers are not reused earlier either
//   dot           both
//   pack          a conversion that stays where it is, behind the wait that frees its registers: as an intrinsic it
//                 moves (docs/Rationale/Warpgroups.md: what that was seen to cost)
//
// The assembler has its own mind about waits: `pin` is a store that never happens, of which it does not know that.
//
//===----------------------------------------------------------------------===//

#include "InlineAsm.h"
#include "WgmmaText.h"

#include "attn/Analysis/MmaShapes.h"
#include "attn/Facts/Facts.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
/// The bits of a signalling NaN: arithmetic returns quiet ones only. Any number, an infinity too, may come up in a row.
constexpr const char *kNeverComputed = "0x7F800001";

TileLayout layoutOf(BufType buf) {
  RankedTensorType tile = buf.getTile();
  return {tile.getDimSize(0), tile.getDimSize(1) * tile.getElementTypeBitWidth() / 8, buf.getSwizzle()};
}

RankedTensorType tileOf(Type type) {
  if (auto buf = dyn_cast<BufType>(type))
    return buf.getTile();
  return cast<RankedTensorType>(type);
}

/// A 16-bit fragment as the 32-bit registers an instruction reads.
SmallVector<Value> unpackPairs(const Emit &e, Value fragment) {
  int64_t pairs = cast<VectorType>(fragment.getType()).getNumElements() / 2;
  return e.unpack(LLVM::BitcastOp::create(e.b, e.loc, VectorType::get({pairs}, e.b.getI32Type()), fragment));
}

/// Waits for all products but the `leaves` youngest; returns the accumulators of those that are done.
SmallVector<Value> awaitAll(const Emit &e, ValueRange accumulators, ValueRange keep, int64_t leaves) {
  InlineAsm wait(e);
  wait.tie(accumulators);
  for (Value reg : keep)
    wait.use(reg);
  wait << "wgmma.wait_group.sync.aligned " + Twine(leaves) + ";";
  return wait.build();
}

struct WgmmaLowering : Lowering<DotOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(DotOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    WgmmaProduct product{op.getTile().getDimSize(1),
                         tileOf(op.getB().getType()).getElementType().isBF16() ? "bf16" : "f16", bool(op.getAcc())};
    InlineAsm text(e);
    if (op.getAcc())
      text.tie(e.unpack(only(adaptor.getAcc())));
    else
      text.output(rewriter.getF32Type(), product.n / 2);
    SmallVector<Value> aRegs;
    addTerm(e, text, product, op, op.getA().getType(), only(adaptor.getA()), op.getB().getType(), only(adaptor.getB()),
            aRegs);
    if (op.getA2())
      addTerm(e, text, product, op, op.getA2().getType(), only(adaptor.getA2()), op.getB2().getType(),
              only(adaptor.getB2()), aRegs);
    text << product.text();
    SmallVector<Value> d = text.build();
    if (!op.getAsync())
      d = awaitAll(e, d, aRegs, /*leaves=*/0);
    rewriter.replaceOp(op, e.pack(d));
    return success();
  }

  static void addTerm(const Emit &e, InlineAsm &text, WgmmaProduct &product, DotOp op, Type aType, Value a, Type bType,
                      Value b, SmallVectorImpl<Value> &aRegs) {
    RankedTensorType bTile = tileOf(bType);
    WgmmaTerm term{bTile.getDimSize(op.getTransB() ? 1 : 0) / SharedOperand::kDepth, std::nullopt,
                   SharedOperand{layoutOf(cast<BufType>(bType)), op.getTransB()}};
    if (auto aBuf = dyn_cast<BufType>(aType)) {
      term.a = SharedOperand{layoutOf(aBuf), /*kMajor=*/!op.getTransA()};
      term.aNames.push_back(text.use(lowWord(e, a, *term.a)));
    } else {
      for (Value reg : unpackPairs(e, a)) {
        term.aNames.push_back(text.use(reg));
        aRegs.push_back(reg);
      }
    }
    term.bName = text.use(lowWord(e, b, term.b));
    product.terms.push_back(std::move(term));
  }

  static Value lowWord(const Emit &e, Value address, const SharedOperand &operand) {
    return e.add(e.div(address, SharedOperand::kUnitBytes), operand.lowWord());
  }
};

struct AwaitLowering : Lowering<AwaitOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(AwaitOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    SmallVector<Value> accumulators, keep;
    SmallVector<size_t> sizes;
    for (Value pending : flat(adaptor.getPendings())) {
      llvm::append_range(accumulators, e.unpack(pending));
      sizes.push_back(accumulators.size());
    }
    for (Value fragment : flat(adaptor.getKeep()))
      llvm::append_range(keep, unpackPairs(e, fragment));
    SmallVector<Value> done = awaitAll(e, accumulators, keep, op.getLeaves());
    SmallVector<Value> results;
    size_t begin = 0;
    for (size_t end : sizes) {
      results.push_back(e.pack(ArrayRef(done).slice(begin, end - begin)));
      begin = end;
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct FixedPackLowering : Lowering<PackOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(PackOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    Type type = typeConverter->convertType(op.getResult().getType());
    StringRef to = getElementTypeOrSelf(type).isBF16() ? "bf16x2" : "f16x2";
    SmallVector<Value> x = e.unpack(only(adaptor.getX())), pairs;
    for (size_t i = 0; i < x.size(); i += 2) { // the first operand is the high half
      InlineAsm convert(e);
      convert.output(rewriter.getI32Type(), 1);
      std::string high = convert.use(x[i + 1]), low = convert.use(x[i]);
      convert << "cvt.rn." + to + ".f32 $0, " + high + ", " + low + ";";
      pairs.push_back(convert.build(/*touchesMemory=*/false).front());
    }
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, type, e.pack(pairs));
    return success();
  }
};

struct PinLowering : Lowering<PinOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(PinOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    InlineAsm pin(e);
    pin << "{\n.reg .pred never;";
    std::string compare = "setp.eq.b32 never, ", otherwise;
    for (Value x : e.unpack(only(adaptor.getX()))) {
      pin << compare + pin.use(x) + ", " + kNeverComputed + otherwise + ";";
      compare = "setp.eq.or.b32 never, ";
      otherwise = ", never";
    }
    pin << "@never st.shared.b32 [" + pin.use(kernels.of(op).smem) + "], 0;\n}";
    pin.build();
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

/// One operand in shared memory, rows of `what`.
static LogicalResult checkShared(DotOp op, BufType buf, StringRef what) {
  if (buf.getSwizzle() != SharedOperand::kSpan || buf.getTile().getDimSize(0) % SharedOperand::kRowsOfUnit)
    return op.emitOpError("expects ") << what << " in rows swizzled over 128 bytes, eight or a multiple, got " << buf;
  return success();
}

/// Operands whose product a wgmma adds to D.
static LogicalResult checkTerm(DotOp op, const Fragment &d, Value aOperand, Value bOperand) {
  auto bBuf = dyn_cast<BufType>(bOperand.getType());
  if (!bBuf)
    return op->emitOpError("expects B in shared memory, got ") << bOperand.getType();
  RankedTensorType a = tileOf(aOperand.getType()), b = bBuf.getTile();
  if (a.getElementType() != b.getElementType() || (!a.getElementType().isF16() && !a.getElementType().isBF16()))
    return op->emitOpError("expects operands of f16 or of bf16 for wgmma, got ")
           << a.getElementType() << " and " << b.getElementType();
  const facts::MmaShape &shape =
      *facts::findMmaShape(facts::Family::Wgmma, a.getElementType().isBF16() ? "bf16" : "f16");
  const int64_t k = a.getDimSize(op.getTransA() ? 0 : 1);
  if (d.rows != facts::kGroupRows || d.cols > facts::kMaxGroupCols ||
      !mmaGrid(shape, d.rows, d.cols, k, d.warpsM, d.warpsN))
    return op->emitOpError("has no wgmma shape: expects 64 rows, columns in multiples of ")
           << shape.multipleN << " up to " << facts::kMaxGroupCols << ", depth of " << shape.k << ", got " << d.rows
           << "x" << d.cols << "x" << k;
  if (auto aBuf = dyn_cast<BufType>(aOperand.getType()))
    if (failed(checkShared(op, aBuf, "A")))
      return failure();
  return checkShared(op, bBuf, "B");
}

LogicalResult attn::nvvm::checkWgmma(Operation *op) {
  if (auto pin = dyn_cast<PinOp>(op))
    if (!pin.getX().getType().getElementType().isF32())
      return op->emitOpError("expects values of f32, got ") << pin.getX().getType();
  if (auto await = dyn_cast<AwaitOp>(op))
    for (Value keep : await.getKeep())
      if (cast<RankedTensorType>(keep.getType()).getElementTypeBitWidth() != 16)
        return op->emitOpError("keeps operands of products, which have 16 bits, got ") << keep.getType();
  auto dot = dyn_cast<DotOp>(op);
  if (!dot)
    return success();
  const Fragment d = Fragment::of(dot.getTile());
  if (groupWarps(op) != facts::kGroupWarps || d.warpsM != facts::kGroupWarps || d.warpsN != 1)
    return op->emitOpError("expects a group of 4 warps, one above the other (warps [4, 1]), got a group of ")
           << groupWarps(op) << " and warps [" << d.warpsM << ", " << d.warpsN << "]";
  if (failed(checkTerm(dot, d, dot.getA(), dot.getB())))
    return failure();
  return dot.getA2() ? checkTerm(dot, d, dot.getA2(), dot.getB2()) : success();
}

void attn::nvvm::populateWgmmaPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<WgmmaLowering, AwaitLowering, PinLowering>(types, kernels, patterns.getContext());
}

void attn::nvvm::populateFixedPackPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<FixedPackLowering>(types, kernels, patterns.getContext());
}
