// Round trip of the semantic ops in the pretty and in the generic form.
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s -mlir-print-op-generic | attn-opt | FileCheck %s

!t = tensor<?x?x?x64xf16>
!l = tensor<?x?x?xf32>

// CHECK-LABEL: func.func @causal
// CHECK: attn.sdpa(%{{.*}}, %{{.*}}, %{{.*}}) scale 1.250000e-01 mask [#attn.causal<bottom_right>] : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
func.func @causal(%q: !t, %k: !t, %v: !t) -> (!t, !l) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>] : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// Everything at once, and what a region may capture.
// CHECK-LABEL: func.func @everything
// CHECK: attn.sdpa({{.*}}) scale 1.250000e-01 mask [#attn.causal<top_left>, #attn.window<127, -1, top_left>]
// CHECK-SAME: captures(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?xf32>, f32, tensor<4x?xi1>)
// CHECK-SAME: score {
// CHECK: ^bb0(%[[S:.*]]: f32, %{{.*}}: i32, %[[H:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32):
// CHECK: attn.gather %{{.*}}[%[[H]]] : (tensor<?xf32>, i32) -> f32
// CHECK: attn.yield %{{.*}} : f32
// CHECK: } visible {
// CHECK: ^bb0(%[[B:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32, %[[K:.*]]: i32):
// CHECK: attn.gather %{{.*}}[%[[B]], %[[K]]] : (tensor<4x?xi1>, i32, i32) -> i1
// CHECK: attn.yield %{{.*}} : i1
// CHECK: } schedule <tile = [64, 32], warps = [4, 1], depth = {k = 2, v = 3}, blocks = 2, tiles = single, section = 4096, from = "a \22test\22"> :
func.func @everything(%q: !t, %k: !t, %v: !t, %slopes: tensor<?xf32>, %cap: f32, %keep: tensor<4x?xi1>) -> (!t, !l) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<top_left>, #attn.window<127, -1, top_left>]
    captures(%slopes, %cap, %keep : tensor<?xf32>, f32, tensor<4x?xi1>)
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %m = attn.gather %slopes[%h] : (tensor<?xf32>, i32) -> f32
      %x = arith.addf %s, %m : f32
      %c = arith.divf %x, %cap : f32
      %t = math.tanh %c : f32
      %y = arith.mulf %t, %cap : f32
      attn.yield %y : f32
    } visible {
    ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
      %p = attn.gather %keep[%b, %j] : (tensor<4x?xi1>, i32, i32) -> i1
      attn.yield %p : i1
    } schedule <tile = [64, 32], warps = [4, 1], depth = {k = 2, v = 3}, blocks = 2, section = 4096, from = "a \22test\22">
    : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}

// Empty inputs are legal; D and Dv may differ; heads may be grouped.
// CHECK-LABEL: func.func @shapes
// CHECK: (tensor<0x6x0x72xbf16>, tensor<0x2x0x72xbf16>, tensor<0x2x0x40xbf16>) -> (tensor<0x6x0x40xbf16>, tensor<0x6x0xf32>)
func.func @shapes(%q: tensor<0x6x0x72xbf16>, %k: tensor<0x2x0x72xbf16>, %v: tensor<0x2x0x40xbf16>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale -0.0 : (tensor<0x6x0x72xbf16>, tensor<0x2x0x72xbf16>, tensor<0x2x0x40xbf16>) -> (tensor<0x6x0x40xbf16>, tensor<0x6x0xf32>)
  return
}

// A divisor that is visibly not 0, and an operation that is free to divide by it.
// CHECK-LABEL: func.func @divisions
// CHECK: arith.floordivsi
// CHECK: arith.remsi
func.func @divisions(%q: !t, %k: !t, %v: !t, %n: i32) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%n : i32)
    visible {
    ^bb0(%b: i32, %h: i32, %i: i32, %j: i32):
      %c1 = arith.constant 1 : i32
      %c64 = arith.constant 64 : i32
      %m = arith.maxsi %n, %c1 : i32
      %x = arith.floordivsi %i, %c64 : i32
      %y = arith.remsi %j, %m : i32
      %p = arith.cmpi sle, %y, %x : i32
      attn.yield %p : i1
    } : (!t, !t, !t) -> (!t, !l)
  return
}

// On the tile level gather takes tiles of indices.
// CHECK-LABEL: func.func @gather_tile
// CHECK: attn.gather %{{.*}}[%{{.*}}, %{{.*}}] : (memref<?x?xf32>, i32, tensor<8xi32>) -> tensor<8xf32>
func.func @gather_tile(%s: memref<?x?xf32>, %h: i32, %i: tensor<8xi32>) {
  %x = attn.gather %s[%h, %i] : (memref<?x?xf32>, i32, tensor<8xi32>) -> tensor<8xf32>
  return
}
