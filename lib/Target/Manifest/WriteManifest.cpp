//===- WriteManifest.cpp - the host functions, printed for the runtime
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// There is nothing to keep in step: every number of the manifest is read off the host functions, their arguments'
// attributes and `attn.meaning`.
//
//   func @f          { launch @f_fwd }         the manifest's function: its operands, its meaning
//   func @f_short    { launch @f_short_fwd }   attn.alternative = @f: another way of doing all of it
//     =>  "kernels": [{"first_of": [f_fwd, f_short_fwd]}]
//
// A function of several launches is a list of kernels; among others to choose from, `{"kernels": [...]}`.
//
//===----------------------------------------------------------------------===//

#include "attn/Target/Manifest.h"

#include "HostPlan.h"
#include "Json.h"
#include "When.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Dialect/Attn/IR/Target.h"
#include "attn_rt/manifest_keys.h"

using namespace mlir;
using namespace attn;
using namespace attn::manifest;
namespace json = llvm::json;

namespace {
/// The ways of computing one thing, the function itself first.
struct Ways {
  SmallVector<HostPlan> plans;
  SmallVector<When> when; ///< of each plan
};
} // namespace

/// The function the manifest is about, then its alternatives in the order of the module.
static FailureOr<SmallVector<func::FuncOp>> findHosts(ModuleOp module) {
  SmallVector<func::FuncOp> hosts, alternatives;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal() && !func.getOps<LaunchOp>().empty())
      (func->hasAttr(AttnDialect::kAlternativeAttr) ? alternatives : hosts).push_back(func);
  if (hosts.empty())
    return module.emitError("has no function that launches kernels");
  if (hosts.size() > 1)
    return hosts[1].emitOpError("is the second one that launches kernels; a manifest describes one: write two modules");
  func::FuncOp first = hosts.front();
  TargetAttr target = getTarget(first);
  for (func::FuncOp func : alternatives) {
    auto of = func->getAttrOfType<FlatSymbolRefAttr>(AttnDialect::kAlternativeAttr);
    if (of.getValue() != first.getName())
      return func.emitOpError("is an alternative of ") << of << ", which is not the function that launches kernels";
    if (func.getArgumentTypes() != first.getArgumentTypes() ||
        func->getAttr(AttnDialect::kMeaningAttr) != first->getAttr(AttnDialect::kMeaningAttr))
      return func.emitOpError("must have the arguments and the attn.meaning of ") << of << ", whose alternative it is";
    if (TargetAttr other = getTarget(func); target && other.getChip() != target.getChip())
      return func.emitOpError("is for chip ")
             << other.getChip() << ", " << of << " for " << target.getChip() << ": a manifest is for one machine";
  }
  hosts.append(alternatives);
  return hosts;
}

/// The runtime asks in order: each function but the last must say when, and none may be hidden by one before.
static LogicalResult checkOrder(const Ways &ways) {
  for (auto [i, plan] : llvm::enumerate(ways.plans)) {
    func::FuncOp host = plan.host;
    bool last = i + 1 == ways.plans.size();
    if (last != ways.when[i].isAlways())
      return last ? host.emitOpError("takes every call that no function before it takes, but has ")
                        << AttnDialect::kWhenAttr
                  : host.emitOpError("is not the last way of computing this, so it needs ") << AttnDialect::kWhenAttr;
    for (size_t j = 0; j < i; ++j)
      if (ways.when[j].takesAllOf(ways.when[i])) {
        func::FuncOp taker = ways.plans[j].host;
        InFlightDiagnostic diag = host.emitOpError("is never chosen: all its calls go to @") << taker.getName();
        diag.attachNote(taker.getLoc()) << "which is asked before";
        return diag;
      }
  }
  return success();
}

