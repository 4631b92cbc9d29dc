//===- Lower.cpp - blocks, loops and what stays scalar
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lower.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attn;
using namespace attn::cpu;

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

static bool touchesTiles(Operation *op) {
  WalkResult found = op->walk([](Operation *inner) {
    bool tiles = llvm::any_of(inner->getOperands(), isTile) || llvm::any_of(inner->getResults(), isTile);
    return tiles ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

KernelLowering::KernelLowering(func::FuncOp func, Machine machine)
    : func(func), machine(machine), b(func.getContext()) {
  b.setInsertionPointToStart(&func.getBody().front());
  // An op to put allocations in front of.
  Operation *anchor = arith::ConstantIndexOp::create(b, func.getLoc(), 0);
  allocs = OpBuilder::InsertPoint(anchor->getBlock(), Block::iterator(anchor));
}

KernelLowering::~KernelLowering() = default;

LogicalResult KernelLowering::lowerBody(Block &block) {
  if (failed(lowerBlock(block, planBlock(block))))
    return failure();
  freeAll();
  func::ReturnOp::create(b, func.getLoc());
  return success();
}

LogicalResult KernelLowering::lowerBlock(Block &block, const BlockPlan &plan) {
  SmallVector<SmallVector<Value>> dying(plan.steps.size() + 1);
  for (auto [tile, last] : plan.lastUse)
    dying[last].push_back(tile);
  auto releaseTile = [&](Value tile) {
    Buffer *buffer = bufferOf.lookup(tile);
    if (buffer && buffer->occupant == tile)
      release(buffer);
  };
  for (unsigned i = 0, e = plan.steps.size(); i < e; ++i) {
    if (failed(lowerStep(i, plan)))
      return failure();
    for (Buffer *buffer : temporaries)
      release(buffer);
    temporaries.clear();
    for (Value tile : dying[i])
      releaseTile(tile);
    for (Operation *op : plan.steps[i].ops)
      for (Value result : op->getResults())
        if (!plan.lastUse.contains(result))
          releaseTile(result);
  }
  return success();
}

LogicalResult KernelLowering::lowerStep(unsigned index, const BlockPlan &plan) {
  if (plan.steps[index].isNest())
    return lowerNest(index, plan);
  Operation *op = plan.steps[index].ops.front();
  if (auto load = dyn_cast<LoadOp>(op); load && isa<MemRefType>(load.getSource().getType()))
    return lowerLoad(load);
  if (auto store = dyn_cast<StoreOp>(op); store && isa<MemRefType>(store.getDest().getType()))
    return lowerStore(store);
  if (auto dot = dyn_cast<DotOp>(op))
    return lowerDot(dot, index, plan);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(loop, index, plan);
  if (auto gather = dyn_cast<GatherOp>(op))
    return lowerScalarGather(gather);
  if (isa<SweepOp>(op))
    return op->emitOpError("is split into loops by attn-split-sweeps before it is converted for the CPU");
  if (isa<TilesOp>(op))
    return op->emitOpError("is turned into a loop by attn-lower-tiles before it is converted for the CPU");
  if (touchesTiles(op) || isa<AttnDialect>(op->getDialect()))
    return op->emitOpError("is not supported on the CPU");
  b.clone(*op, scalars);
  return success();
}

LogicalResult KernelLowering::lowerFor(scf::ForOp loop, unsigned index, const BlockPlan &plan) {
  Location loc = loop.getLoc();
  Block &body = *loop.getBody();
  llvm::DenseMap<Value, unsigned> reads;
  forEachRead(loop, [&](Value tile, bool) { ++reads[tile]; });

  SmallVector<Buffer *> carried;           // One for each loop-carried value, null for scalars.
  llvm::SmallPtrSet<Buffer *, 4> borrowed; // Those a loop around this one carries too.
  SmallVector<Value> inits;
  for (auto [init, arg, result] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(), loop.getResults())) {
    carried.push_back(nullptr);
    if (!isTile(init)) {
      inits.push_back(scalars.lookup(init));
      continue;
    }
    Buffer *buffer = bufferOf.lookup(init);
    bool dies = buffer && !buffer->rowMajor && buffer->occupant == init && init.getParentBlock() == loop->getBlock() &&
                plan.lastUse.lookup(init) == index && reads[init] == 1;
    if (dies && buffer->carried) {
      // The loop around yields the result in this very place, or the value stays as it was.
      dies = carrierOf.lookup(result) == buffer;
      if (dies)
        borrowed.insert(buffer);
    }
    if (!dies) {
      buffer = acquire(cast<RankedTensorType>(init.getType()));
      copyTile(init, buffer, loc);
    }
    buffer->carried = true;
    bind(arg, buffer);
    carried.back() = buffer;
  }

  // What the loop yields is best made where it is carried, and so is what it is made of in place: the accumulator of a
  // dot, what an inner loop starts from.
  for (auto [value, buffer] : llvm::zip(body.getTerminator()->getOperands(), carried))
    for (Value at = value; buffer && at && at.getParentBlock() == &body;) {
      carrierOf[at] = buffer;
      if (auto dot = at.getDefiningOp<DotOp>())
        at = dot.getAcc();
      else if (auto inner = at.getDefiningOp<scf::ForOp>())
        at = inner.getInitArgs()[cast<OpResult>(at).getResultNumber()];
      else
        break;
    }

  auto lowered = scf::ForOp::create(b, loc, scalars.lookup(loop.getLowerBound()), scalars.lookup(loop.getUpperBound()),
                                    scalars.lookup(loop.getStep()), inits);
  scalars.map(loop.getInductionVar(), lowered.getInductionVar());
  unsigned next = 0;
  for (Value arg : loop.getRegionIterArgs())
    if (!isTile(arg))
      scalars.map(arg, lowered.getRegionIterArg(next++));
  b.setInsertionPointToStart(lowered.getBody());
  BlockPlan bodyPlan = planBlock(body);
  if (failed(lowerBlock(body, bodyPlan)) || failed(lowerYield(body.getTerminator(), carried)))
    return failure();
  for (auto [tile, last] : bodyPlan.lastUse)
    if (Buffer *buffer = bufferOf.lookup(tile);
        buffer && last == bodyPlan.steps.size() && buffer->occupant == tile && !buffer->carried)
      release(buffer);
  b.setInsertionPointAfter(lowered);

  next = 0;
  for (auto [result, buffer] : llvm::zip(loop.getResults(), carried)) {
    if (!buffer) {
      scalars.map(result, lowered.getResult(next++));
      continue;
    }
    buffer->carried = borrowed.contains(buffer);
    bind(result, buffer);
  }
  return success();
}

LogicalResult KernelLowering::lowerYield(Operation *yield, ArrayRef<Buffer *> carried) {
  Location loc = yield->getLoc();
  SmallVector<Value> results;
  SmallVector<std::pair<Buffer *, Buffer *>> copies;
  for (auto [value, into] : llvm::zip(yield->getOperands(), carried)) {
    if (!into) {
      results.push_back(scalars.lookup(value));
      continue;
    }
    Buffer *from = bufferOf.lookup(value);
    if (from == into)
      continue;
    // A value computed here, or one that another copy is about to overwrite, is set aside first.
    if (!from || from->carried) {
      from = acquire(cast<RankedTensorType>(value.getType()));
      copyTile(value, from, loc);
      temporaries.push_back(from);
    }
    copies.push_back({from, into});
  }
  for (auto [from, into] : copies)
    memref::CopyOp::create(b, loc, from->memref, into->memref);
  for (Buffer *buffer : temporaries)
    release(buffer);
  temporaries.clear();
  if (!results.empty())
    scf::YieldOp::create(b, loc, results);
  return success();
}
