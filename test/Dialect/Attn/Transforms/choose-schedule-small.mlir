// Family wgmma where the table does not fit: the same machine, on mma.sync alone.
// RUN: attn-opt %s -attn-choose-schedule -remarks-filter=attn-choose-schedule -remark-format=emitRemark 2>&1 | FileCheck %s
// CHECK: remark: [Missed] wgmma {{.*}}Reason="tile [128, 112] needs 90240 bytes of shared memory, toy has 90112", Remark="no schedule for warpgroups fits, mma.sync takes all: "
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 90112, smem_sm = 102400>} {
  // CHECK: func.func @f(
  // CHECK-SAME: attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 90112, smem_sm = 102400>}
  // CHECK: tile = [128, 64], warps = [4, 1]
  // CHECK-NOT: func.func
  func.func @f(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  }
}
