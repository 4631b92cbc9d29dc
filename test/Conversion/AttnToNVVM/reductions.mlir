// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!f = tensor<16x16xf32, #attn.frag<1, 1>>
!r = tensor<16xf32, #attn.frag<1, 1, rows>>
!z = tensor<16x4xf32, #attn.frag<1, 1, quads>>
!g = memref<?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 65536>} {
  // Two rows a thread, four elements each: a tree of three, then two shuffles over the quad.
  // CHECK-LABEL: llvm.func @maximum_of_rows
  // CHECK: %[[E:.*]]:8 = vector.to_elements
  // CHECK: %[[A:.*]] = arith.maxnumf %[[E]]#0, %[[E]]#1 : f32
  // CHECK: %[[B:.*]] = arith.maxnumf %[[E]]#4, %[[E]]#5 : f32
  // CHECK: %[[C:.*]] = arith.maxnumf %[[A]], %[[B]] : f32
  // CHECK: %[[N:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[C]], %c1_i32, %c31_i32 : f32 -> f32
  // CHECK: %[[D:.*]] = arith.maxnumf %[[C]], %[[N]] : f32
  // CHECK: nvvm.shfl.sync bfly %{{.*}}, %[[D]], %c2_i32, %c31_i32 : f32 -> f32
  attn.kernel @maximum_of_rows attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%out: !g, %x: f32):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %a = tensor.splat %x : !f
      %m = attn.reduce max %a : !f -> !r
      attn.store %m, %out[%c0] : !r, !g
      attn.yield
    }
  }

  // Sums stay split over the quad until they are asked for as rows.
  // CHECK-LABEL: llvm.func @sum_in_quads
  // CHECK-COUNT-6: arith.addf %{{.*}} : f32
  // CHECK-COUNT-4: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl.sync
  attn.kernel @sum_in_quads attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%out: !g, %x: f32):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %a = tensor.splat %x : !f
      %q = attn.reduce sum %a : !f -> !z
      %m = attn.reduce sum %q : !z -> !r
      attn.store %m, %out[%c0] : !r, !g
      attn.yield
    }
  }

  // Where every register is taken a thread's part is a few chains: four for a maximum, in order.
  // CHECK-LABEL: llvm.func @chains
  // CHECK: %[[E:.*]]:12 = vector.to_elements
  // CHECK: %[[A:.*]] = arith.maxnumf %[[E]]#0, %[[E]]#8 : f32
  // CHECK: %[[B:.*]] = arith.maxnumf %[[E]]#1, %[[E]]#9 : f32
  // CHECK: arith.maxnumf %[[A]], %[[B]] : f32
  attn.kernel @chains attributes {smem_bytes = 0 : i64, threads = 128 : i64,
      attn.target = #attn.target<chip = "toy", family = wgmma, smem = 65536>} {
  ^bb0(%out: !g, %x: f32):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %a = tensor.splat %x : tensor<64x24xf32, #attn.frag<4, 1>>
      %m = attn.reduce max %a : tensor<64x24xf32, #attn.frag<4, 1>> -> tensor<64xf32, #attn.frag<4, 1, rows>>
      attn.store %m, %out[%c0] : tensor<64xf32, #attn.frag<4, 1, rows>>, !g
      attn.yield
    }
  }

  // Any of a thread's elements, then any of the warp's.
  // CHECK-LABEL: llvm.func @vote
  // CHECK: %[[X:.*]]:2 = vector.to_elements
  // CHECK: %[[MINE:.*]] = arith.ori %[[X]]#0, %[[X]]#1 : i1
  // CHECK: nvvm.vote.sync any %c-1_i32, %[[MINE]] -> i1
  attn.kernel @vote attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%out: !g, %x: i1):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %a = tensor.splat %x : tensor<16xi1, #attn.frag<1, 1, rows>>
      %b = attn.any %a : tensor<16xi1, #attn.frag<1, 1, rows>>
      attn.yield
    }
  }
}
