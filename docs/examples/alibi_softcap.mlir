// A score region: a slope per head times the distance to the key (ALiBi), then a soft cap. `cap` and `slopes` are
// arguments of the kernel; what the region uses from outside is listed in `captures`.
func.func @attention(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>,
                     %slopes: tensor<?xf32> {attn.name = "slopes"}, %cap: f32 {attn.name = "cap"})
    -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>]
    captures(%slopes, %cap : tensor<?xf32>, f32)
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
      %slope = attn.gather %slopes[%h] : (tensor<?xf32>, i32) -> f32
      %distance = arith.subi %ki, %qi : i32
      %d = arith.sitofp %distance : i32 to f32
      %bias = arith.mulf %slope, %d : f32
      %biased = arith.addf %s, %bias : f32
      %x = arith.divf %biased, %cap : f32
      %t = math.tanh %x : f32
      %capped = arith.mulf %t, %cap : f32
      attn.yield %capped : f32
    } : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
      -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
