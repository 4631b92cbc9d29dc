// RUN: attn-opt %s -attn-derive-grad -split-input-file | FileCheck %s
// RUN: attn-opt %s -attn-derive-grad=dlse -split-input-file | FileCheck %s --check-prefix=DLSE

// The arguments of the forward, then its results, then the gradients of these. Names and masks stay.

// CHECK-LABEL: func.func @attention_grad(
// CHECK-SAME: %[[Q:.*]]: tensor<?x8x?x64xf16> {attn.name = "query"}, %[[K:.*]]: tensor<?x2x?x64xf16>, %[[V:.*]]: tensor<?x2x?x32xf16>
// CHECK-SAME: %[[O:.*]]: tensor<?x8x?x32xf16> {attn.name = "out"}, %[[LSE:.*]]: tensor<?x8x?xf32>, %[[DO:.*]]: tensor<?x8x?x32xf16>)
// CHECK-SAME: -> (tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x32xf16>)
// CHECK-NOT: attn.sdpa(
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = attn.sdpa_grad(%[[Q]], %[[K]], %[[V]], %[[O]], %[[LSE]], %[[DO]]) scale 1.250000e-01 mask [#attn.causal<top_left>] :
// CHECK: return %[[DQ]], %[[DK]], %[[DV]]
// DLSE-LABEL: func.func @attention_grad(
// DLSE-SAME: %[[DLSE:[a-z0-9]*]]: tensor<?x8x?xf32>)
// DLSE: attn.sdpa_grad({{.*}}, %[[DLSE]]) scale
func.func @attention(%q: tensor<?x8x?x64xf16> {attn.name = "query"}, %k: tensor<?x2x?x64xf16>, %v: tensor<?x2x?x32xf16>)
    -> (tensor<?x8x?x32xf16> {attn.name = "out"}) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<top_left>]
    : (tensor<?x8x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x2x?x32xf16>) -> (tensor<?x8x?x32xf16>, tensor<?x8x?xf32>)
  return %o : tensor<?x8x?x32xf16>
}

// -----

// A soft cap: z = cap tanh(s r), so ds = dz cap (1 - tanh^2) r. What the derivative does not read is gone.

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
// CHECK-LABEL: func.func @softcap_grad(
// CHECK-SAME: %[[CAP:[a-z0-9]*]]: f32, %{{[a-z0-9]*}}: tensor<?x?x?x64xf16>
// CHECK: captures(%[[CAP]] : f32)
// CHECK: score_grad {
// CHECK: ^bb0(%[[S:.*]]: f32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[DZ:.*]]: f32):
// CHECK-NEXT: %[[R:.*]] = arith.constant 3.3{{.*}} : f32
// CHECK-NEXT: %[[X:.*]] = arith.mulf %[[S]], %[[R]] : f32
// CHECK-NEXT: %[[Y:.*]] = math.tanh %[[X]] : f32
// CHECK-NEXT: %[[DY:.*]] = arith.mulf %[[DZ]], %[[CAP]] : f32
// CHECK: %[[W:.*]] = arith.subf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[DX:.*]] = arith.mulf %[[DY]], %[[W]] : f32
// CHECK-NEXT: %[[DS:.*]] = arith.mulf %[[DX]], %[[R]] : f32
// CHECK-NEXT: attn.yield %[[DS]] : f32
func.func @softcap(%q: !t, %k: !t, %v: !t, %cap: f32) -> !t {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%cap : f32) score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %r = arith.constant 0.0333333 : f32
    %x = arith.mulf %s, %r : f32
    %y = math.tanh %x : f32
    %z = arith.mulf %y, %cap : f32
    attn.yield %z : f32
  } : (!t, !t, !t) -> (!t, !l)
  return %o : !t
}

// -----

// A value that is used twice sums up; a select passes the gradient to the branch it takes; positions, comparisons and
// what was gathered are constants; a steep slope leaves a gradient of 0 alone.

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
// CHECK-LABEL: func.func @rules_grad(
// CHECK: score_grad {
// CHECK: ^bb0(%[[S:.*]]: f32, {{.*}} %[[DZ:.*]]: f32):
// CHECK: %[[C:.*]] = arith.cmpf ogt, %[[S]]
// CHECK: %[[DSQ:.*]] = arith.select %[[C]], %[[DZ]], %{{.*}} : f32
// CHECK: %[[DLOG:.*]] = arith.select %[[C]], %{{.*}}, %[[DZ]] : f32
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[DLOG]]
// CHECK: %[[DS0:.*]] = arith.select %[[NONE]]
// CHECK: %[[A:.*]] = arith.mulf %[[DSQ]], %[[S]]
// CHECK: %[[DS1:.*]] = arith.addf %[[DS0]], %[[A]]
// CHECK: %[[B:.*]] = arith.mulf %[[DSQ]], %[[S]]
// CHECK: %[[DS2:.*]] = arith.addf %[[DS1]], %[[B]]
// CHECK: attn.yield %[[DS2]]
func.func @rules(%q: !t, %k: !t, %v: !t, %bias: tensor<?xf32>) -> !t {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%bias : tensor<?xf32>) score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %one = arith.constant 1.0 : f32
    %sq = arith.mulf %s, %s : f32
    %log = math.log %s : f32
    %c = arith.cmpf ogt, %s, %one : f32
    %y = arith.select %c, %sq, %log : f32
    %g = attn.gather %bias[%j] : (tensor<?xf32>, i32) -> f32
    %n = arith.fptosi %s : f32 to i32
    %f = arith.sitofp %n : i32 to f32
    %gf = arith.addf %g, %f : f32
    %z = arith.addf %y, %gf : f32
    attn.yield %z : f32
  } : (!t, !t, !t) -> (!t, !l)
  return %o : !t
}

// -----

// A score that is left out has no gradient; a derivative that is there already stays.

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>
// CHECK-LABEL: func.func @constant_score_grad(
// CHECK: score_grad {
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: attn.yield %[[ZERO]]
func.func @constant_score(%q: !t, %k: !t, %v: !t) -> !t {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %f = arith.sitofp %j : i32 to f32
    attn.yield %f : f32
  } : (!t, !t, !t) -> (!t, !l)
  return %o : !t
}
// CHECK-LABEL: func.func @written(
// CHECK: score_grad {
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: attn.yield
func.func @written(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
  %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %x = math.tanh %s : f32
    attn.yield %x : f32
  } score_grad {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %dz: f32):
    %x = arith.mulf %s, %dz : f32
    attn.yield %x : f32
  } : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
  return %dq, %dk, %dv : !t, !t, !t
}
