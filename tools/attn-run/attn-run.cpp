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
#include "Report.h"

#include <cstdio>
#include <exception>
#include <new>

using namespace attn::run;
using namespace attn::reference;

namespace {

/// The shapes Reference judges: three inputs of rank 4, o and perhaps lse; for a backward all gradients.
void requireAttention(const Operands &operands) {
  const Problem problem = operands.problem();
  if (std::string wrong = problem.check(); !wrong.empty())
    refuse(wrong);
  auto expect = [&](size_t operand, const std::vector<int64_t> &dims, const char *what) {
    const Operand &got = operands.all[operand];
    if (got.dims != dims)
      refuse(got.name + ": expected " + what + ", " + shapeText(dims) + ", got " + shapeText(got.dims));
  };
  const std::vector<int64_t> rows = {problem.batch(), problem.queryHeads(), problem.queries()};
  const std::vector<int64_t> o = {rows[0], rows[1], rows[2], problem.valueDim()};
  expect(operands.o, o, "the shape of q with the head dim of v");
  if (operands.lse)
    expect(*operands.lse, rows, "the first three dimensions of q");
  if (!operands.backward)
    return;
  expect(operands.backward->dO, o, "the shape of o");
  if (operands.backward->dLse)
    expect(*operands.backward->dLse, rows, "the shape of lse");
  expect(operands.backward->dQ, problem.q.dims, "the shape of q");
  expect(operands.backward->dK, problem.k.dims, "the shape of k");
  expect(operands.backward->dV, problem.v.dims, "the shape of v");
}

/// For each pair of query and key that the named masks let through: the multiplications and additions of two products,
/// scores and o, or of five, scores again, dP, dQ, dK and dV.
double flopsOf(const Problem &problem, bool backward) {
  const int64_t d = problem.headDim(), dv = problem.valueDim();
  return 2.0 * static_cast<double>(problem.batch() * problem.queryHeads()) * problem.visiblePairs() *
         static_cast<double>(backward ? 3 * d + 2 * dv : d + dv);
}

/// Runs the forward in double; o and lse of a backward become what it gives, where no file did.
Gradients runForward(const GradientProblem &problem, Operands &operands, const Options &options) {
  Operand &o = operands.all[operands.o], &lse = operands.all[*operands.lse];
  const bool needsO = !options.inputs.count(o.name), needsLse = !options.inputs.count(lse.name);
  return Gradients(problem, options.threads, [&](const RowBlock &block, const RowResult &result) {
    if (needsO)
      o.storeRows(block.b, block.h, block.begin, block.end, result.exact);
    if (needsLse)
      lse.storeRows(block.b, block.h, block.begin, block.end, result.lse);
  });
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
  GradientProblem gradient;
  Problem &problem = gradient.forward;
  problem = operands.problem();
  problem.scale = meaning.scale;
  problem.masks = meaning.masks;
  problem.score = meaning.score ? &*meaning.score : nullptr;
  problem.visible = meaning.visible ? &*meaning.visible : nullptr;
  report.flops = flopsOf(problem, operands.backward.has_value());

  if (options.dryRun) {
    report.ran = false;
    report.timing.kernels = chooseKernels(kernel, operands);
    print(report, operands, options);
    return Right;
  }
  std::optional<Gradients> gradients;
  if (operands.backward) {
    gradient.dO = operands.all[operands.backward->dO].view();
    if (operands.backward->dLse)
      gradient.dLse = operands.all[*operands.backward->dLse].view();
    if (std::string wrong = gradient.check(); !wrong.empty())
      refuse("meaning: " + wrong);
    gradients.emplace(runForward(gradient, operands, options));
  }
  report.timing = launch(std::move(owner), operands, options);
  for (const Operand &operand : operands.all)
    if (const auto at = operand.isOutput() ? operand.strayWrite() : std::nullopt; at && report.stray.empty())
      report.stray = operand.name + ": byte " + std::to_string(*at) +
                     " from its first element was written, but belongs to no element";
  if (options.check)
    report.checked =
        gradients ? checkBackward(problem, *gradients, operands, options) : checkForward(problem, operands, options);
  if (options.benchNaive)
    report.naiveMs = timeNaive(problem, operands, options);
  for (const auto &[name, path] : options.saves)
    for (const Operand &operand : operands.all)
      if (operand.name == name)
        writeNpy(path, operand.type, operand.dims, operand.rowMajor());
  print(report, operands, options);
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
