// RUN: attn-opt %s -attn-tile-forward -split-input-file | FileCheck %s
// RUN: attn-opt %s -attn-tile-forward=no-ranges -split-input-file | FileCheck %s --check-prefix=ALL

// Ranges and masks of each named mask. The formulas themselves are checked in test/Analysis.

!q = tensor<?x?x?x8xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  // Only the ragged last key tile is masked, by columns.
  // CHECK-LABEL: func.func @none
  // CHECK: %[[HI:.*]] = arith.ceildivsi %[[SK:.*]], %{{.*}} : i32
  // CHECK: %[[PHI:.*]] = arith.floordivsi %[[SK]], %{{.*}} : i32
  // CHECK: attn.sweep descending %[[LO:.*]] to %[[HI]] plain %[[LO]] to %[[PHI]]
  // CHECK: %[[K:.*]] = attn.coord %{{.*}} along 1 : tensor<4xi32>
  // CHECK: %[[END:.*]] = tensor.splat %[[SK]] : tensor<4xi32>
  // CHECK: %[[C:.*]] = arith.cmpi slt, %[[K]], %[[END]]
  // CHECK: %[[VIS:.*]] = attn.spread %[[C]] along 0 : tensor<4xi1> -> tensor<8x4xi1>
  // CHECK: attn.mask %{{.*}} where %[[VIS]]

  // Without ranges every tile is visited and masked.
  // ALL-LABEL: func.func @none
  // ALL: attn.sweep descending %[[ZERO:.*]] to %{{.*}} plain %[[ZERO]] to %[[ZERO]]
  func.func @none(%q: !q, %k: !q, %v: !q) -> (!q, !l) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0 schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    return %o, %lse : !q, !l
  }

  // Top left: no Sk - Sq. The limit of a row is made once, in front of the sweep.
  // CHECK-LABEL: func.func @causal_top_left
  // CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c8_i32
  // CHECK: %[[Q:.*]] = attn.coord %[[ROW]] along 0 : tensor<8xi32>
  // CHECK: %[[LAST:.*]] = tensor.splat %{{.*}} : tensor<8xi32>
  // CHECK: %[[LIMIT:.*]] = arith.minsi %[[Q]], %[[LAST]] : tensor<8xi32>
  // CHECK: attn.sweep descending %[[LO:.*]] to %{{.*}} plain %[[LO]] to
  // CHECK: %[[K:.*]] = attn.coord %{{.*}} along 1 : tensor<4xi32>
  // CHECK: %[[KS:.*]] = attn.spread %[[K]] along 0
  // CHECK: %[[LS:.*]] = attn.spread %[[LIMIT]] along 1
  // CHECK: %[[VIS:.*]] = arith.cmpi sle, %[[KS]], %[[LS]]
  // CHECK: attn.mask %{{.*}} where %[[VIS]]

  // ALL-LABEL: func.func @causal_top_left
  // ALL: attn.sweep descending %[[ZERO:.*]] to %{{.*}} plain %[[ZERO]] to %[[ZERO]]
  // ALL: arith.cmpi sle
  func.func @causal_top_left(%q: !q, %k: !q, %v: !q) -> (!q, !l) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0 mask [#attn.causal<top_left>] schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    return %o, %lse : !q, !l
  }

  // A window has a masked part on both sides, and a second limit per row.
  // CHECK-LABEL: func.func @window
  // CHECK: %[[OFF:.*]] = arith.subi
  // CHECK: attn.sweep descending %[[LO:.*]] to %[[HI:.*]] plain %[[PLO:[^ ]*]] to %[[PHI:[^ ]*]] init
  // CHECK: arith.cmpi sle
  // CHECK: arith.cmpi sge
  // CHECK: arith.andi
  // CHECK: attn.mask
  func.func @window(%q: !q, %k: !q, %v: !q) -> (!q, !l) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0 mask [#attn.window<6, 2, bottom_right>] schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    return %o, %lse : !q, !l
  }

  // Bounds of the same diagonal merge: two upper atoms, one comparison, no lower bound.
  // CHECK-LABEL: func.func @causal_and_wide_window
  // CHECK: attn.sweep descending %[[LO:.*]] to %{{.*}} plain %[[LO]] to
  // CHECK: arith.cmpi sle
  // CHECK-NOT: arith.cmpi
  // CHECK: attn.mask
  func.func @causal_and_wide_window(%q: !q, %k: !q, %v: !q) -> (!q, !l) {
    %o, %lse = attn.sdpa(%q, %k, %v) scale 1.0 mask [#attn.causal<bottom_right>, #attn.window<-1, 5, bottom_right>] schedule <tile = [8, 4], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
    return %o, %lse : !q, !l
  }
}
