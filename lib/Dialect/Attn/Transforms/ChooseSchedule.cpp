//===- ChooseSchedule.cpp - choose how every attention op is tiled and pipelined
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First answer wins: the op's own schedule, the pass option, the first row of the table that fits, the largest of a
// short list that fits. Whatever wins must fit the target; the message says what it needs and what there is.
//
// One schedule is not always enough (Alternatives.h).
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "Alternatives.h"
#include "Families.h"
#include "ScheduleFit.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "attn/Facts/Facts.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

namespace attn {
#define GEN_PASS_DEF_CHOOSESCHEDULEPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;
using facts::LengthRange;

#define DEBUG_TYPE "attn-choose-schedule"

/// Rule 4, for machines no table row fits: largest first. Two slots, so that a load always has a tile's time to arrive.
static constexpr struct {
  int64_t queries, keys, warps;
} kShortList[] = {{128, 64, 4}, {64, 64, 4}, {64, 32, 4}, {32, 32, 2}, {16, 32, 1}, {16, 16, 1}};
static constexpr int64_t kShortListDepth = 2;

namespace {
/// What decides which rows an op may take.
struct Question {
  OpSizes sizes;
  bool masked, scored;
  std::optional<int64_t> queries; ///< the query length, where the spec fixes it
  bool deterministic = false;

