//===- ChooseSchedule.cpp - choose how every attention op is tiled and pipelined
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First answer wins: the op's own schedule, the pass option, the first row of the table that fits, the largest of a
// short list that fits. Whatever wins must fit the target; the message says what it needs and what there is.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "Families.h"
#include "attn/Analysis/FragmentCoords.h"
#include "attn/Analysis/RegisterEstimate.h"
#include "attn/Analysis/SharedPlan.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "attn/Facts/Facts.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

namespace attn {
#define GEN_PASS_DEF_CHOOSESCHEDULEPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-choose-schedule"

namespace {
/// The padded head dimensions of an op.
struct HeadDims {
  int64_t d, dv;
  static HeadDims of(SdpaOp op) {
    return {cast<ShapedType>(op.getQ().getType()).getShape().back(),
            cast<ShapedType>(op.getV().getType()).getShape().back()};
  }
  int64_t largest() const { return std::max(d, dv); }
};

/// Rule 4, for machines no table row fits: largest first. Two slots, so that a load always has a tile's time to arrive.
constexpr struct {
  int64_t queries, keys, warps;
} kShortList[] = {{128, 64, 4}, {64, 64, 4}, {64, 32, 4}, {32, 32, 2}, {16, 32, 1}, {16, 16, 1}};
constexpr int64_t kShortListDepth = 2;
} // namespace

//===----------------------------------------------------------------------===//
// Does it fit
//===----------------------------------------------------------------------===//

static int64_t smemBytes(ScheduleAttr schedule, HeadDims dims) {
  return sharedBytes({schedule.getTileQueries(), schedule.getTileKeys(), paddedHeadDim(dims.d), paddedHeadDim(dims.dv),
                      schedule.getDepthQ(), schedule.getDepthK(), schedule.getDepthV()});
}

static int64_t regsPerThread(ScheduleAttr schedule, HeadDims dims) {
  return mmaSyncForwardRegs(schedule.getTileQueries(), schedule.getTileKeys(), paddedHeadDim(dims.dv),
                            schedule.getNumWarps() * kWarpLanes);
}

/// Why `schedule` cannot run on `target`, or nothing if it can. Reads "tile [..] ...".
static std::optional<std::string> whyNot(ScheduleAttr schedule, HeadDims dims, TargetAttr target) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "tile [" << schedule.getTileQueries() << ", " << schedule.getTileKeys() << "] ";
  int64_t queries = schedule.getTileQueries(), keys = schedule.getTileKeys();
  if (target.getFamily() == Family::Cpu) {
    if (queries % 8 == 0 && keys % 8 == 0)
      return std::nullopt;
    os << "is not a multiple of 8 queries and 8 keys";
    return text;
  }

