// RUN: attn-opt %s --convert-attn-to-cpu="vector-lanes=8 vector-registers=16" --split-input-file | FileCheck %s

// What the nests of a backward ask of the conversion beyond those of a forward.

!g = memref<?x?x32xf32, strided<[?, ?, 1], offset: ?>>

// Two gradients go through a loop over heads, and in it through two loops over query tiles (masked, plain): all three
// loops work on the same two buffers.
// CHECK-LABEL: func.func private @through_loops_tiles
// CHECK-COUNT-2: memref.alloc()
// CHECK-NOT: memref.alloc()
// CHECK-NOT: memref.copy
// CHECK: return
attn.kernel @through_loops {
^bb0(%dk: !g, %dv: !g, %n: i32, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %one = arith.constant dense<1.0> : tensor<16x32xf32>
  %all:2 = scf.for %h = %c0 to %n step %c1 iter_args(%x = %zero, %y = %zero)
      -> (tensor<16x32xf32>, tensor<16x32xf32>) : i32 {
    %a:2 = scf.for %i = %c0 to %c1 step %c1 iter_args(%xi = %x, %yi = %y)
        -> (tensor<16x32xf32>, tensor<16x32xf32>) : i32 {
      %xn = arith.addf %xi, %one : tensor<16x32xf32>
      %yn = arith.mulf %yi, %one : tensor<16x32xf32>
      scf.yield %xn, %yn : tensor<16x32xf32>, tensor<16x32xf32>
    }
    %b:2 = scf.for %i = %c1 to %n step %c1 iter_args(%xi = %a#0, %yi = %a#1)
        -> (tensor<16x32xf32>, tensor<16x32xf32>) : i32 {
      %xn = arith.addf %xi, %one : tensor<16x32xf32>
      %yn = arith.mulf %yi, %one : tensor<16x32xf32>
      scf.yield %xn, %yn : tensor<16x32xf32>, tensor<16x32xf32>
    }
    scf.yield %b#0, %b#1 : tensor<16x32xf32>, tensor<16x32xf32>
  }
  attn.store %all#0, %dk[%c0, %c0] : tensor<16x32xf32>, !g
  attn.store %all#1, %dv[%c0, %c0] : tensor<16x32xf32>, !g
}

// -----

!g = memref<?x?x32xf32, strided<[?, ?, 1], offset: ?>>

// What an inner loop starts from is still needed after it: the loop works on a copy.
// CHECK-LABEL: func.func private @still_needed_tiles
// CHECK: %[[X:.*]] = memref.alloc()
// CHECK: %[[Y:.*]] = memref.alloc()
// CHECK: memref.copy %[[X]], %[[Y]]
// CHECK: return
attn.kernel @still_needed {
^bb0(%o: !g, %n: i32, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<16x32xf32>
  %sum = scf.for %h = %c0 to %n step %c1 iter_args(%x = %one) -> (tensor<16x32xf32>) : i32 {
    %y = scf.for %i = %c0 to %n step %c1 iter_args(%z = %x) -> (tensor<16x32xf32>) : i32 {
      %zn = arith.addf %z, %one : tensor<16x32xf32>
      scf.yield %zn : tensor<16x32xf32>
    }
    %both = arith.mulf %y, %x : tensor<16x32xf32>
    scf.yield %both : tensor<16x32xf32>
  }
  attn.store %sum, %o[%c0, %c0] : tensor<16x32xf32>, !g
}

// -----

!g = memref<?x?x32xf32, strided<[?, ?, 1], offset: ?>>
!w = memref<?x?xf32>

// Keys are the lanes, so what a query owns is one number a column. Q is the second operand of both dots, transposed in
// one of them: it stays as it lies in memory. The products of the elementwise ops are first operands as they are.
// CHECK-LABEL: func.func private @keys_on_rows_tiles
// CHECK-DAG: %[[Q:.*]] = memref.alloc() {alignment = 64 : i64} : memref<24x32xf32>
// CHECK-DAG: %[[K:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32x16xf32>
// CHECK-DAG: %[[L:.*]] = memref.alloc() {alignment = 64 : i64} : memref<24xf32>
// CHECK-DAG: %[[P:.*]] = memref.alloc() {alignment = 64 : i64} : memref<24x16xf32>
// CHECK: memref.load %[[Q]][%[[N:.*]], %[[D:.*]]] : memref<24x32xf32>
// CHECK: vector.store %{{.*}}, %[[P]][%[[N]],
// CHECK: %[[X:.*]] = vector.load %[[P]][%[[C:.*]], %[[R:.*]]] : memref<24x16xf32>, vector<16xf32>
// CHECK: memref.load %[[L]][%[[C]]] : memref<24xf32>
// CHECK: vector.broadcast
// CHECK: vector.store %{{.*}}, %[[P]][%[[C]], %[[R]]]
// CHECK: vector.load %[[P]][%[[K2:.*]], {{.*}}] : memref<24x16xf32>, vector<8xf32>
// CHECK: memref.load %[[Q]][%[[K2]], %{{.*}}] : memref<24x32xf32>
attn.kernel @keys_on_rows {
^bb0(%k: !g, %q: !g, %lse: !w, %o: !g, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %kt = attn.load %k[%c0, %c0] : !g -> tensor<16x32xf32>
  %qt = attn.load %q[%c0, %c0] : !g -> tensor<24x32xf32>
  %l = attn.load %lse[%c0, %c0] : !w -> tensor<24xf32>
  %s = attn.dot as "S" %kt, %qt trans_b : (tensor<16x32xf32>, tensor<24x32xf32>) -> tensor<16x24xf32>
  %ls = attn.spread %l along 0 : tensor<24xf32> -> tensor<16x24xf32>
  %d = arith.subf %s, %ls : tensor<16x24xf32>
  %dk = attn.dot as "dK" %d, %qt : (tensor<16x24xf32>, tensor<24x32xf32>) -> tensor<16x32xf32>
  attn.store %dk, %o[%c0, %c0] : tensor<16x32xf32>, !g
}

// -----

!g = memref<?x?x32xf32, strided<[?, ?, 1], offset: ?>>

// What is hidden of a gradient is 0, not a score of -2^100.
// CHECK-LABEL: func.func private @otherwise_tiles
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[ZERO]] : vector<16xi1>, vector<16xf32>
attn.kernel @otherwise {
^bb0(%x: !g, %n: i32, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %t = attn.load %x[%c0, %c0] : !g -> tensor<16x32xf32>
  %column = attn.coord %c0 along 1 : tensor<16x32xi32>
  %last = tensor.splat %n : tensor<16x32xi32>
  %seen = arith.cmpi slt, %column, %last : tensor<16x32xi32>
  %m = attn.mask %t where %seen otherwise 0.0 : tensor<16x32xf32>, tensor<16x32xi1>
  attn.store %m, %x[%c0, %c0] : tensor<16x32xf32>, !g
}
