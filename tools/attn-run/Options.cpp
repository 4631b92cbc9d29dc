//===- Options.cpp - the command line of attn-run -------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Failure.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace attn {
namespace run {
namespace {

using Texts = std::vector<std::string>;

/// "name=value" of option `option`, each name once.
std::map<std::string, std::string> splitPairs(const char *option, const Texts &texts) {
  std::map<std::string, std::string> pairs;
  for (const std::string &text : texts) {
    const size_t equal = text.find('=');
    if (equal == std::string::npos || equal == 0 || equal + 1 == text.size())
      refuse(std::string(option) + ": expected name=value, got '" + text + "'");
    if (!pairs.emplace(text.substr(0, equal), text.substr(equal + 1)).second)
      refuse(std::string(option) + ": '" + text.substr(0, equal) + "' is given twice");
  }
  return pairs;
}

double toNumber(const char *option, const std::string &name, const std::string &text) {
  size_t used = 0;
  double number = 0;
  try {
    number = std::stod(text, &used);
  } catch (const std::exception &) {
    used = 0;
  }
  if (used == 0 || used != text.size())
    refuse(std::string(option) + ": " + name + ": expected a number, got '" + text + "'");
  return number;
}

int64_t toSize(const char *option, const std::string &name, const std::string &text) {
  const double number = toNumber(option, name, text);
  if (number < 0 || number > 1e15 || number != std::floor(number))
    refuse(std::string(option) + ": " + name + ": expected a size, got '" + text + "'");
  return static_cast<int64_t>(number);
}

std::map<std::string, double> toNumbers(const char *option, const Texts &texts) {
  std::map<std::string, double> numbers;
  for (const auto &[name, text] : splitPairs(option, texts))
    numbers[name] = toNumber(option, name, text);
  return numbers;
}

constexpr const char *footer = R"(
What it prints: time (the median, without warm-up), TFLOP/s, and for each output
the largest error against a naive attention in double precision beside what the
accuracy rule allows (docs/Testing.md). The last line is PASS or FAIL.
A backward kernel takes o and lse besides; without --in for them they are what
the naive attention computes from q, k and v, o rounded to its type.
Exit code: 0 right, 1 refused input, 2 wrong numbers, 3 machine or driver.)";

} // namespace

std::optional<Options> parseOptions(int argc, char **argv) {
  Options options;
  CLI::App app("Runs a compiled attention kernel and compares it with a reference.", "attn-run");
  app.footer(footer);
  std::string random = "seed:0";
  Texts inputs, saves, sizes, scalars, gains, expanded;

  app.add_option("manifest", options.manifest, "manifest.json that attn-compile wrote")->required();
  app.add_option("--random", random, "seed:N of the random inputs (normal; integers small)");
  auto pairs = [&](const char *name, Texts &to, const char *what, bool isList = true) {
    CLI::Option *option = app.add_option(name, to, what)->allow_extra_args(false);
    if (isList) // of numbers; a file name may have a comma in it
      option->delimiter(',');
  };
  pairs("--in", inputs, "operand=file.npy instead of random numbers; bf16 as u2", false);
  pairs("--save", saves, "output=file.npy", false);
  pairs("--shape", sizes, "batch=2,q_heads=8,k_heads=2,q_len=512,k_len=512; slopes.0=8 for dim 0 of a capture");
  pairs("--set", scalars, "value of a captured scalar: cap=30; random in [1, 2) without");
  pairs("--gain", gains, "factor on an operand's random numbers: q=4");
  app.add_option("--device", options.device, "where to run")->check(CLI::IsMember({"gpu", "cpu"}));
  app.add_option("--gpu", options.gpu, "number of the GPU")->check(CLI::NonNegativeNumber);
  const CLI::IsMember layouts({"bhsd", "bshd", "sbhd"});
  app.add_option("--layout", options.layout, "order of tensors like q, k, v and o in memory")->check(layouts);
  app.add_option("--do-layout", options.gradLayout, "the same for do alone, whatever the others have")->check(layouts);
  app.add_option("--expand", expanded, "do.1: an input's dimension of stride 0, one row for all of it")->delimiter(',');
  app.add_option("--row-pad", options.rowPad, "unused elements after each row of tensors like q, k, v and o")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--offset", options.offset, "elements before the first of tensors like q, k, v and o")
      ->check(CLI::Range(0, 1 << 20));
  app.add_flag("--check,!--no-check", options.check, "compare with the reference (the default)");
  app.add_option("--check-rows", options.checkRows, "rows to compare; 0: as many as take seconds")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--repeat", options.repeat, "timed launches, after one to warm up")->check(CLI::Range(1, 1000000));
  app.add_option("--same", options.same, "further launches, each on outputs of NaN; all must give the same bits")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--threads", options.threads, "CPU threads; 0: one per core")->check(CLI::Range(0, 4096));
  app.add_option("--timeout", options.timeout, "seconds the kernel may take in all")->check(CLI::PositiveNumber);
  app.add_flag("--bench-naive", options.benchNaive, "also time textbook f32 loops on the same inputs and cores");
  app.add_flag("--dry-run", options.dryRun, "print which kernel would start, and run nothing: needs no GPU");
  app.add_flag("--json", options.json, "print one line of JSON");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    std::cout << app.help();
    return std::nullopt;
  } catch (const CLI::ParseError &error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    refuse(text + " (see --help)");
  }

  if (random.rfind("seed:", 0) != 0)
    refuse("--random: expected seed:N, got '" + random + "'");
  options.seed = static_cast<uint64_t>(toSize("--random", "seed", random.substr(5)));
  options.expanded.insert(expanded.begin(), expanded.end());
  options.inputs = splitPairs("--in", inputs);
  options.saves = splitPairs("--save", saves);
  options.scalars = toNumbers("--set", scalars);
  options.gains = toNumbers("--gain", gains);
  for (const auto &[name, text] : splitPairs("--shape", sizes))
    options.sizes[name] = toSize("--shape", name, text);
  return options;
}

} // namespace run
} // namespace attn
