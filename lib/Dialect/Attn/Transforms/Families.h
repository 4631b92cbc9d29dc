//===- Families.h - the families of Facts and of the IR --------------*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts knows no MLIR, so the enum exists twice; this is the only place that says which is which.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_FAMILIES_H
#define ATTN_TRANSFORMS_FAMILIES_H

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Facts/Facts.h"

namespace attn {

constexpr std::pair<Family, facts::Family> kFamilyPairs[] = {{Family::MmaSync, facts::Family::MmaSync},
                                                             {Family::Wgmma, facts::Family::Wgmma},
                                                             {Family::Cpu, facts::Family::Cpu}};

inline facts::Family toFacts(Family family) {
  for (auto [ir, fact] : kFamilyPairs)
    if (ir == family)
      return fact;
  llvm_unreachable("a family without a row");
}

inline Family fromFacts(facts::Family family) {
  for (auto [ir, fact] : kFamilyPairs)
    if (fact == family)
      return ir;
  llvm_unreachable("a family without a row");
}

} // namespace attn

#endif // ATTN_TRANSFORMS_FAMILIES_H
