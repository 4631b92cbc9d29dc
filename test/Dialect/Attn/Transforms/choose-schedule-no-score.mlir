// Family wgmma, score regions that ignore the score: no product S for an order to overlap, so mma.sync takes all.
// RUN: attn-opt %s -attn-choose-schedule -remarks-filter=attn-choose-schedule -remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: attn-opt %s -attn-to-nvvm -o /dev/null
// CHECK: remark: [Missed] wgmma {{.*}}Reason="the score region ignores the score, and the orders of the table overlap its product"
module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  // CHECK: func.func @distance(
  // CHECK-SAME: family = mma_sync
  // CHECK-NOT: func.func @distance_
  func.func @distance(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
      score {
      ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
        %bits = arith.subi %ki, %qi : i32
        %distance = arith.sitofp %bits : i32 to f32
        %unused = arith.addf %s, %distance : f32
        attn.yield %distance : f32
      } : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
  }

  // The score reaches the result through a comparison only: still a product.
  // CHECK: func.func @sign(
  // CHECK-SAME: attn.when
  // CHECK: func.func @sign_unaligned(
  func.func @sign(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125
      score {
      ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
        %zero = arith.constant 0.0 : f32
        %one = arith.constant 1.0 : f32
        %positive = arith.cmpf ogt, %s, %zero : f32
        %sign = arith.select %positive, %one, %zero : f32
        attn.yield %sign : f32
      } : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  }
}
