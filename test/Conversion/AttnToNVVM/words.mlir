// How dynamic tiles reach a block: a counter that wraps, and a word from one thread to the others.
// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!W = !attn.buf<tensor<1xi32>, 0>
!T = !attn.ring<1, !W>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 65536>} {
  // CHECK-LABEL: llvm.func @next_tile(
  // CHECK-SAME: %[[COUNTER:.*]]: !llvm.ptr<1> {llvm.noalias}, %{{.*}}: i32, %[[LAST:.*]]: i32, %[[T:.*]]: i32)
  // CHECK: %[[N:.*]] = llvm.atomicrmw uinc_wrap %[[COUNTER]], %[[LAST]] syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1>, i32
  // CHECK: mbarrier.try_wait
  // CHECK: llvm.store %[[N]], %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
  // CHECK: mbarrier.arrive
  // The lane that releases the item is the one that reads it; the others hear of it by a shuffle.
  // CHECK: mbarrier.try_wait
  // CHECK: %[[WORD:.*]] = llvm.inline_asm has_side_effects "{\0A.reg .pred first;\0Asetp.eq.u32 first, $1, 0;\0A@first ld.shared.b32 $0, [$2];\0A@!first mov.b32 $0, 0;\0A}", "=r,r,r,~{memory}"
  // CHECK: nvvm.shfl.sync idx %c-1_i32, %[[WORD]], %c0_i32, %c31_i32 : i32 -> i32
  attn.kernel @next_tile attributes {smem_bytes = 256 : i64, threads = 256 : i64} {
  ^bb0(%counter: memref<1xi32>, %last: i32, %t: i32):
    %r = attn.alloc readers 4 at 0 barriers 128 : !T
    attn.role "producer" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      %n = attn.fetch %counter upto %last : memref<1xi32>
      %s = attn.acquire %r[%t] : !T -> !W
      attn.put %n, %s : !W
      attn.commit %r[%t] : !T
      attn.yield
    }
    attn.role "compute" warps 4 + 4 groups 1 {
    ^bb0(%g: i32):
      %s = attn.wait %r[%t] : !T -> !W
      %n = attn.get %s : !W
      attn.release %r[%t] : !T
      attn.yield
    }
  }
}
