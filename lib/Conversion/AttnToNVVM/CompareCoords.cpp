//===- CompareCoords.cpp - comparisons of coordinates
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A coordinate of a fragment is a number of the thread plus a constant for each element, so as it is written every
// element of a mask costs an addition for its column, and one comparison for each reason to hide it:
//
//   key + 2 q + {0, 1, 8, 9, ..} <= row + {0, 0, 8, 8, ..}        and  key + 2 q + {0, 1, ..} < Sk
//
// What is the same for the thread moves to one side, and two limits of one coordinate become one:
//
//   {0, 1, 8, 9, ..} <= min(row - (key + 2 q) + {0, 0, 8, 8, ..}, Sk - (key + 2 q) - 1)
//
// which is two limits a thread (a row and the one eight further on) and a comparison with a constant for each element.
// Differences stay in i32: coordinates and sizes are below 2^30 in magnitude.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

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

/// constants <= limits, or <.
struct Limit {
  DenseIntElementsAttr constants;
  Value limits;
};

/// The limit that a comparison states, `<` as `<=`.
std::optional<Limit> limitOf(Value value, const Emit &e) {
  auto compare = value.getDefiningOp<arith::CmpIOp>();
  Limit limit;
  if (!compare || !matchPattern(compare.getLhs(), m_Constant(&limit.constants)))
    return std::nullopt;
  limit.limits = compare.getRhs();
  if (compare.getPredicate() == arith::CmpIPredicate::sle)
    return limit;
  if (compare.getPredicate() != arith::CmpIPredicate::slt)
    return std::nullopt;
  auto type = cast<VectorType>(limit.limits.getType());
  Value minusOne = constant(e, cast<DenseIntElementsAttr>(DenseElementsAttr::get(type, APInt(32, -1, true))));
  limit.limits = arith::AddIOp::create(e.b, e.loc, limit.limits, minusOne);
  return limit;
}

/// Moves what is the same in all elements of the left side to the right.
void moveScalar(arith::CmpIOp compare) {
  auto type = dyn_cast<VectorType>(compare.getLhs().getType());
  if (!type || !type.getElementType().isInteger(32) || compare.getPredicate() > arith::CmpIPredicate::sge)
    return;
  std::optional<Coordinate> left = Coordinate::of(compare.getLhs()), right = Coordinate::of(compare.getRhs());
  if (!left || !left->scalar || !left->constants)
    return;
  OpBuilder builder(compare);
  Emit e{builder, compare.getLoc()};
  auto broadcast = [&](Value scalar) -> Value { return vector::BroadcastOp::create(builder, e.loc, type, scalar); };
  Value limits;
  if (right) {
    limits = broadcast(e.sub(right->scalar ? right->scalar : e.i32(0), left->scalar));
    if (right->constants)
      limits = arith::AddIOp::create(builder, e.loc, limits, constant(e, right->constants));
  } else { // few different values, which the back end sees
    limits = arith::SubIOp::create(builder, e.loc, compare.getRhs(), broadcast(left->scalar));
  }
  compare.getLhsMutable().set(constant(e, left->constants));
  compare.getRhsMutable().set(limits);
}

void joinLimits(arith::AndIOp both) {
  OpBuilder builder(both);
  Emit e{builder, both.getLoc()};
  std::optional<Limit> x = limitOf(both.getLhs(), e), y = limitOf(both.getRhs(), e);
  if (!x || !y || x->constants != y->constants)
    return;
  Value least = arith::MinSIOp::create(builder, e.loc, x->limits, y->limits);
  Value joined = arith::CmpIOp::create(builder, e.loc, arith::CmpIPredicate::sle, constant(e, x->constants), least);
  both.replaceAllUsesWith(joined);
  both.erase();
}
} // namespace

void attn::nvvm::compareCoords(LLVM::LLVMFuncOp func) {
  func.walk(moveScalar);
  func.walk(joinLimits);
}