/// A kernel must not be chosen when its tensor maps cannot be made.
static LogicalResult checkMaps(LaunchOp launch, const When &when, const Operands &operands) {
  for (Value value : launch.getArgs())
    if (auto map = value.getDefiningOp<TensorMapOp>())
      if (const Operand *operand = operands.find(map.getSource());
          operand && !llvm::is_contained(when.aligned, operand->name))
        return map.emitOpError("describes '")
               << operand->name << "', so " << AttnDialect::kWhenAttr << " must name it in '" ATTN_WHEN_ALIGNED "'";
  return success();
}

/// The kernels of one way, in order.
static FailureOr<json::Array> kernelsJson(HostPlan &plan, const When &when, const Operands &operands,
                                          llvm::function_ref<KernelFiles(StringRef)> filesOf) {
  json::Array kernels;
  for (LaunchOp launch : plan.getLaunches()) {
    FailureOr<json::Object> kernel = plan.kernelJson(launch, filesOf(launch.getKernel()));
    if (failed(kernel) || (!when.isAlways() && failed(checkMaps(launch, when, operands))))
      return failure();
    kernels.push_back(std::move(*kernel));
  }
  return kernels;
}

/// One way as it is, several as one choice: a call does all its work in the same way.
static FailureOr<json::Array> stepsJson(Ways &ways, const Operands &operands,
                                        llvm::function_ref<KernelFiles(StringRef)> filesOf) {
  json::Array choice;
  for (auto [plan, when] : llvm::zip_equal(ways.plans, ways.when)) {
    FailureOr<json::Array> kernels = kernelsJson(plan, when, operands, filesOf);
    if (failed(kernels) || ways.plans.size() == 1)
      return kernels;
    json::Value way =
        kernels->size() == 1 ? std::move(kernels->front()) : json::Object{{ATTN_KEY_KERNELS, std::move(*kernels)}};
    if (!when.isAlways())
      (*way.getAsObject())[ATTN_KEY_WHEN] = when.toJson();
    choice.push_back(std::move(way));
  }
  return json::Array{json::Object{{ATTN_KEY_FIRST_OF, std::move(choice)}}};
}

LogicalResult attn::writeManifest(ModuleOp module, llvm::function_ref<KernelFiles(StringRef)> filesOf,
                                  raw_ostream &os) {
  FailureOr<SmallVector<func::FuncOp>> hosts = findHosts(module);
  if (failed(hosts))
    return failure();
  FailureOr<Operands> operands = Operands::read(hosts->front());
  if (failed(operands))
    return failure();

  // Everything that can fail comes before the first character.
  SharedEntries shared;
  Ways ways;
  for (func::FuncOp host : *hosts) {
    FailureOr<When> when = When::read(host, *operands);
    if (failed(when) || failed(ways.plans.emplace_back(host, *operands, shared).read()))
      return failure();
    ways.when.push_back(*when);
  }
  if (failed(checkOrder(ways)))
    return failure();
  FailureOr<json::Array> kernels = stepsJson(ways, *operands, filesOf);
  if (failed(kernels))
    return failure();

  std::pair<StringRef, json::Value> entries[] = {
      {ATTN_KEY_MANIFEST, ATTN_MANIFEST_VERSION},
      {ATTN_KEY_MEANING, attributeJson(hosts->front()->getAttr(AttnDialect::kMeaningAttr))},
      {ATTN_KEY_SIZES, operands->sizesJson()},
      {ATTN_KEY_OPERANDS, operands->operandsJson()},
      {ATTN_KEY_REQUIRE, operands->requireJson()},
      {ATTN_KEY_EMPTY, operands->emptyJson()},
      {ATTN_KEY_WORKSPACE, std::move(shared.workspace)},
      {ATTN_KEY_VALUES, std::move(shared.values)},
      {ATTN_KEY_KERNELS, std::move(*kernels)}};
  json::OStream out(os, /*IndentSize=*/2);
  out.object([&] {
    for (auto &[key, value] : entries)
      out.attributeBegin(key), printJson(out, value), out.attributeEnd();
  });
  os << "\n";
  return success();
}
