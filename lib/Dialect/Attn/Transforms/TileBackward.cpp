//===- TileBackward.cpp - rewrite gradients of attention into loops over tiles
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function becomes a list of nests that run one after the other: `pre`, then one for each schedule of the op. What
// the nests hand on lies in workspaces, which are allocations of the function.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "BackwardNests.h"
#include "Signature.h"
#include "attn/Analysis/SharedPlan.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"

#include <numeric>

namespace attn {
#define GEN_PASS_DEF_TILEBACKWARDPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-tile-backward"

/// Queries of a tile of `pre`, and what the rows of a workspace come in multiples of; more where a nest takes more
/// queries at once, so that no tile reads past the end of a row.
static constexpr int64_t kPreQueries = 64;

namespace {
/// Writes the nests of one attn.sdpa_grad.
class BackwardTiler {
public:
  BackwardTiler(SdpaGradOp op, DestinationFunction &dest, TargetAttr target, RangeMode mode)
      : op(op), target(target), b(op.getLoc(), op.getContext()),
        f{target.getFamily(),
          {getMaskAtoms(op.getMaskAttr()), getRegionOrNull(op.getScore()), getRegionOrNull(op.getVisible()),
           getRegionOrNull(op.getScoreGrad()), chooseScaleRule(op.getScale().convertToFloat(), !op.getScore().empty()),
           dest.values},
          mode} {
    b.setInsertionPoint(dest.func.front().getTerminator());
    IRMapping &values = dest.values;
    f.scored = !op.getScore().empty();
    f.noQueries = cast<ShapedType>(op.getQ().getType()).getDimSize(2) == 0;
    f.noKeys = cast<ShapedType>(op.getK().getType()).getDimSize(2) == 0;
    f.scale = op.getScale().convertToFloat();
    f.q = values.lookup(op.getQ()), f.k = values.lookup(op.getK()), f.v = values.lookup(op.getV());
    f.o = values.lookup(op.getO()), f.lse = values.lookup(op.getLse()), f.dout = values.lookup(op.getDout());
    f.dlse = op.getDlse() ? values.lookup(op.getDlse()) : Value();
    f.dq = values.lookup(op.getDq()), f.dk = values.lookup(op.getDk()), f.dv = values.lookup(op.getDv());
  }

  LogicalResult run(ArrayRef<ScheduleAttr> schedules);

private:
  Value constant(int64_t c) { return arith::ConstantIndexOp::create(b, c); }
  Value dim(Value memref, int64_t index) { return memref::DimOp::create(b, memref, index); }
  Value toI32(Value index) { return arith::IndexCastOp::create(b, b.getI32Type(), index); }
  Value allocate(StringRef name, Value rows, ArrayRef<int64_t> behind = {});

