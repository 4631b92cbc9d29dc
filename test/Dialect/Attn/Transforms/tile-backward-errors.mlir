// RUN: attn-opt %s -attn-tile-backward -split-input-file -verify-diagnostics

!t = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
func.func @no_target(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
  // expected-error @below {{needs attn.target on the module; run attn-set-target first}}
  %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 1.0 : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
  return %dq, %dk, %dv : !t, !t, !t
}

// -----

!t = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @no_schedule(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{expects schedules; run attn-choose-schedule first}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 1.0 : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

!t = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @no_derivative(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{has a score region and no derivative of it; run attn-derive-grad first}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 1.0 score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %x = arith.mulf %s, %s : f32
      attn.yield %x : f32
    } schedule [#attn.schedule<tile = [8, 8], warps = [1, 1], grads = ["dK", "dV"]>, #attn.schedule<tile = [8, 8], warps = [1, 1], grads = ["dQ"]>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

!t = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @together(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    // expected-error @below {{has a schedule that makes dQ with one other gradient; no nest does}}
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 1.0
      schedule [#attn.schedule<tile = [8, 8], warps = [1, 1], grads = ["dK", "dQ"]>, #attn.schedule<tile = [8, 8], warps = [1, 1], grads = ["dV"]>] : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

!t = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @two_of_three(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t) {
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 1.0
      schedule [#attn.schedule<tile = [8, 8], warps = [1, 1], grads = ["dK", "dV"]>, #attn.schedule<tile = [8, 8], warps = [1, 1], grads = ["dQ"]>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    // expected-error @below {{of @two_of_three expects the three gradients of attn.sdpa_grad, each once}}
    return %dq, %dk : !t, !t
  }
}
