//===- ScheduleFit.cpp - whether a machine can run a schedule
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By the formulas of Analysis. Each family asks its own questions, in the order in which an answer helps the reader:
// the form of the schedule, then threads, shared memory, registers.
//
//===----------------------------------------------------------------------===//

#include "ScheduleFit.h"

#include "InlineRegion.h"
#include "attn/Analysis/FragmentCoords.h"
#include "attn/Analysis/RegisterEstimate.h"
#include "attn/Analysis/SharedPlan.h"
#include "attn/Facts/Facts.h"

using namespace mlir;
using namespace attn;

OpSizes OpSizes::of(AttentionOp op) {
  return {cast<ShapedType>(op.getQ().getType()).getShape().back(),
          cast<ShapedType>(op.getV().getType()).getShape().back(),
          gathersTiles(op.getScore()) || gathersTiles(op.getVisible()), isa<SdpaGradOp>(op.getOperation()),
          !op.getScore().empty()};
}

static bool areKeysOnRows(ScheduleAttr schedule) { return schedule.makes("dK") || schedule.makes("dV"); }

/// A nest of all gradients adds up dQ in memory.
static bool addsToQ(ScheduleAttr schedule) { return schedule.getGrads().size() == 3; }

static int64_t getBackwardBytes(ScheduleAttr schedule, OpSizes sizes, TargetAttr target) {
  bool wgmma = target.getFamily() == Family::Wgmma, makesK = schedule.makes("dK"), makesV = schedule.makes("dV");
  BackwardShape shape{schedule.getTileQueries(),
                      schedule.getTileKeys(),
                      paddedHeadDim(sizes.d, /*panels=*/wgmma),
                      paddedHeadDim(sizes.dv, /*panels=*/wgmma),
                      schedule.getDepthQ(),
                      schedule.getDepthDo(),
                      schedule.getDepthK(),
                      schedule.getDepthV(),
                      /*readsV=*/makesK || schedule.makes("dQ"),
                      /*depthDs=*/addsToQ(schedule) ? schedule.getDepthDs() : 0};
  if (!wgmma)
    return backwardSharedBytes(shape);
  WgmmaBackward nest{shape, schedule.getGroups(), areKeysOnRows(schedule), schedule.getTiles() == Tiling::Dynamic};
  // Results lie over slots of just their bytes that other groups do not read.
  bool own = schedule.getOut() == Staging::Own, square = shape.headDim == shape.valueDim;
  if (makesK && (own || addsToQ(schedule)))
    nest.own1 = shape.headDim;
  if (makesV && (own || (!makesK && !square)))
    nest.own2 = shape.valueDim;
  if (!makesK && !makesV && own)
    nest.own1 = shape.headDim;
  return wgmmaBackwardFewest(nest, target.getSmem());
}

int64_t attn::getSharedBytes(ScheduleAttr schedule, OpSizes sizes, TargetAttr target) {
  Family family = target.getFamily();
  if (family == Family::Cpu)
    return 0;
  bool wgmma = family == Family::Wgmma;
  if (!schedule.getGrads().empty())
    return getBackwardBytes(schedule, sizes, target);
  ForwardShape shape{schedule.getTileQueries(),
                     schedule.getTileKeys(),
                     paddedHeadDim(sizes.d, /*panels=*/wgmma),
                     paddedHeadDim(sizes.dv, /*panels=*/wgmma),
                     schedule.getDepthQ(),
                     schedule.getDepthK(),
                     schedule.getDepthV()};
  if (!wgmma)
    return sharedBytes(shape);
  // PartitionRoles lays O over Q only where a slot of Q has just its bytes.
  bool fitsQ = shape.headDim == shape.valueDim && shape.depthQ == 1, dynamic = schedule.getTiles() == Tiling::Dynamic;
  int64_t groups = schedule.getGroups(), pieces = 0;
  if (schedule.getOut() == Staging::Own || !fitsQ)
    pieces = fewestOutPieces(shape, groups, dynamic, target.getSmem());
  return wgmmaSharedBytes(shape, groups, pieces, dynamic);
}

namespace {
/// Collects the reason. The questions return true if they found one.
class Fit {
public:
  Fit(ScheduleAttr schedule, OpSizes sizes, TargetAttr target) : schedule(schedule), sizes(sizes), target(target) {
    os << "tile [" << schedule.getTileQueries() << ", " << schedule.getTileKeys() << "] ";
  }

