//===- Report.cpp - what --report and --time print
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Facts/Facts.h"
#include "attn/Target/Manifest.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace attn;

/// Blocks that fit on an SM at once. Registers are handed out to warps in units of 256.
static int64_t blocksPerSM(TargetAttr target, LaunchBounds bounds, int64_t smemBytes, int64_t registers) {
  const facts::Chip *chip = facts::findChip(std::string_view(target.getChip()));
  // A chip without a row (a module may state any) is judged by the smallest SM there is.
  int64_t threads = chip ? chip->threadsPerSM : 1536;
  int64_t blocks = threads / std::max<int64_t>(bounds.threads, 1);
  blocks = std::min(blocks, target.getSmemSm() / (smemBytes + facts::kReservedSmemPerBlock));
  if (registers) {
    int64_t warps = llvm::divideCeil(bounds.threads, facts::kWarpLanes);
    blocks = std::min(blocks, target.getRegs() /
                                  static_cast<int64_t>(warps * llvm::alignTo(registers * facts::kWarpLanes, 256)));
  }
  return blocks;
}

/// "roles 24, 240": what the warps of each role have once they run; empty if all keep what they were launched with.
static std::string describeRoleRegisters(ModuleOp module, StringRef kernel) {
  std::string text;
  if (Operation *op = module.lookupSymbol(kernel))
    op->walk([&](Operation *inner) {
      auto count = inner->getAttrOfType<IntegerAttr>("regCount");
      if (inner->getName().getStringRef() == "nvvm.setmaxregister" && count)
        text += (text.empty() ? "roles " : ", ") + std::to_string(count.getInt());
    });
  return text;
}

std::string attn::reportKernel(ModuleOp module, StringRef kernel, const AssemblerReport *assembler) {
  std::string line;
  llvm::raw_string_ostream os(line);
  auto target = module->getAttrOfType<TargetAttr>(AttnDialect::kTargetAttr);
  os << kernel << ": " << target.getChip();
  if (target.getFamily() != Family::Cpu) {
    LaunchBounds bounds = getLaunchBounds(module, kernel);
    int64_t smemBytes = bounds.smemBytes + (assembler ? assembler->staticSmemBytes : 0);
    os << ", " << bounds.threads << " threads, " << smemBytes << " bytes of shared memory";
    if (assembler) {
      os << ", " << assembler->registers << " registers";
      if (std::string roles = describeRoleRegisters(module, kernel); !roles.empty())
        os << " at launch (" << roles << ")";
      os << ", " << assembler->spillStoreBytes << " bytes spilled";
    }
    os << ", " << blocksPerSM(target, bounds, smemBytes, assembler ? assembler->registers : 0) << " blocks per SM";
    if (target.getSms() > 1)
      os << " (SMs: " << target.getSms() << ")";
    if (!assembler)
      os << " (registers unknown: no ptxas)";
  }
  os << "\n";
  return line;
}

void PhaseTimes::add(StringRef phase, double milliseconds) {
  for (auto &[name, total] : phases)
    if (name == phase) {
      total += milliseconds;
      return;
    }
  phases.emplace_back(phase.str(), milliseconds);
}

void PhaseTimes::print() const {
  if (!enabled)
    return;
  double total = 0;
  for (const auto &[name, milliseconds] : phases) {
    llvm::errs() << llvm::format("%s %.1f, ", name.c_str(), milliseconds);
    total += milliseconds;
  }
  llvm::errs() << llvm::format("in all %.1f ms\n", total);
}
