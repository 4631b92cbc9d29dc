//===- Kernel.cpp - the kernel function and its arguments
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launch contract, in argument order: a memref is its pointer, the strides of every dimension but the last (i64,
// elements), and every size (i32); a scalar is itself; a tensor map is its 128 bytes, by value. Those stay in the
// parameter space (grid_constant): a copy in local memory would be no map.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
/// Dynamic shared memory: external and of size 0, since gpu.dynamic_shared_memory becomes an internal global.
constexpr StringLiteral kSmemSymbol = "attn_smem";
constexpr int64_t kSmemAlign = 1024; // the largest swizzle pattern

void declareSharedMemory(ModuleOp module, OpBuilder &b) {
  if (module.lookupSymbol(kSmemSymbol))
    return;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  LLVM::GlobalOp::create(b, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
                         LLVM::Linkage::External, kSmemSymbol, Attribute(), kSmemAlign, kShared);
}

/// Whether anything in the kernel writes through this argument.
bool isWritten(BlockArgument arg) {
  return llvm::any_of(arg.getUsers(), [&](Operation *user) {
    if (auto copy = dyn_cast<CopyOp>(user))
      return copy.getDest() == arg;
    return isa<StoreOp, FetchOp>(user);
  });
}

struct KernelLowering : Lowering<KernelOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(KernelOp kernel, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = kernel.getLoc();
    MLIRContext *ctx = getContext();
    Block &body = kernel.getBody().front();

    // The aligned flag of a memref is computed, not passed.
    SmallVector<Type> types;
    for (BlockArgument arg : body.getArguments()) {
      if (failed(typeConverter->convertType(arg.getType(), types)))
        return rewriter.notifyMatchFailure(kernel, "an argument has no place in a launch");
      if (isa<MemRefType>(arg.getType()))
        types.pop_back();
    }
    declareSharedMemory(kernel->getParentOfType<ModuleOp>(), rewriter);
    auto func = LLVM::LLVMFuncOp::create(rewriter, loc, kernel.getSymName(),
                                         LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(ctx), types));
    setLaunchAttributes(func, kernel, rewriter);
    Block *entry = func.addEntryBlock(rewriter);
    rewriter.setInsertionPointToStart(entry);
    Emit e{rewriter, loc};

    KernelState state;
    state.warps = *kernel.getThreads() / kWarpLanes;
    state.thread = NVVM::ThreadIdXOp::create(rewriter, loc, rewriter.getI32Type());
    state.lane = e.rem(state.thread, kWarpLanes);
    Value smem = LLVM::AddressOfOp::create(rewriter, loc, LLVM::LLVMPointerType::get(ctx, kShared), kSmemSymbol);
    state.smem = LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI32Type(), smem);

    TypeConverter::SignatureConversion signature(body.getNumArguments());
    SmallVector<Value> maps;
    unsigned next = 0;
    for (BlockArgument arg : body.getArguments()) {
      SmallVector<Value> values{entry->getArgument(next)};
      if (auto type = dyn_cast<MemRefType>(arg.getType())) {
        func.setArgAttr(next, LLVM::LLVMDialect::getNoAliasAttrName(), rewriter.getUnitAttr());
        if (!isWritten(arg))
          func.setArgAttr(next, LLVM::LLVMDialect::getReadonlyAttrName(), rewriter.getUnitAttr());
        unsigned more = std::max<int64_t>(type.getRank() - 1, 0) + type.getRank();
        llvm::append_range(values, entry->getArguments().slice(next + 1, more));
        next += more;
        values.push_back(Value());
        values.back() = isAligned(e, MemRef::get(type, values));
      }
      if (isa<MapType>(arg.getType())) {
        setMapAttributes(func, next, rewriter);
        maps.push_back(values.front());
      }
      ++next;
      signature.remapInput(arg.getArgNumber(), values);
    }
    kernels.enter(e, kernel, maps, state);
    kernels.create(func.getBody()) = state;
    Block *converted = rewriter.applySignatureConversion(&body, signature, typeConverter);
    rewriter.mergeBlocks(converted, entry, {});
    rewriter.setInsertionPointToEnd(entry);
    LLVM::ReturnOp::create(rewriter, loc, ValueRange());
    rewriter.eraseOp(kernel);
    return success();
  }

  static void setLaunchAttributes(LLVM::LLVMFuncOp func, KernelOp kernel, OpBuilder &b) {
    func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    func->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  b.getDenseI32ArrayAttr({int32_t(*kernel.getThreads()), 1, 1}));
    func->setAttr(AttnDialect::kSmemBytesAttr, kernel.getSmemBytesAttr());
    // Without a number of blocks the assembler ignores what roles ask for.
    bool changesRegisters = llvm::any_of(kernel.getBody().getOps<RoleOp>(), [](RoleOp role) { return role.getRegs(); });
    if (auto schedule = kernel.getScheduleAttr(); schedule || changesRegisters)
      func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(schedule ? schedule.getBlocks() : 1));
    // Subnormal f32 flushed: ex2 without .ftz costs two more instructions on every score.
    func.setDenormalFpMathF32("preserve-sign");
  }

  static void setMapAttributes(LLVM::LLVMFuncOp func, unsigned arg, OpBuilder &b) {
    auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 128);
    func.setArgAttr(arg, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
    func.setArgAttr(arg, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
    func.setArgAttr(arg, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
  }

  /// Base and strides are multiples of 16 bytes; the stride of a dimension of size 1 is never used.
  static Value isAligned(const Emit &e, const MemRef &m) {
    Type i32 = e.b.getI32Type();
    Value bits = LLVM::PtrToIntOp::create(e.b, e.loc, i32, m.ptr);
    for (auto [stride, size] : llvm::zip(m.strides, m.sizes)) {
      Value low = arith::TruncIOp::create(e.b, e.loc, i32, stride);
      Value used = e.select(e.less(e.i32(1), size), e.mul(low, m.elementBytes()), e.i32(0));
      bits = e.b.createOrFold<arith::OrIOp>(e.loc, bits, used);
    }
    return e.b.createOrFold<arith::CmpIOp>(e.loc, arith::CmpIPredicate::eq, e.bitAnd(bits, e.i32(15)), e.i32(0));
  }
};

/// A number of the launch, along x.
template <typename From, typename To> struct SpecialRegister : Lowering<From> {
  using Lowering<From>::Lowering;
  LogicalResult matchAndRewrite(From op, typename SpecialRegister::OneToNOpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, rewriter.getI32Type());
    return success();
  }
};
using BlockIdLowering = SpecialRegister<gpu::BlockIdOp, NVVM::BlockIdXOp>;
using GridDimLowering = SpecialRegister<gpu::GridDimOp, NVVM::GridDimXOp>;

