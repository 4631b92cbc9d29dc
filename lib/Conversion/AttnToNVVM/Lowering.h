//===- Lowering.h - what the lowerings of a kernel share ------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How values look after conversion:
//
//   tensor<.., #attn.frag<..>>   vector<N x T>, N = what a thread holds, in fragment order (FragmentCoords.h)
//   !attn.pending<tile>          as the tile
//   !attn.buf                    i32: byte address in shared memory
//   !attn.ring                   two i32: byte addresses of slot 0 and of its first mbarrier (the first again if it has
//                                none); see Ring
//   !attn.map                    ptr to the kernel's parameter
//   memref                       ptr<1>, a stride per dimension but the last (i64, elements), a size per dimension
//                                (i32), and whether 16-byte accesses are aligned (i1); see MemRef
//   index                        i32: every index in a kernel is a size or an id
//
// Families differ in what a role is, how tiles move, how rings synchronise and how dots are done; each such lowering
// has a populate function here, and AttnToNVVM.cpp has one row a family. Everything else is common.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_LIB_CONVERSION_ATTNTONVVM_LOWERING_H
#define ATTN_LIB_CONVERSION_ATTNTONVVM_LOWERING_H

#include "attn/Analysis/FragmentCoords.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace attn::nvvm {

/// Address spaces of the NVPTX back end.
constexpr unsigned kGlobal = 1, kShared = 3;

/// A byte address in shared memory: value + offset.
struct SharedAddress {
  mlir::Value value; ///< i32
  int64_t offset = 0;
};

/// Builds integer code at a place, folding what is constant.
struct Emit {
  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::Value i32(int64_t value) const;
  mlir::Value i64(int64_t value) const;
  mlir::Value add(mlir::Value x, mlir::Value y) const { return b.createOrFold<mlir::arith::AddIOp>(loc, x, y); }
  mlir::Value sub(mlir::Value x, mlir::Value y) const { return b.createOrFold<mlir::arith::SubIOp>(loc, x, y); }
  mlir::Value mul(mlir::Value x, mlir::Value y) const { return b.createOrFold<mlir::arith::MulIOp>(loc, x, y); }
  mlir::Value bitXor(mlir::Value x, mlir::Value y) const { return b.createOrFold<mlir::arith::XOrIOp>(loc, x, y); }
  mlir::Value bitAnd(mlir::Value x, mlir::Value y) const { return b.createOrFold<mlir::arith::AndIOp>(loc, x, y); }
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) const {
    return b.createOrFold<mlir::arith::SelectOp>(loc, c, x, y);
  }
  mlir::Value less(mlir::Value x, mlir::Value y) const { ///< signed
    return b.createOrFold<mlir::arith::CmpIOp>(loc, mlir::arith::CmpIPredicate::slt, x, y);
  }
  /// Unsigned division and remainder of an i32 by a constant (a shift or a mask where it is a power of two).
  mlir::Value div(mlir::Value x, int64_t by) const;
  mlir::Value rem(mlir::Value x, int64_t by) const;
  mlir::Value add(mlir::Value x, int64_t y) const { return add(x, i32(y)); }
  mlir::Value mul(mlir::Value x, int64_t y) const { return mul(x, i32(y)); }
  mlir::Value toI64(mlir::Value x) const; ///< sign extends an i32

  /// ptr<1> plus bytes (i64).
  mlir::Value offset(mlir::Value ptr, mlir::Value bytes) const;
  /// A shared-memory pointer to the byte address `base` (i32) plus a constant that folds into the instruction.
  mlir::Value shared(mlir::Value base, int64_t bytes) const;
  /// The address of a buf without the constant in it. Bufs of one shape then have lane addresses in common, which stay
  /// in registers for a whole loop; the constant folds into instructions.
  SharedAddress splitOffset(mlir::Value buf) const;

  /// The elements of a vector as scalars, and back.
  llvm::SmallVector<mlir::Value> unpack(mlir::Value vector) const;
  mlir::Value pack(llvm::ArrayRef<mlir::Value> elements) const;
};

/// The threads that run a piece of code, and values they compute once, before it.
struct KernelState {
  int64_t warps = 0;            ///< of one group: the whole block in front of the roles and on mma_sync
  int64_t groups = 1;           ///< that run the code, each on its own part
  bool elected = false;         ///< one thread of the group runs the code
  int64_t namedBarriers = 1;    ///< the first of the role's own; 0 is the block's
  mlir::Value group;            ///< i32, which of the groups
  mlir::Value thread;           ///< i32, of the group
  mlir::Value lane, warp;       ///< i32; the warp is the group's
  int64_t registers = 0;        ///< of a thread at launch (where roles may change it)
  bool uniformBranches = false; ///< a branch by thread costs: it takes the assembler's uniform registers away
  mlir::Value smem;             ///< i32, byte address of the block's shared memory

  int64_t threads() const { return warps * kWarpLanes; }
  /// i32: this thread's first row (column) of a fragment, from the tile's first (FragmentCoords' laneRow and laneCol,
  /// and the warp's share).
  mlir::Value row(const Emit &e, const Fragment &f) const;
  mlir::Value column(const Emit &e, const Fragment &f) const;
};

/// What a family computes at a kernel's entry: the warp, and whatever its roles rely on.
using EnterKernel = void (*)(const Emit &, KernelOp, mlir::ValueRange maps, KernelState &);

/// The states of a kernel, found from any op inside it: that of the innermost region which has one.
class KernelStates {
public:
  explicit KernelStates(EnterKernel enter) : enter(enter) {}
  const KernelState &of(mlir::Operation *op) const;
  KernelState &create(mlir::Region &region) { return states[&region]; }