  bool hasBadGrads();
  bool hasBadHold();
  bool refusesCpu();
  bool refusesMmaSync();
  bool refusesWgmma();

  std::string text;

private:
  bool hasFieldsOfWgmma();
  bool hasBadWarps();
  bool isTooLarge(int64_t threads);
  bool hasBadSeam();
  bool cannotShareQ();
  /// Registers a thread needs, by the formula of family and direction.
  int64_t countRegs(int64_t threads);

  // Rows stay for a whole tile of the grid, columns pass by.
  bool keysOnRows() const { return areKeysOnRows(schedule); }
  int64_t rows() const { return keysOnRows() ? schedule.getTileKeys() : schedule.getTileQueries(); }
  int64_t columns() const { return keysOnRows() ? schedule.getTileQueries() : schedule.getTileKeys(); }
  StringRef rowWord() const { return keysOnRows() ? "keys" : "queries"; }
  StringRef columnWord() const { return keysOnRows() ? "queries" : "keys"; }
  StringRef forGathers() const { return sizes.gathers ? " (captured values of every score among them)" : ""; }

  llvm::raw_string_ostream os{text};
  ScheduleAttr schedule;
  OpSizes sizes;
  TargetAttr target;
};
} // namespace

/// Fields that nobody reads on the other families would be silently wrong. `skip` is no matter of instructions
/// (attn-skip-rescale and attn.any know no family, though the CPU conversion has no attn.any), but what a vote and a
/// branch a step cost and save was measured on wgmma only, where a product runs meanwhile: refused rather than slow.
bool Fit::hasFieldsOfWgmma() {
  StringRef field = schedule.getGroups() != 1                    ? "groups"
                    : !schedule.getRegs().empty()                ? "regs"
                    : !schedule.getOrder().empty()               ? "order"
                    : schedule.getSkip() != 0                    ? "skip"
                    : schedule.getHoldQ() || schedule.getHoldV() ? "hold"
                    : schedule.getOut() != Staging::Alias        ? "out = own"
                    : schedule.getSeam() != Seam::Plain          ? "seam = overlap"
                    : schedule.getTiles() != Tiling::Single      ? "tiles other than single"
                                                                 : "";
  if (field.empty())
    return false;
  StringRef family = stringifyFamily(target.getFamily());
  if (field == "skip")
    os << "comes with skip, which was measured on wgmma only; family " << family << " refuses it";
  else
    os << "comes with " << field << ", which family " << family << " does not have; only wgmma does";
  return true;
}

/// What stays in registers is a first operand that stays for a whole tile: Q where queries are rows, V of dP where keys
/// are.
bool Fit::hasBadHold() {
  if (schedule.getHoldQ() && keysOnRows())
    os << "holds q, which passes by where keys are on rows; only v stays";
  else if (schedule.getHoldV() && !schedule.makes("dK"))
    os << "holds v, which is a first operand that stays only where dK is made";
  else
    return false;
  return true;
}

/// Nests there are: dQ with queries on rows; dK, dV or both with keys on rows, where warpgroups can also add to dQ.
/// What only a forward has is of no use.
bool Fit::hasBadGrads() {
  if (!sizes.backward) {
    if (schedule.getGrads().empty())
      return false;
    os << "names grads, which a forward does not make";
    return true;
  }
  if (schedule.getGrads().empty())
    os << "names no grads; a backward schedule says which of \"dQ\", \"dK\" and \"dV\" its nest makes";
  else if (schedule.makes("dQ") && schedule.getGrads().size() == 2)
    os << "makes dQ with one other gradient; dQ has a nest of its own, or one with both";
  else if (addsToQ(schedule) && target.getFamily() != Family::Wgmma)
    os << "makes all gradients at once, which only wgmma does; dQ has a nest of its own";
  else if (schedule.getSkip())
    os << "comes with skip; a backward has no running maximum";
  else if (schedule.getSeam() != Seam::Plain)
    os << "overlaps tiles (seam = overlap), which a backward does not";
  else
    return false;
  return true;
}

