//===- Facts.h - chips, instruction shapes and schedules as data ---*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bottom room: plain structs, no MLIR types, includes nothing of the project. Every row comes from a .def file
// beside Facts.cpp and ends with its source. Passes do not read chips from here: `attn-set-target` copies a row into
// `#attn.target`, and whoever needs a machine fact reads that attribute, so a test can state any machine.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_FACTS_FACTS_H
#define ATTN_FACTS_FACTS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attn::facts {

/// Which instructions move tiles and multiply them.
enum class Family { MmaSync, Wgmma, Cpu };
std::string_view familyName(Family family);

/// One machine.
struct Chip {
  std::string_view name;
  Family family;
  int64_t smemPerBlock;        ///< bytes of shared memory one block may opt in to
  int64_t smemPerSM;           ///< bytes of shared memory an SM has for all its blocks
  int64_t sms;                 ///< multiprocessors of the usual part; the runtime asks the device itself
  int64_t regsPerSM;           ///< 32-bit registers of an SM
  int64_t threadsPerSM;        ///< threads that may be resident on an SM
  int64_t ptxVersion;          ///< PTX ISA to emit, times ten; 0: no PTX
  std::string_view ptxFeature; ///< the same as a feature of the NVPTX back end
  std::string_view source;
};

/// Bytes of shared memory the driver keeps for itself in every block on an SM.
constexpr int64_t kReservedSmemPerBlock = 1024;
/// Registers a thread can name.
constexpr int64_t kMaxRegsPerThread = 255;
/// Threads of a warp, and the rows and columns of one accumulator of mma.sync (a picture is in FragmentCoords.h).
constexpr int64_t kWarpLanes = 32, kAtomRows = 16, kAtomCols = 8;
/// A warpgroup: the warps that issue wgmma and change their registers together; rows and most columns of its products.
constexpr int64_t kGroupWarps = 4, kGroupRows = kGroupWarps * kAtomRows, kMaxGroupCols = 256;
/// Registers are handed out, and moved from warp to warp, in multiples of this.
constexpr int64_t kRegisterStep = 8;
/// What all banks of shared memory give at once: the widest swizzle span, and what bufs lie at multiples of.
constexpr int64_t kBankBytes = 128;
/// Bytes of an mbarrier.
constexpr int64_t kBarrierBytes = 8;
/// Rows a box of a tensor map may have.
constexpr int64_t kMaxBoxRows = 256;
/// Threads a block may have.
constexpr int64_t kMaxThreadsPerBlock = 1024;
/// The largest head dimension the rows below were made and tested for.
constexpr int64_t kMaxHeadDim = 256;

const std::vector<Chip> &chips();
/// The row of a chip, or null.
const Chip *findChip(std::string_view name);

/// One matrix instruction: D[m, n] += A[m, k] B[k, n] in f32. n = 0: any multiple of 8 up to 256.
struct MmaShape {
  Family family;
  int64_t m, n, k;
  int64_t multipleN;        ///< the columns of a dot come in multiples of this
  std::string_view element; ///< type of A and B
};
const std::vector<MmaShape> &mmaShapes();
/// The instruction of a family for an element type ("f16", "bf16"), or null.
const MmaShape *findMmaShape(Family family, std::string_view element);

enum class Pass { Forward, Backward };
std::string_view passName(Pass pass);

/// Which ops a row is for, by their masks: named ones and mask regions alike.
enum class MaskClass { Any, None, Some };

/// Query lengths [from, below); below = 0: no end. A kernel cannot see them, so a row that is for some lengths only
/// becomes a kernel that the runtime chooses.
struct LengthRange {
  int64_t from = 0, below = 0;
  constexpr bool isAll() const { return from == 0 && below == 0; }
};

/// One row of the schedule table: for head dimensions (the larger of D and Dv) up to `maxHeadDim`.
struct ScheduleRow {
  Family family;
  Pass pass;
  int64_t maxHeadDim;
  MaskClass masks;
  LengthRange queries;
  std::string_view schedule; ///< the text between < and > of `#attn.schedule`; backward a list, <..>, <..>: one a nest
  std::string_view source;
  bool scored = false; ///< for ops with a score region only
};
const std::vector<ScheduleRow> &scheduleTable();
/// The rows for an op in the first head-dimension class that holds `headDim`, best first: for a length, the first that
/// fits and has the length in its range.
std::vector<const ScheduleRow *> schedulesFor(Family family, Pass pass, int64_t headDim, bool masked,
                                              bool scored = false);
/// A row's conditions in words: "head dim <= 128, no mask, q_len >= 1536".
std::string describeRow(const ScheduleRow &row);

/// Texts of the tools' --list-chips and --list-schedules, a line per row.
std::string listChips();
std::string listSchedules();

} // namespace attn::facts

#endif // ATTN_FACTS_FACTS_H
