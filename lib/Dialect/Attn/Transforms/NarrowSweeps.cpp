//===- NarrowSweeps.cpp - a group visits the blocks that its own rows see
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The range of a sweep is that of the whole tile. Under a mask the rows of one group see less of it:
//
//   keys        lo                            hi          rows of a causal tile, three groups
//   group 0      | plain           |\  |       |          o: blocks that the group need not visit
//   group 1      | plain               | \   o |
//   group 2      | plain                   |  \|
//
// What a row sees is read off the sweep's mask: where it is `key <= limit` and `key >= limit` with limits of the rows,
// the limits of the group's first and last row bound the blocks that it visits, and those without a mask. A group of
// the last tile all of whose rows lie past the end stores nothing and visits one block.
//
// The copying role still fills every block, and groups that take turns all count the same number of turns, so in a
// short loop in front of the sweep and behind it a group hands on the items and the turns it has no use for.
//
//===----------------------------------------------------------------------===//

#include "KernelRemark.h"
#include "PartitionRoles.h"

#include "attn/Analysis/TileForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-partition-roles"

namespace {
/// The least and the greatest element of a value of the rows.
struct Bounds {
  Value least, greatest;
};

class Narrowing {
public:
  Narrowing(SweepOp sweep, bool takesTurns)
      : sweep(sweep), takesTurns(takesTurns), builder(sweep.getLoc(), sweep), body(sweep.getBody().front()) {}
  bool run();

private:
  bool canSkip();
  bool readMask();
  bool readComparison(Value visible);
  std::optional<Bounds> boundsOf(Value rows);
  Value inFront(Value value);
  Value hasRows();
  void handOn(Value from, Value to);
  void shiftSteps(Value by);

  Value number(int64_t n) { return arith::ConstantIntOp::create(builder, n, 32); }
  template <typename Op> Value make(Value a, Value b) { return builder.createOrFold<Op>(a, b); }
  /// Joins what several comparisons say.
  template <typename Op> void join(Bounds &known, const Bounds &more) {
    known = known.least ? Bounds{make<Op>(known.least, more.least), make<Op>(known.greatest, more.greatest)} : more;
  }

  SweepOp sweep;
  bool takesTurns;
  ImplicitLocOpBuilder builder;
  Block &body;
  int64_t width = 0;  ///< keys of a block
  Bounds last, first; ///< keys that a row sees last and first, or none
  bool isAll = true;  ///< the mask says nothing else
};
} // namespace

/// Rows are consecutive, so a coordinate along them grows by one.
std::optional<Bounds> Narrowing::boundsOf(Value rows) {
  if (auto coord = rows.getDefiningOp<CoordOp>(); coord && coord.getDim() == 0) {
    int64_t count = cast<RankedTensorType>(rows.getType()).getDimSize(0);
    return Bounds{coord.getBase(), make<arith::AddIOp>(coord.getBase(), number(count - 1))};
  }
  if (auto splat = rows.getDefiningOp<tensor::SplatOp>())
    return Bounds{splat.getInput(), splat.getInput()};
  if (SplatElementsAttr same; matchPattern(rows, m_Constant(&same))) {
    Value value = number(same.getSplatValue<APInt>().getSExtValue());
    return Bounds{value, value};
  }
  auto both = [&](auto op) -> std::optional<Bounds> {
    std::optional<Bounds> a = boundsOf(op.getLhs()), b = a ? boundsOf(op.getRhs()) : std::nullopt;
    if (!b)
      return std::nullopt;
    using Op = decltype(op);
    return Bounds{make<Op>(a->least, b->least), make<Op>(a->greatest, b->greatest)};
  };
  if (auto min = rows.getDefiningOp<arith::MinSIOp>())
    return both(min);
  if (auto max = rows.getDefiningOp<arith::MaxSIOp>())
    return both(max);
  return std::nullopt;
}

