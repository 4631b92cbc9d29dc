//===- LowerTiles.cpp - find the tile of a block from its id
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

namespace attn {
#define GEN_PASS_DEF_LOWERTILESPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-lower-tiles"

/// The arguments (t, i, h, b) of the body of `tiles` for the tile with linear number `id`. With rows = 3, heads x batch
/// = 4 and a section of 2, heaviest first, ids walk (pair, i) like this: pairs 0 and 1 share the cache, then 2 and 3.
///
///   id     0    1    2    3    4    5  |  6    7    8 ...
///   pair   0    1    0    1    0    1  |  2    3    2 ...
///   i      2    2    1    1    0    0  |  2    2    1 ...
static SmallVector<Value> decodeTile(OpBuilder &builder, TilesOp tiles, Value id, Value ordinal) {
  Location loc = tiles.getLoc();
  Value rows = tiles.getExtents()[0], heads = tiles.getExtents()[1], batch = tiles.getExtents()[2];
  Value section = tiles.getSection();
  Value first, within = id;
  if (!section) {
    // All (head, batch) pairs are one section.
    section = arith::MulIOp::create(builder, loc, heads, batch);
  } else {
    Value perSection = arith::MulIOp::create(builder, loc, section, rows);
    Value index = arith::DivUIOp::create(builder, loc, id, perSection);
    within = arith::RemUIOp::create(builder, loc, id, perSection);
    first = arith::MulIOp::create(builder, loc, index, section);
  }
  Value pair = arith::RemUIOp::create(builder, loc, within, section);
  if (first)
    pair = arith::AddIOp::create(builder, loc, first, pair);
  Value i = arith::DivUIOp::create(builder, loc, within, section);
  if (tiles.getHeaviestFirst()) {
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
    Value last = arith::SubIOp::create(builder, loc, rows, one);
    i = arith::SubIOp::create(builder, loc, last, i);
  }
  Value h = arith::RemUIOp::create(builder, loc, pair, heads);
  Value b = arith::DivUIOp::create(builder, loc, pair, heads);
  return {ordinal, i, h, b};
}

/// Moves the body of `tiles` in front of `before`.
static void inlineBody(TilesOp tiles, Operation *before, ValueRange arguments) {
  Block &body = tiles.getBody().front();
  body.getTerminator()->erase();
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  before->getBlock()->getOperations().splice(before->getIterator(), body.getOperations());
  tiles.erase();
}

/// GPU, `single`: the block's own tile, in place.
static void lowerToBlockId(TilesOp tiles) {
  OpBuilder builder(tiles);
  Location loc = tiles.getLoc();
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value id = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), block);
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 32);
  inlineBody(tiles, tiles, decodeTile(builder, tiles, id, zero));
}

/// CPU: a call computes the tiles [begin, end), which are the last two arguments of the kernel.
static void lowerToLoop(TilesOp tiles, Value begin, Value end) {
  OpBuilder builder(tiles);
  Location loc = tiles.getLoc();
  Value one = arith::ConstantIntOp::create(builder, loc, 1, 64);
  auto loop = scf::ForOp::create(builder, loc, begin, end, one);
  builder.setInsertionPointToStart(loop.getBody());
  Value id = arith::TruncIOp::create(builder, loc, builder.getI32Type(), loop.getInductionVar());
  Value wide = arith::SubIOp::create(builder, loc, loop.getInductionVar(), begin);
  Value ordinal = arith::TruncIOp::create(builder, loc, builder.getI32Type(), wide);
  SmallVector<Value> arguments = decodeTile(builder, tiles, id, ordinal);
  inlineBody(tiles, loop.getBody()->getTerminator(), arguments);
}

namespace {
struct LowerTiles : attn::impl::LowerTilesPassBase<LowerTiles> {
  using LowerTilesPassBase::LowerTilesPassBase;
  void runOnOperation() override;
};
} // namespace

void LowerTiles::runOnOperation() {
  for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
    SmallVector<TilesOp> nests;
    kernel.walk([&](TilesOp tiles) { nests.push_back(tiles); });
    if (nests.empty())
      continue;
    TargetAttr target = requireTarget(kernel);
    if (!target)
      return signalPassFailure();
    bool cpu = target.getFamily() == Family::Cpu;
    Value begin, end;
    if (cpu) {
      Type i64 = IntegerType::get(&getContext(), 64);
      begin = kernel.getBody().addArgument(i64, kernel.getLoc());
      end = kernel.getBody().addArgument(i64, kernel.getLoc());
    }
    for (TilesOp tiles : nests) {
      if (tiles.getExtents().size() != 3) {
        tiles.emitOpError("expects three extents (row tiles, heads, batch), got ") << tiles.getExtents().size();
        return signalPassFailure();
      }
      remark::passed(tiles.getLoc(), remark::RemarkOpts::name("tiles").category(DEBUG_TYPE))
          << "tile ids come from " << remark::metric("from", cpu ? "a loop over [begin, end)" : "the block id");
      if (cpu)
        lowerToLoop(tiles, begin, end);
      else
        lowerToBlockId(tiles);
    }
  }
}
