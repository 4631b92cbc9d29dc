// The user's own schedules are held to `deterministic` as those of the table are.
// RUN: attn-opt %s -attn-choose-schedule=deterministic -verify-diagnostics

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 232448>} {
  func.func @adds(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{schedule of the op adds up dQ in any order, so its bits change from run to run, and 'deterministic' asks for the same; give dQ a nest of its own}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [128, 128], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dK", "dV", "dQ"], depth = {ds = 2}>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}
