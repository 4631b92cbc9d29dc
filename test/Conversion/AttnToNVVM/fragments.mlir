// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!f = tensor<16x16xf32, #attn.frag<1, 1>>
!i = tensor<16x16xi32, #attn.frag<1, 1>>
!m = tensor<16x16xi1, #attn.frag<1, 1>>
!h = tensor<16x16xbf16, #attn.frag<1, 1>>
!r = tensor<16xf32, #attn.frag<1, 1, rows>>
!c = tensor<16xi32, #attn.frag<1, 1, cols>>
!g = memref<?x?xf32>
!gi = memref<?x?xi32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 65536>} {
  // A coordinate is one value of the lane plus constants: rows l / 4 (+ 8), columns 2 (l % 4) + 0, 1 (+ 8 an atom).
  // CHECK-LABEL: llvm.func @coordinates
  // CHECK-DAG: arith.constant dense<[0, 0, 8, 8, 0, 0, 8, 8]> : vector<8xi32>
  // CHECK-DAG: arith.constant dense<[0, 1, 0, 1, 8, 9, 8, 9]> : vector<8xi32>
  // CHECK-DAG: arith.constant dense<[0, 1, 8, 9]> : vector<4xi32>
  // CHECK-DAG: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 0, 1, 2, 3, 2, 3] : vector<4xi32>, vector<4xi32>
  attn.kernel @coordinates attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%out: !gi, %base: i32):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %row = attn.coord %base along 0 : !i
      %col = attn.coord %base along 1 : !i
      %cols = attn.coord %base along 1 : !c
      %same = attn.spread %cols along 0 : !c -> !i
      %s0 = arith.addi %row, %col : !i
      %s1 = arith.addi %s0, %same : !i
      attn.store %s1, %out[%c0] : !i, !gi
      attn.yield
    }
  }

  // arith stays arith; a mask selects -2^100; spreading renames; packing converts.
  // CHECK-LABEL: llvm.func @elementwise
  // CHECK: %[[X:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
  // CHECK: %[[V:.*]] = arith.cmpf ogt, %[[X]], %{{.*}} : vector<8xf32>
  // CHECK: %[[HIDDEN:.*]] = arith.constant dense<-1.26765{{.*}}> : vector<8xf32>
  // CHECK: %[[M:.*]] = arith.select %[[V]], %[[X]], %[[HIDDEN]] : vector<8xi1>, vector<8xf32>
  // CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 0, 1, 1, 0, 0, 1, 1] : vector<2xf32>, vector<2xf32>
  // CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
  attn.kernel @elementwise attributes {smem_bytes = 512 : i64, threads = 32 : i64} {
  ^bb0(%x: f32):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %o = attn.alloc at 0 : !attn.buf<tensor<16x16xbf16>, 32>
      %zero = arith.constant dense<0.0> : !f
      %rows = tensor.splat %x : !r
      %a = tensor.splat %x : !f
      %v = arith.cmpf ogt, %a, %zero : !f
      %m = attn.mask %a where %v : !f, !m
      %s = attn.spread %rows along 1 : !r -> !f
      %y = arith.addf %m, %s : !f
      %p = attn.pack %y : !f -> !h
      attn.store %p, %o : !h, !attn.buf<tensor<16x16xbf16>, 32>
      attn.yield
    }
  }
  // Columns of a tile are registers of the lane: of every row atom (eight elements here, 16 columns) the atom of columns
  // 8 to 15. Elements of 16 bits stay in pairs.
  // CHECK-LABEL: llvm.func @columns
  // CHECK: vector.shuffle %[[F:.*]], %[[F]] [4, 5, 6, 7, 12, 13, 14, 15] : vector<16xf32>, vector<16xf32>
  // CHECK: %[[H:.*]] = llvm.bitcast %{{.*}} : vector<16xbf16> to vector<8xi32>
  // CHECK: %[[S:.*]] = vector.shuffle %[[H]], %[[H]] [2, 3, 6, 7] : vector<8xi32>, vector<8xi32>
  // CHECK: llvm.bitcast %[[S]] : vector<4xi32> to vector<8xbf16>
  attn.kernel @columns attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%in: !g, %inh: memref<?x?xbf16>, %c: i32):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %f = attn.load %in[%c, %c] : !g -> tensor<32x16xf32, #attn.frag<1, 1>>
      %x = tensor.extract_slice %f[0, 8] [32, 8] [1, 1] : tensor<32x16xf32, #attn.frag<1, 1>> to tensor<32x8xf32, #attn.frag<1, 1>>
      attn.store %x, %in[%c, %c] : tensor<32x8xf32, #attn.frag<1, 1>>, !g
      %h = attn.load %inh[%c, %c] : memref<?x?xbf16> -> tensor<32x16xbf16, #attn.frag<1, 1>>
      %y = tensor.extract_slice %h[0, 8] [32, 8] [1, 1] : tensor<32x16xbf16, #attn.frag<1, 1>> to tensor<32x8xbf16, #attn.frag<1, 1>>
      attn.store %y, %inh[%c, %c] : tensor<32x8xbf16, #attn.frag<1, 1>>, memref<?x?xbf16>
      attn.yield
    }
  }
}
