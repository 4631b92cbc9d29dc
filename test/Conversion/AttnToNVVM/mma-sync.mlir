// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!A = !attn.buf<tensor<16x32xbf16>, 64>
!B = !attn.buf<tensor<16x32xbf16>, 64>
!V = !attn.buf<tensor<16x16xf16>, 32>
!C = tensor<16x16xf32, #attn.frag<1, 1>>
!P = tensor<16x16xf16, #attn.frag<1, 1>>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 65536>} {
  // Two k-steps: the loads of the second come before the products of the first. The second block column of a panel is an
  // XOR of the address; what an mma reads are neighbours of one ldmatrix.
  // CHECK-LABEL: llvm.func @both_from_shared
  // CHECK: %[[A0:.*]] = nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4
  // CHECK: nvvm.ldmatrix
  // CHECK: arith.xori %{{.*}}, %c32_i32 : i32
  // CHECK: nvvm.ldmatrix
  // CHECK: %[[B1:.*]] = nvvm.ldmatrix
  // CHECK: %[[B10:.*]] = llvm.extractvalue %[[B1]][0]
  // CHECK: %[[B11:.*]] = llvm.extractvalue %[[B1]][1]
  // CHECK: nvvm.mma.sync A[%{{.*}}]  B[%{{.*}}]  C[%[[Z:.*]], %[[Z]], %[[Z]], %[[Z]]]
  // CHECK: nvvm.mma.sync
  // CHECK: nvvm.mma.sync A[%{{.*}}]  B[%[[B10]], %[[B11]]]
  // CHECK-SAME: multiplicandAPtxType = #nvvm.mma_type<bf16>
  // CHECK: nvvm.mma.sync
  // CHECK-NOT: nvvm.mma.sync
  attn.kernel @both_from_shared attributes {smem_bytes = 2048 : i64, threads = 32 : i64} {
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !A
      %b = attn.alloc at 1024 : !B
      %c = attn.dot %a, %b trans_b : (!A, !B) -> !C
      attn.yield
    }
  }

  // A from registers, in fragment order; B transposed on its way; the accumulator goes in as it is.
  // CHECK-LABEL: llvm.func @probabilities_from_registers
  // CHECK: %[[W:.*]] = llvm.bitcast %{{.*}} : vector<8xf16> to vector<4xi32>
  // CHECK: %[[P:.*]]:4 = vector.to_elements %[[W]] : vector<4xi32>
  // CHECK: %[[ACC:.*]]:8 = vector.to_elements %{{.*}} : vector<8xf32>
  // CHECK: %[[A0:.*]] = llvm.bitcast %[[P]]#0 : i32 to vector<2xf16>
  // CHECK: nvvm.ldmatrix %{{.*}} {{{.*}}layout = #nvvm.mma_layout<col>
  // CHECK: nvvm.mma.sync A[%[[A0]], {{.*}}C[%[[ACC]]#0, %[[ACC]]#1, %[[ACC]]#2, %[[ACC]]#3]
  // CHECK: nvvm.mma.sync A[%[[A0]], {{.*}}C[%[[ACC]]#4, %[[ACC]]#5, %[[ACC]]#6, %[[ACC]]#7]
  attn.kernel @probabilities_from_registers attributes {smem_bytes = 512 : i64, threads = 32 : i64} {
  ^bb0(%x: f32, %y: f16):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %v = attn.alloc at 0 : !V
      %p = tensor.splat %y : !P
      %acc = tensor.splat %x : !C
      %c = attn.dot %p, %v plus %acc : (!P, !V, !C) -> !C
      attn.yield
    }
  }

  // What no product reads comes the same way: the registers of an A operand are those of a fragment. Tiles of one shape
  // have a lane's address in common; where they lie is a constant.
  // CHECK-LABEL: llvm.func @tiles_for_registers
  // CHECK: nvvm.ldmatrix
  // CHECK: %[[SECOND:.*]] = arith.xori %[[LANE:.*]], %c32_i32 : i32
  // CHECK: nvvm.ldmatrix
  // CHECK: %[[WORDS:.*]] = vector.from_elements %{{.*}} : vector<8xi32>
  // CHECK: llvm.bitcast %[[WORDS]] : vector<8xi32> to vector<16xbf16>
  // CHECK: arith.addi %[[LANE]], %c1024_i32 : i32
  // CHECK: arith.addi %[[SECOND]], %c1024_i32 : i32
  attn.kernel @tiles_for_registers attributes {smem_bytes = 2048 : i64, threads = 32 : i64} {
  ^bb0(%d: memref<?xf32>, %i: i32):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !A
      %b = attn.alloc at 1024 : !A
      %x = attn.load %a : !A -> tensor<16x32xbf16, #attn.frag<1, 1>>
      %y = attn.load %b : !A -> tensor<16x32xbf16, #attn.frag<1, 1>>
      %xf = arith.extf %x : tensor<16x32xbf16, #attn.frag<1, 1>> to tensor<16x32xf32, #attn.frag<1, 1>>
      %yf = arith.extf %y : tensor<16x32xbf16, #attn.frag<1, 1>> to tensor<16x32xf32, #attn.frag<1, 1>>
      %z = arith.mulf %xf, %yf : tensor<16x32xf32, #attn.frag<1, 1>>
      %s = attn.reduce sum %z : tensor<16x32xf32, #attn.frag<1, 1>> -> tensor<16xf32, #attn.frag<1, 1, rows>>
      attn.store %s, %d[%i] : tensor<16xf32, #attn.frag<1, 1, rows>>, memref<?xf32>
      attn.yield
    }
  }
}
