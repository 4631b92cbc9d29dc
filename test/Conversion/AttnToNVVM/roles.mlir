// Family wgmma: roles branch by warp, the warp is uniform, registers move, groups meet at named barriers.
// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!B = !attn.buf<tensor<64x64xbf16>, 128>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 65536>} {
  // 384 threads have 168 registers each at launch: the producer gives back, the others ask.
  // CHECK-LABEL: llvm.func @producer_and_groups
  // CHECK-SAME: nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 384, 1, 1>
  // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x : i32
  // CHECK: %[[W:.*]] = arith.shrui %[[TID]], %c5_i32 : i32
  // CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx %c-1_i32, %[[W]], %c0_i32, %c31_i32 : i32 -> i32
  // CHECK: nvvm.barrier0
  // CHECK: %[[FIRST:.*]] = arith.cmpi slt, %[[WARP]], %c4_i32 : i32
  // CHECK-NEXT: scf.if %[[FIRST]] {
  // CHECK: nvvm.setmaxregister decrease 24
  // CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[TID]], %c0_i32 : i32
  // CHECK-NEXT: scf.if %[[ONE]] {
  // CHECK-NEXT: nvvm.fence.proxy
  // CHECK-NOT: nvvm.barrier
  // CHECK: } else {
  // CHECK: %[[RW:.*]] = arith.addi %[[WARP]], %c-4_i32 : i32
  // CHECK: %[[G:.*]] = arith.shrui %[[RW]], %c2_i32 : i32
  // CHECK: %[[GW:.*]] = arith.andi %[[RW]], %c3_i32 : i32
  // CHECK: nvvm.setmaxregister increase 240
  // Group 0 has the first turn: nobody arrives for it but itself.
  // CHECK: llvm.inline_asm has_side_effects "{\0A.reg .pred mine;\0Asetp.eq.u32 mine, $0, 0;\0A@mine bar.arrive 1, 256;\0A}", "r,~{memory}" %[[G]]
  // An alloc of the role is one per group.
  // CHECK: %[[OFF:.*]] = arith.muli %[[G]], %c8192_i32 : i32
  // CHECK: arith.addi %{{.*}}, %[[OFF]] : i32
  // CHECK: %[[MINE:.*]] = arith.addi %[[G]], %c1_i32 : i32
  // CHECK: nvvm.barrier id = %[[MINE]] number_of_threads = %c256_i32
  // CHECK: %[[END:.*]] = arith.cmpi eq, %[[MINE]], %c2_i32 : i32
  // CHECK: %[[NEXT:.*]] = arith.select %[[END]], %c0_i32, %[[MINE]] : i32
  // CHECK: %[[ID:.*]] = arith.addi %[[NEXT]], %c1_i32 : i32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%[[ID]], %c256_i32)
  // A lane counts rows from its group's first warp: 16 a warp.
  // CHECK: arith.muli %[[GW]], %c16_i32 : i32
  // What was stored is published before the group meets.
  // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  // CHECK: %[[MEET:.*]] = arith.addi %[[G]], %c3_i32 : i32
  // CHECK: nvvm.barrier id = %[[MEET]] number_of_threads = %c128_i32
  // A row that does not exist is no branch either.
  // CHECK: llvm.inline_asm has_side_effects "@$1 st.global.b32 [$2], $0;", "r,b,l,~{memory}"
  // CHECK-NOT: scf.if
  // CHECK: llvm.return
  attn.kernel @producer_and_groups attributes {smem_bytes = 16384 : i64, threads = 384 : i64} {
  ^bb0(%out: memref<?xf32>, %x: f32, %y: bf16):
    %c0 = arith.constant 0 : i32
    attn.role "producer" warps 0 + 4 groups 1 regs 24 elect {
    ^bb0(%g: i32):
      attn.sync group publish
      attn.yield
    }
    attn.role "compute" warps 4 + 8 groups 2 regs 240 {
    ^bb0(%g: i32):
      %o = attn.alloc at 0 : !B
      %v = tensor.splat %y : tensor<64x64xbf16, #attn.frag<4, 1>>
      attn.turn take
      attn.turn give
      attn.store %v, %o : tensor<64x64xbf16, #attn.frag<4, 1>>, !B
      attn.sync group publish
      %l = tensor.splat %x : tensor<64xf32, #attn.frag<4, 1, rows>>
      attn.store %l, %out[%c0] : tensor<64xf32, #attn.frag<4, 1, rows>>, memref<?xf32>
      attn.yield
    }
  }

  // One group of all warps: no test, no turns; 512 threads start with the 128 registers it asks for.
  // CHECK-LABEL: llvm.func @one_role
  // CHECK: scf.if %true
  // CHECK-NOT: setmaxregister
  // CHECK-NOT: bar.arrive
  // CHECK: nvvm.barrier id = %c2_i32 number_of_threads = %c512_i32
  // CHECK: nvvm.barrier0
  // CHECK-NOT: nvvm.barrier
  attn.kernel @one_role attributes {smem_bytes = 0 : i64, threads = 512 : i64} {
    attn.role "compute" warps 0 + 16 groups 1 regs 128 {
    ^bb0(%g: i32):
      attn.turn take
      attn.sync group
      attn.turn give
      attn.sync block
      attn.yield
    }
  }

  // The families of a module's kernels may differ.
  // CHECK-LABEL: llvm.func @another_family
  // CHECK-NOT: shfl
  // CHECK: nvvm.barrier0
  // CHECK: llvm.return
  attn.kernel @another_family attributes {smem_bytes = 0 : i64, threads = 32 : i64,
      attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 65536>} {
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      attn.sync group
      attn.yield
    }
  }
}
