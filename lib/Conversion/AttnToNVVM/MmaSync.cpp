//===- MmaSync.cpp - dots as ldmatrix and mma.sync
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operand in shared memory is read by ldmatrix.x4 in 16 x 16 blocks: lanes 0-7 point at the rows of the first 8 x 8
// matrix, 8-15 of the second, and so on. The order of the four is chosen so that what one mma reads together comes out
// in neighbouring registers (else the assembler moves them together):
//
//   A [m][k]         rows first:   (rows 0-7, chunk 0) (8-15, 0) (0-7, 1) (8-15, 1)   a0 a1 a2 a3
//   B stored [n][k]  chunks first: (rows 0-7, chunk 0) (0-7, 1) (8-15, 0) (8-15, 1)   b0 b1 of columns 0-7, then 8-15
//   B stored [k][n]  rows first, .trans:                                              b0 b1 of columns 0-7, then 8-15
//
// The work is a list of groups (k-step, pair of column atoms), each one B load and rowAtoms x 2 mmas. Loads are issued
// kLookahead groups ahead, which hides ldmatrix behind mma and keeps few operand registers alive.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "attn/Analysis/MmaShapes.h"
#include "attn/Analysis/Swizzle.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
constexpr int64_t kLookahead = 1;

/// A tile in shared memory whose 16 x 16 blocks are read by ldmatrix.
class SharedBlocks {
public:
  enum class Order { RowsFirst, ChunksFirst };

  /// `firstRow`: i32, this warp's first row (a multiple of 16), or null for 0.
  SharedBlocks(Emit e, BufType buf, Value base, Value lane, Order order, Value firstRow = Value())
      : e(e), layout{buf.getTile().getDimSize(0), buf.getTile().getDimSize(1) * 2, buf.getSwizzle()} {
    int64_t pitch = layout.panelBytesPerRow();
    Value row = e.rem(lane, 16), chunk = e.div(lane, 16);
    if (order == Order::ChunksFirst) {
      chunk = e.rem(e.div(lane, 8), 2);
      row = e.add(e.rem(lane, 8), e.mul(e.div(lane, 16), 8));
    }
    if (layout.span)
      chunk = e.bitXor(chunk, e.rem(e.div(row, layout.rowsPerXor()), layout.xorSteps()));
    Value offset = e.add(e.mul(row, pitch), e.mul(chunk, kChunkBytes));
    if (firstRow)
      offset = e.add(offset, e.mul(firstRow, pitch));
    lanes.assign(layout.span ? columnsPerPanel() : 1, Value());
    SharedAddress tile = e.splitOffset(base);
    lanes[0] = e.add(tile.value, offset);
    first = tile.offset;
  }

  /// Block columns of a panel; those of different panels at the same place share a lane's address.
  int64_t columnsPerPanel() const { return layout.chunksPerRow() / 2; }

  /// The registers of the block at rows 16 r, columns 16 c.
  SmallVector<Value> load(int64_t r, int64_t c, bool trans) {
    int64_t offset = first + r * 16 * layout.panelBytesPerRow();
    Value lane = lanes[0];
    if (layout.span) {
      // Within a panel, block columns differ by an XOR of the address, not by a sum.
      Value &shared = lanes[c % columnsPerPanel()];
      if (!shared)
        shared = e.bitXor(lanes[0], e.i32(c % columnsPerPanel() * 2 * kChunkBytes));
      lane = shared;
      offset += c / columnsPerPanel() * layout.panelBytes();
    } else {
      offset += c * 2 * kChunkBytes;
    }
    Type i32 = e.b.getI32Type();
    MLIRContext *ctx = e.b.getContext();
    auto type = LLVM::LLVMStructType::getLiteral(ctx, SmallVector<Type>(4, i32));
    Value loaded = NVVM::LdMatrixOp::create(e.b, e.loc, type, e.shared(lane, offset), 4,
                                            trans ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                                            NVVM::LdStMatrixShapeAttr::get(ctx, 8, 8), NVVM::LdStMatrixEltType::B16);
    SmallVector<Value> regs;
    for (int64_t i = 0; i < 4; ++i)
      regs.push_back(LLVM::ExtractValueOp::create(e.b, e.loc, loaded, i));
    return regs;
  }

private:
  Emit e;
  TileLayout layout;
  SmallVector<Value> lanes; ///< addresses by block column of a panel, made at first use
  int64_t first = 0;        ///< what is constant in all of them
};

RankedTensorType aTileOf(DotOp op) {
  if (auto buf = dyn_cast<BufType>(op.getA().getType()))
    return buf.getTile();
  return cast<RankedTensorType>(op.getA().getType());
}

