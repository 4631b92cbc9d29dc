// RUN: attn-opt %s -split-input-file -attn-split-sweeps | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-split-sweeps -remarks-filter=attn-split-sweeps -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!t = tensor<16x8xf32>
!i = tensor<16x8xi32>
!b = tensor<16x8xi1>

// Right to left: [phi, hi) masked, then [lo, phi) plain. t goes on counting, j = hi - 1 - t in both.
// CHECK-LABEL: func.func @descending
// CHECK-SAME: (%[[HI:[^:]*]]: i32, %[[PHI:[^:]*]]: i32, %[[X:[^:]*]]:
// CHECK: %[[LOW:.*]] = arith.maxsi %[[PHI]], %{{.*}}
// CHECK: %[[PHI1:.*]] = arith.minsi %[[LOW]], %[[HI]]
// CHECK: %[[N1:.*]] = arith.subi %[[HI]], %[[PHI1]]
// CHECK: %[[FIRST:.*]] = arith.subi %[[HI]], %{{.*}}
// CHECK: %[[A:.*]] = scf.for %[[T:.*]] = %{{.*}} to %[[N1]] step %{{.*}} iter_args(%{{.*}} = %[[X]])
// CHECK: %[[J:.*]] = arith.subi %[[FIRST]], %[[T]]
// CHECK: attn.coord %[[J]]
// CHECK: attn.mask
// CHECK: %[[B:.*]] = scf.for %{{.*}} = %[[N1]] to %[[HI]] step %{{.*}} iter_args(%[[Y:.*]] = %[[A]])
// CHECK-NOT: attn.coord
// CHECK-NOT: attn.mask
// CHECK: %[[Z:.*]] = arith.addf %[[Y]], %[[Y]]
// CHECK: scf.yield %[[Z]]
// CHECK: return %[[B]]
// REMARK: split into loops: {{.*}}loops="masked right, plain"
func.func @descending(%hi: i32, %phi: i32, %x: !t) -> !t {
  %c0 = arith.constant 0 : i32
  %r = attn.sweep descending %c0 to %hi plain %c0 to %phi init(%x : !t) -> !t {
  ^bb0(%t: i32, %j: i32, %a: !t):
    %k = attn.coord %j along 1 : !i
    %s = tensor.splat %hi : !i
    %v = arith.cmpi slt, %k, %s : !i
    %m = attn.mask %a where %v : !t, !b
    %y = arith.addf %m, %a : !t
    attn.yield %y : !t
  }
  return %r : !t
}

// -----

!t = tensor<16x8xf32>
!b = tensor<16x8xi1>

// A window has an end on both sides: three loops. Ascending they run from the left, j = lo + t.
// CHECK-LABEL: func.func @ascending_window
// CHECK-SAME: (%[[LO:[^:]*]]: i32, %[[HI:[^:]*]]: i32
// CHECK: %[[N1:.*]] = arith.subi %{{.*}}, %[[LO]]
// CHECK: %[[N2:.*]] = arith.subi %{{.*}}, %[[LO]]
// CHECK: %[[N3:.*]] = arith.subi %[[HI]], %[[LO]]
// CHECK: %[[A:.*]] = scf.for %[[T:.*]] = %{{.*}} to %[[N1]]
// CHECK: arith.addi %[[LO]], %[[T]]
// CHECK: attn.mask
// CHECK: %[[B:.*]] = scf.for %{{.*}} = %[[N1]] to %[[N2]] step %{{.*}} iter_args(%{{.*}} = %[[A]])
// CHECK-NOT: attn.mask
// CHECK: %[[C:.*]] = scf.for %{{.*}} = %[[N2]] to %[[N3]] step %{{.*}} iter_args(%{{.*}} = %[[B]])
// CHECK: attn.mask
// CHECK: return %[[C]]
// REMARK: split into loops: {{.*}}loops="masked left, plain, masked right"
func.func @ascending_window(%lo: i32, %hi: i32, %plo: i32, %phi: i32, %x: !t, %v: !b) -> !t {
  %r = attn.sweep ascending %lo to %hi plain %plo to %phi init(%x : !t) -> !t {
  ^bb0(%t: i32, %j: i32, %a: !t):
    %m = attn.mask %a where %v : !t, !b
    attn.yield %m : !t
  }
  return %r : !t
}

// -----

