//===- WgmmaText.cpp - a product as the text of its instructions
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WgmmaText.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace attn::nvvm;

std::string WgmmaProduct::text() const {
  std::string result;
  llvm::raw_string_ostream os(result);
  std::string accumulators;
  for (int64_t i = 0; i < n / 2; ++i)
    accumulators += (i ? ", $" : "$") + std::to_string(i);

  os << "{\n.reg .pred first, more;\n.reg .b32 zero, high, low;\n.reg .b64 da, db;\n"
     << "mov.b32 zero, 0;\nsetp.ne.b32 first, zero, 0;\nsetp.eq.b32 more, zero, 0;\n"
     << "mov.b32 high, " << SharedOperand::kHighWord
     << ";\n"
     // Registers that other instructions touched are ready for the matrix unit behind this.
     << "wgmma.fence.sync.aligned;\n";
  auto descriptor = [&](const char *name, const std::string &low, int64_t step) {
    os << "add.u32 low, " << low << ", " << step << ";\nmov.b64 " << name << ", {low, high};\n";
  };
  bool adds = accumulates;
  for (const WgmmaTerm &term : terms)
    for (int64_t s = 0; s < term.steps; ++s) {
      std::string aOperand = "da";
      if (term.a)
        descriptor("da", term.aNames[0], term.a->step(s));
      else
        aOperand = "{" + llvm::join(llvm::ArrayRef(term.aNames).slice(4 * s, 4), ", ") + "}";
      descriptor("db", term.bName, term.b.step(s));
      // Predicate: add to D. Then the signs of A and B, and which of those in shared memory is not K-major.
      os << "wgmma.mma_async.sync.aligned.m64n" << n << "k16.f32." << element << "." << element << " {" << accumulators
         << "}, " << aOperand << ", db, " << (adds ? "more" : "first") << ", 1, 1, "
         << (term.a ? (term.a->kMajor ? "0, " : "1, ") : "") << (term.b.kMajor ? 0 : 1) << ";\n";
      adds = true;
    }
  os << "wgmma.commit_group.sync.aligned;\n}";
  return result;
}
