//===- GridNest.cpp - which nests of a function can be kernels
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GridNest.h"

#include "attn/Dialect/Attn/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attn;

/// The name of the kernel of a function that has one nest.
static constexpr StringRef kForward = "fwd";

MemRefType GridNest::getCounterType() const {
  if (schedule.getTiles() != Tiling::Dynamic)
    return {};
  return MemRefType::get({1}, IntegerType::get(schedule.getContext(), 32));
}

/// Whether `value` is computed from `from` by the operations around it.
static bool dependsOn(Value value, Value from, SmallPtrSetImpl<Operation *> &seen) {
  if (value == from)
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || !seen.insert(def).second)
    return false;
  return llvm::any_of(def->getOperands(), [&](Value operand) { return dependsOn(operand, from, seen); });
}
static bool dependsOn(Value value, Value from) {
  SmallPtrSet<Operation *, 16> seen;
  return dependsOn(value, from, seen);
}

/// A sweep whose end moves with the row tile and whose begin does not grows with it.
bool GridNest::isHeaviestLast() const {
  if (!sweep)
    return false;
  scf::ForallOp nest = loop;
  SweepOp longest = sweep;
  Value rowTile = nest.getInductionVars()[2];
  return dependsOn(longest.getHi(), rowTile) && !dependsOn(longest.getLo(), rowTile);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Memory that nests hand on to each other, made for the time of a call.
static memref::AllocOp getWorkspace(Value value) { return value.getDefiningOp<memref::AllocOp>(); }

/// Sizes are what both sides can compute from the arguments: constants, dimensions, and integer arithmetic on those.
static bool isSizeOp(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return true;
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return isa<BlockArgument>(dim.getSource()) || getWorkspace(dim.getSource());
  return isa<arith::ArithDialect>(op.getDialect()) && op.getNumResults() == 1 &&
         op.getResult(0).getType().isIntOrIndex();
}

static LogicalResult checkFunction(func::FuncOp func, scf::ForallOp firstNest) {
  for (Operation &op : func.front()) {
    if (isa<scf::ForallOp, func::ReturnOp>(op) || isSizeOp(op))
      continue;
    if (auto workspace = dyn_cast<memref::AllocOp>(op)) {
      if (workspace.getType().getLayout().isIdentity() && workspace.getType().getRank() > 0)
        continue;
      return op.emitOpError("is no workspace: expects a dense memref of rank 1 or more, got ") << workspace.getType();
    }
    InFlightDiagnostic diag = op.emitOpError("is neither an argument nor a size, so a kernel of @")
                              << func.getName() << " cannot have it";
    diag.attachNote(firstNest.getLoc()) << "the kernel is made of this nest";
    return diag;
  }
  return success();
}

/// A nest may read what one before it has written. What tiles of the same nest write has no order.
static LogicalResult checkWorkspaceOrder(ArrayRef<GridNest> nests) {
  llvm::SmallPtrSet<Operation *, 4> written;
  for (GridNest nest : nests) {
    llvm::SmallPtrSet<Operation *, 4> writes;
    Operation *tooEarly = nullptr;
    memref::AllocOp what;
    nest.loop.walk([&](Operation *op) {
      for (Value operand : op->getOperands()) {
        memref::AllocOp workspace = getWorkspace(operand);
        if (!workspace)
          continue;
        auto store = dyn_cast<StoreOp>(op); // one that adds needs something to add to
        if (hasEffect<MemoryEffects::Write>(op, operand) && !(store && store.getAdd()))
          writes.insert(workspace);
        else if (!tooEarly && !isa<memref::DimOp>(op) && !written.contains(workspace)) {
          tooEarly = op;
          what = workspace;
        }
      }
    });
    if (tooEarly) {
      InFlightDiagnostic diag =
          tooEarly->emitOpError("reads a workspace before any nest in front of this one writes it");
      diag.attachNote(what.getLoc()) << "the workspace is this";
      return diag;
    }
    written.insert(writes.begin(), writes.end());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// One nest
//===----------------------------------------------------------------------===//

/// Finds what the kernel needs of the function: sizes, and through them arguments and workspaces.
static void findNeeds(func::FuncOp func, GridNest &nest) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(nest.loop.getRegion(), used);
  used.insert_range(nest.loop.getDynamicUpperBound());
  SmallVector<Value> worklist = used.takeVector();
  llvm::SmallPtrSet<Operation *, 16> sizes;
  llvm::SmallPtrSet<Value, 16> taken;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (isa<BlockArgument>(value) || getWorkspace(value))
      taken.insert(value);
    else if (sizes.insert(value.getDefiningOp()).second)
      llvm::append_range(worklist, value.getDefiningOp()->getOperands());
  }
  for (BlockArgument argument : func.getArguments())
    if (taken.contains(argument))
      nest.arguments.push_back(argument);
  for (Operation &op : func.front())
    if (auto workspace = dyn_cast<memref::AllocOp>(op); workspace && taken.contains(workspace))
      nest.arguments.push_back(workspace);
    else if (sizes.contains(&op))
      nest.sizes.push_back(&op);
}

static FailureOr<GridNest> readNest(func::FuncOp func, scf::ForallOp loop, bool alone) {
  GridNest nest;
  nest.loop = loop;
  for (Operation *op : {loop.getOperation(), func.getOperation()})
    if (!nest.schedule)
      nest.schedule = op->getAttrOfType<ScheduleAttr>(AttnDialect::kScheduleAttr);
  if (!nest.schedule)
    return func.emitOpError("expects '") << AttnDialect::kScheduleAttr << "': its loops were built from a schedule";
  TargetAttr target = getTarget(loop);
  if (!target)
    return requireTarget(func), failure();
  if (nest.isPersistent() && target.getFamily() != Family::Wgmma)
    return func.emitOpError("has a schedule with tiles = ")
           << stringifyTiling(nest.schedule.getTiles()) << ", but a block of family "
           << stringifyFamily(target.getFamily()) << " takes one tile; it must say tiles = single";
  if (loop.getRank() != 3 || !loop.isNormalized() || loop.getNumResults())
    return loop.emitOpError("expects a nest over (batch, heads, row tiles) from 0 by 1, without results");
  SmallVector<SweepOp> sweeps;
  loop.walk([&](SweepOp sweep) { sweeps.push_back(sweep); });
  if (sweeps.size() > 1)
    return loop.emitOpError("expects at most one attn.sweep in a tile, got ") << sweeps.size();
  if (!sweeps.empty())
    nest.sweep = sweeps.front();
  auto name = loop->getAttrOfType<StringAttr>(AttnDialect::kNestAttr);
  if (!name && !alone)
    return loop.emitOpError("is one of several nests of @")
           << func.getName() << ", so it needs '" << AttnDialect::kNestAttr << "', which its kernel is named after";
  nest.kernel = (func.getName() + "_" + (name ? name.getValue() : kForward)).str();
  findNeeds(func, nest);
  return nest;
}

/// A kernel's name must be free, in the module and among the nests before.
static LogicalResult checkName(func::FuncOp func, ArrayRef<GridNest> before, GridNest &nest) {
  Operation *taken = SymbolTable::lookupSymbolIn(func->getParentOp(), nest.kernel);
  for (GridNest other : before)
    if (other.kernel == nest.kernel)
      taken = other.loop;
  if (!taken)
    return success();
  InFlightDiagnostic diag = func.emitOpError("needs the name @") << nest.kernel << " for its kernel";
  diag.attachNote(taken->getLoc()) << "which is taken here";
  return diag;
}

FailureOr<SmallVector<GridNest>> attn::readNests(func::FuncOp func) {
  SmallVector<scf::ForallOp> loops(func.front().getOps<scf::ForallOp>());
  SmallVector<GridNest> nests;
  for (scf::ForallOp loop : loops) {
    FailureOr<GridNest> nest = readNest(func, loop, /*alone=*/loops.size() == 1);
    if (failed(nest) || failed(checkName(func, nests, *nest)))
      return failure();
    nests.push_back(std::move(*nest));
  }
  if (!loops.empty() && (failed(checkFunction(func, loops.front())) || failed(checkWorkspaceOrder(nests))))
    return failure();
  return nests;
}
