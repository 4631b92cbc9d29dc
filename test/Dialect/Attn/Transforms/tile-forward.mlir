// RUN: attn-opt %s -attn-tile-forward -split-input-file | FileCheck %s

// Results become destinations, arguments say what they are, the schedule moves to the function. The order of the
// softmax is what every later pass relies on: raw scores, one fma and one exp2 an element, sums of f32 P.

// CHECK-LABEL: func.func @causal(
// CHECK-SAME: %[[Q:[^:]*]]: memref<?x?x?x64xbf16, strided<[?, ?, ?, 1], offset: ?>> {attn.name = "q", attn.role = "in"}
// CHECK-SAME: {attn.name = "k", attn.role = "in"}
// CHECK-SAME: {attn.name = "v", attn.role = "in"}
// CHECK-SAME: %[[OUT:[^:]*]]: memref<?x?x?x64xbf16, strided<[?, ?, ?, 1], offset: ?>> {attn.name = "o", attn.role = "out"}
// CHECK-SAME: %[[LSE:[^:]*]]: memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>> {attn.name = "lse", attn.role = "out"}
// CHECK-SAME: attn.meaning = {masks = [{align = "bottom_right", kind = "causal"}], op = "sdpa", scale = 1.250000e-01 : f32}
// CHECK-SAME: attn.schedule = #attn.schedule<tile = [32, 16]
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: %[[HI:.*]] = arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK: %[[PHI:.*]] = arith.maxsi
// CHECK: %[[QT:.*]] = attn.load as "Q" %[[Q]][%[[B:[0-9]+]], %[[H:[0-9]+]], %[[ROW:[0-9]+]]]
// CHECK: dense<-1.2676506E+30> : tensor<32xf32>
// CHECK: %[[C:.*]] = arith.constant dense<0.180336878> : tensor<32xf32>
// CHECK: %[[CT:.*]] = arith.constant dense<0.180336878> : tensor<32x16xf32>
// CHECK: %[[END:.*]]:3 = attn.sweep descending %[[LO:.*]] to %[[HI]] plain %[[LO]] to %[[PHI]]
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %[[O:.*]]: tensor<32x64xf32>, %[[M:.*]]: tensor<32xf32>, %[[L:.*]]: tensor<32xf32>):
// CHECK: %[[KT:.*]] = attn.load as "K"
// CHECK: %[[VT:.*]] = attn.load as "V"
// CHECK: %[[S:.*]] = attn.dot as "S" %[[QT]], %[[KT]] trans_b
// CHECK: %[[SM:.*]] = attn.mask %[[S]] where
// CHECK: %[[MX:.*]] = attn.reduce as "max" max %[[SM]]
// CHECK: %[[M1:.*]] = arith.maxnumf %[[M]], %[[MX]]
// CHECK: %[[MC:.*]] = arith.mulf %[[M1]], %[[C]]
// CHECK: %[[NM:.*]] = arith.negf %[[MC]]
// CHECK: %[[DA:.*]] = math.fma %[[M]], %[[C]], %[[NM]]
// CHECK: %[[AL:.*]] = math.exp2 %[[DA]]
// CHECK: %[[NS:.*]] = attn.spread %[[NM]] along 1
// CHECK: %[[E:.*]] = math.fma %[[SM]], %[[CT]], %[[NS]]
// CHECK: %[[P:.*]] = math.exp2 %[[E]]
// CHECK: %[[PS:.*]] = attn.reduce sum %[[P]]
// CHECK: %[[LA:.*]] = arith.mulf %[[L]], %[[AL]]
// CHECK: %[[L1:.*]] = arith.addf %[[LA]], %[[PS]]
// CHECK: %[[PB:.*]] = attn.pack as "P" %[[P]] : tensor<32x16xf32> -> tensor<32x16xbf16>
// CHECK: %[[AO:.*]] = attn.spread %[[AL]] along 1
// CHECK: %[[OS:.*]] = arith.mulf %[[O]], %[[AO]]
// CHECK: %[[O1:.*]] = attn.dot as "PV" %[[PB]], %[[VT]] plus %[[OS]]
// CHECK: attn.yield %[[O1]], %[[M1]], %[[L1]]
// CHECK: %[[NONE:.*]] = arith.cmpf ole, %[[END]]#1
// CHECK: attn.store %{{.*}}, %[[OUT]][%[[B]], %[[H]], %[[ROW]]]
// CHECK: %[[LOG:.*]] = math.log2 %[[END]]#2
// CHECK: math.fma %[[END]]#1, %{{.*}}, %[[LOG]]
// CHECK: arith.select %[[NONE]]
// CHECK: attn.store %{{.*}}, %[[LSE]][%[[B]], %[[H]], %[[ROW]]]
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @causal(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>] schedule <tile = [32, 16], warps = [2, 1]>
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  }
}
