//===- RotateSweep.cpp - write a sweep out as its plan says
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value defined at lag a and read at lag b, by way of d carried values of the old sweep, is `b - a + d` rounds old.
// 0 rounds: it is in this round. More: the new sweep carries it. It then starts from what the round before the first
// one computed, that is the prologue, or from the old initial value if it belongs to step -1:
//
//                  round -1 (prologue)   round 0          ...   round n - 1 (epilogue)
//   lag 0          step 0                step 1                 -
//   lag 1          (step -1)             step 0                 step n - 1
//
//===----------------------------------------------------------------------===//

#include "RotateSweep.h"

#include "attn/Analysis/FragmentCoords.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using Kind = PlanStep::Kind;

/// 32-bit registers of a thread that the value takes.
static int64_t countRegisters(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getEncoding())
    return 1;
  return llvm::divideCeil(Fragment::of(type).size() * type.getElementTypeBitWidth(), 32);
}

Rotation::Rotation(const SweepBody &body, const SweepPlan &plan)
    : body(body), plan(plan), sweep(body.sweep), descending(sweep.getOrder() == SweepOrder::Descending), builder(sweep),
      loc(sweep.getLoc()) {
  auto carriedBy = [](Value read) {
    auto argument = dyn_cast<BlockArgument>(read);
    return argument ? static_cast<int64_t>(argument.getArgNumber()) - 2 : -1;
  };
  auto addRead = [&](Value read, int64_t lag) {
    if (std::optional<SweepBody::Source> source = body.getSource(read))
      addCrossing(source->value, lag - plan.lags.lookup(source->op) + source->distance, carriedBy(read));
  };
  for (const PlanStep &step : plan.steps) {
    if (step.kind == Kind::Op)
      for (Value input : SweepBody::getInputs(step.op))
        addRead(input, step.lag);
    if (step.kind == Kind::Pin)
      addRead(step.pinned, step.lag);
  }
  // What the old sweep returned, unless the epilogue computes it.
  for (auto [index, value] : llvm::enumerate(body.yield->getOperands()))
    if (std::optional<SweepBody::Source> source = body.getSource(value); source && !source->distance)
      addCrossing(value, 1 - plan.lags.lookup(source->op), index);
}

/// Which initial value the crossing starts from: that of step -1.
int64_t Rotation::initOf(Value value, int64_t rounds, int64_t carried) const {
  return plan.lag - plan.lags.lookup(value.getDefiningOp()) - rounds < 0 ? carried : -1;
}

int64_t Rotation::crossingIndex(Value value, int64_t rounds, int64_t carried) const {
  int64_t init = initOf(value, rounds, carried);
  for (auto [index, crossing] : llvm::enumerate(crossings))
    if (crossing.value == value && crossing.rounds == rounds && crossing.init == init)
      return index;
  return -1;
}

void Rotation::addCrossing(Value value, int64_t rounds, int64_t carried) {
  if (rounds < 1 || crossingIndex(value, rounds, carried) >= 0)
    return;
  addCrossing(value, rounds - 1, carried);
  crossings.push_back({value, rounds, initOf(value, rounds, carried), countRegisters(value)});
}

//===----------------------------------------------------------------------===//
// One round
//===----------------------------------------------------------------------===//

bool Rotation::isActive(const Round &round, int64_t lag) const {
  return round.where == Round::Where::Loop || (round.where == Round::Where::Prologue ? lag == 0 : lag > 0);
}

/// t (`ordinal`) or j of the step that an action at this lag works on.
Value Rotation::readIndex(Round &round, bool ordinal, int64_t lag) {
  Value &known = round.recomputed[{sweep.getBody().getArgument(ordinal ? 0 : 1), lag}];
  if (known)
    return known;
  auto number = [&](int64_t n) { return arith::ConstantIntOp::create(builder, loc, n, 32); };
  auto plus = [&](Value base, int64_t n) -> Value {
    if (n == 0)
      return base;
    return n > 0 ? builder.createOrFold<arith::AddIOp>(loc, base, number(n))
                 : builder.createOrFold<arith::SubIOp>(loc, base, number(-n));
  };
  switch (round.where) {
  case Round::Where::Prologue: // step 0
    known = ordinal ? number(0) : descending ? plus(sweep.getHi(), -1) : sweep.getLo();
    break;
  case Round::Where::Loop:
    known = ordinal ? plus(loop.getBody().getArgument(0), plan.lag - lag)
                    : plus(loop.getBody().getArgument(1), descending ? lag : -lag);
    break;
  case Round::Where::Epilogue: // the last step
    if (ordinal)
      known = builder.createOrFold<arith::SubIOp>(loc, newHi, newLo);
    else
      known = descending ? sweep.getLo() : plus(sweep.getHi(), -1);
  }
  return known;
}

