// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!f = tensor<16xf32, #attn.frag<1, 1, rows>>
!g = memref<?xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 65536>} {
  // CHECK-LABEL: llvm.func @functions
  // CHECK: %[[X:.*]] = vector.broadcast
  // CHECK: %[[E:.*]] = llvm.intr.exp2(%[[X]]) : (vector<2xf32>) -> vector<2xf32>
  // CHECK: %[[LOG2E:.*]] = arith.constant dense<1.442{{.*}}> : vector<2xf32>
  // CHECK: %[[S:.*]] = arith.mulf %[[E]], %[[LOG2E]] : vector<2xf32>
  // CHECK: %[[EXP:.*]] = llvm.intr.exp2(%[[S]])
  // CHECK: %[[L:.*]]:2 = vector.to_elements %[[EXP]]
  // CHECK: llvm.call_intrinsic "llvm.nvvm.lg2.approx.ftz.f"(%[[L]]#0)
  // CHECK: llvm.intr.tanh(%{{.*}}) {fastmathFlags = #llvm.fastmath<afn>}
  // CHECK: llvm.intr.sqrt(%{{.*}}) {fastmathFlags = #llvm.fastmath<afn>}
  // 1 / x is a reciprocal, y / x a product with it; scalars too.
  // CHECK: %[[R:.*]] = nvvm.rcp.approx.ftz.f
  // CHECK: nvvm.rcp.approx.ftz.f
  attn.kernel @functions attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%out: !g, %x: f32):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %one = arith.constant dense<1.0> : !f
      %a = tensor.splat %x : !f
      %b = math.exp2 %a : !f
      %c = math.exp %b : !f
      %d = math.log2 %c : !f
      %e = math.tanh %d fastmath<afn> : !f
      %h = math.sqrt %e : !f
      %i = arith.divf %one, %h : !f
      attn.store %i, %out[%c0] : !f, !g
      attn.yield
    }
  }

  // Without afn tanh is 1 - 2 / (1 + 2^(2 x log2 e)).
  // CHECK-LABEL: llvm.func @accurate_tanh
  // CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
  // CHECK: llvm.intr.exp2
  // CHECK: arith.addf
  // CHECK: %[[R:.*]] = nvvm.rcp.approx.ftz.f
  // CHECK: llvm.intr.fma(%[[R]], %{{.*}}, %{{.*}})
  // CHECK: nvvm.rcp.approx.ftz.f
  // CHECK-NEXT: arith.mulf
  attn.kernel @accurate_tanh attributes {smem_bytes = 0 : i64, threads = 32 : i64} {
  ^bb0(%out: !g, %x: f32):
    %c0 = arith.constant 0 : i32
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      %t = math.tanh %x : f32
      %d = arith.divf %t, %x : f32
      %a = tensor.splat %d : !f
      attn.store %a, %out[%c0] : !f, !g
      attn.yield
    }
  }
}
