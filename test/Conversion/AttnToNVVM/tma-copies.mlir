// Tiles by tensor maps: one thread, a box per panel of 128 bytes.
// RUN: attn-opt %s --convert-attn-to-nvvm --cse | FileCheck %s

!B = !attn.buf<tensor<80x128xbf16>, 128>
!M = !attn.map<tensor<80x128xbf16>, 128>
!R = !attn.ring<1, !B>
!O = !attn.buf<tensor<64x64xf16>, 128>
!N = !attn.map<tensor<64x64xf16>, 128>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 65536>} {
  // A map is 128 bytes of the launch, never copied; the first thread has it fetched before the roles begin.
  // CHECK-LABEL: llvm.func @load(
  // CHECK-SAME: %[[MAP:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %[[B:.*]]: i32, %[[H:.*]]: i32, %[[ROW:.*]]: i32)
  // CHECK: llvm.inline_asm has_side_effects "{\0A.reg .pred one;\0Asetp.eq.u32 one, $0, 0;\0A@one prefetch.tensormap [$1];\0A}", "r,l,~{memory}" %{{.*}}, %[[MAP]]
  // The bytes of the whole tile are announced, then both panels: 64 columns, 80 rows of 128 bytes.
  // CHECK: llvm.inline_asm has_side_effects "{\0Ambarrier.arrive.expect_tx.shared::cta.b64 _, [$0], 20480;
  // CHECK-SAME: cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$1+0], [$2, {$6, $3, $4, $5}], [$0];
  // CHECK-SAME: cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$1+10240], [$2, {$7, $3, $4, $5}], [$0];
  // CHECK-SAME: "r,r,l,r,r,r,r,r,~{memory}" %{{.*}}, %{{.*}}, %[[MAP]], %[[ROW]], %[[H]], %[[B]], %c0_i32, %c64_i32
  attn.kernel @load attributes {smem_bytes = 20608 : i64, threads = 128 : i64} {
  ^bb0(%m: !M, %b: i32, %h: i32, %row: i32):
    %c0 = arith.constant 0 : i32
    %r = attn.alloc readers 4 at 0 barriers 20480 : !R
    attn.role "producer" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      %s = attn.acquire %r[%c0] : !R -> !B
      attn.copy %m[%b, %h, %row] to %s fills %r[%c0] via tma : !M, !B, !R
      attn.yield
    }
  }

  // A column coordinate moves every panel on.
  // CHECK-LABEL: llvm.func @columns(
  // CHECK: llvm.inline_asm {{.*}}cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [$2, {$6, $3, $4, $5}], [$1+0];
  // CHECK-SAME: cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [$2, {$7, $3, $4, $5}], [$1+8192];
  // CHECK-SAME: %c128_i32, %c192_i32
  attn.kernel @columns attributes {smem_bytes = 16384 : i64, threads = 128 : i64} {
  ^bb0(%m: !attn.map<tensor<64x128xf16>, 128>, %b: i32, %h: i32, %row: i32):
    %c128 = arith.constant 128 : i32
    attn.role "compute" warps 0 + 4 groups 1 {
    ^bb0(%g: i32):
      %o = attn.alloc at 0 : !attn.buf<tensor<64x128xf16>, 128>
      attn.copy %o to %m[%b, %h, %row, %c128] via tma : !attn.buf<tensor<64x128xf16>, 128>, !attn.map<tensor<64x128xf16>, 128>
      attn.drain 0
      attn.yield
    }
  }

  // Out of a group of warps by the predicate of one thread; all of them wait, which is nothing for the others.
  // CHECK-LABEL: llvm.func @store(
  // CHECK: %[[T:.*]] = arith.andi %{{.*}}, %c127_i32 : i32
  // CHECK: llvm.inline_asm has_side_effects "{\0A.reg .pred one;\0Asetp.eq.u32 one, $0, 0;
  // CHECK-SAME: @one cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [$2, {$6, $3, $4, $5}], [$1+0];
  // CHECK-SAME: @one cp.async.bulk.commit_group;\0A}", "r,r,l,r,r,r,r,~{memory}" %[[T]]
  // CHECK: nvvm.cp.async.bulk.wait_group 1 {read}
  // CHECK: nvvm.cp.async.bulk.wait_group 0{{$}}
  attn.kernel @store attributes {smem_bytes = 16384 : i64, threads = 256 : i64} {
  ^bb0(%m: !N, %b: i32, %h: i32, %row: i32):
    attn.role "compute" warps 0 + 8 groups 2 {
    ^bb0(%g: i32):
      %o = attn.alloc at 0 : !O
      attn.copy %o to %m[%b, %h, %row] via tma : !O, !N
      attn.drain 1 read
      attn.drain 0
      attn.yield
    }
  }
}