/// What `value` of the body is for an action at this lag.
Value Rotation::read(Round &round, Value value, int64_t lag) {
  if (value.getParentBlock() != &body.block)
    return value;
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getArgNumber() < 2)
    return readIndex(round, argument.getArgNumber() == 0, lag);
  int64_t carried = argument ? argument.getArgNumber() - 2 : -1;
  if (argument && body.isInvariant(argument))
    return sweep.getInit()[carried];

  std::optional<SweepBody::Source> source = body.getSource(value);
  if (!source) {
    if (!round.recomputed.contains({value, lag})) {
      Operation *op = value.getDefiningOp();
      IRMapping map;
      for (Value operand : op->getOperands())
        map.map(operand, read(round, operand, lag));
      Operation *clone = builder.clone(*op, map);
      SmallVector<Value> results(clone->getResults()), folded;
      if (succeeded(builder.tryFold(clone, folded)) && !folded.empty()) {
        results.assign(folded);
        clone->erase();
      }
      for (auto [from, to] : llvm::zip_equal(op->getResults(), results))
        round.recomputed[{from, lag}] = to;
    }
    return round.recomputed.lookup({value, lag});
  }
  int64_t rounds = lag - plan.lags.lookup(source->op) + source->distance;
  if (round.where == Round::Where::Prologue && source->distance)
    return sweep.getInit()[carried];
  if (rounds == 0)
    return round.values.lookup(source->value);
  int64_t index = crossingIndex(source->value, rounds, carried);
  return round.where == Round::Where::Loop ? Value(loop.getBody().getArgument(2 + index)) : loop.getResult(index);
}

/// Zero times and zero plus: a sum that starts at zero is neither rescaled nor added to in the first step. The factor
/// is finite (a power of two of a difference of finite maxima), or the row is NaN anyway.
static Value foldZero(Operation *op, ValueRange init) {
  if (!isa<arith::MulFOp, arith::AddFOp>(op))
    return {};
  for (int64_t i : {0, 1}) {
    Value operand = op->getOperand(i);
    if (llvm::is_contained(init, operand) && matchPattern(operand, m_AnyZeroFloat()))
      return isa<arith::MulFOp>(op) ? operand : op->getOperand(1 - i);
  }
  return {};
}

/// The same inside the branches of an `if`; an `if` whose branches agree is what they yield.
static SmallVector<Value> foldZeros(Operation *op, ValueRange init) {
  if (Value value = foldZero(op, init))
    return {value};
  auto branch = dyn_cast<scf::IfOp>(op);
  if (!branch || branch.getElseRegion().empty() || branch->getNumResults() == 0)
    return {};
  branch.walk([&](Operation *inner) {
    if (Value value = foldZero(inner, init))
      inner->getResult(0).replaceAllUsesWith(value);
  });
  ValueRange yes = branch.thenYield().getOperands(), no = branch.elseYield().getOperands();
  auto isOutside = [&](Value value) { return !branch->isAncestor(value.getParentRegion()->getParentOp()); };
  if (llvm::equal(yes, no) && llvm::all_of(yes, isOutside))
    return yes;
  return {};
}

void Rotation::cloneInto(Round &round, Operation *op, int64_t lag) {
  IRMapping map;
  for (Value input : SweepBody::getInputs(op))
    map.map(input, read(round, input, lag));
  Operation *clone = builder.clone(*op, map);
  SmallVector<Value> results(clone->getResults());
  if (round.where == Round::Where::Prologue)
    if (SmallVector<Value> folded = foldZeros(clone, sweep.getInit()); !folded.empty()) {
      results = folded;
      clone->erase();
    }
  for (auto [from, to] : llvm::zip_equal(op->getResults(), results))
    round.values[from] = to;
}

