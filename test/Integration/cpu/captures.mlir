// Captured operands of every type, gathered by row, by column, by both and by head.
//
// RUN: attn-compile %s --chip=cpu -o %t
// RUN: attn-run %t/manifest.json --device=cpu --random=seed:3 --repeat=1 --shape=batch=2,q_heads=4,k_heads=2,q_len=70,k_len=130

func.func @captures(%q: tensor<?x?x?x32xf16>, %k: tensor<?x?x?x32xf16>, %v: tensor<?x?x?x32xf16>,
                    %keep: tensor<?x?xi1> {attn.name = "keep"}, %step: tensor<?xi8> {attn.name = "step"},
                    %bias: tensor<?x?xf16> {attn.name = "bias"}, %shift: tensor<?xbf16> {attn.name = "shift"},
                    %slope: tensor<?xf32> {attn.name = "slope"}, %limit: i32 {attn.name = "limit"})
    -> (tensor<?x?x?x32xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.17
      captures(%keep, %step, %bias, %shift, %slope, %limit
               : tensor<?x?xi1>, tensor<?xi8>, tensor<?x?xf16>, tensor<?xbf16>, tensor<?xf32>, i32)
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
      %i = attn.gather %step[%qi] : (tensor<?xi8>, i32) -> i8
      %w = arith.extsi %i : i8 to i32
      %f = arith.sitofp %w : i32 to f32
      %c = arith.constant 0.01 : f32
      %g = arith.mulf %f, %c : f32
      %d = arith.addi %ki, %qi : i32
      %e = attn.gather %bias[%b, %d] : (tensor<?x?xf16>, i32, i32) -> f16
      %e32 = arith.extf %e : f16 to f32
      %j = attn.gather %shift[%ki] : (tensor<?xbf16>, i32) -> bf16
      %j32 = arith.extf %j : bf16 to f32
      %m = attn.gather %slope[%h] : (tensor<?xf32>, i32) -> f32
      %x = arith.addf %s, %g : f32
      %y = arith.addf %x, %e32 : f32
      %z = math.fma %j32, %m, %y : f32
      attn.yield %z : f32
    }
    visible {
    ^bb0(%b: i32, %h: i32, %qi: i32, %ki: i32):
      %a = attn.gather %keep[%b, %ki] : (tensor<?x?xi1>, i32, i32) -> i1
      %n = arith.cmpi sge, %qi, %limit : i32
      %z = arith.ori %a, %n : i1
      attn.yield %z : i1
    }
    : (tensor<?x?x?x32xf16>, tensor<?x?x?x32xf16>, tensor<?x?x?x32xf16>) -> (tensor<?x?x?x32xf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x32xf16>, tensor<?x?x?xf32>
}
