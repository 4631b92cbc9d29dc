// RUN: attn-opt %s -attn-tile-backward -split-input-file | FileCheck %s

// Three nests in the order of launch. What the first one makes for the others lies in workspaces; P of a row that is not
// there, or sees nothing, is 0 because its L is +inf.

// CHECK-LABEL: func.func @causal(
// CHECK-SAME: %[[Q:[^:]*]]: memref<?x?x?x64xbf16, strided<[?, ?, ?, 1], offset: ?>> {attn.name = "q", attn.role = "in"}
// CHECK-SAME: {attn.name = "k", attn.role = "in"}, {{.*}} {attn.name = "v", attn.role = "in"}
// CHECK-SAME: %[[O:[^:]*]]: memref<{{[^>]*>>}} {attn.name = "o", attn.role = "in"}
// CHECK-SAME: %[[LSE:[^:]*]]: memref<{{[^>]*>>}} {attn.name = "lse", attn.role = "in"}
// CHECK-SAME: %[[DO:[^:]*]]: memref<{{[^>]*>>}} {attn.name = "do", attn.role = "in"}
// CHECK-SAME: %[[DQ:[^:]*]]: memref<{{[^>]*>>}} {attn.name = "dq", attn.role = "out"}
// CHECK-SAME: %[[DK:[^:]*]]: memref<{{[^>]*>>}} {attn.name = "dk", attn.role = "out"}
// CHECK-SAME: %[[DV:[^:]*]]: memref<{{[^>]*>>}} {attn.name = "dv", attn.role = "out"}
// CHECK-SAME: op = "sdpa_grad", operands = {dk = "dk", do = "do", dq = "dq", dv = "dv", k = "k", lse = "lse", o = "o", q = "q", v = "v"}
// CHECK: %[[G:.*]] = arith.divui
// CHECK: %[[UP:.*]] = arith.ceildivui %{{.*}}, %[[UNIT:.*]] : index
// CHECK: %[[SP:.*]] = arith.muli %[[UP]], %[[UNIT]] : index
// CHECK: %[[LSE2:.*]] = memref.alloc(%{{.*}}, %{{.*}}, %[[SP]]) {attn.name = "lse2"} : memref<?x?x?xf32>
// CHECK: %[[DSUM:.*]] = memref.alloc(%{{.*}}, %{{.*}}, %[[SP]]) {attn.name = "dsum"} : memref<?x?x?xf32>

// CHECK: scf.forall
// CHECK: %[[OT:.*]] = attn.load as "O" %[[O]]
// CHECK: %[[OF:.*]] = arith.extf %[[OT]]
// CHECK: %[[DT:.*]] = attn.load as "dO" %[[DO]]
// CHECK: %[[DF:.*]] = arith.extf %[[DT]]
// CHECK: %[[OD:.*]] = arith.mulf %[[OF]], %[[DF]] : tensor<64x64xf32>
// CHECK: %[[D:.*]] = attn.reduce sum %[[OD]]
// CHECK: %[[L:.*]] = attn.load as "L" %[[LSE]]
// CHECK: %[[L2:.*]] = arith.mulf %[[L]], %{{.*}} : tensor<64xf32>
// CHECK: arith.cmpf oeq, %[[L]]
// CHECK: %[[NONE:.*]] = arith.ori
// CHECK: %[[L3:.*]] = arith.select %[[NONE]], %{{.*}}, %[[L2]]
// CHECK: attn.store %[[L3]], %[[LSE2]]
// CHECK: %[[D3:.*]] = arith.select %[[NONE]], %{{.*}}, %[[D]]
// CHECK: attn.store %[[D3]], %[[DSUM]]
// CHECK: } {attn.nest = "pre", attn.schedule = #attn.schedule<tile = [64, 16], warps = [4, 1]

