// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!r = tensor<16xf32, #attn.frag<1, 1, rows>>
!ri = tensor<16xi32, #attn.frag<1, 1, rows>>
!rm = tensor<16xi1, #attn.frag<1, 1, rows>>
!h = tensor<16x16xbf16, #attn.frag<1, 1>>
!b = !attn.buf<tensor<16x16xbf16>, 32>
!g = memref<?x?xf32, strided<[?, 1], offset: ?>>
!m = memref<?x?xi1, strided<[?, 1], offset: ?>>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 65536>} {
  // Four lanes hold a row; the first writes it, if the row exists.
  // CHECK-LABEL: llvm.func @rows_to_global
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32 : i32
  // CHECK: %[[EXISTS:.*]] = arith.cmpi slt
  // CHECK: %[[WRITES:.*]] = arith.andi %[[EXISTS]], %[[FIRST]] : i1
  // CHECK: scf.if %[[WRITES]] {
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
  attn.kernel @rows_to_global attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%out: !g, %x: f32, %head: i32, %row: i32):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %v = tensor.splat %x : !r
      attn.store %v, %out[%head, %row] : !r, !g
      attn.yield
    }
  }

  // Neighbours are one word; the second atom is the other chunk.
  // CHECK-LABEL: llvm.func @tile_to_shared
  // CHECK: arith.xori %{{.*}}, %c16_i32 : i32
  // CHECK-COUNT-4: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
  attn.kernel @tile_to_shared attributes {smem_bytes = 512 : i64, threads = 32 : i64} {
  ^bb0(%x: bf16):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %o = attn.alloc at 0 : !b
      %v = tensor.splat %x : !h
      attn.store %v, %o : !h, !b
      attn.yield
    }
  }

  // Indices are clamped; a scalar index moves the base, a fragment of them is an address and a load for each element in
  // turn; i1 is a byte.
  // CHECK-LABEL: llvm.func @gather_rows
  // CHECK: %[[LOW:.*]] = arith.minsi %{{.*}} : i32
  // CHECK: arith.maxsi %[[LOW]], %c0_i32 : i32
  // CHECK: %[[ROWS:.*]]:2 = vector.to_elements %{{.*}} : vector<2xi32>
  // CHECK: arith.minsi %[[ROWS]]#0, %{{.*}} : i32
  // CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
  // CHECK: arith.minsi %[[ROWS]]#1, %{{.*}} : i32
  // CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
  attn.kernel @gather_rows attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%keep: !m, %out: !g, %head: i32, %row: i32):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %one = arith.constant dense<1.0> : !r
      %zero = arith.constant dense<0.0> : !r
      %at = attn.coord %row along 0 : !ri
      %k = attn.gather %keep[%head, %at] : (!m, i32, !ri) -> !rm
      %v = arith.select %k, %one, %zero : !rm, !r
      attn.store %v, %out[%head, %row] : !r, !g
      attn.yield
    }
  }

  // What does not exist reads 0.
  // CHECK-LABEL: llvm.func @load_rows
  // CHECK: %[[EXISTS:.*]] = arith.cmpi slt
  // CHECK: %[[V:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  // CHECK: arith.select %[[EXISTS]], %[[V]], %{{.*}} : f32
  attn.kernel @load_rows attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%in: !g, %out: !g, %head: i32, %row: i32):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %v = attn.load %in[%head, %row] : !g -> !r
      attn.store %v, %out[%head, %row] : !r, !g
      attn.yield
    }
  }

  // A lane's columns are pairs. In a whole tile of aligned rows a pair is a load and all have one address; elsewhere
  // each element is asked for.
  // CHECK-LABEL: llvm.func @load_columns
  // CHECK: %[[WHOLE:.*]] = arith.andi %{{.*}} : i1
  // CHECK: %[[BOTH:.*]] = arith.andi %[[WHOLE]], %{{.*}} : i1
  // CHECK: scf.if %[[BOTH]] -> (vector<4xf32>) {
  // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xf32>
  // CHECK: } else {
  // CHECK: scf.if
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  attn.kernel @load_columns attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%in: !g, %out: !g, %head: i32, %row: i32):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %v = attn.load %in[%head, %row] : !g -> tensor<16xf32, #attn.frag<1, 1, cols>>
      attn.store %v, %out[%head, %row] : tensor<16xf32, #attn.frag<1, 1, cols>>, !g
      attn.yield
    }
  }
}
