// RUN: attn-opt %s -attn-tile-forward -split-input-file -verify-diagnostics

!q = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
func.func @no_target(%q: !q, %k: !q, %v: !q) -> !q {
  // expected-error @below {{needs attn.target on the module; run attn-set-target first}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
  return %o : !q
}

// -----

!q = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @no_schedule(%q: !q, %k: !q, %v: !q) -> !q {
    // expected-error @below {{expects a schedule; run attn-choose-schedule first}}
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0 : (!q, !q, !q) -> (!q, !l)
    return %o : !q
  }
}

// -----

!q = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @two(%q: !q, %k: !q, %v: !q) -> !q {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    // expected-error @below {{is the second one in @two; write one function for each}}
    %p, %lse2 = attn.sdpa(%o, %k, %v) scale 1.0 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    return %p : !q
  }
}

// -----

!q = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @more_work(%q: !q, %k: !q, %v: !q) -> !q {
    // expected-error @below {{cannot be compiled in @more_work, which may hold one attn.sdpa, constants and the return of its results}}
    %x = arith.addf %q, %q : !q
    %o, %lse = attn.sdpa(%x, %k, %v) scale 1.0 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    return %o : !q
  }
}

// -----

!q = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @returns_argument(%q: !q, %k: !q, %v: !q) -> (!q, !q) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    // expected-error @below {{of @returns_argument expects the output of attn.sdpa and at most its LSE, each once}}
    return %o, %k : !q, !q
  }
}

// -----

!q = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  // expected-error @below {{expects arguments of different names, got 'q' for both #0 and #3 (results count behind the arguments)}}
  func.func @same_name(%q: !q, %k: !q, %v: !q, %x: tensor<?xf32> {attn.name = "q"}) -> !q {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    return %o : !q
  }
}

// -----

!q = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  // expected-error @below {{argument #3 has type 'tensor<?xf64>'; expects a tensor of f16, bf16, f32, i32, i8 or i1, or a scalar f32 or i32}}
  func.func @odd_capture(%q: !q, %k: !q, %v: !q, %x: tensor<?xf64>) -> !q {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    return %o : !q
  }
}

// -----

!q = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @not_an_argument(%k: !q, %v: !q) -> !q {
    %t = arith.constant dense<1.0> : tensor<1x1x4x8xf32>
    // expected-error @below {{operand #0 is a tensor constant of @not_an_argument; expects an argument}}
    %o, %lse = attn.sdpa(%t, %k, %v) scale 1.0 schedule <tile = [8, 4], warps = [1, 1]> : (tensor<1x1x4x8xf32>, !q, !q) -> (!q, !l)
    return %o : !q
  }
}
