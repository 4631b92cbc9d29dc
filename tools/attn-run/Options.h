//===- Options.h - the command line of attn-run -----------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RUN_OPTIONS_H
#define ATTN_RUN_OPTIONS_H

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace attn {
namespace run {

struct Options {
  std::string manifest;
  uint64_t seed = 0;
  std::map<std::string, std::string> inputs; ///< operand -> .npy file
  std::map<std::string, std::string> saves;  ///< operand -> .npy file
  std::map<std::string, int64_t> sizes;      ///< size name -> value
  std::map<std::string, double> scalars;     ///< scalar operand -> value
  std::map<std::string, double> gains;       ///< operand -> factor on its random numbers
  std::string device;                        ///< "gpu", "cpu", or empty: the manifest's
  int gpu = 0;                               ///< ordinal
  std::string layout = "bhsd";
  std::string gradLayout;         ///< of do; empty: as the others
  std::set<std::string> expanded; ///< "do.1": dimensions of inputs whose stride is 0
  int64_t rowPad = 0;             ///< elements between the rows of q, k, v and outputs
  int64_t offset = 0;             ///< elements from a 256-byte boundary to their first
  bool check = true;
  int64_t checkRows = 0; ///< 0: as many as take a few seconds
  int repeat = 5;
  int same = 0;    ///< further launches, whose outputs must have the same bits
  int threads = 0; ///< 0: one per core
  double timeout = 60;
  bool benchNaive = false;
  bool json = false;
  bool dryRun = false; ///< say which kernel a launch starts, and stop
};

/// Nothing if the user asked for help, which has been printed. Throws Failure.
std::optional<Options> parseOptions(int argc, char **argv);

} // namespace run
} // namespace attn

#endif // ATTN_RUN_OPTIONS_H
