//===- AssignFragments.cpp - spread every tile over the registers of its warps
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix in a role is in `tile` form, a vector in `rows` or `cols` form (Analysis/TileForms.h). Constants have no
// form of their own: each use gets its own copy.
//
// The sum of every row is carried through a sweep as what each lane has seen (`quads`), so that the exchange between
// lanes happens once, behind it:
//
//   l' = l * alpha + reduce sum p          l, l' : rows       two shuffles in every step
//   l' = l * spread(alpha) + reduce sum p  l, l' : quads      none; behind the sweep  reduce sum l : quads -> rows
//
// which is right because alpha is equal in the four lanes of a quad and l starts at 0.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "Families.h"
#include "KernelRemark.h"
#include "attn/Analysis/FragmentCoords.h"
#include "attn/Analysis/MmaShapes.h"
#include "attn/Analysis/TileForms.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "attn/Facts/Facts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/DebugLog.h"

namespace attn {
#define GEN_PASS_DEF_ASSIGNFRAGMENTSPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-assign-fragments"

namespace {
class Assigner {
public:
  Assigner(RoleOp role, ScheduleAttr schedule, Family family)
      : role(role), family(family), warpsM(schedule.getWarps()[0]), warpsN(schedule.getWarps()[1]),
        builder(role.getContext()) {}
  LogicalResult run();

private:
  LogicalResult checkOps();
  LogicalResult checkDot(DotOp dot);
  LogicalResult checkSlice(tensor::ExtractSliceOp slice);
  bool deferRowSum(SweepOp sweep, unsigned index);
  LogicalResult setTypes();
  LogicalResult setType(Value value);

  RankedTensorType encode(RankedTensorType type, Form form) {
    auto frag = FragAttr::get(type.getContext(), warpsM, warpsN, form);
    return RankedTensorType::get(type.getShape(), type.getElementType(), frag);
  }

