//===- LowerTiles.cpp - find the tile of a block from its id
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   single    the block's own id, in place
//   fixed     do { tile } while ((id += blocks) < tiles), in every role for itself
//   dynamic   the first role, which is one thread, asks a counter and hands the answer on in a ring of one word:
//
//     do {                                                do {
//       fetch counter                                       tile
//       tile                                                wait Tile[t]; next = get; release Tile[t]
//       next = blocks + what was fetched                  } while (next < tiles)
//       acquire Tile[t]; put next; commit Tile[t]
//     } while (next < tiles)
//
// The answer is on its way while the tile runs. A launch has no more blocks than tiles, so the first tile needs no
// test: one back edge, at the bottom, on a number that is the same in all threads. Of T tiles the G blocks take G by
// their ids and T - G from the counter, and each asks once more to be told to stop: T requests, after which a counter
// that wraps at T - 1 is back at 0.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "KernelRemark.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
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

static Value constant(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

static Value asI32(OpBuilder &b, Location loc, Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
}

static Value blockId(OpBuilder &b, Location loc) {
  return asI32(b, loc, gpu::BlockIdOp::create(b, loc, gpu::Dimension::x));
}

/// Moves the body of `tiles` to the builder; returns what it yields. Its arguments are those of the tile `id`, the
/// `ordinal`-th of this block, and the carried values.
static SmallVector<Value> inlineBody(OpBuilder &b, TilesOp tiles, Value id, Value ordinal, ValueRange carried) {
  SmallVector<Value> arguments = decodeTile(b, tiles, id, ordinal);
  llvm::append_range(arguments, carried);
  Block &body = tiles.getBody().front();
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  SmallVector<Value> yielded = llvm::to_vector(body.getTerminator()->getOperands());
  body.getTerminator()->erase();
  b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(), body.getOperations());
  return yielded;
}

static void replaceTiles(TilesOp tiles, ValueRange results) {
  tiles.replaceAllUsesWith(results);
  tiles.erase();
}

/// CPU: a call computes the tiles [begin, end), which are the last two arguments of the kernel.
static void lowerToRange(TilesOp tiles, Value begin, Value end) {
  OpBuilder b(tiles);
  Location loc = tiles.getLoc();
  Value one = arith::ConstantIntOp::create(b, loc, 1, 64);
  auto loop = scf::ForOp::create(b, loc, begin, end, one, tiles.getInit());
  b.setInsertionPointToStart(loop.getBody());
  Value id = arith::TruncIOp::create(b, loc, b.getI32Type(), loop.getInductionVar());
  Value wide = arith::SubIOp::create(b, loc, loop.getInductionVar(), begin);
  Value ordinal = arith::TruncIOp::create(b, loc, b.getI32Type(), wide);
  SmallVector<Value> yielded = inlineBody(b, tiles, id, ordinal, loop.getRegionIterArgs());
  if (!yielded.empty()) // without results the loop was made with its terminator
    scf::YieldOp::create(b, loc, yielded);
  replaceTiles(tiles, loop.getResults());
}

/// GPU, `single`.
static void lowerToBlockId(TilesOp tiles) {
  OpBuilder b(tiles);
  Value id = blockId(b, tiles.getLoc());
  Value zero = constant(b, tiles.getLoc(), 0);
  replaceTiles(tiles, inlineBody(b, tiles, id, zero, tiles.getInit()));
}

/// GPU, `fixed` and `dynamic`. `ids`: the ring of a dynamic nest; `fetches`: this role fills it.
static void lowerToWhile(TilesOp tiles, Value ids, bool fetches) {
  OpBuilder b(tiles);
  Location loc = tiles.getLoc();
  Value blocks = asI32(b, loc, gpu::GridDimOp::create(b, loc, gpu::Dimension::x));
  Value perHead = arith::MulIOp::create(b, loc, tiles.getExtents()[0], tiles.getExtents()[1]);
  Value count = arith::MulIOp::create(b, loc, perHead, tiles.getExtents()[2]);
  SmallVector<Value> init{blockId(b, loc), constant(b, loc, 0)};
  llvm::append_range(init, tiles.getInit());
  SmallVector<Type> types(init.size(), b.getI32Type());
  SmallVector<Location> locs(init.size(), loc);
  Value last = fetches ? arith::SubIOp::create(b, loc, count, constant(b, loc, 1)).getResult() : Value();

  auto loop = scf::WhileOp::create(b, loc, types, init);
  Block *body = b.createBlock(&loop.getBefore(), {}, types, locs);
  Value id = body->getArgument(0), ordinal = body->getArgument(1), next, fetched;
  if (fetches)
    fetched = FetchOp::create(b, loc, tiles.getCounter(), last);
  SmallVector<Value> yielded = inlineBody(b, tiles, id, ordinal, body->getArguments().drop_front(2));
  if (!ids) {
    next = arith::AddIOp::create(b, loc, id, blocks);
  } else {
    auto word = cast<BufType>(cast<RingType>(ids.getType()).getBufs().front());
    if (fetches) {
      // Not before the tile: an add there would wait for the counter in front of the first copy.
      next = arith::AddIOp::create(b, loc, blocks, fetched);
      Value slot = AcquireOp::create(b, loc, word, ids, ordinal).getResult(0);
      PutOp::create(b, loc, next, slot);
      CommitOp::create(b, loc, ids, ordinal);
    } else {
      Value slot = WaitOp::create(b, loc, word, ids, ordinal, /*leaves=*/IntegerAttr()).getResult(0);
      next = GetOp::create(b, loc, slot);
      ReleaseOp::create(b, loc, ids, ordinal);
    }
  }
  SmallVector<Value> carried{next, arith::AddIOp::create(b, loc, ordinal, constant(b, loc, 1))};
  llvm::append_range(carried, yielded);
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, next, count);
  scf::ConditionOp::create(b, loc, more, carried);
  Block *after = b.createBlock(&loop.getAfter(), {}, types, locs);
  scf::YieldOp::create(b, loc, after->getArguments());
  replaceTiles(tiles, loop.getResults().drop_front(2));
}

