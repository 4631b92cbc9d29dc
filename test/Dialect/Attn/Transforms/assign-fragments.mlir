// RUN: attn-opt %s -split-input-file -attn-assign-fragments | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-assign-fragments -remarks-filter=attn-assign-fragments -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!b = !attn.buf<tensor<32x16xf16>, 32>
!k = !attn.buf<tensor<16x16xf16>, 32>
!S = tensor<32x16xf32>
!r = tensor<32xf32>

// Matrices are tiles, a reduction makes rows, a spread along 1 takes rows; constants are copied to where they are used.
// CHECK-LABEL: attn.kernel @forms
// CHECK: attn.dot as "S" {{.*}} -> tensor<32x16xf32, #attn.frag<2, 1>>
// CHECK: attn.reduce max {{.*}} -> tensor<32xf32, #attn.frag<2, 1, rows>>
// CHECK: arith.constant dense<2.000000e+00> : tensor<32xf32, #attn.frag<2, 1, rows>>
// CHECK: arith.mulf {{.*}} : tensor<32xf32, #attn.frag<2, 1, rows>>
// CHECK: attn.spread {{.*}} along 1 : tensor<32xf32, #attn.frag<2, 1, rows>> -> tensor<32x16xf32, #attn.frag<2, 1>>
// CHECK: attn.coord {{.*}} along 1 : tensor<16xi32, #attn.frag<2, 1, cols>>
// CHECK: arith.constant dense<7> : tensor<16xi32, #attn.frag<2, 1, cols>>
// CHECK: arith.cmpi slt, {{.*}} : tensor<16xi32, #attn.frag<2, 1, cols>>
// CHECK: attn.spread {{.*}} along 0 : tensor<16xi1, #attn.frag<2, 1, cols>> -> tensor<32x16xi1, #attn.frag<2, 1>>
// CHECK: attn.mask {{.*}} : tensor<32x16xf32, #attn.frag<2, 1>>, tensor<32x16xi1, #attn.frag<2, 1>>
// CHECK: attn.gather {{.*}} : (memref<?xf32>, tensor<32xi32, #attn.frag<2, 1, rows>>) -> tensor<32xf32, #attn.frag<2, 1, rows>>
// CHECK: attn.pack {{.*}} -> tensor<32x16xf16, #attn.frag<2, 1>>
// REMARK: accumulator of {{.*}}dot=S, registers=8
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @forms attributes {schedule = #attn.schedule<tile = [32, 16], warps = [2, 1]>} {
  ^bb0(%n: i32, %cap: memref<?xf32>, %out: memref<?xf32>):
    %Q = attn.alloc as "Q" : !attn.ring<1, !b>
    %K = attn.alloc as "K" : !attn.ring<1, !k>
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      %c0 = arith.constant 0 : i32
      %q = attn.wait %Q[%c0] : !attn.ring<1, !b> -> !b
      %k = attn.wait %K[%c0] : !attn.ring<1, !k> -> !k
      %s = attn.dot as "S" %q, %k trans_b : (!b, !k) -> !S
      %m = attn.reduce max %s : !S -> !r
      %two = arith.constant dense<2.0> : !r
      %x = arith.mulf %m, %two : !r
      %xs = attn.spread %x along 1 : !r -> !S
      %kk = attn.coord %n along 1 : tensor<16xi32>
      %lim = arith.constant dense<7> : tensor<16xi32>
      %v = arith.cmpi slt, %kk, %lim : tensor<16xi32>
      %vs = attn.spread %v along 0 : tensor<16xi1> -> tensor<32x16xi1>
      %sm = attn.mask %s where %vs : !S, tensor<32x16xi1>
      %rows = attn.coord %n along 0 : tensor<32xi32>
      %c = attn.gather %cap[%rows] : (memref<?xf32>, tensor<32xi32>) -> !r
      attn.store %c, %out[%n] : !r, memref<?xf32>
      %e = arith.addf %sm, %xs : !S
      %p = attn.pack %e : !S -> tensor<32x16xf16>
      attn.yield
    }
  }
}

// -----

!S = tensor<16x8xf32>
!r = tensor<16xf32>

