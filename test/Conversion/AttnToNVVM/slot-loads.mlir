// What threads load from slots of rings, and parts of tiles.
// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!v = !attn.buf<tensor<64xf32>, 0>
!T = !attn.buf<tensor<64x128xbf16>, 128>
!P = !attn.buf<tensor<64x64xbf16>, 128>
#t = #attn.target<chip = "toy", family = wgmma, smem = 65536>
module attributes {attn.target = #t} {
  // Numbers of the columns: two neighbours a lane and atom of eight, 32 bytes from atom to atom.
  // CHECK-LABEL: llvm.func @columns
  // CHECK: %[[LANE:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
  // CHECK: %[[P0:.*]] = llvm.inttoptr %[[LANE]] : i32 to !llvm.ptr<3>
  // CHECK: llvm.load %[[P0]] {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
  // CHECK: %[[A1:.*]] = arith.addi %[[LANE]], %c32_i32 : i32
  // CHECK: %[[P1:.*]] = llvm.inttoptr %[[A1]]
  // CHECK: llvm.load %[[P1]] {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
  // CHECK-COUNT-6: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf32>
  // CHECK-NOT: llvm.load
  attn.kernel @columns attributes {smem_bytes = 256 : i64, threads = 128 : i64} {
  ^bb0(%o: memref<?xf32>):
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %c0 = arith.constant 0 : i32
      %a = attn.alloc at 0 : !v
      %l = attn.load %a : !v -> tensor<64xf32, #attn.frag<4, 1, cols>>
      attn.store %l, %o[%c0] : tensor<64xf32, #attn.frag<4, 1, cols>>, memref<?xf32>
      attn.yield
    }
  }

  // The second panel begins behind 64 rows of 128 bytes; its columns stay in registers, four for each k16 step.
  // CHECK-LABEL: llvm.func @held
  // CHECK: %[[PART:.*]] = arith.constant 8192 : i32
  // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
  // CHECK: arith.xori %{{.*}}, %c32_i32
  // CHECK: nvvm.ldmatrix
  // CHECK: arith.xori %{{.*}}, %c64_i32
  // CHECK: nvvm.ldmatrix
  // CHECK: arith.xori %{{.*}}, %c96_i32
  // CHECK: nvvm.ldmatrix
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK: llvm.inline_asm {{.*}}wgmma.mma_async
  attn.kernel @held attributes {smem_bytes = 32768 : i64, threads = 128 : i64} {
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %c64 = arith.constant 64 : i32
      %a = attn.alloc at 0 : !T
      %b = attn.alloc at 16384 : !P
      %p = attn.slice %a[%c64] : !T -> !P
      %r = attn.load %p : !P -> tensor<64x64xbf16, #attn.frag<4, 1>>
      %d = attn.dot %r, %b trans_b : (tensor<64x64xbf16, #attn.frag<4, 1>>, !P) -> tensor<64x64xf32, #attn.frag<4, 1>>
      attn.yield
    }
  }

  // A stored transposed is not K-major: its third flag is set, a step of 16 is 16 rows of 128 bytes. The second pair goes
  // on adding.
  // CHECK-LABEL: llvm.func @two_pairs
  // CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{{[^}]*}}}, da, db, first, 1, 1, 1, 1;
  // CHECK-SAME: add.u32 low, $32, 128;
  // CHECK-SAME: da, db, more, 1, 1, 1, 1;
  // CHECK-SAME: add.u32 low, $34, 0;{{.*}}add.u32 low, $35, 0;
  // CHECK-SAME: da, db, more, 1, 1, 1, 1;
  // CHECK-SAME: wgmma.commit_group
  attn.kernel @two_pairs attributes {smem_bytes = 32768 : i64, threads = 128 : i64} {
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !P
      %b = attn.alloc at 8192 : !P
      %c = attn.alloc at 16384 : !P
      %e = attn.alloc at 24576 : !P
      %d = attn.dot %a trans_a, %b then %c, %e : (!P, !P, !P, !P) -> tensor<64x64xf32, #attn.frag<4, 1>>
      attn.yield
    }
  }
}
