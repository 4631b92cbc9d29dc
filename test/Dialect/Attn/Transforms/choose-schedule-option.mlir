// A bad schedule option is one error at the op, with the parser's reason.
// RUN: not attn-opt %s "-attn-choose-schedule=schedule=\"tile = [1]\"" 2>&1 | FileCheck %s --check-prefix=ARITY
// RUN: not attn-opt %s "-attn-choose-schedule=schedule=\"tile = [64, 64], wraps = [4, 1]\"" 2>&1 | FileCheck %s --check-prefix=TYPO
// RUN: not attn-opt %s "-attn-choose-schedule=schedule=\"#attn.causal<top_left>\"" 2>&1 | FileCheck %s --check-prefix=OTHER

// ARITY: choose-schedule-option.mlir:[[#@LINE+5]]:{{.*}}: error: 'attn.sdpa' op bad schedule option: expects 'tile' to be two positive integers up to 65536, got [1]
// TYPO: error: 'attn.sdpa' op bad schedule option: unknown schedule field 'wraps'; expects tile, warps, groups, regs, grads, depth, hold, order, skip, out, seam, blocks, tiles, section or from
// OTHER: error: 'attn.sdpa' op bad schedule option: expects an #attn.schedule
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1048576>} {
  func.func @f(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
  }
}