!t = tensor<16x8xf32>
!b = tensor<16x8xi1>

// Descending, the left masked loop comes last.
// REMARK: split into loops: {{.*}}loops="masked right, plain, masked left"
func.func @descending_window(%lo: i32, %hi: i32, %plo: i32, %phi: i32, %x: !t, %v: !b) -> !t {
  %r = attn.sweep descending %lo to %hi plain %plo to %phi init(%x : !t) -> !t {
  ^bb0(%t: i32, %j: i32, %a: !t):
    %m = attn.mask %a where %v : !t, !b
    attn.yield %m : !t
  }
  return %r : !t
}

// -----

!t = tensor<16x8xf32>
!b = tensor<16x8xi1>

// plainLo and plainHi are one value: nothing is known to be plain, one masked loop visits all.
// CHECK-LABEL: func.func @no_plain_range
// CHECK: scf.for
// CHECK: attn.mask
// CHECK-NOT: scf.for
// CHECK: return
// REMARK: split into loops: {{.*}}loops=masked
func.func @no_plain_range(%lo: i32, %hi: i32, %x: !t, %v: !b) -> !t {
  %r = attn.sweep descending %lo to %hi plain %lo to %lo init(%x : !t) -> !t {
  ^bb0(%t: i32, %j: i32, %a: !t):
    %m = attn.mask %a where %v : !t, !b
    attn.yield %m : !t
  }
  return %r : !t
}

// -----

// Without a mask there is nothing to split (a producer's sweep).
// CHECK-LABEL: func.func @no_mask
// CHECK: scf.for %[[T:.*]] =
// CHECK: memref.store %[[T]], %{{.*}}
// CHECK-NOT: scf.for
// CHECK: return
// REMARK: split into loops: {{.*}}loops=plain
func.func @no_mask(%lo: i32, %hi: i32, %phi: i32, %m: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  attn.sweep descending %lo to %hi plain %lo to %phi {
  ^bb0(%t: i32, %j: i32):
    memref.store %t, %m[%c0] : memref<?xi32>
    attn.yield
  }
  return
}

// -----

!t = tensor<16x8xf32>
!b = tensor<16x8xi1>

// Masks inside a nested region are dropped too, and with them the gather they needed.
// CHECK-LABEL: func.func @nested_region
// CHECK: attn.gather
// CHECK: attn.mask
// CHECK: scf.for
// CHECK-NOT: attn.gather
// CHECK-NOT: attn.mask
// CHECK: return
func.func @nested_region(%lo: i32, %hi: i32, %phi: i32, %x: !t, %cap: memref<?xi1>, %at: tensor<16x8xi32>) -> !t {
  %r = attn.sweep descending %lo to %hi plain %lo to %phi init(%x : !t) -> !t {
  ^bb0(%t: i32, %j: i32, %a: !t):
    %c = arith.cmpi sgt, %t, %lo : i32
    %m = scf.if %c -> !t {
      %v = attn.gather %cap[%at] : (memref<?xi1>, tensor<16x8xi32>) -> !b
      %w = attn.mask %a where %v : !t, !b
      scf.yield %w : !t
    } else {
      scf.yield %a : !t
    }
    attn.yield %m : !t
  }
  return %r : !t
}

// -----

!t = tensor<16x8xf32>
!b = tensor<16x8xi1>

// `edge 0` promises that nothing lies between plainHi and hi: one plain loop, whatever plainHi is.
// CHECK-LABEL: func.func @edge_0
// CHECK-SAME: %[[HI:[^:]*]]: i32, %{{[^:]*}}: i32, %[[X:[^:]*]]: tensor
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[HI]] step %{{.*}} iter_args(%[[A:.*]] = %[[X]])
// CHECK-NEXT: scf.yield %[[A]]
// CHECK-NOT: scf.for
// CHECK: return
// REMARK: split into loops: {{.*}}loops=plain
func.func @edge_0(%hi: i32, %phi: i32, %x: !t, %v: !b) -> !t {
  %c0 = arith.constant 0 : i32
  %r = attn.sweep descending %c0 to %hi plain %c0 to %phi edge 0 init(%x : !t) -> !t {
  ^bb0(%t: i32, %j: i32, %a: !t):
    %m = attn.mask %a where %v : !t, !b
    attn.yield %m : !t
  }
  return %r : !t
}
