//===- Facts.cpp - chips and schedules as data
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Facts/Facts.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

using namespace attn::facts;

namespace {
constexpr Chip kChips[] = {
#define CHIP(name, family, smemBlock, smemSM, sms, regs, threads, ptx, source)                                         \
  {name, Family::family, smemBlock, smemSM, sms, regs, threads, ptx, ptx ? "+ptx" #ptx : "", source},
#include "Chips.def"
};

constexpr MmaShape kMmaShapes[] = {
#define MMA(family, m, n, k, multipleN, element) {Family::family, m, n, k, multipleN, element},
#include "MmaShapes.def"
};

constexpr ScheduleRow kSchedules[] = {
#define SCHEDULE(family, pass, maxHeadDim, masks, from, below, text, source)                                           \
  {Family::family, Pass::pass, maxHeadDim, MaskClass::masks, {from, below}, text, source},
#define SCORED(family, pass, maxHeadDim, masks, from, below, text, source)                                             \
  {Family::family, Pass::pass, maxHeadDim, MaskClass::masks, {from, below}, text, source, /*scored=*/true},
#include "ScheduleTable.def"
};

constexpr bool chipsAreSane() {
  for (const Chip &chip : kChips) {
    bool isCpu = chip.family == Family::Cpu;
    if (isCpu != (chip.ptxVersion == 0) || isCpu != (chip.smemPerBlock == 0) || isCpu != (chip.threadsPerSM == 0))
      return false;
    // One block may use all of an SM but what the driver keeps.
    if (!isCpu && chip.smemPerBlock + kReservedSmemPerBlock != chip.smemPerSM)
      return false;
    if (chip.sms < 1 || chip.source.empty())
      return false;
  }
  return true;
}
static_assert(chipsAreSane());

constexpr bool isFor(const ScheduleRow &row, bool masked, bool scored) {
  return (!row.scored || scored) && (row.masks == MaskClass::Any || (row.masks == MaskClass::Some) == masked);
}

constexpr bool sameTable(const ScheduleRow &a, const ScheduleRow &b) {
  return a.family == b.family && a.pass == b.pass;
}

/// Classes grow inside a family and pass and end at kMaxHeadDim, so that every head dimension up to there has a row.
constexpr bool scheduleClassesAreSane() {
  for (size_t i = 0, e = std::size(kSchedules); i != e; ++i) {
    const ScheduleRow &row = kSchedules[i];
    bool last = i + 1 == e || !sameTable(kSchedules[i + 1], row);
    if (last ? row.maxHeadDim != kMaxHeadDim : kSchedules[i + 1].maxHeadDim < row.maxHeadDim)
      return false;
    if (row.schedule.empty() || row.source.empty())
      return false;
  }
  return true;
}
static_assert(scheduleClassesAreSane());

/// Every class has, with and without a mask and a score region, a row for all lengths, and what rows before it leave to
/// a row is one range: they stand next to each other, from either end.
constexpr bool scheduleLengthsAreSane() {
  for (const ScheduleRow &row : kSchedules)
    for (int op = 0; op < 4; ++op) {
      const bool masked = op & 1, scored = op & 2;
      bool all = false;
      int64_t from = 0, below = 0;
      for (const ScheduleRow &other : kSchedules) {
        if (!sameTable(other, row) || other.maxHeadDim != row.maxHeadDim || !isFor(other, masked, scored))
          continue;
        all |= other.queries.isAll();
        if (all)
          continue;
        LengthRange range = other.queries;
        if (range.below != 0 && range.from >= range.below)
          return false;
        if (range.from == from && range.below != 0)
          from = range.below;
        else if (range.below == below)
          below = range.from;
        else
          return false;
      }
      if (!all)
        return false;
    }
  return true;
}
static_assert(scheduleLengthsAreSane());

/// `text`, padded with blanks to `width`.
std::string column(std::string_view text, size_t width) {
  std::string padded(text);
  padded.resize(std::max(width, padded.size()), ' ');
  return padded;
}
std::string column(int64_t value, size_t width) { return column(std::to_string(value), width); }
} // namespace

std::string_view attn::facts::familyName(Family family) {
  switch (family) {
  case Family::MmaSync:
    return "mma_sync";
  case Family::Wgmma:
    return "wgmma";
  case Family::Cpu:
    return "cpu";
  }
  return "";
}

std::string_view attn::facts::passName(Pass pass) { return pass == Pass::Forward ? "forward" : "backward"; }

const std::vector<Chip> &attn::facts::chips() {
  static const std::vector<Chip> rows(std::begin(kChips), std::end(kChips));
  return rows;
}

const Chip *attn::facts::findChip(std::string_view name) {
  for (const Chip &chip : kChips)
    if (chip.name == name)
      return &chip;
  return nullptr;
}

const std::vector<MmaShape> &attn::facts::mmaShapes() {
  static const std::vector<MmaShape> rows(std::begin(kMmaShapes), std::end(kMmaShapes));
  return rows;
}

const MmaShape *attn::facts::findMmaShape(Family family, std::string_view element) {
  for (const MmaShape &shape : kMmaShapes)
    if (shape.family == family && shape.element == element)
      return &shape;
  return nullptr;
}

const std::vector<ScheduleRow> &attn::facts::scheduleTable() {
  static const std::vector<ScheduleRow> rows(std::begin(kSchedules), std::end(kSchedules));
  return rows;
}

std::vector<const ScheduleRow *> attn::facts::schedulesFor(Family family, Pass pass, int64_t headDim, bool masked,
                                                           bool scored) {
  std::vector<const ScheduleRow *> rows;
  for (const ScheduleRow &row : kSchedules) {
    if (row.family != family || row.pass != pass || headDim > row.maxHeadDim || !isFor(row, masked, scored))
      continue;
    if (!rows.empty() && rows.back()->maxHeadDim != row.maxHeadDim)
      break;
    rows.push_back(&row);
  }
  return rows;
}

static std::string describeMasks(MaskClass masks) {
  return masks == MaskClass::None ? "none" : masks == MaskClass::Some ? "some" : "any";
}

static std::string describeLengths(LengthRange range) {
  if (range.isAll())
    return "any";
  if (!range.below)
    return ">= " + std::to_string(range.from);
  std::string end = "< " + std::to_string(range.below);
  return range.from ? std::to_string(range.from) + " .. " + end : end;
}

std::string attn::facts::describeRow(const ScheduleRow &row) {
  std::string text = "head dim <= " + std::to_string(row.maxHeadDim);
  if (row.masks != MaskClass::Any)
    text += row.masks == MaskClass::None ? ", no mask" : ", masked";
  if (row.scored)
    text += ", score region";
  if (!row.queries.isAll())
    text += ", q_len " + describeLengths(row.queries);
  return text;
}

std::string attn::facts::listChips() {
  std::string text = "chip    family    smem/block  smem/SM  SMs  PTX   source\n";
  for (const Chip &chip : kChips) {
    std::string ptx = chip.ptxVersion
                          ? std::to_string(chip.ptxVersion / 10) + "." + std::to_string(chip.ptxVersion % 10)
                          : std::string("-");
    text += column(chip.name, 8) + column(familyName(chip.family), 10) + column(chip.smemPerBlock, 12) +
            column(chip.smemPerSM, 9) + column(chip.sms, 5) + column(ptx, 6) + std::string(chip.source) + "\n";
  }
  return text;
}

std::string attn::facts::listSchedules() {
  std::string text = "family    pass     head dim  mask  score  q_len           schedule (source)\n";
  for (const ScheduleRow &row : kSchedules)
    text += column(familyName(row.family), 10) + column(passName(row.pass), 9) +
            column("<= " + std::to_string(row.maxHeadDim), 10) + column(describeMasks(row.masks), 6) +
            column(row.scored ? "some" : "any", 7) + column(describeLengths(row.queries), 16) +
            std::string(row.schedule) + " (" + std::string(row.source) + ")\n";
  return text;
}