int64_t Fit::countRegs(int64_t threads) {
  bool wgmma = target.getFamily() == Family::Wgmma;
  int64_t d = paddedHeadDim(sizes.d, wgmma), dv = paddedHeadDim(sizes.dv, wgmma);
  if (sizes.backward) {
    bool makesK = schedule.makes("dK"), makesV = schedule.makes("dV"), makesQ = schedule.makes("dQ");
    BackwardTile tile{rows(),           columns(),    (makesK || makesQ ? d : 0) + (makesV ? dv : 0),
                      makesK || makesQ, sizes.scored, sizes.gathers};
    return wgmma ? wgmmaBackwardRegs(tile) : mmaSyncBackwardRegs(tile, threads);
  }
  if (wgmma)
    return wgmmaForwardRegs(columns(), dv, sizes.gathers, schedule.getSeam() == Seam::Overlap);
  return mmaSyncForwardRegs(rows(), columns(), dv, threads, sizes.gathers);
}

bool Fit::refusesCpu() {
  if (hasFieldsOfWgmma())
    return true;
  if (schedule.getTileQueries() % 8 == 0 && schedule.getTileKeys() % 8 == 0)
    return false;
  os << "is not a multiple of 8 queries and 8 keys";
  return true;
}

bool Fit::hasBadWarps() {
  if (schedule.getWarps()[1] == 1)
    return false;
  os << "has " << schedule.getWarps()[1] << " warps along the " << columnWord()
     << "; a warp owns whole rows, so there must be 1";
  return true;
}

bool Fit::isTooLarge(int64_t threads) {
  if (threads > facts::kMaxThreadsPerBlock) {
    os << "needs " << threads << " threads, a block has at most " << facts::kMaxThreadsPerBlock;
    return true;
  }
  int64_t bytes = getSharedBytes(schedule, sizes, target), blocks = schedule.getBlocks();
  if (bytes > target.getSmem()) {
    os << "needs " << bytes << " bytes of shared memory, " << target.getChip() << " has " << target.getSmem();
    return true;
  }
  int64_t bytesSM = blocks * (bytes + facts::kReservedSmemPerBlock);
  if (target.getSmemSm() && bytesSM > target.getSmemSm()) {
    os << "needs " << bytesSM << " bytes of shared memory for " << blocks << " blocks an SM, " << target.getChip()
       << " has " << target.getSmemSm();
    return true;
  }
  return false;
}

/// Two tiles are under way at a seam: there must be a next one, a second slot of Q, room for O besides, and work of
/// this tile that is left for the next one to cover.
bool Fit::hasBadSeam() {
  if (schedule.getSeam() == Seam::Plain)
    return false;
  bool hasLag = llvm::any_of(schedule.getOrder(), [](StringAttr entry) { return entry.getValue().ends_with("@1"); });
  StringRef needs = schedule.getTiles() == Tiling::Single ? "tiles = fixed or dynamic"
                    : schedule.getDepthQ() < 2            ? "depth = {q = 2, ..}"
                    : schedule.getOut() != Staging::Own   ? "out = own"
                    : !hasLag                             ? "an order with entries '@1'"
                                                          : "";
  if (needs.empty())
    return false;
  os << "overlaps tiles (seam = overlap), which needs " << needs;
  return true;
}

bool Fit::refusesMmaSync() {
  if (hasFieldsOfWgmma())
    return true;
  int64_t unit = kAtomRows * schedule.getWarps()[0];
  if (rows() % unit || columns() % 16) {
    os << "is not a multiple of " << unit << " " << rowWord() << " (" << kAtomRows << " for each of "
       << schedule.getWarps()[0] << " warps) and 16 " << columnWord();
    return true;
  }
  int64_t threads = schedule.getNumWarps() * kWarpLanes, blocks = schedule.getBlocks();
  if (hasBadWarps() || isTooLarge(threads))
    return true;
  int64_t regs = countRegs(threads);
  int64_t most = regsAvailable(target.getRegs(), threads, blocks, facts::kMaxRegsPerThread);
  if (regs <= most)
    return false;
  os << "needs about " << regs << " registers a thread" << forGathers() << ", " << target.getChip() << " has " << most
     << " for " << threads << " threads and " << blocks << (blocks == 1 ? " block" : " blocks") << " an SM";
  return true;
}

