// Rings of family wgmma: a full and an empty barrier a slot, phases by parity.
// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!B = !attn.buf<tensor<64x64xbf16>, 128>
!R = !attn.ring<2, !B>
!W = !attn.buf<tensor<1xi32>, 0>
!T = !attn.ring<1, !W>
!R3 = !attn.ring<3, !B>
!L = !attn.buf<tensor<64xf32>, 0>
!RL = !attn.ring<2, !B, !L>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 65536>} {
  // One thread makes them: an item is filled by one arrival, released by one a reader. Then everybody may look.
  // CHECK-LABEL: llvm.func @barriers_at_entry
  // CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[SMEM:.*]] = llvm.ptrtoint
  // CHECK: llvm.inline_asm has_side_effects "{\0A.reg .pred one;\0Asetp.eq.u32 one, $1, 0;
  // CHECK-SAME: @one mbarrier.init.shared::cta.b64 [$0+24576], 1;\0A@one mbarrier.init.shared::cta.b64 [$0+24584], 1;
  // CHECK-SAME: @one mbarrier.init.shared::cta.b64 [$0+24592], 8;\0A@one mbarrier.init.shared::cta.b64 [$0+24600], 8;
  // CHECK-SAME: @one mbarrier.init.shared::cta.b64 [$0+24608], 1;\0A@one mbarrier.init.shared::cta.b64 [$0+24616], 8;
  // CHECK-SAME: @one fence.mbarrier_init.release.cluster;\0A}", "r,r,~{memory}" %[[SMEM]], %[[TID]]
  // CHECK-NEXT: nvvm.barrier0
  attn.kernel @barriers_at_entry attributes {smem_bytes = 32768 : i64, threads = 256 : i64} {
    %r = attn.alloc readers 8 at 0 barriers 24576 : !R
    %t = attn.alloc readers 8 at 24448 barriers 24608 : !T
    attn.role "compute" warps 0 + 8 groups 1 {
    ^bb0(%g: i32):
      attn.yield
    }
  }

  // Item n: slot n % 2, phase n / 2. To acquire it is to wait for the phase before, which a fresh barrier is past.
  // CHECK-LABEL: llvm.func @items(
  // CHECK-SAME: %[[N:.*]]: i32)
  // CHECK: %[[BARS:.*]] = arith.addi %{{.*}}, %c16384_i32 : i32
  // CHECK: %[[SLOT:.*]] = arith.andi %[[N]], %c1_i32 : i32
  // CHECK: %[[AT:.*]] = arith.muli %[[SLOT]], %c8_i32 : i32
  // CHECK: %[[FULL:.*]] = arith.addi %[[BARS]], %[[AT]] : i32
  // CHECK: %[[EMPTY:.*]] = arith.addi %[[FULL]], %c16_i32 : i32
  // CHECK: %[[HALF:.*]] = arith.shrui %[[N]], %c1_i32 : i32
  // CHECK: %[[PARITY:.*]] = arith.andi %[[HALF]], %c1_i32 : i32
  // CHECK: %[[BEFORE:.*]] = arith.xori %[[PARITY]], %c1_i32 : i32
  // CHECK: llvm.inline_asm has_side_effects "{\0A.reg .pred done;\0AAGAIN:\0Ambarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\0A@done bra DONE;\0Abra AGAIN;\0ADONE:\0A}", "r,r,~{memory}" %[[EMPTY]], %[[BEFORE]]
  // CHECK: arith.muli %[[SLOT]], %c8192_i32 : i32
  // CHECK: llvm.inline_asm has_side_effects "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}" %[[FULL]]
  // CHECK: } else {
  // CHECK: llvm.inline_asm has_side_effects "{\0A.reg .pred done;{{.*}}}", "r,r,~{memory}" %{{.*}}, %{{.*}}
  // CHECK: llvm.inline_asm has_side_effects "{\0A.reg .pred first;\0Asetp.eq.u32 first, $1, 0;\0A@first mbarrier.arrive.shared::cta.b64 _, [$0];\0A}", "r,r,~{memory}"
  attn.kernel @items attributes {smem_bytes = 16512 : i64, threads = 256 : i64} {
  ^bb0(%n: i32):
    %r = attn.alloc readers 4 at 0 barriers 16384 : !R
    attn.role "producer" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      %s = attn.acquire %r[%n] : !R -> !B
      attn.commit %r[%n] : !R
      attn.yield
    }
    attn.role "compute" warps 4 + 4 groups 1 {
    ^bb0(%g: i32):
      %s = attn.wait %r[%n] : !R -> !B
      attn.release %r[%n] : !R
      attn.yield
    }
  }

  // Lanes read vectors themselves: the warp meets before lane 0 gives the slot away.
  // CHECK-LABEL: llvm.func @vectors(
  // CHECK: llvm.inline_asm has_side_effects "bar.warp.sync 0xffffffff;\0A{\0A.reg .pred first;\0Asetp.eq.u32 first, $1, 0;\0A@first mbarrier.arrive.shared::cta.b64 _, [$0];\0A}", "r,r,~{memory}"
  attn.kernel @vectors attributes {smem_bytes = 17024 : i64, threads = 128 : i64} {
  ^bb0(%n: i32):
    %r = attn.alloc readers 4 at 0 barriers 16896 : !RL
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %s, %l = attn.wait %r[%n] : !RL -> !B, !L
      attn.release %r[%n] : !RL
      attn.yield
    }
  }

  // Three slots divide; one slot is always the same, and its phases are the items.
  // CHECK-LABEL: llvm.func @other_depths(
  // CHECK-SAME: %[[N:.*]]: i32)
  // CHECK: arith.remui %[[N]], %c3_i32 : i32
  // CHECK: %[[PHASE:.*]] = arith.divui %[[N]], %c3_i32 : i32
  // CHECK: arith.andi %[[PHASE]], %c1_i32 : i32
  // CHECK: mbarrier.try_wait
  // CHECK: %[[PARITY:.*]] = arith.andi %[[N]], %c1_i32 : i32
  // CHECK: mbarrier.try_wait{{.*}} %{{.*}}, %[[PARITY]]
  attn.kernel @other_depths attributes {smem_bytes = 24832 : i64, threads = 128 : i64} {
  ^bb0(%n: i32):
    %r = attn.alloc readers 4 at 0 barriers 24576 : !R3
    %t = attn.alloc readers 4 at 24704 barriers 24624 : !T
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %s = attn.wait %r[%n] : !R3 -> !B
      %w = attn.wait %t[%n] : !T -> !W
      attn.yield
    }
  }
}