  int64_t rows = kAtomRows * schedule.getWarps()[0];
  if (queries % rows || keys % 16) {
    os << "is not a multiple of " << rows << " queries (" << kAtomRows << " for each of " << schedule.getWarps()[0]
       << " warps) and 16 keys";
    return text;
  }
  if (schedule.getWarps()[1] != 1) {
    os << "has " << schedule.getWarps()[1] << " warps along the keys; a warp owns whole rows, so there must be 1";
    return text;
  }
  int64_t threads = schedule.getNumWarps() * kWarpLanes, blocks = schedule.getBlocks();
  if (threads > facts::kMaxThreadsPerBlock) {
    os << "needs " << threads << " threads, a block has at most " << facts::kMaxThreadsPerBlock;
    return text;
  }
  int64_t bytes = smemBytes(schedule, dims);
  if (bytes > target.getSmem()) {
    os << "needs " << bytes << " bytes of shared memory, " << target.getChip() << " has " << target.getSmem();
    return text;
  }
  int64_t bytesSM = blocks * (bytes + facts::kReservedSmemPerBlock);
  if (target.getSmemSm() && bytesSM > target.getSmemSm()) {
    os << "needs " << bytesSM << " bytes of shared memory for " << blocks << " blocks an SM, " << target.getChip()
       << " has " << target.getSmemSm();
    return text;
  }
  int64_t regs = regsPerThread(schedule, dims);
  int64_t regsMax = regsAvailable(target.getRegs(), threads, blocks, facts::kMaxRegsPerThread);
  if (regs > regsMax) {
    os << "needs about " << regs << " registers a thread, " << target.getChip() << " has " << regsMax << " for "
       << threads << " threads and " << blocks << (blocks == 1 ? " block" : " blocks") << " an SM";
    return text;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// The schedule written in `text`, in full or only what stands between `#attn.schedule<` and `>`. On bad text the
/// parser's message goes to `message`, so that the caller reports it where the user can see it.
static ScheduleAttr parseSchedule(StringRef text, MLIRContext *context, std::string &message) {
  std::string full = text.trim().starts_with("#") ? text.trim().str() : ("#attn.schedule<" + text + ">").str();
  ScopedDiagnosticHandler capture(context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  Attribute attribute = parseAttribute(full, context);
  auto schedule = dyn_cast_or_null<ScheduleAttr>(attribute);
  if (attribute && !schedule)
    message = "expects an #attn.schedule";
  return schedule;
}

static ScheduleAttr fromShortList(MLIRContext *context, HeadDims dims, TargetAttr target) {
  for (auto [queries, keys, warps] : kShortList) {
    auto schedule = ScheduleAttr::plain(context, queries, keys, warps, kShortListDepth, "largest that fits");
    std::optional<std::string> reason = whyNot(schedule, dims, target);
    if (!reason)
      return schedule;
    LDBG() << "short list: " << *reason;
  }
  return nullptr;
}

/// The first row of the table that fits, else the largest tile that does, else null.
static ScheduleAttr chooseByTable(MLIRContext *context, HeadDims dims, TargetAttr target) {
  facts::Family family = toFacts(target.getFamily());
  for (const facts::ScheduleRow *row : facts::schedulesFor(family, facts::Pass::Forward, dims.largest())) {
    std::string message;
    ScheduleAttr schedule = parseSchedule(StringRef(row->schedule), context, message);
    if (!schedule)
      llvm::report_fatal_error(Twine("schedule table: ") + message); // our own data, covered by a test
    std::optional<std::string> reason = whyNot(schedule, dims, target);
    if (!reason)
      return schedule.withFrom(
          ("table " + StringRef(facts::familyName(family)) + " forward, head dim <= " + Twine(row->maxHeadDim)).str());
    LDBG() << "table row: " << *reason;
  }
  return target.getFamily() == Family::Cpu ? nullptr : fromShortList(context, dims, target);
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

/// Nothing fits: name the head dimension, the smallest need and the limit.
static void refuseHeadDim(SdpaOp op, HeadDims dims, TargetAttr target) {
  MLIRContext *context = op.getContext();
  InFlightDiagnostic error = op.emitOpError()
                             << (dims.d >= dims.dv ? "head dim " : "value head dim ") << dims.largest();
  bool isCpu = target.getFamily() == Family::Cpu;
  int64_t largest = 0; // head dim that would fit, D = Dv
  for (int64_t d = facts::kMaxHeadDim; d > 0 && !largest; d -= 8)
    if (chooseByTable(context, {d, d}, target))
      largest = d;
  if (!isCpu) {
    // Beyond the table the table's own last tile tells the need, inside it the smallest tile there is.
    bool beyond = dims.largest() > facts::kMaxHeadDim;
    auto smallest = beyond ? std::array<int64_t, 2>{64, 32} : std::array<int64_t, 2>{16, 16};
    int64_t bytes = sharedBytes(
        {smallest[0], smallest[1], paddedHeadDim(dims.d), paddedHeadDim(dims.dv), 1, kShortListDepth, kShortListDepth});
    if (bytes > target.getSmem())
      error << " needs " << bytes << " bytes shared memory (tile [" << smallest[0] << ", " << smallest[1] << "]), "
            << target.getChip() << " has " << target.getSmem();
    else
      error << " is not supported on " << target.getChip();
  } else {
    error << " is not supported on cpu";
  }
  if (largest)
    error << "; max for this op is " << largest;
}

namespace {
struct ChooseSchedule : attn::impl::ChooseSchedulePassBase<ChooseSchedule> {
  using ChooseSchedulePassBase::ChooseSchedulePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    WalkResult result = module.walk([&](SdpaOp op) {
      TargetAttr target = requireTarget(op);
      return !target || failed(choose(op, target)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult choose(SdpaOp op, TargetAttr target) {
    Type element = cast<ShapedType>(op.getQ().getType()).getElementType();
    if (element.isF32() && target.getFamily() != Family::Cpu)
      return op.emitOpError() << "f32 attention runs on --chip=cpu; on " << target.getChip() << " use f16 or bf16";
    HeadDims dims = HeadDims::of(op);
    if (dims.largest() > facts::kMaxHeadDim) {
      refuseHeadDim(op, dims, target);
      return failure();
    }

    FailureOr<ScheduleAttr> chosen = overridden(op, dims, target);
    if (failed(chosen))
      return failure();
    if (!*chosen)
      chosen = chooseByTable(&getContext(), dims, target);
    if (!*chosen) {
      refuseHeadDim(op, dims, target);
      return failure();
    }
    op.setScheduleAttr(*chosen);
    remark::passed(op.getLoc(), remark::RemarkOpts::name("schedule").category(DEBUG_TYPE))
        << remark::metric("rule", chosen->getFrom()) << remark::metric("tile_queries", chosen->getTileQueries())
        << remark::metric("tile_keys", chosen->getTileKeys()) << remark::metric("warps", chosen->getNumWarps())
        << remark::metric("smem_bytes", target.getFamily() == Family::Cpu ? 0 : smemBytes(*chosen, dims));
    return success();
  }

  /// The user's own schedule, on the op or as an option; null if there is none, failure if it does not fit.
  FailureOr<ScheduleAttr> overridden(SdpaOp op, HeadDims dims, TargetAttr target) {
    ScheduleAttr wanted = op.getScheduleAttr();
    StringRef rule = "op";
    if (!wanted) {
      const std::string text = schedule; // the option
      if (text.empty())
        return ScheduleAttr();
      std::string message;
      rule = "option";
      wanted = parseSchedule(text, &getContext(), message);
      if (!wanted)
        return op.emitOpError() << "bad schedule option: " << message;
    }
    if (std::optional<std::string> reason = whyNot(wanted, dims, target))
      return op.emitOpError() << "schedule of the " << rule << " does not fit: " << *reason;
    return wanted.getFrom().empty() ? wanted.withFrom(rule) : wanted;
  }
};
} // namespace
