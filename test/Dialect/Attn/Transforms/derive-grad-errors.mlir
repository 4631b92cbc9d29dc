// RUN: attn-opt %s -attn-derive-grad -split-input-file -verify-diagnostics

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
func.func @bits(%q: !t, %k: !t, %v: !t) -> !t {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %one = arith.constant 1 : i32
    %bits = arith.bitcast %s : f32 to i32
    %more = arith.addi %bits, %one : i32
    // expected-error @below {{'arith.bitcast' op has no derivative with respect to the score}}
    %x = arith.bitcast %more : i32 to f32
    attn.yield %x : f32
  } : (!t, !t, !t) -> (!t, !l)
  return %o : !t
}

// -----

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
func.func @no_rule(%q: !t, %k: !t, %v: !t) -> !t {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{'math.acosh' op has no derivative with respect to the score}}
    %x = math.acosh %s : f32
    attn.yield %x : f32
  } : (!t, !t, !t) -> (!t, !l)
  return %o : !t
}

// -----

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
func.func @used(%q: !t, %k: !t, %v: !t) -> !t {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (!t, !t, !t) -> (!t, !l)
  // expected-error @below {{uses a result of attn.sdpa; gradients are derived where nothing but the return does}}
  %x = arith.addf %o, %o : !t
  return %x : !t
}

// -----

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
func.func @more(%q: !t, %k: !t, %v: !t) -> (!t, !t) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (!t, !t, !t) -> (!t, !l)
  // expected-error @below {{of @more returns more than the results of attn.sdpa}}
  return %o, %q : !t, !t
}

// -----

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
// expected-error @below {{needs the name @taken_grad for its gradients, which is taken}}
func.func @taken(%q: !t, %k: !t, %v: !t) -> !t {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (!t, !t, !t) -> (!t, !l)
  return %o : !t
}
func.func @taken_grad(%q: !t) -> !t {
  return %q : !t
}

// -----

!t = tensor<?x?x?x64xf32>
!l = tensor<?x?x?xf32>
func.func @captures_q(%q: !t, %k: !t, %v: !t) -> !t {
  // expected-error @below {{captures q, and its score region may depend on it; the gradient of q through a region is not made}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%q : !t)
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %c0 = arith.constant 0 : i32
      %x = attn.gather %q[%b, %h, %i, %c0] : (!t, i32, i32, i32, i32) -> f32
      %y = arith.mulf %s, %x : f32
      attn.yield %y : f32
    } : (!t, !t, !t) -> (!t, !l)
  return %o : !t
}
