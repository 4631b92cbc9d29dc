// One refusal a rule: @<op>_<rule> is the rule of that number in the verifiers.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

func.func @sdpa_c1(%q: tensor<?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op q has rank 3; expects 4 (batch, heads, length, head dim)}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c1_rank0(%q: tensor<f16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op q has rank 0; expects 4}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<f16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c1_unranked(%q: tensor<*xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @+2 {{custom op 'attn.sdpa' invalid kind of type specified: expected builtin.tensor, but found 'tensor<*xf16>'}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<*xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c1_memref(%q: memref<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @+2 {{custom op 'attn.sdpa' invalid kind of type specified: expected builtin.tensor, but found 'memref<?x?x?x64xf16>'}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (memref<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c1_encoding(%q: tensor<1x1x64x64xf16, "row">, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op q has an encoding; expects a plain tensor}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<1x1x64x64xf16, "row">, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c1_lse(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op lse has rank 4; expects 3 (batch, heads, length)}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?x1xf32>)
  return
}

// -----

func.func @sdpa_c2(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x9223372036854775807x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op k has size 9223372036854775807 in dimension 2; sizes are at most 2147483647}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x?x9223372036854775807x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c3(%q: tensor<2x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<3x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op q and v differ in batch (2 vs 3)}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<2x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<3x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c4_heads(%q: tensor<?x?x?x64xf16>, %k: tensor<?x2x?x64xf16>, %v: tensor<?x4x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op k and v differ in heads (2 vs 4)}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x2x?x64xf16>, tensor<?x4x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c4_length(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x128x64xf16>, %v: tensor<?x?x256x64xf16>) {
  // expected-error @below {{'attn.sdpa' op k and v differ in length (128 vs 256)}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x?x128x64xf16>, tensor<?x?x256x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c5(%q: tensor<?x28x?x64xf16>, %k: tensor<?x8x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op query heads 28 not a multiple of kv heads 8}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x28x?x64xf16>, tensor<?x8x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c5_fewer(%q: tensor<?x2x?x64xf16>, %k: tensor<?x4x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op query heads 2 not a multiple of kv heads 4}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x2x?x64xf16>, tensor<?x4x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c5_none(%q: tensor<?x?x?x64xf16>, %k: tensor<?x0x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op k has no heads}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x0x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c6_dynamic(%q: tensor<?x?x?x?xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op head dim must be static; that of q is dynamic}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x?xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c6_odd(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x36xf16>) {
  // expected-error @below {{'attn.sdpa' op head dim must be a positive multiple of 8; that of v is 36}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x36xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c6_zero(%q: tensor<?x?x?x0xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op head dim must be a positive multiple of 8; that of q is 0}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x0xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c6_differ(%q: tensor<?x?x?x128xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op q and k head dims differ (128 vs 64)}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x128xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c7(%q: tensor<?x?x?x64xf64>, %k: tensor<?x?x?x64xf64>, %v: tensor<?x?x?x64xf64>) {
  // expected-error @below {{'attn.sdpa' op q has element type 'f64'; expects f16, bf16 or f32}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x64xf64>, tensor<?x?x?x64xf64>, tensor<?x?x?x64xf64>) -> (tensor<?x?x?x64xf64>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c7_fp8(%q: tensor<?x?x?x64xf8E5M2FNUZ>, %k: tensor<?x?x?x64xf8E5M2FNUZ>, %v: tensor<?x?x?x64xf8E5M2FNUZ>) {
  // expected-error @below {{'attn.sdpa' op q has element type 'f8E5M2FNUZ'; expects f16, bf16 or f32}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x64xf8E5M2FNUZ>, tensor<?x?x?x64xf8E5M2FNUZ>, tensor<?x?x?x64xf8E5M2FNUZ>) -> (tensor<?x?x?x64xf8E5M2FNUZ>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c7_mixed(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op q and k differ in element type ('f16' vs 'bf16')}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c8(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x32xf16>) {
  // expected-error @below {{'attn.sdpa' op result o has head dim 64, v has 32}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x32xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c8_length(%q: tensor<?x?x128x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op result lse has length 64, q has 128}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x128x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x64xf32>)
  return
}

// -----

func.func @sdpa_c8_lse(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op result lse has element type 'f16'; expects f32}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf16>)
  return
}

// -----

func.func @sdpa_c9(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op scale must be finite, got 0x7F800000 : f32}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0x7F800000
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c10(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op unknown mask "causal"; expects #attn.causal<align> or #attn.window<left, right, align>}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask ["causal"]
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c10_twice(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op expects each kind of mask once, got a second #attn.causal<top_left>}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>, #attn.causal<top_left>]
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c11(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %c: f64) {
  // expected-error @below {{'attn.sdpa' op cannot capture 'f64'; expects a scalar f32 or i32, or a ranked tensor of f32, f16, bf16, i32, i8 or i1}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%c : f64)
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c11_unranked(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %c: tensor<*xf32>) {
  // expected-error @below {{'attn.sdpa' op cannot capture 'tensor<*xf32>'}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%c : tensor<*xf32>)
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c12(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op score region takes (score: f32, b, h, q, k: i32), got ('f32', 'i32', 'i32')}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %i: i32, %j: i32):
    attn.yield %s : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c12_blocks(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-error @below {{'attn.sdpa' op score region must be a single block}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    cf.br ^bb1
    ^bb1:
    attn.yield %s : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

// A mask where a score belongs, the commonest mistake.
func.func @sdpa_c13(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %x = arith.cmpi sle, %j, %i : i32
    // expected-error @below {{yields 'i1'; a score region yields 'f32' (did you mean a mask region?)}}
    attn.yield %x : i1
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c13_mask(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 visible {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %x = arith.sitofp %i : i32 to f32
    // expected-error @below {{yields 'f32'; a mask region yields 'i1' (did you mean a score region?)}}
    attn.yield %x : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c13_f16(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %x = arith.truncf %s : f32 to f16
    // expected-error @below {{yields 'f16'; a score region yields 'f32'}}
    attn.yield %x : f16
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c13_two(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{yields 2 values; a score region yields one 'f32'}}
    attn.yield %s, %s : f32, f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

// Notes point at the op and at the value.
// expected-note @below {{the value comes from here}}
func.func @sdpa_c14(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %c: f32) {
  // expected-note @below {{in the score region of this op}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{score region uses a 'f32' from outside; list it in captures}}
    %x = arith.addf %s, %c : f32
    attn.yield %x : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c14_yield(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %c: f32) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{score region yields a 'f32' from outside; list it in captures}}
    attn.yield %c : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c15(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %m: memref<f32>) {
  // expected-note @below {{in the score region of this op}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{score region must be side-effect free; found memref.store}}
    memref.store %s, %m[] : memref<f32>
    attn.yield %s : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c15_results(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-note @below {{in the score region of this op}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{score region may hold operations with one result only; found arith.mulsi_extended}}
    %low, %high = arith.mulsi_extended %i, %j : i32
    attn.yield %s : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func private @self()
func.func @sdpa_c15_call(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-note @below {{in the score region of this op}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{score region must be side-effect free; found func.call}}
    func.call @self() : () -> ()
    attn.yield %s : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c15_loop(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-note @below {{in the score region of this op}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{score region may hold arith, math and attn.gather only; found scf.while}}
    scf.while : () -> () {
      %t = arith.constant true
      scf.condition(%t)
    } do {
      scf.yield
    }
    attn.yield %s : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c15_branch(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-note @below {{in the score region of this op}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    %t = arith.constant true
    // expected-error @below {{score region may hold arith, math and attn.gather only; found scf.if}}
    %x = scf.if %t -> f32 {
      scf.yield %s : f32
    } else {
      scf.yield %s : f32
    }
    attn.yield %x : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c15_nested(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>, %c: tensor<1x1x8x8xf16>) {
  // expected-note @below {{in the score region of this op}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{score region may hold arith, math and attn.gather only; found attn.sdpa}}
    %a, %l = attn.sdpa(%c, %c, %c) scale 1.0 : (tensor<1x1x8x8xf16>, tensor<1x1x8x8xf16>, tensor<1x1x8x8xf16>) -> (tensor<1x1x8x8xf16>, tensor<1x1x8xf32>)
    attn.yield %s : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

// index has 64 bits on one target and 32 on another.
func.func @sdpa_c16_index(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-note @below {{in the score region of this op}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{arith.index_cast makes 'index'}}
    %x = arith.index_cast %i : i32 to index
    attn.yield %s : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @sdpa_c16(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-note @below {{in the score region of this op}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 score {
  ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
    // expected-error @below {{score region computes on scalars i1, i8, i16, i32, i64, f16, bf16 and f32; arith.extf makes 'f64'}}
    %x = arith.extf %s : f32 to f64
    attn.yield %s : f32
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

// q - k is 0 on the diagonal, and an element past the end is evaluated too.
func.func @sdpa_c17(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) {
  // expected-note @below {{in the mask region of this op}}
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 visible {
  ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
    %d = arith.subi %i, %j : i32
    // expected-error @below {{mask region divides by an integer that may be 0 (arith.remsi); use a constant, or arith.maxsi with a positive constant}}
    %r = arith.remsi %i, %d : i32
    %x = arith.cmpi eq, %r, %i : i32
    attn.yield %x : i1
  }
    : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @gather_g1(%s: vector<4xf32>, %i: i32) {
  // expected-error @below {{'attn.gather' op expects a ranked tensor or memref to read from, got 'vector<4xf32>'}}
  %x = attn.gather %s[%i] : (vector<4xf32>, i32) -> f32
  return
}

// -----

func.func @gather_g2(%s: tensor<?x?xf32>, %i: i32) {
  // expected-error @below {{'attn.gather' op expects an index for each of the source's 2 dimensions, got 1}}
  %x = attn.gather %s[%i] : (tensor<?x?xf32>, i32) -> f32
  return
}

// -----

func.func @gather_g3(%s: tensor<?xf32>, %i: i64) {
  // expected-error @below {{'attn.gather' op expects i32 indices, got 'i64'}}
  %x = attn.gather %s[%i] : (tensor<?xf32>, i64) -> f32
  return
}

// -----

func.func @gather_g3_shapes(%s: tensor<?x?xf32>, %i: tensor<8x8xi32>, %j: tensor<8xi32>) {
  // expected-error @below {{'attn.gather' op expects indices of one shape, got 'tensor<8x8xi32>' and 'tensor<8xi32>'}}
  %x = attn.gather %s[%i, %j] : (tensor<?x?xf32>, tensor<8x8xi32>, tensor<8xi32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @gather_g4(%s: tensor<?xf16>, %i: i32) {
  // expected-error @below {{'attn.gather' op expects a result of type 'f16', got 'f32'}}
  %x = attn.gather %s[%i] : (tensor<?xf16>, i32) -> f32
  return
}

// -----

func.func @gather_g4_tile(%s: tensor<?xf16>, %i: tensor<8xi32>) {
  // expected-error @below {{'attn.gather' op expects a result of type 'tensor<8xf16>', got 'f16'}}
  %x = attn.gather %s[%i] : (tensor<?xf16>, tensor<8xi32>) -> f16
  return
}
