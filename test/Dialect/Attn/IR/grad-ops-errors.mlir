// What attn.sdpa_grad refuses beyond attn.sdpa: @sdpa_grad_<rule>.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @sdpa_grad_c1_lse(%a0: tensor<?x?x?x64xf16>, %a1: tensor<?x?x?x64xf16>, %a2: tensor<?x?x?x64xf16>, %a3: tensor<?x?x?x64xf16>, %a4: tensor<?x?xf32>, %a5: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa_grad' op lse has rank 2; expects 3 (batch, heads, length)}}
  %dq, %dk, %dv = attn.sdpa_grad(%a0, %a1, %a2, %a3, %a4, %a5) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?xf32>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
  return
}

// -----

func.func @sdpa_grad_c3(%a0: tensor<2x?x?x64xf16>, %a1: tensor<3x?x?x64xf16>, %a2: tensor<?x?x?x64xf16>, %a3: tensor<?x?x?x64xf16>, %a4: tensor<?x?x?xf32>, %a5: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa_grad' op q and k differ in batch (2 vs 3)}}
  %dq, %dk, %dv = attn.sdpa_grad(%a0, %a1, %a2, %a3, %a4, %a5) scale 0.125
    : (tensor<2x?x?x64xf16>, tensor<3x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?xf32>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
  return
}

// -----

func.func @sdpa_grad_c7_do(%a0: tensor<?x?x?x64xf16>, %a1: tensor<?x?x?x64xf16>, %a2: tensor<?x?x?x64xf16>, %a3: tensor<?x?x?x64xf16>, %a4: tensor<?x?x?xf32>, %a5: tensor<?x?x?x64xbf16>) {
  // expected-error @below {{'attn.sdpa_grad' op q and do differ in element type ('f16' vs 'bf16')}}
  %dq, %dk, %dv = attn.sdpa_grad(%a0, %a1, %a2, %a3, %a4, %a5) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?xf32>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
  return
}

// -----

func.func @sdpa_grad_c8(%a0: tensor<?x?x?x64xf16>, %a1: tensor<?x?x?x64xf16>, %a2: tensor<?x?x?x64xf16>, %a3: tensor<?x?x?x64xf16>, %a4: tensor<?x?x?xf32>, %a5: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa_grad' op result dk has head dim 32, k has 64}}
  %dq, %dk, %dv = attn.sdpa_grad(%a0, %a1, %a2, %a3, %a4, %a5) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?xf32>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?x32xf16>, tensor<?x?x?x64xf16>)
  return
}

// -----

func.func @sdpa_grad_c19_do(%a0: tensor<?x?x?x64xf16>, %a1: tensor<?x?x?x64xf16>, %a2: tensor<?x?x?x64xf16>, %a3: tensor<?x?x?x64xf16>, %a4: tensor<?x?x?xf32>, %a5: tensor<?x?x?x32xf16>) {
  // expected-error @below {{'attn.sdpa_grad' op operand do has head dim 32, v has 64}}
  %dq, %dk, %dv = attn.sdpa_grad(%a0, %a1, %a2, %a3, %a4, %a5) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?xf32>, tensor<?x?x?x32xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
  return
}

// -----

func.func @sdpa_grad_c19_lse(%a0: tensor<?x?x?x64xf16>, %a1: tensor<?x?x?x64xf16>, %a2: tensor<?x?x?x64xf16>, %a3: tensor<?x?x?x64xf16>, %a4: tensor<?x?x?xf16>, %a5: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa_grad' op operand lse has element type 'f16'; expects f32}}
  %dq, %dk, %dv = attn.sdpa_grad(%a0, %a1, %a2, %a3, %a4, %a5) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
  return
}

// -----

func.func @sdpa_grad_c19_dlse(%a0: tensor<?x?x8x64xf16>, %a1: tensor<?x?x?x64xf16>, %a2: tensor<?x?x?x64xf16>, %a3: tensor<?x?x?x64xf16>, %a4: tensor<?x?x?xf32>, %a5: tensor<?x?x?x64xf16>, %a6: tensor<?x?x7xf32>) {
  // expected-error @below {{'attn.sdpa_grad' op operand dlse has length 7, q has 8}}
  %dq, %dk, %dv = attn.sdpa_grad(%a0, %a1, %a2, %a3, %a4, %a5, %a6) scale 0.125
    : (tensor<?x?x8x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?xf32>, tensor<?x?x?x64xf16>, tensor<?x?x7xf32>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
  return
}

// -----

func.func @sdpa_grad_c20(%q: tensor<?x?x?x64xf16>, %lse: tensor<?x?x?xf32>) {
  // expected-error @below {{'attn.sdpa_grad' op has the derivative of a score region, score_grad, but no score region}}
  %dq, %dk, %dv = attn.sdpa_grad(%q, %q, %q, %q, %lse, %q) scale 0.125
    score_grad {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %dz: f32):
      attn.yield %dz : f32
    } : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?xf32>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
  return
}

// -----

func.func @sdpa_grad_c12(%q: tensor<?x?x?x64xf16>, %lse: tensor<?x?x?xf32>) {
  // expected-error @below {{derivative of the score region takes (score: f32, b, h, q, k: i32, dz: f32), got ('f32')}}
  %dq, %dk, %dv = attn.sdpa_grad(%q, %q, %q, %q, %lse, %q) scale 0.125
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %x = arith.negf %s : f32
      attn.yield %x : f32
    } score_grad {
    ^bb0(%dz: f32):
      attn.yield %dz : f32
    } : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?xf32>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
  return
}

// -----

func.func @sdpa_grad_c21(%a0: tensor<?x?x?x64xf16>, %a1: tensor<?x?x?x64xf16>, %a2: tensor<?x?x?x64xf16>, %a3: tensor<?x?x?x64xf16>, %a4: tensor<?x?x?xf32>, %a5: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa_grad' op expects one schedule whose 'grads' name "dK", got 0}}
  %dq, %dk, %dv = attn.sdpa_grad(%a0, %a1, %a2, %a3, %a4, %a5) scale 0.125 schedule [#attn.schedule<tile = [64, 64], warps = [4, 1], grads = ["dQ", "dV"]>]
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?xf32>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
  return
}