  const EnterKernel enter;

private:
  llvm::DenseMap<mlir::Region *, KernelState> states;
};

/// Warps of the group that runs `op`, which is not converted yet.
int64_t groupWarps(mlir::Operation *op);

/// Conversion of types as listed at the top of this file.
class KernelTypeConverter : public mlir::TypeConverter {
public:
  KernelTypeConverter();
};

/// A pattern that knows the kernel it is in.
template <typename Op> struct Lowering : mlir::OpConversionPattern<Op> {
  Lowering(mlir::TypeConverter &types, KernelStates &kernels, mlir::MLIRContext *ctx)
      : mlir::OpConversionPattern<Op>(types, ctx), kernels(kernels) {}
  KernelStates &kernels;
};

/// A memref argument of a kernel, taken apart.
struct MemRef {
  mlir::MemRefType type;
  mlir::Value ptr;
  llvm::SmallVector<mlir::Value> strides; ///< i64, in elements, of every dimension but the last (which is 1)
  llvm::SmallVector<mlir::Value> sizes;   ///< i32
  mlir::Value aligned;                    ///< i1, uniform: base and used strides are multiples of 16 bytes

  static MemRef get(mlir::Type type, mlir::ValueRange converted);
  int64_t elementBytes() const;
};

/// A ring, taken apart, and one of its items: item n lives in slot n % depth, and is that slot's (n / depth)-th.
struct Ring {
  RingType type;
  mlir::Value data, barriers; ///< i32, byte addresses

  static Ring get(mlir::Type type, mlir::ValueRange converted);
  mlir::Value slot(const Emit &e, mlir::Value item) const;
  /// Addresses of the slot's mbarriers (Mbarriers.cpp).
  mlir::Value fullBarrier(const Emit &e, mlir::Value item) const;
  mlir::Value emptyBarrier(const Emit &e, mlir::Value item) const;
  /// Addresses of the slot's bufs.
  llvm::SmallVector<mlir::Value> bufs(const Emit &e, mlir::Value item) const;
};

/// Byte offset (i64) of the element whose index in dimension i is at[i]; later dimensions count from 0.
mlir::Value elementOffset(const Emit &e, const MemRef &m, mlir::ValueRange at);

/// The value of an operand that did not expand into several.
mlir::Value only(mlir::ValueRange values);
/// Those of a list of operands.
llvm::SmallVector<mlir::Value> flat(llvm::ArrayRef<mlir::ValueRange> values);

//===----------------------------------------------------------------------===//
// Lowerings, by file
//
// A check looks at one op of a kernel before anything is rewritten: what a file cannot lower is one error at the op.
// Ops that are not the file's pass.
//===----------------------------------------------------------------------===//

using Check = mlir::LogicalResult (*)(mlir::Operation *op);
using Populate = void (*)(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

// Every family.

mlir::LogicalResult checkKernel(mlir::Operation *op);
void populateKernelPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

mlir::LogicalResult checkAlloc(mlir::Operation *op);
void populateAllocPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

mlir::LogicalResult checkFragment(mlir::Operation *op);
void populateFragmentPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

mlir::LogicalResult checkReduction(mlir::Operation *op);
void populateVotePatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

mlir::LogicalResult checkMath(mlir::Operation *op);
void populateMathPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

mlir::LogicalResult checkMemory(mlir::Operation *op);
void populateMemoryPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

// Family mma_sync.

void enterOneRole(const Emit &, KernelOp, mlir::ValueRange maps, KernelState &);
mlir::LogicalResult checkOneRole(mlir::Operation *op);
void populateOneRolePatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

mlir::LogicalResult checkCpAsyncRing(mlir::Operation *op); // Rings.cpp
void populateCpAsyncRingPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

mlir::LogicalResult checkCpAsyncCopy(mlir::Operation *op); // Copies.cpp
void populateCpAsyncCopyPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

void populateWordStorePatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

mlir::LogicalResult checkMmaSync(mlir::Operation *op);
void populateMmaSyncPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);
void populateTruncationPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);
void populateTreeReductionPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

// Family wgmma.

/// What a family changes in a converted kernel.
using FinishKernel = void (*)(mlir::LLVM::LLVMFuncOp);
void compareCoords(mlir::LLVM::LLVMFuncOp);

void enterRoles(const Emit &, KernelOp, mlir::ValueRange maps, KernelState &);
mlir::LogicalResult checkRoles(mlir::Operation *op);
void populateRolePatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

/// At the kernel's entry: every mbarrier of its rings starts at phase 0.
void initBarriers(const Emit &, KernelOp, const KernelState &);
mlir::LogicalResult checkMbarrier(mlir::Operation *op);
void populateMbarrierPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

void prefetchMaps(const Emit &, mlir::ValueRange maps, const KernelState &);
mlir::LogicalResult checkTmaCopy(mlir::Operation *op);
void populateTmaCopyPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

mlir::LogicalResult checkWords(mlir::Operation *op);
void populateWordPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

mlir::LogicalResult checkMatrixStore(mlir::Operation *op);
void populateMatrixStorePatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

mlir::LogicalResult checkWgmma(mlir::Operation *op);
void populateWgmmaPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);
void populateFixedPackPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);
void populateChainReductionPatterns(mlir::TypeConverter &, KernelStates &, mlir::RewritePatternSet &);

} // namespace attn::nvvm

#endif // ATTN_LIB_CONVERSION_ATTNTONVVM_LOWERING_H