/// `key <= limit` or `key >= limit`; false if it is something else.
bool Narrowing::readComparison(Value visible) {
  auto compare = visible.getDefiningOp<arith::CmpIOp>();
  auto isUpper = compare && compare.getPredicate() == arith::CmpIPredicate::sle;
  if (!isUpper && !(compare && compare.getPredicate() == arith::CmpIPredicate::sge))
    return false;
  auto keys = compare.getLhs().getDefiningOp<SpreadOp>(), limits = compare.getRhs().getDefiningOp<SpreadOp>();
  if (!keys || keys.getDim() != 0 || !limits || limits.getDim() != 1)
    return false;
  // Key 0 of block j is j times the width of a block.
  auto coord = keys.getX().getDefiningOp<CoordOp>();
  auto first = coord ? coord.getBase().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  APInt by;
  width = cast<RankedTensorType>(visible.getType()).getDimSize(1);
  if (!first || first.getLhs() != body.getArgument(1) || !matchPattern(first.getRhs(), m_ConstantInt(&by)) ||
      by.getSExtValue() != width)
    return false;
  if (sweep->isAncestor(limits.getX().getParentBlock()->getParentOp()))
    return false;
  std::optional<Bounds> bounds = boundsOf(limits.getX());
  if (!bounds)
    return false;
  if (isUpper)
    join<arith::MinSIOp>(last, *bounds);
  else
    join<arith::MaxSIOp>(this->first, *bounds);
  return true;
}

/// False if nothing bounds the blocks.
bool Narrowing::readMask() {
  auto masks = llvm::to_vector(body.getOps<MaskOp>());
  if (masks.size() != 1)
    return false;
  SmallVector<Value> work{masks.front().getVisible()};
  while (!work.empty()) {
    Value visible = work.pop_back_val();
    if (auto both = visible.getDefiningOp<arith::AndIOp>())
      llvm::append_range(work, both.getOperands());
    else if (!readComparison(visible))
      isAll = false;
  }
  return last.least || first.least;
}

/// The value, or where it is computed behind the sweep the same in front of it; null where that cannot be.
Value Narrowing::inFront(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != sweep->getBlock() || op->isBeforeInBlock(sweep))
    return value;
  if (op == sweep || op->getNumRegions() || !isMemoryEffectFree(op))
    return {};
  IRMapping map;
  for (Value operand : op->getOperands()) {
    Value moved = inFront(operand);
    if (!moved)
      return {};
    map.map(operand, moved);
  }
  return builder.clone(*op, map)->getResult(llvm::find(op->getResults(), value).getIndex());
}

/// Does the group have a row that is stored? Null where the stores do not say.
Value Narrowing::hasRows() {
  Value any;
  for (auto store : sweep->getBlock()->getOps<StoreOp>()) {
    auto memory = dyn_cast<MemRefType>(store.getDest().getType());
    if (!memory)
      return {};
    size_t dim = memory.getRank() - getPlainTile(store.getValue()).getRank();
    Value row = dim < store.getAt().size() ? inFront(store.getAt()[dim]) : Value();
    if (!row)
      return {};
    Value size = memref::DimOp::create(builder, store.getDest(), dim);
    size = arith::IndexCastOp::create(builder, builder.getI32Type(), size);
    Value has = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, row, size);
    any = any ? make<arith::OrIOp>(any, has) : has;
  }
  return any;
}