// Keys on rows. All query heads of the group pass by; a key past the end spoils its own row only, a query past the end
// is plain: one masked loop, in front.
// CHECK: scf.forall
// CHECK: %[[KT:.*]] = attn.load as "K"
// CHECK: %[[VT:.*]] = attn.load as "V"
// CHECK: %[[HEADS:.*]]:2 = scf.for %[[GQ:.*]] = %{{.*}} to %[[G]] step %{{.*}} iter_args(%[[K0:.*]] = %{{.*}}, %[[V0:.*]] = %{{.*}}) -> (tensor<32x64xf32>, tensor<32x64xf32>) : i32
// CHECK: %[[H:.*]] = arith.addi %{{.*}}, %[[GQ]]
// CHECK: %[[FIRST:.*]] = attn.coord %{{.*}} along 0 : tensor<32xi32>
// CHECK: %[[SUMS:.*]]:2 = attn.sweep ascending %{{.*}} to %[[HI:.*]] plain %{{.*}} to %[[HI]] init(%[[K0]], %[[V0]]
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %[[KA:.*]]: tensor<32x64xf32>, %[[VA:.*]]: tensor<32x64xf32>):
// CHECK: %[[QT:.*]] = attn.load as "Q" %[[Q]][%{{.*}}, %[[H]], %[[ROW:[0-9]+]]]
// CHECK: %[[DT:.*]] = attn.load as "dO" %[[DO]][%{{.*}}, %[[H]], %[[ROW]]]
// CHECK: %[[L:.*]] = attn.load as "L" %[[LSE2]][%{{.*}}, %[[H]], %[[ROW]]] : memref<?x?x?xf32> -> tensor<16xf32>
// CHECK: %[[D:.*]] = attn.load as "D" %[[DSUM]][%{{.*}}, %[[H]], %[[ROW]]] : memref<?x?x?xf32> -> tensor<16xf32>
// CHECK: %[[S:.*]] = attn.dot as "S" %[[KT]], %[[QT]] trans_b
// CHECK: %[[DP:.*]] = attn.dot as "dP" %[[VT]], %[[DT]] trans_b
// CHECK: %[[QS:.*]] = attn.spread %{{.*}} along 0 : tensor<16xi32> -> tensor<32x16xi32>
// CHECK: %[[FS:.*]] = attn.spread %[[FIRST]] along 1 : tensor<32xi32> -> tensor<32x16xi32>
// CHECK: %[[VIS:.*]] = arith.cmpi sge, %[[QS]], %[[FS]]
// CHECK: %[[SM:.*]] = attn.mask %[[S]] where %[[VIS]]
// CHECK: %[[LS:.*]] = attn.spread %{{.*}} along 0 : tensor<16xf32> -> tensor<32x16xf32>
// CHECK: %[[E:.*]] = math.fma %[[SM]], %{{.*}}, %[[LS]]
// CHECK: %[[P:.*]] = math.exp2 %[[E]]
// CHECK: %[[DS0:.*]] = attn.spread %[[D]] along 0
// CHECK: %[[DD:.*]] = arith.subf %[[DP]], %[[DS0]]
// CHECK: %[[DS:.*]] = arith.mulf %[[P]], %[[DD]]
// CHECK: %[[PB:.*]] = attn.pack as "P" %[[P]]
// CHECK: %[[DSB:.*]] = attn.pack as "dS" %[[DS]]
// CHECK: %[[V1:.*]] = attn.dot as "dV" %[[PB]], %[[DT]] plus %[[VA]]
// CHECK: %[[K1:.*]] = attn.dot as "dK" %[[DSB]], %[[QT]] plus %[[KA]]
// CHECK: attn.yield %[[K1]], %[[V1]]
// CHECK: scf.yield %[[SUMS]]#0, %[[SUMS]]#1
// CHECK: %[[SCALE:.*]] = arith.constant dense<1.250000e-01>
// CHECK: %[[KS:.*]] = arith.mulf %[[HEADS]]#0, %[[SCALE]]
// CHECK: %[[KB:.*]] = arith.truncf %[[KS]]
// CHECK: attn.store %[[KB]], %[[DK]]
// CHECK: %[[VB:.*]] = arith.truncf %[[HEADS]]#1
// CHECK: attn.store %[[VB]], %[[DV]]
// CHECK: } {attn.nest = "dkv", attn.schedule = #attn.schedule<tile = [16, 32]

