//===- Report.h - what attn-run prints --------------------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUN_REPORT_H
#define ATTN_RUN_REPORT_H

#include "Check.h"
#include "Launch.h"

namespace attn {
namespace run {

/// All that is known after a run.
struct Report {
  std::string manifest, chip;
  Timing timing;
  double flops = 0;
  double naiveMs = 0;             ///< 0: not asked for
  std::optional<Checked> checked; ///< nothing: --no-check
  std::string stray;              ///< a write outside an output
  bool ran = true;                ///< false: --dry-run
  bool passes() const { return stray.empty() && timing.differs.empty() && (!checked || checked->passes()); }
  double teraflops() const { return flops / (timing.median() * 1e9); }
  const char *verdict() const { return !ran ? "NOT RUN" : !passes() ? "FAIL" : checked ? "PASS" : "NOT CHECKED"; }
};

/// As text, or with --json as one line of JSON.
void print(const Report &report, const Operands &operands, const Options &options);

} // namespace run
} // namespace attn

#endif // ATTN_RUN_REPORT_H
