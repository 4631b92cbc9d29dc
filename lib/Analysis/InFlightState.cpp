//===- InFlightState.cpp - what InFlight knows at a point of a path
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InFlightState.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace attn;
using namespace attn::inflight;

Number Number::of(Value value) {
  Number number;
  while (true) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant))) {
      number.offset += constant.getSExtValue();
      return number;
    }
    if (auto add = value.getDefiningOp<arith::AddIOp>()) {
      if (matchPattern(add.getRhs(), m_ConstantInt(&constant))) {
        number.offset += constant.getSExtValue();
        value = add.getLhs();
        continue;
      }
    }
    if (auto sub = value.getDefiningOp<arith::SubIOp>()) {
      if (matchPattern(sub.getRhs(), m_ConstantInt(&constant))) {
        number.offset -= constant.getSExtValue();
        value = sub.getLhs();
        continue;
      }
    }
    number.base = value.getAsOpaquePointer();
    return number;
  }
}

State attn::inflight::renumber(const State &state, const llvm::SmallPtrSetImpl<Operation *> &rings, Number from,
                               Number to) {
  auto map = [&](Item item) {
    if (rings.contains(item.ring) && item.number.base == from.base)
      item.number = {to.base, item.number.offset - from.offset + to.offset};
    return item;
  };
  State mapped = state;
  mapped.slots.clear();
  mapped.released.clear();
  for (Item &item : mapped.queue)
    item = map(item);
  for (auto &[item, slot] : state.slots)
    mapped.slots[map(item)] = slot;
  for (const Item &item : state.released)
    mapped.released.insert(map(item));
  return mapped;
}

State attn::inflight::withoutUnwanted(const State &state, Number end) {
  State left = state;
  for (auto &[item, slot] : state.slots)
    if (!slot.waited && slot.below == end && item.number.base == end.base && item.number.offset >= end.offset)
      left.slots.erase(item);
  return left;
}

std::optional<Number> attn::inflight::boundOf(CopyOp copy) {
  auto less = copy.getGuard() ? copy.getGuard().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  if (!less || less.getPredicate() != arith::CmpIPredicate::slt ||
      !(Number::of(less.getLhs()) == Number::of(copy.getItem())))
    return std::nullopt;
  return Number::of(less.getRhs());
}

Number attn::inflight::endOf(SweepOp sweep) {
  APInt lo;
  if (matchPattern(sweep.getLo(), m_ConstantInt(&lo))) {
    Number end = Number::of(sweep.getHi());
    end.offset -= lo.getSExtValue();
    return end;
  }
  for (Operation *user : sweep.getHi().getUsers())
    if (auto count = dyn_cast<arith::SubIOp>(user);
        count && count.getLhs() == sweep.getHi() && count.getRhs() == sweep.getLo())
      return Number::of(count);
  return {sweep.getOperation(), 0};
}