// Queries on rows, as in the forward: one limit for each, made in front of the sweep.
// CHECK: scf.forall
// CHECK: %[[QT:.*]] = attn.load as "Q" %[[Q]]
// CHECK: %[[DT:.*]] = attn.load as "dO" %[[DO]]
// CHECK: %[[L:.*]] = attn.load as "L" %[[LSE2]]
// CHECK: %[[NL:.*]] = arith.negf %[[L]]
// CHECK: %[[D:.*]] = attn.load as "D" %[[DSUM]]
// CHECK: %[[SUM:.*]] = attn.sweep descending
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %[[QA:.*]]: tensor<64x64xf32>):
// CHECK: %[[KT:.*]] = attn.load as "K"
// CHECK: %[[VT:.*]] = attn.load as "V"
// CHECK: %[[S:.*]] = attn.dot as "S" %[[QT]], %[[KT]] trans_b
// CHECK: %[[DP:.*]] = attn.dot as "dP" %[[DT]], %[[VT]] trans_b
// CHECK: %[[SM:.*]] = attn.mask %[[S]] where
// CHECK: %[[LS:.*]] = attn.spread %[[NL]] along 1
// CHECK: %[[E:.*]] = math.fma %[[SM]], %{{.*}}, %[[LS]]
// CHECK: %[[P:.*]] = math.exp2 %[[E]]
// CHECK: %[[DSB:.*]] = attn.pack as "dS"
// CHECK: %[[Q1:.*]] = attn.dot as "dQ" %[[DSB]], %[[KT]] plus %[[QA]]
// CHECK: attn.yield %[[Q1]]
// CHECK: arith.mulf %[[SUM]]
// CHECK: attn.store %{{.*}}, %[[DQ]]
// CHECK: } {attn.nest = "dq", attn.schedule = #attn.schedule<tile = [64, 32]
// CHECK-NOT: scf.forall
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @causal(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125 mask [#attn.causal<bottom_right>]
      schedule [#attn.schedule<tile = [16, 32], warps = [2, 1], grads = ["dK", "dV"]>, #attn.schedule<tile = [64, 32], warps = [4, 1], grads = ["dQ"]>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

// A nest for each gradient: dV reads no V and makes no dP. Without a mask nothing is masked but the end of the keys in
// the nest of dQ. On warpgroups the nest of rows is none of theirs, and takes tiles that no other reads over the end of.

// CHECK-LABEL: func.func @apart(
// CHECK-NOT: attn.mask
// CHECK: } {attn.nest = "pre", attn.schedule = #attn.schedule<tile = [128, 16], warps = [8, 1]{{.*}}>, attn.target = #attn.target<chip = "toy", family = mma_sync
// CHECK: scf.forall
// CHECK-NOT: as "V"
// CHECK: attn.sweep ascending %[[LO:.*]] to %[[HI:.*]] plain %[[LO]] to %[[HI]] init
// CHECK-NOT: as "dP"
// CHECK-NOT: attn.mask
// CHECK: as "dV"
// CHECK: attn.nest = "dv"
// CHECK: scf.forall
// CHECK: as "K"
// CHECK: as "V"
// CHECK-NOT: as "P"
// CHECK-NOT: attn.mask
// CHECK: attn.pack as "dS"
// CHECK: as "dK"
// CHECK: attn.nest = "dk"
// CHECK: scf.forall
// CHECK: attn.sweep descending %{{.*}} edge 1 init
// CHECK: attn.mask
// CHECK: attn.nest = "dq"
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  func.func @apart(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [128, 64], warps = [4, 1], grads = ["dV"]>, #attn.schedule<tile = [64, 64], warps = [4, 1], grads = ["dK"]>,
                #attn.schedule<tile = [64, 64], warps = [4, 1], grads = ["dQ"]>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

// On the CPU all is f32. With a score region the scale comes first, queries past the end are masked (the region may make
// anything of them), and so is the gradient, which takes the derivative on its way.

// CHECK-LABEL: func.func @scored(
// CHECK: attn.load as "dL"
// CHECK: attn.nest = "pre"
// CHECK: attn.sweep ascending %{{.*}} to %{{.*}} plain %{{.*}} to %{{.*}} init
// CHECK: %[[S:.*]] = attn.dot as "S" %{{.*}} trans_b : (tensor<8x24xf32>, tensor<16x24xf32>) -> tensor<8x16xf32>
// CHECK: %[[SC:.*]] = arith.mulf %[[S]], %{{.*}}
// CHECK: %[[Z:.*]] = arith.mulf %[[SC]], %[[SC]]
// CHECK: %[[SM:.*]] = attn.mask %[[Z]] where %[[VIS:.*]] : tensor<8x16xf32>
// CHECK: math.fma %[[SM]]
// CHECK: %[[DZ:.*]] = arith.mulf
// CHECK: %[[T:.*]] = arith.mulf %[[DZ]], %[[SC]]
// CHECK: %[[DS:.*]] = arith.addf %[[T]], %[[T]]
// CHECK: %[[DM:.*]] = attn.mask %[[DS]] where %[[VIS]] otherwise 0.000000e+00
// CHECK-NOT: attn.pack
// CHECK: attn.dot as "dK" %[[DM]]
!t = tensor<?x?x?x24xf32>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @scored(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t, %dlse: !l) -> (!t, !t, !t) {
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do, %dlse) scale 0.125 score {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32):
      %x = arith.mulf %s, %s : f32
      attn.yield %x : f32
    } score_grad {
    ^bb0(%s: f32, %b: i32, %h: i32, %i: i32, %j: i32, %dz: f32):
      %x = arith.mulf %dz, %s : f32
      %y = arith.addf %x, %x : f32
      attn.yield %y : f32
    } schedule [#attn.schedule<tile = [16, 8], warps = [1, 1], grads = ["dK", "dV"]>, #attn.schedule<tile = [16, 8], warps = [1, 1], grads = ["dQ"]>]
      : (!t, !t, !t, !t, !l, !t, !l) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

// All gradients from one nest: dQ is added up in memory, which the first nest sets to 0, and scaled by the last one. Rows of
// keys are summed up for dQ, so those past the end are masked, and a tile that has some has no plain range.

// CHECK-LABEL: func.func @fused(
// CHECK: %[[SUM:.*]] = memref.alloc({{.*}}) {attn.name = "dqsum"} : memref<?x?x?x64xf32>
// CHECK: attn.store raw %{{.*}}, %[[SUM]]
// CHECK: attn.nest = "pre"
// CHECK: %[[RAGGED:.*]] = arith.cmpi sgt
// CHECK: %[[PLAIN:.*]] = arith.select %[[RAGGED]], %[[HI:.*]], %{{.*}} : i32
// CHECK: %[[KT:.*]] = attn.load as "K"
// CHECK: attn.sweep ascending %{{.*}} to %[[HI]] plain %[[PLAIN]] to
// CHECK: %[[VIS:.*]] = attn.spread %{{.*}} along 1 : tensor<64xi1> -> tensor<64x64xi1>
// CHECK: attn.mask %{{.*}} where %[[VIS]]
// CHECK: %[[DS:.*]] = attn.pack as "dS"
// CHECK: as "dV"
// CHECK: as "dK"
// CHECK: %[[DQ:.*]] = attn.dot as "dQ" %[[DS]] trans_a, %[[KT]] : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xf32>
// CHECK: attn.store as "dQ" raw add %[[DQ]], %[[SUM]]
// CHECK: attn.nest = "dkvq"
// CHECK: %[[X:.*]] = attn.load raw %[[SUM]]
// CHECK: arith.mulf %[[X]]
// CHECK: attn.nest = "post"
!t = tensor<?x?x?x64xbf16>
!l = tensor<?x?x?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  func.func @fused(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [64, 64], warps = [4, 1], grads = ["dK", "dV", "dQ"]>] : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}

// -----

// Sizes that the spec fixes are the workspaces' own; rows come in multiples of a tile's queries.

// CHECK-LABEL: func.func @fixed_sizes(
// CHECK: memref.alloc() {attn.name = "lse2"} : memref<2x4x320xf32>
// CHECK: memref.alloc() {attn.name = "dsum"} : memref<2x4x320xf32>
!t = tensor<2x4x300x64xbf16>
!l = tensor<2x4x300xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @fixed_sizes(%q: !t, %k: !t, %v: !t, %o: !t, %lse: !l, %do: !t) -> (!t, !t, !t) {
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125
      schedule [#attn.schedule<tile = [64, 64], warps = [4, 1], grads = ["dK", "dV"]>, #attn.schedule<tile = [64, 64], warps = [4, 1], grads = ["dQ"]>]
      : (!t, !t, !t, !t, !l, !t) -> (!t, !t, !t)
    return %dq, %dk, %dv : !t, !t, !t
  }
}