void Rotation::emitOp(Round &round, Operation *op, int64_t lag) {
  auto dot = dyn_cast<DotOp>(op);
  if (!dot)
    return cloneInto(round, op, lag);
  IRMapping operands;
  for (Value operand : dot->getOperands())
    operands.map(operand, read(round, operand, lag));
  auto issued = cast<DotOp>(builder.clone(*dot, operands));
  issued.getResult().setType(PendingType::get(dot.getContext(), dot.getTile()));
  issued.setAsync(true);
  round.open.push_back({dot, issued});
}

/// The products it retires that this round has issued; it may leave open what was issued since.
void Rotation::emitAwait(Round &round, ArrayRef<DotOp> dots) {
  SmallVector<Value> pendings, keep;
  SmallVector<Type> types;
  auto *end = llvm::find_if(round.open, [&](auto pair) { return !llvm::is_contained(dots, pair.first); });
  SmallVector<std::pair<DotOp, DotOp>> retired(round.open.begin(), end);
  round.open.erase(round.open.begin(), end);
  for (auto [dot, issued] : retired) {
    pendings.push_back(issued.getResult());
    types.push_back(dot.getTile());
    for (Value a : {issued.getA(), issued.getA2()})
      if (a && isa<RankedTensorType>(a.getType()))
        keep.push_back(a);
  }
  if (retired.empty())
    return;
  auto await = AwaitOp::create(builder, retired.back().first.getLoc(), types, pendings, keep, round.open.size());
  for (auto [pair, result] : llvm::zip_equal(retired, await.getResults()))
    round.values[pair.first.getResult()] = result;
}