/// The instruction; its f16 and bf16 forms have one shape.
const facts::MmaShape &mmaSync() { return *facts::findMmaShape(facts::Family::MmaSync, "bf16"); }

std::optional<MmaGrid> gridOf(DotOp op) {
  const Fragment acc = Fragment::of(op.getTile());
  return mmaGrid(mmaSync(), acc.rows, acc.cols, aTileOf(op).getDimSize(1), acc.warpsM);
}

struct DotLowering : Lowering<DotOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(DotOp op, OneToNOpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto aBuf = dyn_cast<BufType>(op.getA().getType());
    auto bBuf = cast<BufType>(op.getB().getType());
    Type element = bBuf.getTile().getElementType();
    const Fragment acc = Fragment::of(op.getTile());
    const MmaGrid grid = *gridOf(op);

    Emit e{rewriter, op.getLoc()};
    const KernelState &state = kernels.of(op);
    std::optional<SharedBlocks> aBlocks;
    SmallVector<Value> aRegs;
    if (aBuf)
      aBlocks.emplace(e, aBuf, only(adaptor.getA()), state.lane, SharedBlocks::Order::RowsFirst,
                      e.mul(state.warp, acc.warpRows()));
    else
      aRegs = unpackPairs(e, only(adaptor.getA()));
    const Fragment aFragment = aBuf ? Fragment() : Fragment::of(aTileOf(op));
    SharedBlocks bBlocks(e, bBuf, only(adaptor.getB()), state.lane,
                         op.getTransB() ? SharedBlocks::Order::ChunksFirst : SharedBlocks::Order::RowsFirst);

    SmallVector<Value> c;
    if (op.getAcc())
      c = e.unpack(only(adaptor.getAcc()));
    else
      c.assign(acc.size(), arith::ConstantOp::create(rewriter, op.getLoc(), rewriter.getF32FloatAttr(0.0f)));

    const int64_t numGroups = grid.steps * grid.colGroups;
    SmallVector<SmallVector<Value>> aLoaded(grid.steps * grid.rowAtoms), bLoaded(numGroups);
    const SmallVector<int64_t> steps = stepOrder(grid.steps, op.getTransB() ? bBlocks.columnsPerPanel() : grid.steps);
    auto issueLoads = [&](int64_t g) {
      int64_t step = steps[g / grid.colGroups], pair = g % grid.colGroups;
      for (int64_t a = 0; pair == 0 && a < grid.rowAtoms; ++a) {
        SmallVector<Value> &regs = aLoaded[step * grid.rowAtoms + a];
        if (aBlocks)
          regs = aBlocks->load(a, step, /*trans=*/false);
        else
          regs = llvm::to_vector(ArrayRef(aRegs).slice(aFragment.operandA(a, step) / 2, 4));
        castOperands(e, element, regs);
      }
      bLoaded[g] =
          op.getTransB() ? bBlocks.load(pair, step, /*trans=*/false) : bBlocks.load(step, pair, /*trans=*/true);
      castOperands(e, element, bLoaded[g]);
    };
    for (int64_t g = 0; g < std::min(kLookahead, numGroups); ++g)
      issueLoads(g);
    for (int64_t g = 0; g < numGroups; ++g) {
      if (g + kLookahead < numGroups)
        issueLoads(g + kLookahead);
      int64_t step = steps[g / grid.colGroups], pair = g % grid.colGroups;
      for (int64_t half = 0; half < 2; ++half) {
        auto b = ArrayRef(bLoaded[g]).slice(2 * half, 2);
        for (int64_t a = 0; a < grid.rowAtoms; ++a) {
          auto accumulators = MutableArrayRef(c).slice(acc.element(2 * a, 2 * (2 * pair + half)), kAtomElements);
          multiply(e, element, aLoaded[step * grid.rowAtoms + a], b, accumulators);
        }
      }
    }
    rewriter.replaceOp(op, e.pack(c));
    return success();
  }

  /// Depth steps that share a lane's address (same place in different panels) one after the other, so that one address
  /// is alive at a time: 0 4 1 5 2 6 3 7 for eight steps in two panels.
  static SmallVector<int64_t> stepOrder(int64_t steps, int64_t perPanel) {
    SmallVector<int64_t> order;
    for (int64_t first = 0; first < std::min(perPanel, steps); ++first)
      for (int64_t step = first; step < steps; step += perPanel)
        order.push_back(step);
    return order;
  }

  /// A 16-bit fragment as the 32-bit registers an mma reads.
  static SmallVector<Value> unpackPairs(const Emit &e, Value fragment) {
    int64_t pairs = cast<VectorType>(fragment.getType()).getNumElements() / 2;
    return e.unpack(LLVM::BitcastOp::create(e.b, e.loc, VectorType::get({pairs}, e.b.getI32Type()), fragment));
  }

  /// mma takes bf16 pairs as i32, f16 pairs as vectors.
  static void castOperands(const Emit &e, Type element, MutableArrayRef<Value> regs) {
    if (element.isF16())
      for (Value &reg : regs)
        reg = LLVM::BitcastOp::create(e.b, e.loc, VectorType::get({2}, element), reg);
  }

  static void multiply(const Emit &e, Type element, ArrayRef<Value> a, ArrayRef<Value> b, MutableArrayRef<Value> c) {
    Type f32 = e.b.getF32Type();
    auto type = LLVM::LLVMStructType::getLiteral(e.b.getContext(), SmallVector<Type>(c.size(), f32));
    std::optional<std::array<NVVM::MMATypes, 2>> operandTypes;
    if (element.isBF16())
      operandTypes = {NVVM::MMATypes::bf16, NVVM::MMATypes::bf16};
    auto mma = NVVM::MmaOp::create(e.b, e.loc, type, a, b, c, ArrayRef<int64_t>{mmaSync().m, mmaSync().n, mmaSync().k},
                                   /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt, operandTypes,
                                   std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (auto [i, value] : llvm::enumerate(c))
      value = LLVM::ExtractValueOp::create(e.b, e.loc, mma.getRes(), i);
  }
};

