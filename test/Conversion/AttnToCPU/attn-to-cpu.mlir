// RUN: attn-opt %s --convert-attn-to-cpu="vector-lanes=8 vector-registers=16" --split-input-file | FileCheck %s

!g = memref<?x?x32xf32, strided<[?, ?, 1], offset: ?>>
!s = memref<?x?x24xf32, strided<[?, ?, 1], offset: ?>>

// Query rows are the lanes: Q is stored [d][row], K as it comes, S as [key][row].
// CHECK-LABEL: func.func private @dot_tiles
// CHECK-DAG: %[[K:.*]] = memref.alloc() {alignment = 64 : i64} : memref<24x32xf32>
// CHECK-DAG: %[[Q:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32x16xf32>
// CHECK-DAG: %[[S:.*]] = memref.alloc() {alignment = 64 : i64} : memref<24x16xf32>
// 24 columns are 4 blocks of 6 columns x 2 vectors of 8 rows: 12 accumulators.
// CHECK: scf.for %[[N:.*]] = %c0{{.*}} to %c24{{.*}} step %c6
// CHECK: %[[ACC:.*]]:12 = scf.for %[[KK:.*]] = %c0{{.*}} to %c32
// CHECK: vector.load %[[Q]][%[[KK]], {{.*}}] : memref<32x16xf32>, vector<8xf32>
// CHECK: memref.load %[[K]][%[[N]], %[[KK]]]
// CHECK: vector.broadcast
// CHECK: vector.fma
// CHECK: vector.store %[[ACC]]#0, %[[S]][%[[N]],
// The entry reads pointer, strides but the last, sizes of every memref, then begin and end; a text says so to who calls.
// CHECK: llvm.mlir.global external constant @dot_params("plliiiplliiiplliii\00")
// CHECK-LABEL: func.func @dot(
// CHECK-SAME: %[[P:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK: llvm.load %[[P]]
// CHECK: llvm.getelementptr %[[P]][1]
// CHECK: call @dot_tiles
attn.kernel @dot {
^bb0(%q: !g, %k: !g, %o: !s, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %a = attn.load %q[%c0, %c0] : !g -> tensor<16x32xf32>
  %b = attn.load %k[%c0, %c0] : !g -> tensor<24x32xf32>
  %s = attn.dot %a, %b trans_b : (tensor<16x32xf32>, tensor<24x32xf32>) -> tensor<16x24xf32>
  attn.store %s, %o[%c0, %c0] : tensor<16x24xf32>, !s
}

// -----

!g = memref<?x?x32xf32, strided<[?, ?, 1], offset: ?>>
!r = memref<?x?xf32, strided<[?, ?], offset: ?>>

// Two chains meet in a row maximum: one pass over the tile for what precedes it, one for what follows, and what only a
// nest itself reads is never stored.
// CHECK-LABEL: func.func private @softmax_tiles
// CHECK: scf.for %[[R:.*]] = %c0{{.*}} to %c16{{.*}} step %c16
// CHECK-NEXT: %[[MAX:.*]] = scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK: arith.cmpf ogt
// CHECK-NOT: vector.store
// CHECK: vector.store %[[MAX]], %{{.*}}[%[[R]]] : memref<16xf32>
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args
// CHECK: arith.subf
// CHECK: vector.store
// CHECK: arith.addf
attn.kernel @softmax {
^bb0(%x: !g, %y: !g, %l: !r, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %s = attn.load %x[%c0, %c0] : !g -> tensor<16x32xf32>
  %two = arith.constant dense<2.0> : tensor<16x32xf32>
  %t = arith.mulf %s, %two : tensor<16x32xf32>
  %m = attn.reduce max %t : tensor<16x32xf32> -> tensor<16xf32>
  %n = arith.negf %m : tensor<16xf32>
  %ms = attn.spread %m along 1 : tensor<16xf32> -> tensor<16x32xf32>
  %d = arith.subf %s, %ms : tensor<16x32xf32>
  %sum = attn.reduce sum %d : tensor<16x32xf32> -> tensor<16xf32>
  attn.store %d, %y[%c0, %c0] : tensor<16x32xf32>, !g
  %both = arith.addf %sum, %n : tensor<16xf32>
  attn.store %both, %l[%c0, %c0] : tensor<16xf32>, !r
}

// -----

!g = memref<?x?x32xf32, strided<[?, ?, 1], offset: ?>>

// A loop-carried tile is updated where it lies: one buffer, no copy.
// CHECK-LABEL: func.func private @carried_tiles
// CHECK: %[[O:.*]] = memref.alloc() {alignment = 64 : i64} : memref<32x16xf32>
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: memref.dealloc %[[O]]
attn.kernel @carried {
^bb0(%o: !g, %n: i32, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %one = arith.constant dense<1.0> : tensor<16x32xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero) -> (tensor<16x32xf32>) : i32 {
    %y = arith.addf %x, %one : tensor<16x32xf32>
    scf.yield %y : tensor<16x32xf32>
  }
  attn.store %sum, %o[%c0, %c0] : tensor<16x32xf32>, !g
}

// -----

!g = memref<?x?x32xf32, strided<[?, ?, 1], offset: ?>>

// Two carried tiles change places: the first to be overwritten is set aside.
// CHECK-LABEL: func.func private @swapped_tiles
// CHECK: memref.copy
// CHECK: memref.copy
// CHECK: memref.copy
// CHECK: memref.copy
attn.kernel @swapped {
^bb0(%o: !g, %n: i32, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %one = arith.constant dense<1.0> : tensor<16x32xf32>
  %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero, %y = %one)
      -> (tensor<16x32xf32>, tensor<16x32xf32>) : i32 {
    scf.yield %y, %x : tensor<16x32xf32>, tensor<16x32xf32>
  }
  attn.store %a, %o[%c0, %c0] : tensor<16x32xf32>, !g
  attn.store %b, %o[%c1, %c0] : tensor<16x32xf32>, !g
}

// -----

!h = memref<?x?x40xbf16, strided<[?, ?, 1], offset: ?>>

// 16-bit tiles are kept as f32 that was rounded where it was made; what lies past a dimension reads as 0.
// CHECK-LABEL: func.func private @half_tiles
// CHECK: %[[X:.*]] = memref.alloc() {alignment = 64 : i64} : memref<48x16xf32>
// CHECK: arith.minsi
// CHECK: arith.extf {{.*}} : bf16 to f32
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: arith.shrui
// CHECK: vector.store
// CHECK: arith.bitcast {{.*}} : i16 to bf16
attn.kernel @half {
^bb0(%x: !h, %y: !h, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %t = attn.load %x[%c0, %c0] : !h -> tensor<16x48xbf16>
  %u = arith.addf %t, %t : tensor<16x48xbf16>
  attn.store %u, %y[%c0, %c0] : tensor<16x48xbf16>, !h
}

// -----

!g = memref<?x?x32xf32, strided<[?, ?, 1], offset: ?>>
!t = memref<?x?xf32, strided<[?, ?], offset: ?>>

// Indices of a gather are clamped, addresses are 64-bit.
// CHECK-LABEL: func.func private @gather_tiles
// CHECK: arith.extsi {{.*}} : vector<16xi32> to vector<16xi64>
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: vector.gather {{.*}} : memref<?x?xf32, strided<[?, 1], offset: ?>>, vector<16xi64>
attn.kernel @gather {
^bb0(%table: !t, %o: !g, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %r = attn.coord %c0 along 0 : tensor<16x32xi32>
  %c = attn.coord %c0 along 1 : tensor<16x32xi32>
  %x = attn.gather %table[%r, %c] : (!t, tensor<16x32xi32>, tensor<16x32xi32>) -> tensor<16x32xf32>
  attn.store %x, %o[%c0, %c0] : tensor<16x32xf32>, !g
}

// -----

!h = memref<?x?x32xf16, strided<[?, ?, 1], offset: ?>>
!g = memref<?x?x32xf32, strided<[?, ?, 1], offset: ?>>
!s = memref<?x?x24xf32, strided<[?, ?, 1], offset: ?>>

// A load that is only widened is read as f32 at once, in the layout of a second operand.
// CHECK-LABEL: func.func private @widened_tiles
// CHECK: memref.alloc() {{.*}} : memref<24x32xf32>
// CHECK: vector.load {{.*}} vector<8xf16>
// CHECK-NEXT: arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// CHECK-NEXT: vector.store {{.*}} : memref<24x32xf32>, vector<8xf32>
attn.kernel @widened {
^bb0(%q: !g, %k: !h, %o: !s, %begin: i64, %end: i64):
  %c0 = arith.constant 0 : i32
  %a = attn.load %q[%c0, %c0] : !g -> tensor<16x32xf32>
  %h = attn.load %k[%c0, %c0] : !h -> tensor<24x32xf16>
  %b = arith.extf %h : tensor<24x32xf16> to tensor<24x32xf32>
  %s = attn.dot %a, %b trans_b : (tensor<16x32xf32>, tensor<24x32xf32>) -> tensor<16x24xf32>
  attn.store %s, %o[%c0, %c0] : tensor<16x24xf32>, !s
}