void Rotation::emit(Round &round) {
  // Turns and pins are about the overlap inside the loop.
  bool inLoop = round.where == Round::Where::Loop;
  bool takesTurns = sweep->getParentOfType<RoleOp>().getGroups() > 1;
  for (const PlanStep &step : plan.steps) {
    switch (step.kind) {
    case Kind::Await:
      emitAwait(round, step.dots);
      break;
    case Kind::Take:
    case Kind::Give:
      if (inLoop && takesTurns)
        TurnOp::create(builder, loc, step.kind == Kind::Take ? TurnKind::Take : TurnKind::Give);
      break;
    case Kind::Pin:
      if (inLoop)
        PinOp::create(builder, step.pinned.getLoc(), read(round, step.pinned, step.lag));
      break;
    case Kind::Op:
    case Kind::Release:
      if (isActive(round, step.lag))
        emitOp(round, step.op, step.lag);
    }
  }
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Where the prologue goes: in front of the sweep, or, if the sweep fills rings, in front of what is filled once a
/// tile, because a product needs its first block as early as that. Addresses in between move up.
Operation *Rotation::prologuePoint() {
  Operation *point = nullptr;
  if (!sweep.getBody().getOps<AcquireOp>().empty() && sweep.getBody().getOps<DotOp>().empty())
    for (Operation *op = sweep->getPrevNode(); op; op = op->getPrevNode())
      if (isa<AcquireOp>(op))
        point = op;
  if (!point)
    return sweep;
  llvm::SetVector<Operation *> between;
  for (Operation *op = point; op != sweep; op = op->getNextNode())
    between.insert(op);
  auto isThere = [&](Value value) { return !value.getDefiningOp() || !between.contains(value.getDefiningOp()); };
  for (Operation *op : llvm::to_vector(between))
    if (op->getNumRegions() == 0 && isMemoryEffectFree(op) && llvm::all_of(op->getOperands(), isThere)) {
      op->moveBefore(point);
      between.remove(op);
    }
  return llvm::all_of(SweepBody::getInputs(sweep), isThere) ? point : sweep.getOperation();
}

/// The sweep without its first block, which the prologue has done.
SweepOp Rotation::makeLoop(Round &prologue) {
  SmallVector<Value> init;
  for (const Crossing &crossing : crossings)
    init.push_back(crossing.init >= 0 ? sweep.getInit()[crossing.init] : prologue.values.lookup(crossing.value));
  Value plainLo = sweep.getPlainLo(), plainHi = sweep.getPlainHi();
  IntegerAttr edge = sweep.getEdgeAttr();
  // One value for both ends says that nothing is known to be plain.
  if (plan.lag && plainLo != plainHi) {
    if (descending && edge) {
      edge = builder.getI64IntegerAttr(std::max<int64_t>(edge.getInt() - plan.lag, 0));
      if (edge.getInt() == 0)
        plainHi = newHi;
    }
    plainLo = plainLo == sweep.getLo() ? newLo : plainLo;
    plainHi = plainHi == sweep.getHi() ? newHi : plainHi;
  }
  auto result = SweepOp::create(builder, loc, TypeRange(ValueRange(init)), sweep.getOrder(), newLo, newHi, plainLo,
                                plainHi, edge, init);
  SmallVector<Type> types{builder.getI32Type(), builder.getI32Type()};
  llvm::append_range(types, ValueRange(init).getTypes());
  builder.createBlock(&result.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  return result;
}

/// What the tile waited for once and only the newest actions read is done with when the loop is.
void Rotation::moveReleases() {
  Operation *after = loop;
  for (Operation *op = sweep->getNextNode(), *next; op; op = next) {
    next = op->getNextNode();
    auto release = dyn_cast<ReleaseOp>(op);
    if (!release && !isMemoryEffectFree(op))
      return;
    if (!release)
      continue;
    Operation *item = release.getItem().getDefiningOp();
    if (item && item->getBlock() == sweep->getBlock() && sweep->isBeforeInBlock(item))
      continue;
    auto isRead = [&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (auto slice = operand.getDefiningOp<SliceOp>())
          operand = slice.getSource();
        if (auto wait = operand.getDefiningOp<WaitOp>();
            wait && wait.getRing() == release.getRing() && wait.getItem() == release.getItem())
          return true;
      }
      return false;
    };
    bool late = llvm::any_of(plan.steps, [&](const PlanStep &step) {
      return step.kind == Kind::Op && step.lag > 0 &&
             step.op
                 ->walk(
                     [&](Operation *inner) { return isRead(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
                 .wasInterrupted();
    });
    if (late)
      continue;
    release->moveAfter(after);
    after = release;
  }
}

void Rotation::run() {
  Operation *point = plan.lag ? prologuePoint() : sweep.getOperation();
  builder.setInsertionPoint(point);
  newLo = sweep.getLo(), newHi = sweep.getHi();
  if (plan.lag) {
    Value by = arith::ConstantIntOp::create(builder, loc, plan.lag, 32);
    if (descending)
      newHi = builder.createOrFold<arith::SubIOp>(loc, newHi, by);
    else
      newLo = builder.createOrFold<arith::AddIOp>(loc, newLo, by);
  }
  Round prologue(Round::Where::Prologue), steady(Round::Where::Loop), epilogue(Round::Where::Epilogue);
  if (plan.lag) {
    if (descending)
      prologue.recomputed[{sweep.getBody().getArgument(1), 0}] = newHi;
    emit(prologue);
  }

  builder.setInsertionPoint(sweep);
  loop = makeLoop(prologue);
  builder.setInsertionPointToStart(&loop.getBody().front());
  emit(steady);
  SmallVector<Value> yields;
  for (const Crossing &crossing : crossings)
    if (crossing.rounds == 1)
      yields.push_back(steady.values.lookup(crossing.value));
    else
      yields.push_back(
          loop.getBody().getArgument(2 + crossingIndex(crossing.value, crossing.rounds - 1, crossing.init)));
  YieldOp::create(builder, loc, yields);

  builder.setInsertionPointAfter(loop);
  if (plan.lag) {
    moveReleases();
    builder.setInsertionPoint(sweep);
    emit(epilogue);
  }
  for (auto [index, value] : llvm::enumerate(body.yield->getOperands())) {
    Value result = sweep.getInit()[index];
    if (std::optional<SweepBody::Source> source = body.getSource(value); source && !source->distance) {
      int64_t rounds = 1 - plan.lags.lookup(source->op);
      result = rounds ? loop.getResult(crossingIndex(value, rounds, index)) : epilogue.values.lookup(value);
    }
    sweep.getResult(index).replaceAllUsesWith(result);
  }
  sweep.erase();
}
