// A product is one inline asm of all its instructions, a wait one through which the accumulators pass.
// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!A = !attn.buf<tensor<64x128xbf16>, 128>
!K = !attn.buf<tensor<8x128xbf16>, 128>
!V = !attn.buf<tensor<16x64xf16>, 128>
!s = tensor<64x8xf32, #attn.frag<4, 1>>
!sp = !attn.pending<tensor<64x8xf32, #attn.frag<4, 1>>>
!p = tensor<64x16xf16, #attn.frag<4, 1>>
!o = tensor<64x64xf32, #attn.frag<4, 1>>
!op = !attn.pending<tensor<64x64xf32, #attn.frag<4, 1>>>
!r = tensor<64xf32, #attn.frag<4, 1, rows>>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 65536>} {
  // Both from shared memory, K-major: 16 deep is 2 (x 16 bytes) in a panel of 64 columns, the second panel of A is 64
  // rows on, that of B 8. The first instruction does not add.
  // CHECK-LABEL: llvm.func @from_shared
  // CHECK: %[[A:.*]] = arith.shrui %{{.*}}, %c4_i32 : i32
  // CHECK: %[[AL:.*]] = arith.addi %[[A]], %c65536_i32 : i32
  // CHECK: %[[B:.*]] = arith.shrui %{{.*}}, %c4_i32 : i32
  // CHECK: %[[BL:.*]] = arith.addi %[[B]], %c65536_i32 : i32
  // CHECK: %[[D:.*]] = llvm.inline_asm has_side_effects "{\0A.reg .pred first, more;\0A.reg .b32 zero, high, low;\0A.reg .b64 da, db;
  // CHECK-SAME: mov.b32 zero, 0;\0Asetp.ne.b32 first, zero, 0;\0Asetp.eq.b32 more, zero, 0;\0Amov.b32 high, 1073741888;
  // CHECK-SAME: wgmma.fence.sync.aligned;
  // CHECK-SAME: add.u32 low, $4, 0;\0Amov.b64 da, {low, high};\0Aadd.u32 low, $5, 0;\0Amov.b64 db, {low, high};
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, da, db, first, 1, 1, 0, 0;
  // CHECK-SAME: add.u32 low, $4, 2;{{.*}}add.u32 low, $5, 2;
  // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, da, db, more, 1, 1, 0, 0;
  // CHECK-SAME: add.u32 low, $4, 512;{{.*}}add.u32 low, $5, 64;
  // CHECK-SAME: add.u32 low, $4, 518;{{.*}}add.u32 low, $5, 70;
  // CHECK-SAME: wgmma.commit_group.sync.aligned;\0A}", "=f,=f,=f,=f,r,r,~{memory}" %[[AL]], %[[BL]] : (i32, i32) -> !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: %[[D0:.*]] = llvm.extractvalue %[[D]][0]
  // A product that is not asynchronous is waited for at once.
  // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}" %[[D0]]
  attn.kernel @from_shared attributes {smem_bytes = 18432 : i64, threads = 128 : i64} {
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !A
      %b = attn.alloc at 16384 : !K
      %c = attn.dot %a, %b trans_b : (!A, !K) -> !s
      attn.yield
    }
  }

  // A from registers: packed by conversions that stay where they are, kept until the wait. B as it is stored, [k][n]: 64
  // columns are a panel, so `leading` (16 rows of 128 bytes) is there but not used. The accumulator is tied.
  // CHECK-LABEL: llvm.func @from_registers
  // CHECK: %[[X:.*]]:8 = vector.to_elements
  // CHECK: llvm.inline_asm has_side_effects "cvt.rn.f16x2.f32 $0, $1, $2;", "=r,f,f" %[[X]]#1, %[[X]]#0 : (f32, f32) -> i32
  // CHECK-COUNT-3: cvt.rn.f16x2.f32
  // CHECK: arith.addi %{{.*}}, %c8388608_i32 : i32
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}m64n64k16.f32.f16.f16 {$0, {{.*}}, $31}, {$64, $65, $66, $67}, db, more, 1, 1, 1;{{.*}}", "=f,{{.*}},0,1,{{.*}},31,r,r,r,r,r,~{memory}"
  // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,{{.*}},0,{{.*}},31,r,r,r,r,~{memory}"
  attn.kernel @from_registers attributes {smem_bytes = 2048 : i64, threads = 128 : i64} {
  ^bb0(%x: f32):
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %v = attn.alloc at 0 : !V
      %f = tensor.splat %x : tensor<64x16xf32, #attn.frag<4, 1>>
      %p = attn.pack %f : tensor<64x16xf32, #attn.frag<4, 1>> -> !p
      %acc = tensor.splat %x : !o
      %d = attn.dot async %p, %v plus %acc : (!p, !V, !o) -> !op
      %o = attn.await %d keep(%p : !p) leaves 0 : !op -> !o
      attn.yield
    }
  }

  // Two in flight: the older one is awaited alone. A pin is a store under a condition that never holds: a row's
  // maximum may be any number, an infinity too, but not a signalling NaN.
  // CHECK-LABEL: llvm.func @two_in_flight
  // CHECK: wgmma.commit_group
  // CHECK: wgmma.commit_group
  // CHECK: %[[S:.*]] = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 1;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
  // CHECK: llvm.inline_asm has_side_effects "{\0A.reg .pred never;\0Asetp.eq.b32 never, $0, 0x7F800001;\0Asetp.eq.or.b32 never, $1, 0x7F800001, never;\0A@never st.shared.b32 [$2], 0;\0A}", "f,f,r,~{memory}"
  // CHECK: wgmma.wait_group.sync.aligned 0;
  attn.kernel @two_in_flight attributes {smem_bytes = 18432 : i64, threads = 128 : i64} {
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %a = attn.alloc at 0 : !A
      %b = attn.alloc at 16384 : !K
      %c = attn.dot async %a, %b trans_b : (!A, !K) -> !sp
      %d = attn.dot async %a, %b trans_b : (!A, !K) -> !sp
      %s = attn.await %c leaves 1 : !sp -> !s
      %m = attn.reduce max %s : !s -> !r
      attn.pin %m : !r
      %t = attn.await %d leaves 0 : !sp -> !s
      attn.yield
    }
  }
}