/// A tile that no product reads, from shared memory: an A operand's registers are a fragment's, in order.
struct BlockLoadLowering : Lowering<LoadOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(LoadOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto buf = dyn_cast<BufType>(op.getSource().getType());
    if (!buf)
      return rewriter.notifyMatchFailure(op, "comes from a memref");
    Emit e{rewriter, op.getLoc()};
    const KernelState &state = kernels.of(op);
    const Fragment f = Fragment::of(op.getResult().getType());
    SharedBlocks blocks(e, buf, only(adaptor.getSource()), state.lane, SharedBlocks::Order::RowsFirst,
                        e.mul(state.warp, f.warpRows()));
    SmallVector<Value> words;
    for (int64_t a = 0; a < f.rowAtoms(); ++a)
      for (int64_t c = 0; c < f.colAtoms() / 2; ++c)
        llvm::append_range(words, blocks.load(a, c, /*trans=*/false));
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, typeConverter->convertType(op.getResult().getType()),
                                                 e.pack(words));
    return success();
  }
};
} // namespace

/// What `BlockLoadLowering` takes.
static LogicalResult checkBlockLoad(LoadOp load) {
  if (!isa<BufType>(load.getSource().getType()))
    return success();
  RankedTensorType tile = load.getResult().getType();
  const Fragment f = Fragment::of(tile);
  if (f.form == Fragment::Form::Tile && tile.getElementTypeBitWidth() == 16 && f.warpsN == 1 && f.colAtoms() % 2 == 0)
    return success();
  return load.emitOpError("from shared memory expects a tile of 16-bit elements, a multiple of ")
         << 2 * kAtomCols << " columns, and warps [m, 1]; got " << tile;
}

LogicalResult attn::nvvm::checkMmaSync(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return checkBlockLoad(load);
  auto dot = dyn_cast<DotOp>(op);
  if (!dot)
    return success();
  if (dot.getTransA() || dot.getA2())
    return op->emitOpError("has no lowering with 'trans_a' or 'then' on family mma_sync");
  auto bBuf = dyn_cast<BufType>(dot.getB().getType());
  if (!bBuf)
    return op->emitOpError("expects B in shared memory, got ") << dot.getB().getType();
  for (Type element : {aTileOf(dot).getElementType(), bBuf.getTile().getElementType()})
    if (!element.isF16() && !element.isBF16())
      return op->emitOpError("expects f16 or bf16 operands for mma.sync, got ") << element;
  const Fragment acc = Fragment::of(dot.getTile());
  if (acc.warpsN != 1)
    return op->emitOpError("expects every warp to own whole rows (warps [m, 1]), got warps [")
           << acc.warpsM << ", " << acc.warpsN << "]";
  if (!gridOf(dot))
    return op->emitOpError("has no mma.sync shape: expects rows in multiples of ")
           << mmaSync().m * acc.warpsM << ", columns of " << mmaSync().multipleN << ", depth of " << mmaSync().k
           << ", got " << acc.rows << "x" << acc.cols << "x" << aTileOf(dot).getDimSize(1);
  return success();
}

void attn::nvvm::populateMmaSyncPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<DotLowering, BlockLoadLowering>(types, kernels, patterns.getContext());
}
