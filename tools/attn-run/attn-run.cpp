//===- attn-run.cpp - runs a compiled kernel and judges it ----------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "Failure.h"
#include "Launch.h"
#include "Meaning.h"
#include "Npy.h"

#include <cjson/cJSON.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <new>

using namespace attn::run;
using namespace attn::reference;

namespace {

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

/// The shapes Reference judges: three inputs of rank 4, o and perhaps lse.
void requireAttention(const Operands &operands) {
  if (std::string wrong = operands.problem().check(); !wrong.empty())
    refuse(wrong);
  const Problem problem = operands.problem();
  const std::vector<int64_t> rows = {problem.batch(), problem.queryHeads(), problem.queries()};
  std::vector<int64_t> o = rows;
  o.push_back(problem.valueDim());
  if (operands.all[operands.o].dims != o)
    refuse(operands.all[operands.o].name + ": expected the shape of q with the head dim of v");
  if (operands.lse && operands.all[*operands.lse].dims != rows)
    refuse(operands.all[*operands.lse].name + ": expected the first three dimensions of q");
}

void printWorst(const std::string &name, const Judge::Worst &worst, const char *unit) {
  std::printf("%-6s max error %.3g, allowed %.3g%s", name.c_str(), worst.error, worst.bound, unit);
  if (worst.ratio > 1)
    std::printf("; %s, worst in batch %lld head %lld rows %lld..%lld",
                worst.what.empty() ? "too much" : worst.what.c_str(), static_cast<long long>(worst.block.b),
                static_cast<long long>(worst.block.h), static_cast<long long>(worst.block.begin),
                static_cast<long long>(worst.block.end - 1));
  std::printf("\n");
}

void printText(const Report &report, const Operands &operands, const Options &options) {
  std::printf("kernel %s for %s%s%s\n", report.manifest.c_str(), report.chip.c_str(), report.ran ? " on " : "",
              report.timing.device.c_str());
  std::printf("starts");
  for (const std::string &name : report.timing.kernels)
    std::printf(" %s", name.c_str());
  std::printf("%s\n", report.timing.kernels.empty() ? " nothing" : "");
  std::printf("shape ");
  for (const char *name : {"batch", "q_heads", "k_heads", "q_len", "k_len"})
    std::printf(" %s=%lld", name, static_cast<long long>(operands.sizes.at(name)));
  std::printf(" layout=%s seed=%llu\n", options.layout.c_str(), static_cast<unsigned long long>(options.seed));
  for (const Operand &operand : operands.all)
    if (operand.role == ATTN_ROLE_SCALAR) {
      const View view = operand.view();
      std::printf("set    %s=%.9g\n", operand.name.c_str(),
                  isFloat(view.type) ? loadFloat(view.type, view.data)
                                     : static_cast<double>(loadInteger(view.type, view.data)));
    }
  if (report.ran)
    std::printf("time   %.4g ms, %.4g TFLOP/s (median of %zu)\n", report.timing.median(), report.teraflops(),
                report.timing.milliseconds.size());
  if (report.naiveMs > 0)
    std::printf("naive  %.4g ms, %.3g times as long\n", report.naiveMs, report.naiveMs / report.timing.median());
  if (report.checked) {
    const Judge &judge = report.checked->judge;
    if (judge.rows() < report.checked->rowsInAll)
      std::printf("check  %lld of %lld rows\n", static_cast<long long>(judge.rows()),
                  static_cast<long long>(report.checked->rowsInAll));
    printWorst(operands.all[operands.o].name, judge.output(), "");
    if (operands.lse)
      printWorst(operands.all[*operands.lse].name, judge.lse(), " (relative)");
  }
  if (!report.timing.differs.empty())
    std::printf("bits   %s\n", report.timing.differs.c_str());
  if (!report.stray.empty())
    std::printf("stray  %s\n", report.stray.c_str());
  std::printf("%s\n", report.verdict());
}

void addWorst(cJSON *to, const std::string &name, const Judge::Worst &worst) {
  cJSON *object = cJSON_AddObjectToObject(to, name.c_str());
  cJSON_AddNumberToObject(object, "max_err", worst.error);
  cJSON_AddNumberToObject(object, "allowed", worst.bound);
  cJSON_AddBoolToObject(object, "right", worst.ratio <= 1);
}

void printJson(const Report &report, const Operands &operands, const Options &options) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "manifest", report.manifest.c_str());
  cJSON_AddStringToObject(json, "chip", report.chip.c_str());
  if (report.ran)
    cJSON_AddStringToObject(json, "device", report.timing.device.c_str());
  cJSON *kernels = cJSON_AddArrayToObject(json, "kernels");
  for (const std::string &name : report.timing.kernels)
    cJSON_AddItemToArray(kernels, cJSON_CreateString(name.c_str()));
  for (const auto &[name, size] : operands.sizes)
    cJSON_AddNumberToObject(json, name.c_str(), static_cast<double>(size));
  cJSON_AddStringToObject(json, "layout", options.layout.c_str());
  cJSON_AddNumberToObject(json, "seed", static_cast<double>(options.seed));
  if (report.ran) {
    cJSON_AddNumberToObject(json, "runs", static_cast<double>(report.timing.milliseconds.size()));
    cJSON_AddNumberToObject(json, "ms_median", report.timing.median());
    cJSON_AddNumberToObject(json, "tflops", report.teraflops());
  }
  if (report.naiveMs > 0)
    cJSON_AddNumberToObject(json, "naive_ms_median", report.naiveMs);
  if (report.checked) {
    cJSON_AddNumberToObject(json, "rows_checked", static_cast<double>(report.checked->judge.rows()));
    cJSON_AddNumberToObject(json, "rows", static_cast<double>(report.checked->rowsInAll));
    addWorst(json, operands.all[operands.o].name, report.checked->judge.output());
    if (operands.lse)
      addWorst(json, operands.all[*operands.lse].name, report.checked->judge.lse());
  }
  cJSON_AddStringToObject(json, "verdict", report.verdict());
  char *text = cJSON_PrintUnformatted(json);
  std::printf("%s\n", text);
  cJSON_free(text);
  cJSON_Delete(json);
}