/// All gradients at once: what groups hand each other is whole panels (64 columns), and of dQ a group makes 64 rows or
/// its share of the columns, 64 or a multiple.
bool Fit::cannotShareQ() {
  constexpr int64_t unit = facts::kGroupRows;
  int64_t groups = schedule.getGroups(), d = paddedHeadDim(sizes.d, /*panels=*/true);
  if (!addsToQ(schedule) ||
      (groups <= 2 && (columns() == unit ? d % (unit * groups) == 0 : columns() == unit * groups)))
    return false;
  os << "makes all gradients at once, for which at most 2 groups share dQ: expects " << unit
     << " queries for each group, or " << unit << " and a head dim of " << unit << " columns for each; got " << groups
     << " groups, " << columns() << " queries, " << d << " columns";
  return true;
}

bool Fit::refusesWgmma() {
  int64_t groups = schedule.getGroups();
  // What is written for mma.sync is the likely mistake: say how to get that.
  if (schedule.getRegs().empty()) {
    os << "names no regs = [copying, computing]; every schedule on wgmma does, such as 'tile = [128, 128], warps = [4, "
          "1], groups = 2, regs = [24, 240], depth = {q = 1, k = 2, v = 2}', or those of attn-compile --list-schedules "
          "(with --chip=sm_90 the same machine runs schedules of mma_sync)";
    return true;
  }
  if (schedule.getWarps() != ArrayRef<int64_t>{facts::kGroupWarps, 1}) {
    os << "has warps [" << schedule.getWarps()[0] << ", " << schedule.getWarps()[1]
       << "]; a group on wgmma is a warpgroup, [4, 1]";
    return true;
  }
  constexpr int64_t unit = facts::kGroupRows, most = facts::kMaxGroupCols;
  if (rows() != unit * groups || columns() % 16 || columns() > most) {
    os << "is not " << unit * groups << " " << rowWord() << " (" << unit << " for each group) and a multiple of 16 "
       << columnWord() << " up to " << most;
    return true;
  }
  if (schedule.getBlocks() != 1) {
    os << "asks for " << schedule.getBlocks() << " blocks an SM; on wgmma a block has the registers of all of it";
    return true;
  }
  if (addsToQ(schedule) && groups > 1 && schedule.getDepthDs() < 2) {
    os << "has one slot for dS (depth = {ds = " << schedule.getDepthDs() << "}), which " << groups
       << " groups fill for each other: one fills the next while another reads the last; expects at least 2";
    return true;
  }
  if (cannotShareQ() || isTooLarge(wgmmaThreads(groups)) || hasBadSeam())
    return true;
  int64_t producer = schedule.getRegs()[0], consumer = schedule.getRegs()[1];
  int64_t launch = launchRegs(target.getRegs(), wgmmaThreads(groups));
  if (producer > launch || consumer < launch || !poolHolds(target.getRegs(), groups, producer, consumer)) {
    os << "shares registers as [" << producer << ", " << consumer << "]; the " << groups + 1
       << " warpgroups start with " << launch << " a thread, and " << producer << " + " << groups << " x " << consumer
       << " must not be more than " << (groups + 1) * launch;
    return true;
  }
  int64_t regs = countRegs(wgmmaThreads(groups));
  if (regs <= consumer)
    return false;
  os << "needs about " << regs << " registers a thread" << forGathers() << ", the schedule gives " << consumer;
  return true;
}

std::optional<std::string> attn::whyNot(ScheduleAttr schedule, OpSizes sizes, TargetAttr target) {
  Fit fit(schedule, sizes, target);
  bool refused = fit.hasBadGrads() || fit.hasBadHold()   ? true
                 : target.getFamily() == Family::Cpu     ? fit.refusesCpu()
                 : target.getFamily() == Family::MmaSync ? fit.refusesMmaSync()
                                                         : fit.refusesWgmma();
  if (!refused)
    return std::nullopt;
  return fit.text;
}

std::optional<std::string> attn::whyNot(ArrayRef<ScheduleAttr> schedules, OpSizes sizes, TargetAttr target) {
  if (!sizes.backward && schedules.size() != 1)
    return "a forward has one schedule, got " + std::to_string(schedules.size());
  for (ScheduleAttr schedule : schedules)
    if (std::optional<std::string> reason = whyNot(schedule, sizes, target))
      return reason;
  if (sizes.backward)
    for (StringRef grad : {"dQ", "dK", "dV"})
      if (int64_t makers = llvm::count_if(schedules, [&](ScheduleAttr s) { return s.makes(grad); }); makers != 1)
        return ("the schedules make " + grad + " " + Twine(makers) + " times; each gradient is made once").str();
  return std::nullopt;
}
