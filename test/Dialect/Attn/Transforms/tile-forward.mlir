// RUN: attn-opt %s -attn-tile-forward -split-input-file | FileCheck %s

// Results become destinations, arguments say what they are, the schedule moves to the function. The order of the
// softmax is what every later pass relies on: raw scores, one fma and one exp2 an element, sums of f32 P.

// CHECK-LABEL: func.func @causal(
// CHECK-SAME: %[[Q:[^:]*]]: memref<?x?x?x64xbf16, strided<[?, ?, ?, 1], offset: ?>> {attn.name = "q", attn.role = "in"}
// CHECK-SAME: {attn.name = "k", attn.role = "in"}
// CHECK-SAME: {attn.name = "v", attn.role = "in"}
// CHECK-SAME: %[[OUT:[^:]*]]: memref<?x?x?x64xbf16, strided<[?, ?, ?, 1], offset: ?>> {attn.name = "o", attn.role = "out"}
// CHECK-SAME: %[[LSE:[^:]*]]: memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>> {attn.name = "lse", attn.role = "out"}
// CHECK-SAME: attn.meaning = {masks = [{align = "bottom_right", kind = "causal"}], op = "sdpa", operands = {k = "k", lse = "lse", o = "o", q = "q", v = "v"}, scale = 1.250000e-01 : f32}
// CHECK-SAME: attn.schedule = #attn.schedule<tile = [32, 16]
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: %[[HI:.*]] = arith.maxsi %{{.*}}, %{{.*}} : i32
// CHECK: %[[PHI:.*]] = arith.maxsi
// CHECK: %[[QT:.*]] = attn.load as "Q" %[[Q]][%[[B:[0-9]+]], %[[H:[0-9]+]], %[[ROW:[0-9]+]]]
// The maximum starts at c * -2^100.
// CHECK: dense<-2.28604151E+29> : tensor<32xf32>
// CHECK: %[[C:.*]] = arith.constant dense<0.180336878> : tensor<32xf32>
// CHECK: %[[CT:.*]] = arith.constant dense<0.180336878> : tensor<32x16xf32>
// CHECK: %[[END:.*]]:3 = attn.sweep descending %[[LO:.*]] to %[[HI]] plain %[[LO]] to %[[PHI]]
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %[[O:.*]]: tensor<32x64xf32>, %[[M:.*]]: tensor<32xf32>, %[[L:.*]]: tensor<32xf32>):
// CHECK: %[[KT:.*]] = attn.load as "K"
// CHECK: %[[VT:.*]] = attn.load as "V"
// CHECK: %[[S:.*]] = attn.dot as "S" %[[QT]], %[[KT]] trans_b
// CHECK: %[[SM:.*]] = attn.mask %[[S]] where
// CHECK: %[[MX:.*]] = attn.reduce as "max" max %[[SM]]
// CHECK: %[[MC:.*]] = arith.mulf %[[MX]], %[[C]]
// CHECK: %[[M1:.*]] = arith.maxnumf %[[M]], %[[MC]]
// CHECK: %[[DA:.*]] = arith.subf %[[M]], %[[M1]]
// CHECK: %[[AL:.*]] = math.exp2 %[[DA]]
// CHECK: %[[NM:.*]] = arith.negf %[[M1]]
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
// CHECK: %[[LOW:.*]] = arith.cmpf ole, %[[END]]#1
// A row of NaN saw keys.
// CHECK: %[[NUMBER:.*]] = arith.cmpf ord, %[[END]]#2, %[[END]]#2
// CHECK: %[[NONE:.*]] = arith.andi %[[LOW]], %[[NUMBER]]
// CHECK: attn.store %{{.*}}, %[[OUT]][%[[B]], %[[H]], %[[ROW]]]
// CHECK: %[[LOG:.*]] = math.log2 %[[END]]#2
// CHECK: arith.addf %[[END]]#1, %[[LOG]]
// CHECK: arith.select %[[NONE]]
// CHECK: attn.store %{{.*}}, %[[LSE]][%[[B]], %[[H]], %[[ROW]]]
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @causal(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>] schedule <tile = [32, 16], warps = [2, 1]>
      : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
    return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
  }
}

// -----

// The scale goes into the exponent only where the maximum of raw scores is the maximum of scaled ones and c times the
// masked score stays in range; else scores are scaled first.