/// The ring in which the first role of a kernel tells the others the ids of dynamic tiles. Every role must walk them
/// once: who does not read keeps the slot from being filled again.
static FailureOr<Value> makeIdRing(KernelOp kernel, ArrayRef<TilesOp> nests) {
  auto roles = llvm::to_vector(kernel.getBody().getOps<RoleOp>());
  TilesOp first = nests.front();
  if (roles.size() < 2 || !roles.front().getElect())
    return first.emitOpError("is dynamic, which needs a first role of one thread ('elect') that fetches the "
                             "ids, and another one that reads them");
  int64_t readers = 0;
  for (RoleOp role : roles) {
    if (llvm::count_if(nests, [&](TilesOp tiles) { return tiles->getParentOp() == role; }) != 1)
      return role.emitOpError("expects one nest of tiles: the ids of dynamic tiles are handed to every role once");
    if (role != roles.front())
      readers += role.getWarps();
  }
  OpBuilder b(roles.front());
  auto word = BufType::get(b.getContext(), RankedTensorType::get({1}, b.getI32Type()), /*swizzle=*/0);
  auto ring = RingType::get(b.getContext(), /*depth=*/1, Type(word));
  return AllocOp::create(b, first.getLoc(), ring, b.getStringAttr("tile"), b.getI64IntegerAttr(readers),
                         /*offset=*/IntegerAttr(), /*barriers=*/IntegerAttr(), /*over=*/StringAttr())
      .getResult();
}

namespace {
struct LowerTiles : attn::impl::LowerTilesPassBase<LowerTiles> {
  using LowerTilesPassBase::LowerTilesPassBase;
  void runOnOperation() override;
  LogicalResult lowerOnGpu(KernelOp kernel, ArrayRef<TilesOp> nests);
};
} // namespace

static void remarkIds(TilesOp tiles, StringRef from) {
  remark::passed(tiles.getLoc(), inKernel(tiles, "tiles", DEBUG_TYPE))
      << "tile ids come from " << remark::metric("from", from);
}

LogicalResult LowerTiles::lowerOnGpu(KernelOp kernel, ArrayRef<TilesOp> nests) {
  TilesOp first = nests.front();
  Tiling kind = first.getKind();
  for (TilesOp tiles : nests)
    if (tiles.getKind() != kind) {
      InFlightDiagnostic diag = tiles.emitOpError("is ")
                                << stringifyTiling(tiles.getKind()) << ", but all nests of a kernel see the same tiles";
      diag.attachNote(first.getLoc()) << "which are " << stringifyTiling(kind) << " here";
      return diag;
    }
  Value ids;
  if (kind == Tiling::Dynamic) {
    FailureOr<Value> ring = makeIdRing(kernel, nests);
    if (failed(ring))
      return failure();
    ids = *ring;
  }
  static constexpr StringLiteral from[] = {"the block id", "the block id and a stride", "the block id and a counter"};
  for (auto [index, tiles] : llvm::enumerate(nests)) {
    remarkIds(tiles, from[static_cast<int>(kind)]);
    if (kind == Tiling::Single)
      lowerToBlockId(tiles);
    else
      lowerToWhile(tiles, ids, /*fetches=*/ids && index == 0);
  }
  return success();
}

void LowerTiles::runOnOperation() {
  for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
    SmallVector<TilesOp> nests;
    kernel.walk([&](TilesOp tiles) { nests.push_back(tiles); });
    if (nests.empty())
      continue;
    TargetAttr target = requireTarget(kernel);
    if (!target)
      return signalPassFailure();
    if (target.getFamily() != Family::Cpu) {
      if (failed(lowerOnGpu(kernel, nests)))
        return signalPassFailure();
      continue;
    }
    Type i64 = IntegerType::get(&getContext(), 64);
    Value begin = kernel.getBody().addArgument(i64, kernel.getLoc());
    Value end = kernel.getBody().addArgument(i64, kernel.getLoc());
    for (TilesOp tiles : nests) {
      remarkIds(tiles, "a loop over [begin, end)");
      lowerToRange(tiles, begin, end);
    }
  }
}
