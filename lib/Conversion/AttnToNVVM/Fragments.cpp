//===- Fragments.cpp - elementwise work on fragments
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fragment is a vector, so arith stays arith with other types; spreading a value over a tile renames registers, and a
// coordinate is one value of the lane plus a constant vector.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "attn/Analysis/TileForms.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
/// Any op of arith, on converted types.
struct ArithLowering : ConversionPattern {
  ArithLowering(TypeConverter &types, MLIRContext *ctx) : ConversionPattern(types, MatchAnyOpTypeTag(), 1, ctx) {}
  LogicalResult matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                                ConversionPatternRewriter &rewriter) const override {
    if (!isa<arith::ArithDialect>(op->getDialect()) || isa<arith::ConstantOp>(op))
      return rewriter.notifyMatchFailure(op, "not an operation on values of arith");
    SmallVector<Type> types;
    if (failed(typeConverter->convertTypes(op->getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, "a tile without a fragment");
    OperationState state(op->getLoc(), op->getName(), operands, types, op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

/// index is i32 in a kernel, so most casts vanish.
struct IndexCastLowering : OpConversionPattern<arith::IndexCastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::IndexCastOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Type to = typeConverter->convertType(op.getType());
    int64_t fromBits = adaptor.getIn().getType().getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
    if (fromBits == toBits)
      rewriter.replaceOp(op, adaptor.getIn());
    else if (fromBits < toBits)
      rewriter.replaceOpWithNewOp<arith::ExtSIOp>(op, to, adaptor.getIn());
    else
      rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, to, adaptor.getIn());
    return success();
  }
};

struct ConstantLowering : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(arith::ConstantOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Type type = typeConverter->convertType(op.getType());
    TypedAttr value;
    if (auto splat = dyn_cast<SplatElementsAttr>(op.getValue()))
      value = SplatElementsAttr::get(cast<ShapedType>(type), splat.getSplatValue<Attribute>());
    else if (auto index = dyn_cast<IntegerAttr>(op.getValue()))
      value = IntegerAttr::get(type, index.getInt());
    else
      return rewriter.notifyMatchFailure(op, "a constant with a fragment is not a splat");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, type, value);
    return success();
  }
};

struct SplatLowering : OpConversionPattern<tensor::SplatOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tensor::SplatOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(op, typeConverter->convertType(op.getType()), adaptor.getInput());
    return success();
  }
};

struct SpreadLowering : Lowering<SpreadOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(SpreadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const Fragment to = Fragment::of(op.getResult().getType());
    SmallVector<int64_t> from;
    for (int64_t i = 0; i < to.size(); ++i)
      from.push_back(op.getDim() == 1 ? to.rowIndex(i) : to.colIndex(i));
    Value x = only(adaptor.getX());
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, x, x, from);
    return success();
  }
};

/// A few columns are a few registers of every lane.
struct SliceLowering : OpConversionPattern<tensor::ExtractSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const Fragment from = Fragment::of(op.getSourceType()), to = Fragment::of(op.getType());
    const int64_t skipped = op.getStaticOffset(1) / kAtomCols * 2; // column indices
    Type type = typeConverter->convertType(op.getType());
    Value x = adaptor.getSource();
    // 16-bit elements stay in pairs, a register each: the back end would take others apart.
    const int64_t unit = op.getType().getElementTypeBitWidth() == 16 ? 2 : 1;
    SmallVector<int64_t> elements;
    for (int64_t i = 0; i < to.size(); i += unit)
      elements.push_back(from.element(to.rowIndex(i), skipped + to.colIndex(i)) / unit);
    if (unit == 2)
      x = LLVM::BitcastOp::create(rewriter, op.getLoc(), VectorType::get({from.size() / 2}, rewriter.getI32Type()), x);
    x = vector::ShuffleOp::create(rewriter, op.getLoc(), x, x, elements);
    if (unit == 2)
      x = LLVM::BitcastOp::create(rewriter, op.getLoc(), type, x);
    rewriter.replaceOp(op, x);
    return success();
  }
};

struct CoordLowering : Lowering<CoordOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(CoordOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Emit e{rewriter, op.getLoc()};
    const KernelState &state = kernels.of(op);
    const Fragment f = Fragment::of(op.getResult().getType());
    // `along` names a dimension of the tile; a rank-1 value has only its own.
    const bool alongRows = f.form == Fragment::Form::Rows || (f.form != Fragment::Form::Cols && op.getDim() == 0);
    Value first = alongRows ? state.row(e, f) : state.column(e, f);
    SmallVector<int32_t> offsets;
    for (int64_t i = 0; i < f.size(); ++i)
      offsets.push_back(alongRows ? f.rowOffset(i) : f.colOffset(i));
    auto type = VectorType::get({f.size()}, rewriter.getI32Type());
    Value base = vector::BroadcastOp::create(rewriter, op.getLoc(), type, e.add(only(adaptor.getBase()), first));
    Value constants = arith::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(type, ArrayRef(offsets)));
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, base, constants);
    return success();
  }
};

struct MaskLowering : Lowering<MaskOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(MaskOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<VectorType>(only(adaptor.getX()).getType());
    auto hidden = DenseElementsAttr::get(type, APFloat(op.getHidden()));
    Value h = arith::ConstantOp::create(rewriter, op.getLoc(), hidden);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, only(adaptor.getVisible()), only(adaptor.getX()), h);
    return success();
  }
};

/// The element order of an accumulator is that of the A operand, so packing is a conversion of neighbours, which the
/// back end may place where it likes.
struct PackLowering : Lowering<PackOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(PackOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, typeConverter->convertType(op.getResult().getType()),
                                                 only(adaptor.getX()));
    return success();
  }
};
} // namespace

LogicalResult attn::nvvm::checkFragment(Operation *op) {
  for (Type type : llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes())))
    if (auto tile = dyn_cast<RankedTensorType>(type); tile && !isa_and_nonnull<FragAttr>(tile.getEncoding()))
      return op->emitOpError("works on a tile without a fragment, ") << tile << "; run attn-assign-fragments first";
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    if (!isColumnSlice(slice) || Fragment::of(slice.getSourceType()).warpsN != 1)
      return op->emitOpError("has no lowering: expects whole columns of a matrix, from a multiple of ")
             << kAtomCols << " on, and warps [m, 1]; got " << slice.getType() << " of " << slice.getSourceType();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (isa<RankedTensorType>(constant.getType()) && !isa<SplatElementsAttr>(constant.getValue()))
      return op->emitOpError("must be a splat: a fragment of different constants has no lowering");
  return success();
}

void attn::nvvm::populateFragmentPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  MLIRContext *ctx = patterns.getContext();
  patterns.add<ArithLowering, IndexCastLowering, ConstantLowering, SplatLowering, SliceLowering>(types, ctx);
  patterns.add<SpreadLowering, CoordLowering, MaskLowering>(types, kernels, ctx);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
}

void attn::nvvm::populateTruncationPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<PackLowering>(types, kernels, patterns.getContext());
}