int run(const Options &options) {
  attn_kernel *kernel = nullptr;
  require(attn_kernel_load(options.manifest.c_str(), &kernel));
  KernelOwner owner(kernel);

  Report report;
  report.manifest = options.manifest;
  report.chip = attn_kernel_chip(kernel);
  const char *compiledFor = report.chip == "cpu" ? "cpu" : "gpu";
  if (!options.device.empty() && options.device != compiledFor)
    refuse("--device: the kernel was compiled for " + report.chip + ", which does not run on a " + options.device);

  Operands operands = makeOperands(kernel, options);
  requireAttention(operands);
  const Meaning meaning = parseMeaning(attn_kernel_meaning(kernel), operands.captures());
  Problem problem = operands.problem();
  problem.scale = meaning.scale;
  problem.masks = meaning.masks;
  problem.score = meaning.score ? &*meaning.score : nullptr;
  problem.visible = meaning.visible ? &*meaning.visible : nullptr;
  // Two products, a multiplication and an addition each, for each pair of query
  // and key that the named masks let through.
  report.flops = 2.0 * static_cast<double>(problem.batch() * problem.queryHeads()) * problem.visiblePairs() *
                 static_cast<double>(problem.headDim() + problem.valueDim());

  if (options.dryRun) {
    report.ran = false;
    report.timing.kernels = chooseKernels(kernel, operands);
    options.json ? printJson(report, operands, options) : printText(report, operands, options);
    return Right;
  }
  report.timing = launch(std::move(owner), operands, options);
  for (const Operand &operand : operands.all)
    if (const auto at = operand.isOutput() ? operand.strayWrite() : std::nullopt; at && report.stray.empty())
      report.stray = operand.name + ": byte " + std::to_string(*at) +
                     " from its first element was written, but belongs to no element";
  if (options.check)
    report.checked = checkOutputs(problem, operands, options);
  if (options.benchNaive)
    report.naiveMs = timeNaive(problem, options);
  for (const auto &[name, path] : options.saves)
    for (const Operand &operand : operands.all)
      if (operand.name == name)
        writeNpy(path, operand.type, operand.dims, operand.rowMajor());

  if (options.json)
    printJson(report, operands, options);
  else
    printText(report, operands, options);
  return report.passes() ? Right : Wrong;
}

int fail(int code, const std::string &text) {
  std::fprintf(stderr, "attn-run: error: %s\n", text.c_str());
  return code;
}

} // namespace

int main(int argc, char **argv) {
  try {
    const std::optional<Options> options = parseOptions(argc, argv);
    return options ? run(*options) : Right;
  } catch (const Failure &failure) {
    return fail(failure.code, failure.text);
  } catch (const std::bad_alloc &) {
    return fail(Machine, "out of memory");
  } catch (const std::exception &error) {
    return fail(Machine, error.what());
  }
}