/// Waits for what the sweep waits for in steps [from, to), and releases it at once: a release says that all before it
/// is read, so it may not come before the item.
void Narrowing::handOn(Value from, Value to) {
  auto loop = scf::ForOp::create(builder, from, to, number(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  if (takesTurns)
    for (TurnKind kind : {TurnKind::Take, TurnKind::Give})
      TurnOp::create(builder, kind);
  IRMapping map;
  map.map(body.getArgument(0), loop.getInductionVar());
  auto clone = [&](auto &self, Value value) -> Value {
    Operation *op = value.getDefiningOp();
    if (map.contains(value) || !op || op->getBlock() != &body)
      return map.lookupOrDefault(value);
    for (Value operand : op->getOperands())
      self(self, operand);
    builder.clone(*op, map);
    return map.lookup(value);
  };
  for (auto wait : body.getOps<WaitOp>()) {
    Value item = clone(clone, wait.getItem());
    WaitOp::create(builder, wait.getResultTypes(), wait.getRing(), item, IntegerAttr());
    ReleaseOp::create(builder, wait.getRing(), item);
  }
}

/// Steps count from where this group starts. `number + t` stays one addition.
void Narrowing::shiftSteps(Value by) {
  auto isOutside = [&](Value value) { return !sweep->isAncestor(value.getParentBlock()->getParentOp()); };
  SmallVector<OpOperand *> numbers, others;
  for (OpOperand &use : body.getArgument(0).getUses()) {
    auto add = dyn_cast<arith::AddIOp>(use.getOwner());
    OpOperand *other = add ? &add->getOpOperand(1 - use.getOperandNumber()) : nullptr;
    if (other && isOutside(other->get()))
      numbers.push_back(other);
    else
      others.push_back(&use);
  }
  for (OpOperand *number : numbers)
    number->set(make<arith::AddIOp>(number->get(), by));
  if (others.empty())
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&body);
  Value step = arith::AddIOp::create(builder, body.getArgument(0), by);
  for (OpOperand *other : others)
    other->set(step);
}

/// Whether a step that nobody of the group sees does no more than take items, whose numbers are made of t.
bool Narrowing::canSkip() {
  auto isOfStep = [&](auto &self, Value value) -> bool {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &body)
      return value == body.getArgument(0) || !llvm::is_contained(body.getArguments(), value);
    return isMemoryEffectFree(op) && llvm::all_of(op->getOperands(), [&](Value in) { return self(self, in); });
  };
  WalkResult result = sweep.getBody().walk([&](Operation *op) -> WalkResult {
    auto wait = dyn_cast<WaitOp>(op);
    if (wait ? wait->getBlock() == &body && isOfStep(isOfStep, wait.getItem())
             : isa<ReleaseOp, PackOp, LoadOp, DotOp>(op) || op->hasTrait<OpTrait::IsTerminator>() ||
                   isMemoryEffectFree(op))
      return WalkResult::advance();
    return WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

bool Narrowing::run() {
  if (!canSkip())
    return false;
  bool isMasked = readMask();
  Value rows = hasRows();
  if (!isMasked && !rows)
    return false;

  Value lo = sweep.getLo(), hi = sweep.getHi(), plainLo = sweep.getPlainLo(), plainHi = sweep.getPlainHi();
  Value one = number(1), keys = isMasked ? number(width) : Value(), newLo = lo, newHi = hi, newPlainLo = plainLo,
        newPlainHi = plainHi;
  auto past = [&](Value key) { return make<arith::AddIOp>(key, one); };
  if (last.least) {
    newHi = make<arith::MinSIOp>(hi, arith::CeilDivSIOp::create(builder, past(last.greatest), keys));
    newHi = make<arith::MaxSIOp>(newHi, past(lo));
  }
  if (rows)
    newHi = arith::SelectOp::create(builder, rows, newHi, past(lo));
  if (first.least) {
    newLo = make<arith::MaxSIOp>(lo, arith::FloorDivSIOp::create(builder, first.least, keys));
    newLo = make<arith::MinSIOp>(newLo, make<arith::SubIOp>(newHi, one));
  }
  // One value for both ends says that nothing is known to be plain.
  if (plainLo != plainHi) {
    if (plainLo == lo)
      newPlainLo = newLo;
    else if (isAll && first.least)
      newPlainLo = make<arith::MaxSIOp>(newLo, arith::CeilDivSIOp::create(builder, first.greatest, keys));
    if (plainHi == hi)
      newPlainHi = newHi;
    else if (isAll && last.least)
      newPlainHi = arith::FloorDivSIOp::create(builder, past(last.least), keys);
    if (plainHi != hi)
      newPlainHi = make<arith::MinSIOp>(newHi, newPlainHi);
  }

  bool descending = sweep.getOrder() == SweepOrder::Descending;
  Value zero = number(0), all = make<arith::SubIOp>(hi, lo);
  Value before = descending ? make<arith::SubIOp>(hi, newHi) : make<arith::SubIOp>(newLo, lo);
  Value behind = descending ? make<arith::SubIOp>(newLo, lo) : make<arith::SubIOp>(hi, newHi);
  bool isLater = descending ? newHi != hi : newLo != lo, isSooner = descending ? newLo != lo : newHi != hi;
  if (isSooner) {
    Operation *end = sweep;
    while (isa<ReleaseOp>(end->getNextNode()))
      end = end->getNextNode();
    Value from = make<arith::SubIOp>(all, behind);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(end);
    handOn(from, all);
  }
  if (isLater) {
    handOn(zero, before);
    shiftSteps(before);
  }
  sweep.getLoMutable().set(newLo);
  sweep.getHiMutable().set(newHi);
  sweep.getPlainLoMutable().set(newPlainLo);
  sweep.getPlainHiMutable().set(newPlainHi);
  return true;
}

void attn::narrowSweeps(RoleOp role, TilesOp tiles, ScheduleAttr schedule) {
  auto isTurn = [](StringAttr entry) { return entry == "take" || entry == "give"; };
  bool takesTurns = role.getGroups() > 1 && llvm::any_of(schedule.getOrder(), isTurn);
  for (SweepOp sweep : llvm::to_vector(tiles.getBody().getOps<SweepOp>()))
    if (Narrowing(sweep, takesTurns).run())
      remark::passed(sweep.getLoc(), inKernel(sweep, "narrow", DEBUG_TYPE))
          << "a group visits the blocks that its own rows see";
}