// A running sum of rows stays split over the four lanes of a quad until the sweep is done.
// CHECK-LABEL: attn.kernel @row_sum
// CHECK: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<16x4xf32, #attn.frag<1, 1, quads>>
// CHECK: %[[R:.*]]:2 = attn.sweep {{.*}} init(%[[Z]], %{{.*}} : tensor<16x4xf32, #attn.frag<1, 1, quads>>, tensor<16xf32, #attn.frag<1, 1, rows>>)
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %[[L:.*]]: tensor<16x4xf32, #attn.frag<1, 1, quads>>, %[[A:.*]]: tensor<16xf32, #attn.frag<1, 1, rows>>):
// CHECK: %[[P:.*]] = attn.reduce sum {{.*}} -> tensor<16x4xf32, #attn.frag<1, 1, quads>>
// CHECK: %[[AS:.*]] = attn.spread %[[A]] along 1 : {{.*}} -> tensor<16x4xf32, #attn.frag<1, 1, quads>>
// CHECK: %[[X:.*]] = arith.mulf %[[L]], %[[AS]]
// CHECK: %[[N:.*]] = arith.addf %[[X]], %[[P]]
// CHECK: attn.yield %[[N]], %[[A]]
// CHECK: %[[SUM:.*]] = attn.reduce sum %[[R]]#0 : tensor<16x4xf32, #attn.frag<1, 1, quads>> -> tensor<16xf32, #attn.frag<1, 1, rows>>
// CHECK: attn.store %[[SUM]]
// REMARK: each lane sums its own columns; lanes are added once, behind the sweep
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @row_sum attributes {schedule = #attn.schedule<tile = [16, 8], warps = [1, 1]>} {
  ^bb0(%n: i32, %in: memref<?x?xf32>, %out: memref<?xf32>):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %c0 = arith.constant 0 : i32
      %z = arith.constant dense<0.0> : !r
      %l, %a = attn.sweep ascending %c0 to %n plain %c0 to %n init(%z, %z : !r, !r) -> !r, !r {
      ^bb0(%t: i32, %j: i32, %old: !r, %al: !r):
        %p = attn.load %in[%c0, %j] : memref<?x?xf32> -> !S
        %ps = attn.reduce sum %p : !S -> !r
        %x = arith.mulf %old, %al : !r
        %new = arith.addf %x, %ps : !r
        attn.yield %new, %al : !r, !r
      }
      attn.store %l, %out[%n] : !r, memref<?xf32>
      attn.yield
    }
  }
}

// -----

!S = tensor<16x8xf32>
!r = tensor<16xf32>

// Not zero at the start: four lanes would count it four times. The sum stays in rows form.
// CHECK-LABEL: attn.kernel @not_deferred
// CHECK-NOT: quads
// CHECK: attn.reduce sum {{.*}} -> tensor<16xf32, #attn.frag<1, 1, rows>>
// CHECK-NOT: quads
// REMARK-NOT: each lane sums
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @not_deferred attributes {schedule = #attn.schedule<tile = [16, 8], warps = [1, 1]>} {
  ^bb0(%n: i32, %in: memref<?x?xf32>, %out: memref<?xf32>):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %c0 = arith.constant 0 : i32
      %one = arith.constant dense<1.0> : !r
      %l = attn.sweep ascending %c0 to %n plain %c0 to %n init(%one : !r) -> !r {
      ^bb0(%t: i32, %j: i32, %old: !r):
        %p = attn.load %in[%c0, %j] : memref<?x?xf32> -> !S
        %ps = attn.reduce sum %p : !S -> !r
        %new = arith.addf %old, %ps : !r
        attn.yield %new : !r
      }
      attn.store %l, %out[%n] : !r, memref<?xf32>
      attn.yield
    }
  }
}

// -----

!r = tensor<16xf32>

// Forms pass through scf.if and scf.for; a vector nobody asks for is rows. Splats are copied like constants.
// CHECK-LABEL: attn.kernel @control_flow
// CHECK: scf.if {{.*}} -> (tensor<16xf32, #attn.frag<1, 1, cols>>)
// CHECK: scf.for {{.*}} -> (tensor<16xf32, #attn.frag<1, 1, cols>>)
// CHECK: attn.spread {{.*}} along 0 : tensor<16xf32, #attn.frag<1, 1, cols>> -> tensor<16x16xf32, #attn.frag<1, 1>>
// CHECK: attn.load {{.*}} -> tensor<16xf32, #attn.frag<1, 1, rows>>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @control_flow attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%n: i32, %f: f32, %c: i1, %m: memref<?xf32>):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %x = tensor.splat %f : !r
      %a = scf.if %c -> !r {
        %y = arith.negf %x : !r
        scf.yield %y : !r
      } else {
        scf.yield %x : !r
      }
      %b = scf.for %i = %n to %n step %n iter_args(%o = %a) -> !r : i32 {
        %y = arith.addf %o, %x : !r
        scf.yield %y : !r
      }
      %s = attn.spread %b along 0 : !r -> tensor<16x16xf32>
      %r = attn.spread %x along 1 : !r -> tensor<16x16xf32>
      %l = attn.load %m[%n] : memref<?xf32> -> !r
      attn.store %l, %m[%n] : !r, memref<?xf32>
      attn.yield
    }
  }
}

// -----

// Columns of a tile are a tile.
// CHECK-LABEL: attn.kernel @columns
// CHECK: %[[F:.*]] = attn.load {{.*}} -> tensor<32x32xf16, #attn.frag<2, 1>>
// CHECK: tensor.extract_slice %[[F]][0, 8] [32, 16] [1, 1] : tensor<32x32xf16, #attn.frag<2, 1>> to tensor<32x16xf16, #attn.frag<2, 1>>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  attn.kernel @columns attributes {schedule = #attn.schedule<tile = [32, 32], warps = [2, 1]>} {
  ^bb0(%n: i32, %m: memref<?x?xf16>):
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      %f = attn.load %m[%n, %n] : memref<?x?xf16> -> tensor<32x32xf16>
      %x = tensor.extract_slice %f[0, 8] [32, 16] [1, 1] : tensor<32x32xf16> to tensor<32x16xf16>
      attn.store %x, %m[%n, %n] : tensor<32x16xf16>, memref<?x?xf16>
      attn.yield
    }
  }
}