struct DimLowering : Lowering<memref::DimOp> {
  using Lowering::Lowering;
  LogicalResult matchAndRewrite(memref::DimOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    APInt dim;
    if (!matchPattern(only(adaptor.getIndex()), m_ConstantInt(&dim)))
      return rewriter.notifyMatchFailure(op, "the dimension is not a constant");
    rewriter.replaceOp(op, MemRef::get(op.getSource().getType(), adaptor.getSource()).sizes[dim.getZExtValue()]);
    return success();
  }
};
} // namespace

LogicalResult attn::nvvm::checkKernel(Operation *op) {
  auto isX = [](auto id) { return id.getDimension() == gpu::Dimension::x; };
  if (auto id = dyn_cast<gpu::BlockIdOp>(op); id && !isX(id))
    return id.emitOpError("must be of dimension x: the grid of a kernel is a line of tiles");
  if (auto dim = dyn_cast<gpu::GridDimOp>(op); dim && !isX(dim))
    return dim.emitOpError("must be of dimension x: the grid of a kernel is a line of tiles");
  if (auto dim = dyn_cast<memref::DimOp>(op))
    if (!dim.getConstantIndex())
      return dim.emitOpError("must have a constant dimension in a kernel");
  if (isa<SweepOp>(op))
    return op->emitOpError("is not a loop yet; run attn-split-sweeps first");
  if (isa<TilesOp>(op))
    return op->emitOpError("has no block id yet; run attn-lower-tiles first");
  return success();
}

void attn::nvvm::populateKernelPatterns(TypeConverter &types, KernelStates &kernels, RewritePatternSet &patterns) {
  patterns.add<KernelLowering, BlockIdLowering, GridDimLowering, DimLowering>(types, kernels, patterns.getContext());
}
