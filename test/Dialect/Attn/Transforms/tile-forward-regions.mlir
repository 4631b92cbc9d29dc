// RUN: attn-opt %s -attn-tile-forward -split-input-file | FileCheck %s
// RUN: attn-opt %s -attn-tile-forward -split-input-file --remarks-filter=attn-tile-forward --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// Values of a region are as large as they have to be, and stand in front of the sweep where they do not depend on keys.

!q = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  // Scale first, region second, mask last; c = log2 e. The slope of a head is one scalar load, clamped, per tile.
  // CHECK-LABEL: func.func @alibi(
  // CHECK-SAME: %[[SL:[^:]*]]: memref<?xf32, strided<[1], offset: ?>> {attn.name = "slopes", attn.role = "capture"}
  // CHECK-SAME: score = {values = [
  // CHECK-SAME: {in = [2], op = "attn.gather", source = "slopes", type = "f32"}
  // CHECK-SAME: {in = [4, 3], op = "arith.subi", type = "i32"}
  // CHECK-SAME: {in = [6], op = "arith.sitofp", type = "f32"}
  // CHECK-SAME: {in = [5, 7], op = "arith.mulf", type = "f32"}
  // CHECK-SAME: {in = [0, 8], op = "arith.addf", type = "f32"}], yield = 9 : i64}
  // CHECK: dense<1.44269502> : tensor<8xf32>
  // CHECK: %[[Q:.*]] = attn.coord %{{.*}} along 0 : tensor<8xi32>
  // CHECK: arith.maxsi
  // CHECK: arith.minsi
  // CHECK: %[[M:.*]] = memref.load %[[SL]][%{{.*}}]
  // CHECK: attn.sweep
  // CHECK: %[[S:.*]] = attn.dot as "S"
  // CHECK: %[[SC:.*]] = arith.mulf %[[S]]
  // CHECK: %[[K:.*]] = attn.coord %{{.*}} along 1 : tensor<4xi32>
  // CHECK: %[[KS:.*]] = attn.spread %[[K]] along 0
  // CHECK: %[[QS:.*]] = attn.spread %[[Q]] along 1
  // CHECK: %[[D:.*]] = arith.subi %[[KS]], %[[QS]] : tensor<8x4xi32>
  // CHECK: %[[F:.*]] = arith.sitofp %[[D]]
  // CHECK: %[[MS:.*]] = tensor.splat %[[M]] : tensor<8x4xf32>
  // CHECK: %[[X:.*]] = arith.mulf %[[MS]], %[[F]]
  // CHECK: %[[Y:.*]] = arith.addf %[[SC]], %[[X]]
  // CHECK: attn.mask %[[Y]] where
  func.func @alibi(%q: !q, %k: !q, %v: !q, %slopes: tensor<?xf32> {attn.name = "slopes"}) -> (!q, !l) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.5 captures(%slopes : tensor<?xf32>)
      score {
      ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
        %m = attn.gather %slopes[%h] : (tensor<?xf32>, i32) -> f32
        %d = arith.subi %ki, %qi : i32
        %f = arith.sitofp %d : i32 to f32
        %x = arith.mulf %m, %f : f32
        %y = arith.addf %s, %x : f32
        attn.yield %y : f32
      } schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    return %o, %lse : !q, !l
  }

  // One gather by rows (in front of the sweep), one by columns, one for every element; b stays a scalar index.
  // CHECK-LABEL: func.func @gathers(
  // CHECK-SAME: %[[A:[^:]*]]: memref<?x?xf16, strided<[?, 1], offset: ?>> {attn.name = "capture0", attn.role = "capture"}
  // CHECK: %[[Q:.*]] = attn.coord %{{.*}} along 0 : tensor<8xi32>
  // CHECK: %[[R:.*]] = attn.gather %[[A]][%[[B:[0-9]+]], %[[Q]]] : (memref<{{.*}}>, i32, tensor<8xi32>) -> tensor<8xf16>
  // CHECK: attn.sweep
  // CHECK: %[[K:.*]] = attn.coord %{{.*}} along 1 : tensor<4xi32>
  // CHECK: attn.gather %[[A]][%[[B]], %[[K]]] : (memref<{{.*}}>, i32, tensor<4xi32>) -> tensor<4xf16>
  // CHECK: %[[QS:.*]] = attn.spread %[[Q]] along 1
  // CHECK: %[[KS:.*]] = attn.spread %[[K]] along 0
  // CHECK: attn.gather %[[A]][%[[QS]], %[[KS]]] : (memref<{{.*}}>, tensor<8x4xi32>, tensor<8x4xi32>) -> tensor<8x4xf16>
  func.func @gathers(%q: !q, %k: !q, %v: !q, %a: tensor<?x?xf16>) -> (!q, !l) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.5 captures(%a : tensor<?x?xf16>)
      score {
      ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
        %x = attn.gather %a[%b, %qi] : (tensor<?x?xf16>, i32, i32) -> f16
        %y = attn.gather %a[%b, %ki] : (tensor<?x?xf16>, i32, i32) -> f16
        %z = attn.gather %a[%qi, %ki] : (tensor<?x?xf16>, i32, i32) -> f16
        %xy = arith.addf %x, %y : f16
        %xyz = arith.addf %xy, %z : f16
        %f = arith.extf %xyz : f16 to f32
        %r = arith.addf %s, %f : f32
        attn.yield %r : f32
      } schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    return %o, %lse : !q, !l
  }

  // A mask region leaves no tile plain; the named mask beside it still bounds the visit. Rows and columns are read
  // from an i1 tensor, one byte an element. A captured scalar and a captured constant need no memory.
  // CHECK-LABEL: func.func @visible(
  // CHECK-SAME: memref<?xi1, strided<[1], offset: ?>> {attn.name = "keep", attn.role = "capture"}
  // CHECK-SAME: %[[N:[^:]*]]: i32 {attn.name = "n", attn.role = "scalar"}
  // CHECK-SAME: visible = {values = [
  // CHECK-SAME: {in = [3], op = "attn.gather", source = "keep", type = "i1"}
  // CHECK-SAME: {op = "capture", source = "n", type = "i32"}
  // CHECK-SAME: {in = [2, 5], op = "arith.cmpi", predicate = "slt", type = "i1"}
  // CHECK-SAME: {op = "arith.constant", type = "i1", value = true}
  // CHECK: attn.coord %{{.*}} along 0
  // CHECK: %[[ROWS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<8xi32>
  // CHECK: attn.sweep descending %[[LO:.*]] to %[[HI:.*]] plain %[[LO]] to %[[LO]]
  // CHECK: %[[CAUSAL:.*]] = arith.cmpi sle
  // CHECK: %[[KEEP:.*]] = attn.gather %{{.*}}[%{{.*}}] : (memref<{{.*}}>, tensor<4xi32>) -> tensor<4xi1>
  // CHECK: %[[ALL:.*]] = arith.andi %[[CAUSAL]], %{{.*}} : tensor<8x4xi1>
  // CHECK: attn.mask %{{.*}} where %[[ALL]]
  // REMARK: [[@LINE+10]]:{{.*}} remark: [Missed] mask not analysed
  // REMARK-SAME: every visited tile is masked
  func.func @visible(%q: !q, %k: !q, %v: !q, %keep: tensor<?xi1> {attn.name = "keep"}, %n: i32 {attn.name = "n"}) -> (!q, !l) {
    %true = arith.constant true
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.5 mask [#attn.causal<bottom_right>] captures(%keep, %n : tensor<?xi1>, i32)
      visible {
      ^bb0(%b: i32, %h: i32, %qi: i32, %ki: i32):
        %x = attn.gather %keep[%ki] : (tensor<?xi1>, i32) -> i1
        %y = arith.cmpi slt, %qi, %n : i32
        %z = arith.andi %x, %y : i1
        %w = arith.andi %z, %true : i1
        attn.yield %w : i1
      } schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    return %o, %lse : !q, !l
  }

  // A tensor of rank 0 is one scalar load; a region may ignore the score.
  // CHECK-LABEL: func.func @uniform(
  // CHECK: %[[X:.*]] = memref.load %{{.*}}[] : memref<f32, strided<[], offset: ?>>
  // CHECK: attn.sweep
  // CHECK: %[[XS:.*]] = tensor.splat %[[X]] : tensor<8x4xf32>
  // CHECK: attn.mask %[[XS]] where
  func.func @uniform(%q: !q, %k: !q, %v: !q, %c: tensor<f32>) -> (!q, !l) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.5 captures(%c : tensor<f32>)
      score {
      ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
        %x = attn.gather %c[] : (tensor<f32>) -> f32
        attn.yield %x : f32
      } schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    return %o, %lse : !q, !l
  }
}
