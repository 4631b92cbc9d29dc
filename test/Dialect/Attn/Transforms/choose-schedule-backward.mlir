// Backward: a schedule for each nest, which together make the three gradients.
// RUN: attn-opt %s -split-input-file -attn-choose-schedule | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-choose-schedule=deterministic | FileCheck %s --check-prefix=DET
// RUN: attn-opt %s -split-input-file -attn-choose-schedule -remarks-filter=attn-choose-schedule -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!t = tensor<?x?x?x128xbf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync, smem = 166912, smem_sm = 167936, sms = 108>} {
  // CHECK-LABEL: func.func @plain(
  // CHECK: schedule [#attn.schedule<tile = [64, 64], {{.*}}grads = ["dK", "dV"], {{.*}}from = "table mma_sync backward, head dim <= 128">, #attn.schedule<{{.*}}grads = ["dQ"]
  // REMARK: schedule{{.*}}Function=plain |{{.*}}grads="dK dV", rule="table mma_sync backward, head dim <= 128", smem_bytes=98304, tile_keys=64, tile_queries=64, warps=4
  // REMARK: schedule{{.*}}Function=plain |{{.*}}grads=dQ
  func.func @plain(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125 : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }

  // A score region's derivative keeps another tile of scores alive: smaller tiles.
  // CHECK-LABEL: func.func @scored(
  // CHECK: schedule [#attn.schedule<tile = [32, 64], {{.*}}grads = ["dK", "dV"]
  func.func @scored(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125 score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %x = math.tanh %s : f32
      attn.yield %x : f32
    } : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

// A row of dK and one of dV are too much at D = 256: a nest for each.
!t = tensor<?x?x?x256xbf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "sm_89", family = mma_sync, smem = 101376, smem_sm = 102400>} {
  // CHECK-LABEL: func.func @d256(
  // CHECK: schedule [#attn.schedule<{{.*}}grads = ["dV"]{{.*}}, #attn.schedule<{{.*}}grads = ["dK"]{{.*}}, #attn.schedule<{{.*}}grads = ["dQ"]
  func.func @d256(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125 : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

// On wgmma one nest makes all gradients, in no order where tiles add to dQ, unless results are to be the same from run to
// run. What no tensor map describes goes another way, as in the forward. O is read by rows: it may be as it is.
!t = tensor<?x?x?x128xf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  // CHECK-LABEL: func.func @two_ways(
  // CHECK-SAME: attn.when = {aligned = ["q", "k", "v", "do", "dq", "dk", "dv"], from = 4096 : i64, size = "q_len"}
  // CHECK: schedule [#attn.schedule<{{.*}}groups = 2, {{.*}}grads = ["dK", "dV", "dQ"], {{.*}}tiles = single
  // CHECK-LABEL: func.func @two_ways_below_4096(
  // CHECK: grads = ["dK", "dV", "dQ"], {{.*}}tiles = dynamic
  // DET-LABEL: func.func @two_ways(
  // DET: schedule [#attn.schedule<{{.*}}groups = 2, {{.*}}grads = ["dK", "dV"], {{.*}}grads = ["dQ"]
  // CHECK-LABEL: func.func @two_ways_unaligned(
  // CHECK-SAME: attn.alternative = @two_ways, attn.target = #attn.target<chip = "sm_90a", family = mma_sync
  // CHECK: schedule [#attn.schedule<{{.*}}table mma_sync backward
  func.func @two_ways(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125 : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}