!q = tensor<?x?x?x8xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  // CHECK-LABEL: func.func @negative_scale
  // CHECK: dense<1.44269502> : tensor<8x4xf32>
  // CHECK: %[[S:.*]] = attn.dot as "S"
  // CHECK: %[[F:.*]] = arith.constant dense<-2.000000e+00> : tensor<8x4xf32>
  // CHECK: %[[X:.*]] = arith.mulf %[[S]], %[[F]]
  // CHECK: attn.mask %[[X]]
  func.func @negative_scale(%q: !q, %k: !q, %v: !q) -> !q {
    %o, %lse = attn.sdpa(%q, %k, %v) scale -2.0 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
    return %o : !q
  }

  // CHECK-LABEL: func.func @zero_scale
  // CHECK: dense<1.44269502> : tensor<8x4xf32>
  // CHECK: arith.constant dense<0.000000e+00> : tensor<8x4xf32>
  func.func @zero_scale(%q: !q, %k: !q, %v: !q) -> !q {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.0 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
    return %o : !q
  }

  // CHECK-LABEL: func.func @huge_scale
  // CHECK: dense<1.44269502> : tensor<8x4xf32>
  func.func @huge_scale(%q: !q, %k: !q, %v: !q) -> !q {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0e30 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
    return %o : !q
  }

  // CHECK-LABEL: func.func @tiny_scale
  // CHECK: dense<1.44269502> : tensor<8x4xf32>
  func.func @tiny_scale(%q: !q, %k: !q, %v: !q) -> !q {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0e-38 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
    return %o : !q
  }
}

// -----

// On the CPU tiles are computed in f32: 16-bit operands are widened when loaded, P is not packed, O is narrowed at the
// end. Head dimensions are padded to 8 there and to 16 on a GPU, in the tiles only.

!q = tensor<?x?x?x40xf16>
!v = tensor<?x?x?x24xf16>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  // CHECK-LABEL: func.func @cpu
  // CHECK: %[[Q:.*]] = attn.load as "Q" {{.*}} -> tensor<8x40xf16>
  // CHECK: arith.extf %[[Q]] : tensor<8x40xf16> to tensor<8x40xf32>
  // CHECK: attn.load as "V" {{.*}} -> tensor<4x24xf16>
  // CHECK-NOT: attn.pack
  // CHECK: attn.dot as "PV" {{.*}} : (tensor<8x4xf32>, tensor<4x24xf32>, tensor<8x24xf32>)
  // CHECK: arith.truncf {{.*}} to tensor<8x24xf16>
  func.func @cpu(%q: !q, %k: !q, %v: !v) -> !v {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !v) -> (!v, tensor<?x?x?xf32>)
    return %o : !v
  }
}

// -----

!q = tensor<?x?x?x40xf16>
!v = tensor<?x?x?x24xf16>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  // CHECK-LABEL: func.func @gpu
  // CHECK: attn.load as "Q" {{.*}} : memref<?x?x?x40xf16, {{.*}}> -> tensor<16x48xf16>
  // CHECK: attn.load as "V" {{.*}} : memref<?x?x?x24xf16, {{.*}}> -> tensor<16x32xf16>
  // CHECK: attn.store {{.*}} : tensor<16x32xf16>, memref<?x?x?x24xf16
  func.func @gpu(%q: !q, %k: !q, %v: !v) -> !v {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0 schedule <tile = [16, 16], warps = [1, 1]> : (!q, !q, !v) -> (!v, tensor<?x?x?xf32>)
    return %o : !v
  }

  // Names written in the spec win; results may come in any order, and keys may be values too.
  // CHECK-LABEL: func.func @names(
  // CHECK-SAME: {attn.name = "queries", attn.role = "in"}
  // CHECK-SAME: {attn.name = "k", attn.role = "in"}
  // CHECK-SAME: f32 {attn.name = "capture0", attn.role = "scalar"}
  // CHECK-SAME: memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>> {attn.name = "lse", attn.role = "out"}
  // CHECK-SAME: memref<?x?x?x40xf16, strided<[?, ?, ?, 1], offset: ?>> {attn.name = "result", attn.role = "out"}
  func.func @names(%q: !q {attn.name = "queries"}, %k: !q, %unused: f32) -> (tensor<?x?x?xf32>, !q {attn.name = "result"}) {
    %o, %lse = attn.sdpa(%q, %k, %k) scale 1.0 schedule <tile = [16, 16], warps = [1, 1]> : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
    return %lse, %o : tensor<?x?x?xf32>, !q
  }
}