  static Question of(AttentionOp op) {
    int64_t queries = cast<ShapedType>(op.getQ().getType()).getDimSize(2);
    bool masked = !op.getVisible().empty() || (op.getMaskAttr() && !op.getMaskAttr().empty());
    return {OpSizes::of(op), masked, !op.getScore().empty(),
            ShapedType::isDynamic(queries) ? std::nullopt : std::optional(queries)};
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// The schedules written in `text`: one, in full or only what stands between `#attn.schedule<` and `>`, or a list, as
/// `[#attn.schedule<..>, ..]` or `<..>, <..>`. Empty on bad text; the parser's message goes to `message` then, so that
/// the caller reports it where the user can see it.
static SmallVector<ScheduleAttr> parseSchedules(StringRef text, MLIRContext *context, std::string &message) {
  text = text.trim();
  std::string full;
  if (text.starts_with("<")) { // a list without the names
    int depth = 0;
    for (char c : text) {
      if (c == '<' && depth++ == 0)
        full += "#attn.schedule";
      depth -= c == '>';
      full += c;
    }
    full = "[" + full + "]";
  } else if (text.starts_with("#") || text.starts_with("[")) {
    full = text.str();
  } else {
    full = ("#attn.schedule<" + text + ">").str();
  }
  ScopedDiagnosticHandler capture(context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  Attribute attribute = parseAttribute(full, context);
  if (!attribute)
    return {};
  SmallVector<Attribute> list{attribute};
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    list.assign(array.begin(), array.end());
  if (list.empty() || !llvm::all_of(list, llvm::IsaPred<ScheduleAttr>)) {
    message = "expects an #attn.schedule";
    return {};
  }
  return llvm::map_to_vector(list, [](Attribute schedule) { return cast<ScheduleAttr>(schedule); });
}

static SmallVector<ScheduleAttr> withFrom(ArrayRef<ScheduleAttr> schedules, StringRef from) {
  return llvm::map_to_vector(schedules, [&](ScheduleAttr schedule) { return schedule.withFrom(from); });
}

static SmallVector<ScheduleAttr> parseRow(const facts::ScheduleRow &row, MLIRContext *context) {
  std::string message;
  SmallVector<ScheduleAttr> schedules = parseSchedules(StringRef(row.schedule), context, message);
  if (schedules.empty())
    llvm::report_fatal_error(Twine("schedule table: ") + message); // our own data, covered by a test
  return schedules;
}

static ScheduleAttr shortListed(MLIRContext *context, size_t index) {
  auto [queries, keys, warps] = kShortList[index];
  return ScheduleAttr::plain(context, queries, keys, warps, kShortListDepth, "largest that fits");
}

static ScheduleAttr fromShortList(MLIRContext *context, OpSizes sizes, TargetAttr target) {
  if (target.getFamily() != Family::MmaSync || sizes.backward)
    return nullptr;
  for (size_t i = 0; i < std::size(kShortList); ++i) {
    ScheduleAttr schedule = shortListed(context, i);
    std::optional<std::string> reason = whyNot(schedule, sizes, target);
    if (!reason)
      return schedule;
    LDBG() << "short list: " << *reason;
  }
  return nullptr;
}

/// The part of `range` that `taken` leaves. The table is such that this is one range.
static LengthRange without(LengthRange range, ArrayRef<Choice> taken) {
  for (const Choice &choice : taken) {
    LengthRange other = choice.queries;
    if (other.from <= range.from && other.below)
      range.from = std::max(range.from, other.below);
    else if (other.from > range.from && !other.below)
      range.below = range.below ? std::min(range.below, other.from) : other.from;
  }
  return range;
}

static bool holds(LengthRange range, int64_t length) {
  return length >= range.from && (!range.below || length < range.below);
}

/// Choices for every length: rows of the table that fit, in its order, until all lengths have one; else the largest
/// tile that fits. Nothing if some length has none. `reason`: why the last row that does not fit does not.
static SmallVector<Choice> chooseByTable(MLIRContext *context, const Question &question, TargetAttr target,
                                         std::string *reason = nullptr) {
  facts::Family family = toFacts(target.getFamily());
  facts::Pass pass = question.sizes.backward ? facts::Pass::Backward : facts::Pass::Forward;
  SmallVector<Choice> choices;
  for (const facts::ScheduleRow *row :
       facts::schedulesFor(family, pass, question.sizes.largestDim(), question.masked, question.scored)) {
    if (question.queries && !holds(row->queries, *question.queries))
      continue;
    SmallVector<ScheduleAttr> schedules = parseRow(*row, context);
    // A nest of all gradients adds up dQ in memory, in no order.
    if (question.deterministic && llvm::any_of(schedules, [](ScheduleAttr s) { return s.getGrads().size() == 3; }))
      continue;
    if (std::optional<std::string> why = whyNot(schedules, question.sizes, target)) {
      LDBG() << "table row: " << *why;
      if (reason)
        *reason = *why;
      continue;
    }
    std::string rule = ("table " + StringRef(facts::familyName(family)) + " " + StringRef(facts::passName(pass)) +
                        ", " + facts::describeRow(*row))
                           .str();
    LengthRange range = question.queries ? LengthRange() : without(row->queries, choices);
    choices.push_back({withFrom(schedules, rule), target, range});
    if (question.queries || row->queries.isAll())
      return choices;
  }
  ScheduleAttr schedule = fromShortList(context, question.sizes, target);
  if (!schedule)
    return {};
  choices.push_back({{schedule}, target, without(LengthRange(), choices)});
  return choices;
}

/// Does the result of the score region leave out the score? Then the sweep has no product S and no ring K, which is
/// what the orders of warpgroup schedules are about.
static bool ignoresScore(AttentionOp op) {
  if (op.getScore().empty())
    return false;
  Block &block = op.getScore().front();
  SetVector<Value> needed(block.getTerminator()->operand_begin(), block.getTerminator()->operand_end());
  for (unsigned i = 0; i < needed.size(); ++i)
    if (Operation *def = needed[i].getDefiningOp(); def && def->getBlock() == &block)
      needed.insert(def->operand_begin(), def->operand_end());
  return !needed.contains(block.getArgument(0));
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

/// A schedule that needs little. Beyond the table, and backward, the table's own last row tells the need, inside it the
/// smallest tile there is; on wgmma too, since what does not fit there may still run on mma_sync.
static ScheduleAttr findSmallest(MLIRContext *context, const Question &question, TargetAttr target) {
  OpSizes sizes = question.sizes;
  if (!sizes.backward && sizes.largestDim() <= facts::kMaxHeadDim)
    return shortListed(context, std::size(kShortList) - 1);
  facts::Pass pass = sizes.backward ? facts::Pass::Backward : facts::Pass::Forward;
  int64_t d = std::min(sizes.largestDim(), facts::kMaxHeadDim);
  SmallVector<ScheduleAttr> nests =
      parseRow(*facts::schedulesFor(facts::Family::MmaSync, pass, d, question.masked).back(), context);
  return *llvm::max_element(nests, [&](ScheduleAttr a, ScheduleAttr b) {
    return getSharedBytes(a, sizes, target) < getSharedBytes(b, sizes, target);
  });
}

/// Nothing fits: name the head dimension, the smallest need and the limit.
static void refuseHeadDim(AttentionOp op, const Question &question, TargetAttr target) {
  MLIRContext *context = op.getContext();
  OpSizes sizes = question.sizes;
  InFlightDiagnostic error = op->emitOpError()
                             << (sizes.d >= sizes.dv ? "head dim " : "value head dim ") << sizes.largestDim();
  bool isCpu = target.getFamily() == Family::Cpu;
  int64_t largest = 0; // head dim that would fit, D = Dv
  Question smaller = question;
  for (int64_t d = facts::kMaxHeadDim; d > 0 && !largest; d -= 8) {
    smaller.sizes.d = smaller.sizes.dv = d;
    if (!chooseByTable(context, smaller, target).empty())
      largest = d;
  }
  if (!isCpu) {
    ScheduleAttr smallest = findSmallest(context, question, asMmaSync(target));
    int64_t bytes = getSharedBytes(smallest, sizes, asMmaSync(target));
    if (bytes > target.getSmem())
      error << " needs " << bytes << " bytes shared memory (tile [" << smallest.getTileQueries() << ", "
            << smallest.getTileKeys() << "]), " << target.getChip() << " has " << target.getSmem();
    else
      error << " is not supported on " << target.getChip();
  } else {
    error << " is not supported on cpu";
  }
  if (largest)
    error << "; max for this op is " << largest;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ChooseSchedule : attn::impl::ChooseSchedulePassBase<ChooseSchedule> {
  using ChooseSchedulePassBase::ChooseSchedulePassBase;

  void runOnOperation() override {
    SmallVector<AttentionOp> ops;
    getOperation().walk([&](AttentionOp op) { ops.push_back(op); });
    for (AttentionOp op : ops) {
      TargetAttr target = requireTarget(op);
      if (!target || failed(choose(op, target)))
        return signalPassFailure();
    }
  }

  LogicalResult choose(AttentionOp op, TargetAttr target) {
    Type element = cast<ShapedType>(op.getQ().getType()).getElementType();
    if (element.isF32() && target.getFamily() != Family::Cpu)
      return op->emitOpError() << "f32 attention runs on --chip=cpu; on " << target.getChip() << " use f16 or bf16";
    Question question = Question::of(op);
    question.deterministic = deterministic;
    if (question.sizes.largestDim() > facts::kMaxHeadDim) {
      refuseHeadDim(op, question, target);
      return failure();
    }

    FailureOr<SmallVector<ScheduleAttr>> wanted = overridden(op, question, target);
    if (failed(wanted))
      return failure();
    SmallVector<Choice> choices;
    std::string reason;
    if (!wanted->empty())
      choices.push_back({*wanted, target, {}});
    else if (target.getFamily() == Family::Wgmma && ignoresScore(op))
      reason = "the score region ignores the score, and the orders of the table overlap its product";
    else
      choices = chooseByTable(&getContext(), question, target, &reason);
    if (target.getFamily() == Family::Wgmma)
      addMmaSync(op, question, target, reason, choices);
    if (choices.empty()) {
      refuseHeadDim(op, question, target);
      return failure();
    }
    // A function of more than this op is refused when it is tiled.
    auto func = dyn_cast<func::FuncOp>(op->getParentOp());
    if (func && llvm::hasSingleElement(func.getOps<AttentionOp>()))
      applyChoices(op, func, choices);
    else
      applyChoice(op, choices.front());
    return success();
  }

  /// Kernels on mma_sync take what those on wgmma cannot.
  void addMmaSync(AttentionOp op, const Question &question, TargetAttr target, StringRef reason,
                  SmallVectorImpl<Choice> &choices) {
    if (choices.empty())
      remark::missed(op.getLoc(), remark::RemarkOpts::name("wgmma").category(DEBUG_TYPE))
          << "no schedule for warpgroups fits, mma.sync takes all: " << remark::reason("{0}", reason);
    bool unaligned = !choices.empty();
    for (Choice &choice : chooseByTable(&getContext(), question, asMmaSync(target))) {
      choice.unaligned = unaligned;
      choices.push_back(choice);
    }
  }

  /// The user's own schedules, on the op or as an option; none if there are none, failure if they do not fit.
  FailureOr<SmallVector<ScheduleAttr>> overridden(AttentionOp op, const Question &question, TargetAttr target) {
    SmallVector<ScheduleAttr> wanted = getSchedules(op);
    StringRef rule = "op";
    if (wanted.empty()) {
      const std::string text = schedule; // the option
      if (text.empty())
        return wanted;
      std::string message;
      rule = "option";
      wanted = parseSchedules(text, &getContext(), message);
      if (wanted.empty())
        return op->emitOpError() << "bad schedule option: " << message;
    }
    if (std::optional<std::string> reason = whyNot(wanted, question.sizes, target))
      return op->emitOpError() << "schedule of the " << rule << " does not fit: " << *reason;
    for (ScheduleAttr schedule : wanted)
      if (question.deterministic && schedule.getGrads().size() == 3)
        return op->emitOpError() << "schedule of the " << rule
                                 << " adds up dQ in any order, so its bits change from run "
                                 << "to run, and 'deterministic' asks for the same; give dQ a nest of its own";
    for (ScheduleAttr &schedule : wanted)
      if (schedule.getFrom().empty())
        schedule = schedule.withFrom(rule);
    return wanted;
  }
};
} // namespace
