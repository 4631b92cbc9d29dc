//===- SetTarget.cpp - put the facts of a chip on the module
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From here on passes read the machine from the IR only.
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "Families.h"
#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Facts/Facts.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

namespace attn {
#define GEN_PASS_DEF_SETTARGETPASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-set-target"

/// The chip a misspelt name most likely meant, or null.
static const facts::Chip *closestChip(StringRef name) {
  const facts::Chip *best = nullptr;
  unsigned bestDistance = 2; // a wrong suffix or one wrong character, more is a guess
  for (const facts::Chip &chip : facts::chips()) {
    unsigned distance = name.edit_distance_insensitive(StringRef(chip.name));
    if (distance < bestDistance) {
      best = &chip;
      bestDistance = distance;
    }
  }
  return best;
}

/// `name` without characters that would break the message's line.
static std::string printable(StringRef name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::printEscapedString(name, os);
  return text;
}

namespace {
struct SetTarget : attn::impl::SetTargetPassBase<SetTarget> {
  using SetTargetPassBase::SetTargetPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const std::string name = chip;
    if (auto present = module->getAttrOfType<TargetAttr>(AttnDialect::kTargetAttr)) {
      if (name.empty() || name == present.getChip())
        return; // what the module says wins, its numbers too
      module.emitError() << "the module is for '" << printable(present.getChip()) << "' (attn.target), but chip '"
                         << printable(name) << "' was asked for; drop one of the two";
      return signalPassFailure();
    }
    const facts::Chip *found = facts::findChip(name);
    if (!found) {
      InFlightDiagnostic error = module.emitError();
      if (name.empty())
        error << "no chip given";
      else
        error << "unknown chip '" << printable(name) << "'";
      if (const facts::Chip *closest = closestChip(name))
        error << " (did you mean '" << StringRef(closest->name) << "'?)";
      error << "; known chips: ";
      llvm::interleaveComma(facts::chips(), error, [&](const facts::Chip &known) { error << StringRef(known.name); });
      return signalPassFailure();
    }
    module->setAttr(AttnDialect::kTargetAttr,
                    TargetAttr::get(&getContext(), found->name, fromFacts(found->family), found->smemPerBlock,
                                    found->smemPerSM, found->sms, found->regsPerSM));
    remark::passed(module.getLoc(), remark::RemarkOpts::name("target").category(DEBUG_TYPE))
        << remark::metric("chip", StringRef(found->name)) << remark::metric("smem_bytes", found->smemPerBlock);
  }
};
} // namespace
