//===- IntegerRun.cpp - code run on its integers
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/IntegerRun.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace attn;

/// Ops a run may look at: about a hundred steps of a sweep. Kernels of constant, large sizes are cut here.
static constexpr int64_t kMaxOps = 1 << 13;

std::optional<int64_t> IntegerRun::number(Value value) const {
  auto found = known.find(value);
  if (found == known.end() || !found->second.number)
    return std::nullopt;
  return found->second.number.getValue().getSExtValue();
}

void IntegerRun::set(Value value, int64_t number) { known[value] = {IntegerAttr::get(value.getType(), number), {}}; }

std::optional<int64_t> IntegerRun::token(Value value) const {
  auto found = known.find(value);
  return found == known.end() ? std::nullopt : found->second.token;
}

void IntegerRun::bind(ValueRange to, ValueRange from) {
  SmallVector<std::optional<Known>> values; // all are read before any is written: loops swap
  for (Value value : from) {
    auto found = known.find(value);
    values.push_back(found == known.end() ? std::nullopt : std::optional<Known>(found->second));
  }
  for (auto [value, what] : llvm::zip_equal(to, values)) {
    if (what)
      known[value] = *what;
    else
      known.erase(value);
  }
}

void IntegerRun::takeSize(memref::DimOp op) {
  std::optional<int64_t> dim = number(op.getIndex());
  auto operand = dyn_cast<BlockArgument>(op.getSource());
  auto type = dyn_cast<MemRefType>(op.getSource().getType());
  if (!dim || !operand || !type || *dim >= type.getRank())
    return;
  if (!type.isDynamicDim(*dim))
    return set(op, type.getDimSize(*dim));
  if (auto size = sizes.dims.find({operand.getArgNumber(), *dim}); size != sizes.dims.end())
    set(op, size->second);
}

void IntegerRun::fold(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isIntOrIndex())
    return;
  Value result = op->getResult(0);
  known.erase(result);
  if (!isa<arith::ArithDialect>(op->getDialect()))
    return;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    auto found = known.find(operand);
    if (found == known.end() || !found->second.number)
      return;
    operands.push_back(found->second.number);
  }
  // All operands are known, so nothing is rewritten in place.
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return;
  if (auto value = dyn_cast<Value>(results[0]))
    return bind(result, value);
  if (auto value = dyn_cast<IntegerAttr>(cast<Attribute>(results[0])))
    known[result] = {value, {}};
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

bool IntegerRun::loop(scf::ForOp op) {
  auto begin = number(op.getLowerBound()), end = number(op.getUpperBound()), by = number(op.getStep());
  if (!begin || !end || !by || *by < 1)
    return false;
  bind(op.getRegionIterArgs(), op.getInitArgs());
  for (int64_t i = *begin; i < *end; i += *by) {
    set(op.getInductionVar(), i);
    if (!walk(*op.getBody()))
      return false;
    bind(op.getRegionIterArgs(), op.getYieldedValues());
  }
  bind(op.getResults(), op.getRegionIterArgs());
  return true;
}

bool IntegerRun::loop(scf::WhileOp op) {
  auto condition = cast<scf::ConditionOp>(op.getBeforeBody()->getTerminator());
  bind(op.getBeforeArguments(), op.getInits());
  while (true) {
    if (!walk(*op.getBeforeBody()))
      return false;
    auto more = number(condition.getCondition());
    if (!more)
      return false;
    if (!*more)
      break;
    bind(op.getAfterArguments(), condition.getArgs());
    if (!walk(*op.getAfterBody()))
      return false;
    bind(op.getBeforeArguments(), op.getAfterBody()->getTerminator()->getOperands());
  }
  bind(op.getResults(), condition.getArgs());
  return true;
}

bool IntegerRun::loop(SweepOp op) {
  auto lo = number(op.getLo()), hi = number(op.getHi());
  if (!lo || !hi)
    return false;
  Block &body = op.getBody().front();
  ValueRange carried = ValueRange(body.getArguments()).drop_front(2);
  bind(carried, op.getInit());
  for (int64_t t = 0; t < *hi - *lo; ++t) {
    set(body.getArgument(0), t);
    set(body.getArgument(1), op.getOrder() == SweepOrder::Descending ? *hi - 1 - t : *lo + t);
    if (!walk(body))
      return false;
    bind(carried, body.getTerminator()->getOperands());
  }
  bind(op.getResults(), carried);
  return true;
}

/// A branch on tiles decides about tiles only.
bool IntegerRun::branch(scf::IfOp op) {
  auto taken = number(op.getCondition());
  if (!taken) {
    for (Value result : op.getResults())
      known.erase(result);
    return !op.walk([](Operation *inner) {
                if (isa<AcquireOp, CopyOp, WaitOp, ReleaseOp, CommitOp, AwaitOp, TurnOp, DrainOp, SyncOp, FetchOp>(
                        inner))
                  return WalkResult::interrupt();
                return WalkResult::advance();
              }).wasInterrupted();
  }
  if (!*taken && !op.elseBlock())
    return true;
  if (!walk(*taken ? *op.thenBlock() : *op.elseBlock()))
    return false;
  bind(op.getResults(), (*taken ? op.thenYield() : op.elseYield()).getOperands());
  return true;
}

bool IntegerRun::walk(Block &block) {
  return llvm::all_of(block, [&](Operation &op) {
    if (op.hasTrait<OpTrait::IsTerminator>() || step(&op))
      return true;
    cutAt = cutAt ? cutAt : &op; // not the loops around it
    return false;
  });
}

std::string IntegerRun::whyCut() const {
  if (ops > kMaxOps)
    return "goes on for more than " + std::to_string(kMaxOps) + " operations";
  return "cannot be followed through " + (cutAt ? cutAt->getName().getStringRef().str() : "its operations");
}

bool IntegerRun::step(Operation *op) {
  if (auto loopOp = dyn_cast<scf::ForOp>(op))
    return loop(loopOp);
  if (auto loopOp = dyn_cast<scf::WhileOp>(op))
    return loop(loopOp);
  if (auto sweep = dyn_cast<SweepOp>(op))
    return loop(sweep);
  if (auto branchOp = dyn_cast<scf::IfOp>(op))
    return branch(branchOp);
  if (isa<RoleOp>(op)) // somebody else
    return true;
  if (op->getNumRegions())
    return false;
  bool isNumber = op->getNumResults() == 1 && op->getResult(0).getType().isIntOrIndex();
  if (!isNumber && !isa<AttnDialect>(op->getDialect()))
    return true;
  if (++ops > kMaxOps)
    return false;
  if (isa<AttnDialect>(op->getDialect()))
    return visit(op);
  if (auto dim = dyn_cast<memref::DimOp>(op))
    takeSize(dim);
  else if (StringRef what = op->getName().getStringRef(); what == "gpu.block_id")
    set(op->getResult(0), 0);
  else if (what == "gpu.grid_dim")
    set(op->getResult(0), sizes.blocks);
  else
    fold(op);
  return true;
}
