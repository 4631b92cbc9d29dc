//===- CompareCoords.cpp - comparisons of coordinates
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A coordinate of a fragment is a number of the thread plus a constant for each element, so as it is written every
// column of a mask costs an addition:
//
//   key + 2 q + {0, 1, 8, 9, ..} <= limit of the row
//
// What is the same for the thread moves to the other side, where there is a value a row (two a thread) and not a
// column:
//
//   {0, 1, 8, 9, ..} <= limit of the row - (key + 2 q)
//
// Coordinates are below 2^30 in magnitude, limits (which a region may compute) are clamped to 2^30: that changes no
// answer, and the difference stays in i32.
//
// In a loop over tiles a mask may be the same for every tile, that of the last keys, say. LLVM would compute it once,
// in front of the loop, and keep a predicate for every element, packed, through all of it, which costs more
// instructions than to compare again: such a comparison starts from a number that LLVM does not know.
//
//===----------------------------------------------------------------------===//

#include "InlineAsm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::nvvm;

namespace {
/// scalar + constants, of which either may be missing.
struct Coordinate {
  Value scalar;
  DenseIntElementsAttr constants;

  static std::optional<Coordinate> of(Value value) {
    Coordinate c;
    if (matchPattern(value, m_Constant(&c.constants)))
      return c;
    if (auto spread = value.getDefiningOp<vector::ShuffleOp>())
      return ofSpread(spread);
    if (auto add = value.getDefiningOp<arith::AddIOp>()) {
      if (!matchPattern(add.getRhs(), m_Constant(&c.constants)))
        return std::nullopt;
      value = add.getLhs();
    }
    auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
    if (!broadcast || isa<VectorType>(broadcast.getSource().getType()))
      return std::nullopt;
    c.scalar = broadcast.getSource();
    return c;
  }

  /// A value of the rows or columns copied over a tile: its constants are copied.
  static std::optional<Coordinate> ofSpread(vector::ShuffleOp spread) {
    std::optional<Coordinate> c = of(spread.getV1());
    if (!c || spread.getV1() != spread.getV2() || !c->constants)
      return c && !c->constants ? c : std::nullopt;
    SmallVector<APInt> from(c->constants.getValues<APInt>()), to;
    for (int64_t i : spread.getMask())
      to.push_back(from[i % from.size()]);
    c->constants = cast<DenseIntElementsAttr>(DenseElementsAttr::get(spread.getResultVectorType(), to));
    return c;
  }
};

Value constant(const Emit &e, DenseIntElementsAttr attr) { return arith::ConstantOp::create(e.b, e.loc, attr); }

constexpr int64_t kBound = int64_t(1) << 30;
bool isBounded(const APInt &value) { return std::abs(value.getSExtValue()) <= kBound; }

/// limits - scalar, of a scalar (null: 0) or of each element of a vector.
Value differences(const Emit &e, Value limits, Value scalar) {
  if (!limits)
    return e.sub(e.i32(0), scalar);
  auto like = [&](Value x) -> Value {
    if (!isa<VectorType>(limits.getType()))
      return x;
    return vector::BroadcastOp::create(e.b, e.loc, limits.getType(), x);
  };
  Value atMost = arith::MinSIOp::create(e.b, e.loc, limits, like(e.i32(kBound)));
  Value within = arith::MaxSIOp::create(e.b, e.loc, atMost, like(e.i32(-kBound)));
  return e.sub(within, like(scalar));
}

/// A value of rows, of which a thread has few, copied over a tile.
bool isOfRows(vector::ShuffleOp spread) {
  return spread.getV1() == spread.getV2() &&
         spread.getV1VectorType().getNumElements() * 4 <= spread.getResultVectorType().getNumElements();
}

/// The same number, but nobody can tell.
Value hide(const Emit &e, Value number) {
  InlineAsm copy(e);
  copy.output(number.getType(), 1);
  std::string from = copy.use(number);
  copy << "mov.b32 $0, " + from + ";";
  return copy.build(/*touchesMemory=*/false).front();
}

/// Is the value the same in every iteration, wherever it is computed?
bool isInvariant(scf::WhileOp loop, Value value) {
  Operation *op = value.getDefiningOp();
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  return op && !op->getNumRegions() && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isInvariant(loop, operand); });
}

/// Moves what is the same in all elements of the left side to the right.
void moveScalar(arith::CmpIOp compare) {
  auto type = dyn_cast<VectorType>(compare.getLhs().getType());
  if (!type || !type.getElementType().isInteger(32) || compare.getPredicate() > arith::CmpIPredicate::sge)
    return;
  std::optional<Coordinate> left = Coordinate::of(compare.getLhs()), right = Coordinate::of(compare.getRhs());
  // Different constants are a coordinate's; equal ones a region's, with a scalar of any size.
  if (!left || !left->scalar || !left->constants || left->constants.isSplat())
    return;
  if (right && right->constants && right->constants.isSplat() &&
      (right->scalar || !isBounded(right->constants.getSplatValue<APInt>())))
    return;
  OpBuilder builder(compare);
  Emit e{builder, compare.getLoc()};
  if (auto loop = dyn_cast<scf::WhileOp>(compare->getParentOp()); loop && isInvariant(loop, compare.getLhs()))
    left->scalar = hide(e, left->scalar);
  Value limits;
  if (right) {
    limits = vector::BroadcastOp::create(builder, e.loc, type, differences(e, right->scalar, left->scalar));
    if (right->constants)
      limits = arith::AddIOp::create(builder, e.loc, limits, constant(e, right->constants));
  } else if (auto spread = compare.getRhs().getDefiningOp<vector::ShuffleOp>(); spread && isOfRows(spread)) {
    Value ofRows = differences(e, spread.getV1(), left->scalar);
    limits = vector::ShuffleOp::create(builder, e.loc, ofRows, ofRows, spread.getMask());
  } else { // another value for each element: nothing is saved
    return;
  }
  compare.getLhsMutable().set(constant(e, left->constants));
  compare.getRhsMutable().set(limits);
}
} // namespace

void attn::nvvm::compareCoords(LLVM::LLVMFuncOp func) { func.walk(moveScalar); }
