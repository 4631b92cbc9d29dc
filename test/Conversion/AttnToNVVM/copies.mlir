// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!g = memref<?x?x40xbf16, strided<[?, ?, 1], offset: ?>>
!B = !attn.buf<tensor<64x48xbf16>, 32>
!R = !attn.ring<1, !B>
!O = !attn.buf<tensor<32x64xf16>, 128>
!o = memref<?x64xf16, strided<[?, 1], offset: ?>>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 65536>} {
  // 64 threads, rows of 3 panels x 2 chunks: 32 rows at a time. A guard takes all rows away; columns 40 to 47 and rows
  // past the end copy 0 bytes of 16. One group whatever happens; the road by elements is a loop.
  // CHECK-LABEL: llvm.func @fill(
  // CHECK-SAME: %[[PTR:.*]]: !llvm.ptr<1> {{{.*}}}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i32, %[[ROWS:.*]]: i32, %{{.*}}: i32, %[[HEAD:.*]]: i32, %[[ROW:.*]]: i32, %[[MORE:.*]]: i1)
  // CHECK: %[[BITS:.*]] = llvm.ptrtoint %[[PTR]] : !llvm.ptr<1> to i32
  // CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32 : i32
  // CHECK: %[[LEFT:.*]] = arith.subi %[[ROWS]], %[[ROW]] : i32
  // CHECK: arith.select %[[MORE]], %[[LEFT]], %c0_i32 : i32
  // CHECK: scf.if %[[ALIGNED]] {
  // CHECK-COUNT-6: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}} : !llvm.ptr<3>, !llvm.ptr<1>, i32
  // CHECK-NOT: cp.async
  // CHECK: } else {
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> i16
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<8xi16>, !llvm.ptr<3>
  // CHECK: nvvm.cp.async.commit.group
  attn.kernel @fill attributes {smem_bytes = 8192 : i64, threads = 64 : i64} {
  ^bb0(%k: !g, %h: i32, %row: i32, %more: i1):
    %c0 = arith.constant 0 : i32
    %r = attn.alloc at 0 : !R
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      %s = attn.acquire %r[%c0] : !R -> !B
      attn.copy %k[%h, %row] to %s fills %r[%c0] if %more via cp_async : !g, !B, !R
      attn.yield
    }
  }

  // 16 bytes a thread: all reads of shared memory, then a store where the row exists.
  // CHECK-LABEL: llvm.func @drain(
  // CHECK: scf.if
  // CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
  // CHECK-COUNT-4: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
  // CHECK: } else {
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 2 : i64} : i16, !llvm.ptr<1>
  attn.kernel @drain attributes {smem_bytes = 8192 : i64, threads = 64 : i64} {
  ^bb0(%o: !o, %row: i32):
    %s = attn.alloc at 0 : !O
    attn.role "compute" warps 0 + 2 groups 1 {
    ^bb0(%g: i32):
      attn.copy %s to %o[%row] via vector : !O, !o
      attn.yield
    }
  }
}
