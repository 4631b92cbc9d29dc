// RUN: attn-opt %s -canonicalize | FileCheck %s

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>

// CHECK-LABEL: func.func @window_is_causal
// CHECK: scale 1.250000e-01 mask [#attn.causal<top_left>] :
func.func @window_is_causal(%q: !t, %k: !t, %v: !t) -> (!t, !l) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.window<-1, 0, top_left>] : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// CHECK-LABEL: func.func @unbounded_window_is_nothing
// CHECK: scale 1.250000e-01 :
func.func @unbounded_window_is_nothing(%q: !t, %k: !t, %v: !t) -> (!t, !l) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.window<-1, -1, top_left>] : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// CHECK-LABEL: func.func @empty_list
// CHECK: scale 1.250000e-01 :
func.func @empty_list(%q: !t, %k: !t, %v: !t) -> (!t, !l) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [] : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// A causal mask bounds a window from the same corner on the right.
// CHECK-LABEL: func.func @causal_window
// CHECK: mask [#attn.window<127, 0, bottom_right>] :
func.func @causal_window(%q: !t, %k: !t, %v: !t) -> (!t, !l) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>, #attn.window<127, 64, bottom_right>] : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// CHECK-LABEL: func.func @causal_twice
// CHECK: mask [#attn.causal<bottom_right>] :
func.func @causal_twice(%q: !t, %k: !t, %v: !t) -> (!t, !l) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.window<-1, 0, bottom_right>, #attn.causal<bottom_right>] : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// Which of two corners is tighter depends on the lengths.
// CHECK-LABEL: func.func @corners
// CHECK: mask [#attn.causal<bottom_right>, #attn.window<-1, 0, top_left>] :
func.func @corners(%q: !t, %k: !t, %v: !t) -> (!t, !l) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>, #attn.window<-1, 0, top_left>] : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// Regions that do nothing go, and with them what they captured.
// CHECK-LABEL: func.func @identity_regions
// CHECK: attn.sdpa(%{{.*}}, %{{.*}}, %{{.*}}) scale 1.250000e-01 :
func.func @identity_regions(%q: !t, %k: !t, %v: !t, %c: f32) -> (!t, !l) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%c : f32)
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %x = arith.addf %s, %c : f32
      attn.yield %s : f32
    } visible {
    ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
      %p = arith.cmpi sle, %i, %i : i32
      attn.yield %p : i1
    } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// CHECK-LABEL: func.func @unused_capture
// CHECK-SAME: %[[C:[^:]*]]: f32, %{{.*}}: tensor<?xf32>
// CHECK: captures(%[[C]] : f32) score
func.func @unused_capture(%q: !t, %k: !t, %v: !t, %c: f32, %d: tensor<?xf32>) -> (!t, !l) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%d, %c, %c : tensor<?xf32>, f32, f32)
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %x = arith.addf %s, %c : f32
      attn.yield %x : f32
    } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// A region keeps its constants, and takes copies of those it was given.
// CHECK-LABEL: func.func @constants
// CHECK-NOT: arith.constant
// CHECK: ^bb0
// CHECK-DAG: arith.constant 2.000000e+00
// CHECK-DAG: arith.constant 3.000000e+00
// CHECK: attn.yield
func.func @constants(%q: !t, %k: !t, %v: !t) -> (!t, !l) {
  %two = arith.constant 2.0 : f32
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %three = arith.constant 3.0 : f32
      %x = arith.mulf %s, %two : f32
      %y = arith.addf %x, %three : f32
      attn.yield %y : f32
    } : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}
