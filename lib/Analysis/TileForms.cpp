//===- TileForms.cpp - which vectors run along the rows of tiles
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/TileForms.h"

#include "attn/Analysis/FragmentCoords.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace attn;

RankedTensorType attn::getPlainTile(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.getEncoding() ? type : RankedTensorType();
}

bool attn::isPlainVector(Value value) {
  RankedTensorType type = getPlainTile(value);
  return type && type.getRank() == 1;
}

void attn::ownConstants(Operation *scope) {
  SmallVector<OpOperand *> uses;
  scope->walk([&](Operation *user) {
    for (OpOperand &use : user->getOpOperands())
      if (getPlainTile(use.get()) && isa_and_nonnull<arith::ConstantOp, tensor::SplatOp>(use.get().getDefiningOp()))
        uses.push_back(&use);
  });
  OpBuilder builder(scope->getContext());
  for (OpOperand *use : uses) {
    Operation *constant = use->get().getDefiningOp();
    if (scope->isAncestor(constant) && constant->hasOneUse())
      continue;
    builder.setInsertionPoint(use->getOwner());
    use->set(builder.clone(*constant)->getResult(0));
    if (constant->use_empty())
      constant->erase();
  }
}

bool attn::isColumnSlice(tensor::ExtractSliceOp slice) {
  ArrayRef<int64_t> offsets = slice.getStaticOffsets();
  if (slice.getSourceType().getRank() != 2 || slice.getType().getRank() != 2 || !slice.hasUnitStride())
    return false;
  bool allRows = offsets[0] == 0 && slice.getType().getDimSize(0) == slice.getSourceType().getDimSize(0);
  return allRows && !ShapedType::isDynamic(offsets[1]) && offsets[1] % kAtomCols == 0 &&
         slice.getType().getDimSize(1) % kAtomCols == 0;
}

LogicalResult TileForms::run(Operation *scope) {
  llvm::DenseMap<Value, SmallVector<Value>> same; // neighbours that share a form
  SmallVector<std::pair<Value, Form>> seeds;
  auto join = [&](Value a, Value b) {
    if (isPlainVector(a) && isPlainVector(b)) {
      same[a].push_back(b);
      same[b].push_back(a);
    }
  };
  auto joinAll = [&](ValueRange a, ValueRange b) {
    for (auto [left, right] : llvm::zip_equal(a, b))
      join(left, right);
  };
  scope->walk([&](Operation *op) {
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      seeds.push_back({reduce.getResult(), Form::Rows});
    } else if (auto spread = dyn_cast<SpreadOp>(op)) {
      seeds.push_back({spread.getX(), spread.getDim() == 1 ? Form::Rows : Form::Cols});
    } else if (auto coord = dyn_cast<CoordOp>(op)) {
      seeds.push_back({coord.getResult(), coord.getDim() == 0 ? Form::Rows : Form::Cols});
    } else if (auto sweep = dyn_cast<SweepOp>(op)) {
      Block &body = sweep.getBody().front();
      joinAll(sweep.getInit(), body.getArguments().drop_front(2));
      joinAll(sweep.getInit(), body.getTerminator()->getOperands());
      joinAll(sweep.getInit(), sweep.getResults());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      joinAll(loop.getInitArgs(), loop.getRegionIterArgs());
      joinAll(loop.getInitArgs(), loop.getYieldedValues());
      joinAll(loop.getInitArgs(), loop.getResults());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (branch.getNumResults()) {
        joinAll(branch.getResults(), branch.thenYield().getOperands());
        joinAll(branch.getResults(), branch.elseYield().getOperands());
      }
    } else if (op->getNumResults() == 1) {
      for (Value operand : op->getOperands())
        join(op->getResult(0), operand);
    }
  });

  SmallVector<Value> worklist;
  auto assign = [&](Value value, Form form) -> LogicalResult {
    if (!isPlainVector(value))
      return success();
    auto [known, inserted] = forms.try_emplace(value, form);
    if (inserted)
      worklist.push_back(value);
    if (known->second == form)
      return success();
    return emitError(value.getLoc()) << "a vector is used along the rows and along the columns of tiles; no fragment "
                                        "holds both";
  };
  for (auto [value, form] : seeds)
    if (failed(assign(value, form)))
      return failure();
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    for (Value neighbour : same[value])
      if (failed(assign(neighbour, forms[value])))
        return failure();
  }
  return success();
}
