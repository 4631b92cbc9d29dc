// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!B = !attn.buf<tensor<64x64xbf16>, 128>
!R = !attn.ring<2, !B>
!R3 = !attn.ring<3, !B, !B>
!t = tensor<16xi32, #attn.frag<1, 1, rows>>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 65536>} {
  // Slot n % 2 of a ring at 1024; a wait is this thread's groups, then everybody's.
  // CHECK-LABEL: llvm.func @wait_is_group_and_barrier
  // CHECK: nvvm.cp.async.wait.group 1
  // CHECK-NEXT: nvvm.barrier0
  // CHECK: %[[SLOT:.*]] = arith.andi %{{.*}}, %c1_i32 : i32
  // CHECK: arith.muli %[[SLOT]], %c8192_i32 : i32
  // CHECK-NOT: nvvm
  // CHECK: llvm.return
  attn.kernel @wait_is_group_and_barrier attributes {smem_bytes = 32768 : i64, threads = 64 : i64} {
  ^bb0(%n: i32, %q: memref<?x64xbf16, strided<[?, 1]>>):
    %r = attn.alloc at 1024 : !R
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      %b = attn.wait %r[%n] leaves 1 : !R -> !B
      attn.release %r[%n] : !R
      attn.yield
    }
  }

  // Three slots divide; both bufs of a slot are returned; acquiring orders nothing here.
  // CHECK-LABEL: llvm.func @acquire_is_an_address
  // CHECK-NOT: nvvm.barrier
  // CHECK: arith.remui %{{.*}}, %c3_i32 : i32
  // CHECK: arith.muli %{{.*}}, %c16384_i32 : i32
  // CHECK: %c8192_i32 = arith.constant 8192 : i32
  attn.kernel @acquire_is_an_address attributes {smem_bytes = 65536 : i64, threads = 64 : i64} {
  ^bb0(%n: i32):
    %r = attn.alloc at 0 : !R3
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      %a, %b = attn.acquire %r[%n] : !R3 -> !B, !B
      attn.yield
    }
  }

  // Of waits in a row one waits, for what all of them want.
  // CHECK-LABEL: llvm.func @waits_in_a_row
  // CHECK-NOT: nvvm.cp
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK-NEXT: nvvm.barrier0
  // CHECK-NOT: nvvm
  // CHECK: llvm.return
  attn.kernel @waits_in_a_row attributes {smem_bytes = 32768 : i64, threads = 64 : i64} {
  ^bb0(%n: i32):
    %r = attn.alloc at 0 : !R
    %s = attn.alloc at 16384 : !R
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      %a = attn.wait %r[%n] leaves 1 : !R -> !B
      %b = attn.wait %s[%n] leaves 0 : !R -> !B
      attn.release %r[%n] : !R
      attn.release %s[%n] : !R
      attn.yield
    }
  }

  // CHECK-LABEL: llvm.func @sync_is_the_block
  // CHECK: nvvm.barrier0
  attn.kernel @sync_is_the_block attributes {smem_bytes = 0 : i64, threads = 64 : i64} {
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      attn.sync group
      attn.yield
    }
  }
}
