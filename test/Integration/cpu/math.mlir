// A region with many functions: those with a polynomial stay vectors, powf is libm's. It compiles in seconds: long
// chains of operands were once walked on every path.
//
// RUN: timeout 60 attn-compile %s --chip=cpu -o %t
// RUN: attn-run %t/manifest.json --device=cpu --random=seed:3 --repeat=1 --shape=batch=2,q_heads=2,k_heads=1,q_len=77,k_len=130
// RUN: llvm-nm --dynamic --undefined-only %t/attention_fwd.so | FileCheck %s
// CHECK-NOT: {{tanhf|erff|sinf|expf|logf}}
// CHECK: U powf
// CHECK-NOT: {{tanhf|erff|sinf|expf|logf}}

func.func @attention(%q: tensor<?x?x?x32xf32>, %k: tensor<?x?x?x32xf32>, %v: tensor<?x?x?x32xf32>) -> (tensor<?x?x?x32xf32>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.17
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
      %one = arith.constant 1.0 : f32
      %a = math.erf %s : f32
      %c = math.sin %s : f32
      %d = math.cos %c : f32
      %e = math.exp %a : f32
      %f = math.log1p %e : f32
      %g = math.sqrt %f : f32
      %i = math.absf %s : f32
      %j = arith.addf %i, %one : f32
      %k1 = math.powf %j, %g : f32
      %l = math.atan %k1 : f32
      %m = math.log %j : f32
      %n = math.rsqrt %j : f32
      %p = math.floor %s : f32
      %r = math.expm1 %n : f32
      %t = arith.addf %l, %m : f32
      %u = arith.addf %t, %r : f32
      %w = arith.addf %u, %p : f32
      %x = arith.addf %w, %d : f32
      %y = math.tanh %x : f32
      %z = math.exp2 %y : f32
      attn.yield %z : f32
    }
    : (tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>, tensor<?x?x?x32xf32>) -> (tensor<?x?x?x32xf32>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x32xf32>, tensor<?x?x?xf32>
}
