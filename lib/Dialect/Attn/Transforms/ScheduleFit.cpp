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

OpSizes OpSizes::of(SdpaOp op) {
  return {cast<ShapedType>(op.getQ().getType()).getShape().back(),
          cast<ShapedType>(op.getV().getType()).getShape().back(),
          gathersTiles(op.getScore()) || gathersTiles(op.getVisible())};
}

int64_t attn::getSharedBytes(ScheduleAttr schedule, OpSizes sizes, TargetAttr target) {
  Family family = target.getFamily();
  if (family == Family::Cpu)
    return 0;
  bool wgmma = family == Family::Wgmma;
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

  bool refusesCpu();
  bool refusesMmaSync();
  bool refusesWgmma();

  std::string text;

private:
  bool hasFieldsOfWgmma();
  bool hasBadWarps();
  bool isTooLarge(int64_t threads);
  bool hasBadSeam();
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
  StringRef field = schedule.getGroups() != 1               ? "groups"
                    : !schedule.getRegs().empty()           ? "regs"
                    : !schedule.getOrder().empty()          ? "order"
                    : schedule.getSkip() != 0               ? "skip"
                    : schedule.getOut() != Staging::Alias   ? "out = own"
                    : schedule.getSeam() != Seam::Plain     ? "seam = overlap"
                    : schedule.getTiles() != Tiling::Single ? "tiles other than single"
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
  os << "has " << schedule.getWarps()[1] << " warps along the keys; a warp owns whole rows, so there must be 1";
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
  int64_t queries = schedule.getTileQueries(), keys = schedule.getTileKeys();
  int64_t rows = kAtomRows * schedule.getWarps()[0];
  if (queries % rows || keys % 16) {
    os << "is not a multiple of " << rows << " queries (" << kAtomRows << " for each of " << schedule.getWarps()[0]
       << " warps) and 16 keys";
    return true;
  }
  int64_t threads = schedule.getNumWarps() * kWarpLanes, blocks = schedule.getBlocks();
  if (hasBadWarps() || isTooLarge(threads))
    return true;
  int64_t regs = mmaSyncForwardRegs(queries, keys, paddedHeadDim(sizes.dv), threads, sizes.gathers);
  int64_t most = regsAvailable(target.getRegs(), threads, blocks, facts::kMaxRegsPerThread);
  if (regs <= most)
    return false;
  os << "needs about " << regs << " registers a thread" << forGathers() << ", " << target.getChip() << " has " << most
     << " for " << threads << " threads and " << blocks << (blocks == 1 ? " block" : " blocks") << " an SM";
  return true;
}

bool Fit::refusesWgmma() {
  int64_t queries = schedule.getTileQueries(), keys = schedule.getTileKeys(), groups = schedule.getGroups();
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
  constexpr int64_t rows = facts::kGroupRows, most = facts::kMaxGroupCols;
  if (queries != rows * groups || keys % 16 || keys > most) {
    os << "is not " << rows * groups << " queries (" << rows << " for each group) and a multiple of 16 keys up to "
       << most;
    return true;
  }
  if (schedule.getBlocks() != 1) {
    os << "asks for " << schedule.getBlocks() << " blocks an SM; on wgmma a block has the registers of all of it";
    return true;
  }
  if (isTooLarge(wgmmaThreads(groups)) || hasBadSeam())
    return true;
  int64_t producer = schedule.getRegs()[0], consumer = schedule.getRegs()[1];
  int64_t launch = launchRegs(target.getRegs(), wgmmaThreads(groups));
  if (producer > launch || consumer < launch || !poolHolds(target.getRegs(), groups, producer, consumer)) {
    os << "shares registers as [" << producer << ", " << consumer << "]; the " << groups + 1
       << " warpgroups start with " << launch << " a thread, and " << producer << " + " << groups << " x " << consumer
       << " must not be more than " << (groups + 1) * launch;
    return true;
  }
  int64_t regs = wgmmaForwardRegs(keys, paddedHeadDim(sizes.dv, /*panels=*/true), sizes.gathers,
                                  schedule.getSeam() == Seam::Overlap);
  if (regs <= consumer)
    return false;
  os << "needs about " << regs << " registers a thread" << forGathers() << ", the schedule gives " << consumer;
  return true;
}

std::optional<std::string> attn::whyNot(ScheduleAttr schedule, OpSizes sizes, TargetAttr target) {
  Fit fit(schedule, sizes, target);
  bool refused = target.getFamily() == Family::Cpu       ? fit.refusesCpu()
                 : target.getFamily() == Family::MmaSync ? fit.refusesMmaSync()
                                                         : fit.refusesWgmma();
  if (!refused)
    return std::nullopt;
  return fit.text;
}