  SdpaGradOp op;
  TargetAttr target;
  ImplicitLocOpBuilder b;
  BackwardFunction f;
};
} // namespace

/// A workspace of (batch, query heads, rows), and what is behind these. Sizes that the
/// spec fixes are in its type at once: folded into it later, they would leave a cast between the nests and the
/// allocation.
Value BackwardTiler::allocate(StringRef name, Value rows, ArrayRef<int64_t> behind) {
  SmallVector<int64_t> shape(cast<MemRefType>(f.q.getType()).getShape().take_front(3));
  SmallVector<Value> sizes;
  if (ShapedType::isDynamic(shape[0]))
    sizes.push_back(f.batches);
  if (ShapedType::isDynamic(shape[1]))
    sizes.push_back(f.queryHeads);
  shape[2] = getConstantIntValue(rows).value_or(ShapedType::kDynamic);
  if (ShapedType::isDynamic(shape[2]))
    sizes.push_back(rows);
  llvm::append_range(shape, behind);
  auto alloc = memref::AllocOp::create(b, MemRefType::get(shape, b.getF32Type()), sizes);
  alloc->setAttr(AttnDialect::kNameAttr, b.getStringAttr(name));
  return alloc;
}

/// The nests there are, by what they make.
static bool isNest(ScheduleAttr schedule) {
  size_t count = schedule.getGrads().size();
  return schedule.makes("dQ") ? count == 1 || count == 3 : count > 0;
}

LogicalResult BackwardTiler::run(ArrayRef<ScheduleAttr> schedules) {
  int64_t rows = kPreQueries;
  bool adds = false;
  for (ScheduleAttr schedule : schedules) {
    if (!isNest(schedule))
      return op.emitOpError("has a schedule that makes dQ with one other gradient; no nest does");
    if (schedule.makes("dK") || schedule.makes("dV"))
      rows = std::lcm(rows, schedule.getTileQueries());
    adds |= schedule.getGrads().size() == 3;
  }

  f.batches = dim(f.q, 0), f.queryHeads = dim(f.q, 1), f.queries = dim(f.q, 2);
  f.keyHeads = dim(f.k, 1), f.keys = dim(f.k, 2);
  f.queryLength = toI32(f.queries);
  f.keyLength = toI32(f.keys);
  Value heads = toI32(f.queryHeads), groups = toI32(f.keyHeads);
  f.groupSize = arith::DivUIOp::create(b, heads, groups);
  // As many rows as whole tiles have.
  int64_t fixed = cast<MemRefType>(f.q.getType()).getDimSize(2);
  Value unit = constant(rows);
  Value padded = ShapedType::isDynamic(fixed)
                     ? arith::MulIOp::create(b, arith::CeilDivUIOp::create(b, f.queries, unit), unit).getResult()
                     : constant(llvm::alignTo(fixed, rows));
  f.lse2 = allocate("lse2", padded);
  f.dsum = allocate("dsum", padded);
  if (adds) {
    int64_t d = cast<MemRefType>(f.q.getType()).getDimSize(3);
    f.dqsum = allocate("dqsum", padded, paddedHeadDim(d, /*panels=*/target.getFamily() == Family::Wgmma));
  }

  // Sums of rows, and rows alone, need no warpgroup.
  TargetAttr ofRows;
  if (target.getFamily() == Family::Wgmma)
    ofRows = asMmaSync(target);
  auto byRows = [&](int64_t queries) {
    bool isCpu = target.getFamily() == Family::Cpu;
    return ScheduleAttr::plain(op.getContext(), queries, /*keys=*/16, /*warps=*/isCpu ? 1 : queries / 16, /*depth=*/1,
                               "rows of the workspace");
  };
  buildPreNest(b, op.getLoc(), f, byRows(rows), ofRows);
  for (ScheduleAttr schedule : schedules) {
    bool ofQueries = schedule.makes("dQ") && schedule.getGrads().size() == 1;
    if (failed(ofQueries ? buildQueryNest(b, op.getLoc(), f, schedule) : buildKeyNest(b, op.getLoc(), f, schedule)))
      return failure();
  }
  if (adds)
    buildPostNest(b, op.getLoc(), f, byRows(kPreQueries), ofRows);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct TileBackward : attn::impl::TileBackwardPassBase<TileBackward> {
  using TileBackwardPassBase::TileBackwardPassBase;

  LogicalResult tileFunction(SdpaGradOp op) {
    TargetAttr target = requireTarget(op);
    if (!target)
      return failure();
    if (!op.getSchedulesAttr() || op.getSchedulesAttr().empty())
      return op.emitOpError("expects schedules; run attn-choose-schedule first");
    if (!op.getScore().empty() && op.getScoreGrad().empty())
      return op.emitOpError("has a score region and no derivative of it; run attn-derive-grad first");

    FailureOr<DestinationFunction> dest = makeDestinationFunction(op);
    if (failed(dest))
      return failure();
    auto schedules = llvm::to_vector(op.getSchedulesAttr().getAsRange<ScheduleAttr>());
    const bool everyTile = noRanges;
    RangeMode mode = chooseRangeMode(op, everyTile, DEBUG_TYPE);
    if (failed(BackwardTiler(op, *dest, target, mode).run(schedules))) {
      dest->func.erase();
      return failure();
    }
    for (scf::ForallOp nest : dest->func.getOps<scf::ForallOp>()) {
      auto schedule = nest->getAttrOfType<ScheduleAttr>(AttnDialect::kScheduleAttr);
      remark::passed(op.getLoc(), remark::RemarkOpts::name("tiled").category(DEBUG_TYPE).function(dest->func.getName()))
          << remark::metric("nest", nest->getAttrOfType<StringAttr>(AttnDialect::kNestAttr).getValue())
          << remark::metric("queries", schedule.getTileQueries()) << remark::metric("keys", schedule.getTileKeys());
    }
    op->getParentOfType<func::FuncOp>().erase();
    return success();
  }

  void runOnOperation() override {
    SmallVector<SdpaGradOp> ops;
    getOperation().walk([&](SdpaGradOp op) { ops.push_back(op); });
    for (SdpaGradOp op : ops)
      if (failed(tileFunction(op)))
        return signalPassFailure();
  }
};
} // namespace
