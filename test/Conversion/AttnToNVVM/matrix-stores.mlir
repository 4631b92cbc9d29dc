// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!B = !attn.buf<tensor<64x128xbf16>, 128>
!b = tensor<64x128xbf16, #attn.frag<4, 1>>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 65536>} {
  // Eight stores of 16 x 16, four to a panel of 64 columns: a lane names one row, and its four addresses in a panel
  // differ by the bits that the swizzle moves.
  // CHECK-LABEL: llvm.func @store
  // CHECK: %[[LANE:.*]] = arith.andi %{{.*}}, %c31_i32 : i32
  // CHECK: %[[REGS:.*]]:32 = vector.to_elements %{{.*}} : vector<32xi32>
  // CHECK: %[[R:.*]] = arith.andi %[[LANE]], %c15_i32 : i32
  // CHECK: %[[W:.*]] = arith.muli %{{.*}}, %c16_i32 : i32
  // CHECK: %[[ROW:.*]] = arith.addi %[[R]], %[[W]] : i32
  // CHECK: %[[C:.*]] = arith.shrui %[[LANE]], %{{.*}} : i32
  // CHECK: arith.xori %[[C]], %{{.*}} : i32
  // CHECK: arith.muli %[[ROW]], %c128_i32 : i32
  // CHECK: %[[A1:.*]] = arith.xori %[[A0:.*]], %c32_i32 : i32
  // CHECK: %[[A2:.*]] = arith.xori %[[A0]], %c64_i32 : i32
  // CHECK: %[[A3:.*]] = arith.xori %[[A0]], %c96_i32 : i32
  // CHECK: %[[P0:.*]] = llvm.inttoptr %[[A0]]
  // CHECK-NEXT: nvvm.stmatrix %[[P0]], %[[REGS]]#0, %[[REGS]]#1, %[[REGS]]#2, %[[REGS]]#3 {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : !llvm.ptr<3>, i32, i32, i32, i32
  // CHECK: llvm.inttoptr %[[A3]]
  // CHECK-NEXT: nvvm.stmatrix %{{.*}}, %[[REGS]]#12
  // CHECK: %[[P1:.*]] = arith.addi %[[A0]], %c8192_i32 : i32
  // CHECK: llvm.inttoptr %[[P1]]
  // CHECK-NEXT: nvvm.stmatrix %{{.*}}, %[[REGS]]#16
  // CHECK-COUNT-3: nvvm.stmatrix
  // CHECK-NOT: nvvm.stmatrix
  attn.kernel @store attributes {smem_bytes = 16384 : i64, threads = 128 : i64} {
  ^bb0(%x: bf16):
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %o = attn.alloc at 0 : !B
      %v = tensor.splat %x : !b
      attn.store %v, %o : !b, !B
      attn.yield
    }
  }
}
