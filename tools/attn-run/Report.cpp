//===- Report.cpp - what attn-run prints ----------------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include <cjson/cJSON.h>

#include <cstdio>

namespace attn {
namespace run {
namespace {

using namespace reference;

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
    if (report.checked->rows < report.checked->rowsInAll)
      std::printf("check  %lld of %lld rows\n", static_cast<long long>(report.checked->rows),
                  static_cast<long long>(report.checked->rowsInAll));
    for (const Checked::Output &output : report.checked->outputs)
      printWorst(output.name, output.worst, output.relative ? " (relative)" : "");
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
    cJSON_AddNumberToObject(json, "rows_checked", static_cast<double>(report.checked->rows));
    cJSON_AddNumberToObject(json, "rows", static_cast<double>(report.checked->rowsInAll));
    for (const Checked::Output &output : report.checked->outputs)
      addWorst(json, output.name, output.worst);
  }
  cJSON_AddStringToObject(json, "verdict", report.verdict());
  char *text = cJSON_PrintUnformatted(json);
  std::printf("%s\n", text);
  cJSON_free(text);
  cJSON_Delete(json);
}

} // namespace

void print(const Report &report, const Operands &operands, const Options &options) {
  options.json ? printJson(report, operands, options) : printText(report, operands, options);
}

} // namespace run
} // namespace attn