  RoleOp role;
  Family family;
  int64_t warpsM, warpsN;
  OpBuilder builder;
  TileForms forms;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be spread
//===----------------------------------------------------------------------===//

LogicalResult Assigner::checkDot(DotOp dot) {
  auto tileOf = [](Value operand) {
    auto buf = dyn_cast<BufType>(operand.getType());
    return buf ? buf.getTile() : cast<RankedTensorType>(operand.getType());
  };
  if (!isa<BufType>(dot.getB().getType()))
    return dot.emitOpError("expects its B operand in shared memory, got ") << dot.getB().getType();
  RankedTensorType a = tileOf(dot.getA()), b = tileOf(dot.getB()), c = dot.getTile();
  std::string element;
  llvm::raw_string_ostream(element) << a.getElementType();
  int64_t m = c.getDimSize(0), n = c.getDimSize(1), k = a.getDimSize(dot.getTransA() ? 0 : 1);
  facts::Family family = toFacts(this->family);
  const facts::MmaShape *shape = facts::findMmaShape(family, element);
  bool sameType = a.getElementType() == b.getElementType();
  if (shape && sameType && mmaGrid(*shape, m, n, k, warpsM, warpsN))
    return success();
  InFlightDiagnostic diag = dot.emitOpError("has no matrix instruction for M = ")
                            << m << ", N = " << n << ", K = " << k << ", A of " << a.getElementType() << ", B of "
                            << b.getElementType() << " on " << warpsM << " x " << warpsN << " warps; there are:";
  for (const facts::MmaShape &row : facts::mmaShapes())
    if (row.family == family)
      diag << " m" << row.m << "n" << (row.n ? std::to_string(row.n) : "N") << "k" << row.k << " "
           << StringRef(row.element) << " (N in multiples of " << row.multipleN << ")";
  return diag;
}

LogicalResult Assigner::checkSlice(tensor::ExtractSliceOp slice) {
  if (isColumnSlice(slice) && warpsN == 1)
    return success();
  return slice.emitOpError("expects whole columns of a matrix, from a multiple of ")
         << kAtomCols << " on, and warps that own whole rows; got " << slice.getType() << " of "
         << slice.getSourceType() << " on " << warpsM << " x " << warpsN << " warps";
}

LogicalResult Assigner::checkOps() {
  WalkResult result = role.walk([&](Operation *op) -> WalkResult {
    if (auto dot = dyn_cast<DotOp>(op); dot && failed(checkDot(dot)))
      return WalkResult::interrupt();
    auto isTensor = [](Type type) { return isa<TensorType>(type); };
    if (llvm::none_of(op->getResultTypes(), isTensor) && llvm::none_of(op->getOperandTypes(), isTensor))
      return WalkResult::advance();
    if (isa<AttnDialect>(op->getDialect()) || OpTrait::hasElementwiseMappableTraits(op) ||
        isa<arith::ConstantOp, tensor::SplatOp, scf::ForOp, scf::IfOp, scf::YieldOp>(op))
      return WalkResult::advance();
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return WalkResult(checkSlice(slice));
    op->emitError("'") << op->getName() << "' cannot be spread over warps: a role computes on tiles by attn ops, by "
                       << "elementwise arith and math, tensor.splat, tensor.extract_slice, scf.for and scf.if";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Row sums
//===----------------------------------------------------------------------===//

/// Carries value `index` of the sweep in quads form, if it is a running sum of rows (picture at the top).
bool Assigner::deferRowSum(SweepOp sweep, unsigned index) {
  Block &body = sweep.getBody().front();
  BlockArgument carried = body.getArgument(2 + index);
  if (!isPlainVector(carried) || !matchPattern(sweep.getInit()[index], m_AnyZeroFloat()))
    return false;
  auto add = body.getTerminator()->getOperand(index).getDefiningOp<arith::AddFOp>();
  if (!add || !add->hasOneUse())
    return false;
  auto sum = add.getRhs().getDefiningOp<ReduceOp>();
  Value rest = add.getLhs();
  if (!sum) {
    sum = add.getLhs().getDefiningOp<ReduceOp>();
    rest = add.getRhs();
  }
  if (!sum || sum.getKind() != ReduceKind::Sum || !sum->hasOneUse() || sum.getX().getType().getRank() != 2)
    return false;
  // The rest is the carried value, or it times a factor of the row.
  auto scale = rest.getDefiningOp<arith::MulFOp>();
  if (rest != carried && !(scale && scale->hasOneUse() && (scale.getLhs() == carried) != (scale.getRhs() == carried)))
    return false;
  if (!carried.hasOneUse())
    return false;

  RankedTensorType rows = getPlainTile(carried);
  RankedTensorType quads = encode(RankedTensorType::get({rows.getDimSize(0), 4}, rows.getElementType()), Form::Quads);
  builder.setInsertionPoint(sweep);
  auto zero = arith::ConstantOp::create(builder, sweep.getLoc(), builder.getZeroAttr(quads));
  sweep.getInitMutable()[index].set(zero);
  if (scale) {
    OpOperand &factor = scale->getOpOperand(scale.getLhs() == carried ? 1 : 0);
    builder.setInsertionPoint(scale);
    factor.set(SpreadOp::create(builder, scale.getLoc(), quads, factor.get(), 1));
    scale.getResult().setType(quads);
  }
  carried.setType(quads);
  sum.getResult().setType(quads);
  add.getResult().setType(quads);
  Value result = sweep.getResult(index);
  result.setType(quads);
  builder.setInsertionPointAfter(sweep);
  auto total = ReduceOp::create(builder, sweep.getLoc(), rows, ReduceKind::Sum, result, StringAttr());
  result.replaceAllUsesExcept(total, total);
  remark::passed(sum.getLoc(), inKernel(sum, "row-sum", DEBUG_TYPE))
      << "each lane sums its own columns; lanes are added once, behind the sweep";
  return true;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult Assigner::setType(Value value) {
  RankedTensorType type = getPlainTile(value);
  if (!type)
    return success();
  if (type.getRank() < 1 || type.getRank() > 2)
    return emitError(value.getLoc()) << "expects tiles of rank 1 or 2 in a role, got " << type;
  Form form = type.getRank() == 1 ? forms.lookup(value) : Form::Tile;
  // F1, F2: whole atoms of 16 rows and 8 columns for every warp.
  bool rowsFit = form == Form::Cols || type.getDimSize(0) % (kAtomRows * warpsM) == 0;
  bool colsFit = form == Form::Rows || type.getShape().back() % (kAtomCols * warpsN) == 0;
  if (!rowsFit || !colsFit)
    return emitError(value.getLoc()) << type << " cannot be spread over " << warpsM << " x " << warpsN
                                     << " warps: expects rows in multiples of " << kAtomRows * warpsM
                                     << " and columns in multiples of " << kAtomCols * warpsN;
  RankedTensorType encoded = encode(type, form);
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!elements || !elements.isSplat())
      return constant.emitOpError("expects one value for all elements of a tile in a role");
    constant.setValueAttr(elements.reshape(encoded));
  }
  value.setType(encoded);
  return success();
}

LogicalResult Assigner::setTypes() {
  WalkResult result = role.walk([&](Operation *op) -> WalkResult {
    for (Value value : op->getResults())
      if (failed(setType(value)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          if (failed(setType(argument)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Assigner::run() {
  if (family == Family::MmaSync && warpsN != 1)
    return role.emitOpError("expects schedules of [m, 1] warps on family mma_sync (every warp owns whole rows), got [")
           << warpsM << ", " << warpsN << "]";
  if (failed(checkOps()))
    return failure();
  ownConstants(role);
  role.walk([&](SweepOp sweep) {
    for (unsigned index = 0; index < sweep.getInit().size(); ++index)
      deferRowSum(sweep, index);
  });
  if (failed(forms.run(role)) || failed(setTypes()))
    return failure();
  role.walk([&](DotOp dot) {
    RankedTensorType type = dot.getTile();
    remark::analysis(dot.getLoc(), inKernel(dot, "fragment", DEBUG_TYPE))
        << "accumulator of " << remark::metric("dot", dot.getLabel().value_or("a product"))
        << remark::metric("registers", type.getNumElements() / (kWarpLanes * warpsM * warpsN));
  });
  return success();
}

namespace {
struct AssignFragments : attn::impl::AssignFragmentsPassBase<AssignFragments> {
  using AssignFragmentsPassBase::AssignFragmentsPassBase;
  void runOnOperation() override;
};
} // namespace

void AssignFragments::runOnOperation() {
  WalkResult result = getOperation().walk([&](RoleOp role) -> WalkResult {
    auto kernel = role->getParentOfType<KernelOp>();
    TargetAttr target = requireTarget(role);
    if (!target)
      return WalkResult::interrupt();
    if (!kernel || !kernel.getScheduleAttr())
      return role.emitOpError("needs a schedule on its kernel, got none"), WalkResult::interrupt();
    LDBG() << "assign fragments in role " << role.getName();
    if (failed(Assigner(role, kernel.getScheduleAttr(), target.getFamily()).run()))
      return WalkResult::interrupt();
    return WalkResult::skip();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
