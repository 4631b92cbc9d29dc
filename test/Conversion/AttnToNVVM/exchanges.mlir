// A ring that the groups of a role fill for each other, and rows of numbers in the slot of a tile.
// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!B = !attn.buf<tensor<64x64xbf16>, 128>
!v = !attn.buf<tensor<64xf32>, 0>
!X = !attn.ring<2, !B>
!Q = !attn.ring<2, !B, !v>
!M = !attn.map<tensor<64x64xbf16>, 128>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 65536>} {
  // Nobody waits for a slot; what is stored is fenced, and then all 256 threads meet at the role's barrier, behind two for
  // each group and the block's. Such a ring has no mbarriers.
  // CHECK-LABEL: llvm.func @exchange
  // CHECK-NOT: mbarrier.init.shared
  // CHECK-NOT: try_wait
  // CHECK: nvvm.fence.proxy
  // CHECK: nvvm.barrier id = %c5_i32 number_of_threads = %c256_i32
  // CHECK-NOT: mbarrier.arrive
  // CHECK: llvm.return
  attn.kernel @exchange attributes {smem_bytes = 16384 : i64, threads = 256 : i64} {
    %c0 = arith.constant 0 : i32
    %x = attn.alloc as "dS" readers 8 at 0 : !X
    attn.role "compute" warps 0 + 8 groups 2 {
    ^bb0(%g: i32):
      %s = attn.acquire %x[%c0] : !X -> !B
      attn.commit %x[%c0] : !X
      %r = attn.wait %x[%c0] : !X -> !B
      attn.release %x[%c0] : !X
      attn.yield
    }
  }

  // The tile's copy announces its own 8192 bytes and the 256 of the row, which complete on the same barrier.
  // CHECK-LABEL: llvm.func @row
  // CHECK: mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 8448;{{.*}}cp.async.bulk.tensor.4d
  // CHECK: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$1], [$2], 256, [$0];
  attn.kernel @row attributes {smem_bytes = 17024 : i64, threads = 128 : i64} {
  ^bb0(%l: memref<?x?x?xf32>, %m: !M):
    %c0 = arith.constant 0 : i32
    %q = attn.alloc as "Q" readers 4 at 0 barriers 16896 : !Q
    attn.role "producer" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      %s:2 = attn.acquire %q[%c0] : !Q -> !B, !v
      attn.copy %m[%c0, %c0, %c0] to %s#0 fills %q[%c0] via tma : !M, !B, !Q
      attn.copy %l[%c0, %c0, %c0] to %s#1 fills %q[%c0] via bulk : memref<?x?x?xf32>, !v, !Q
      attn.yield
    }
  }
}
