// Round trip of roles, rings and copies in the pretty and in the generic form.
// RUN: attn-opt %s | attn-opt | FileCheck %s
// RUN: attn-opt %s -mlir-print-op-generic | attn-opt | FileCheck %s

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!Kb = !attn.buf<tensor<32x64xf16>, 128>
!Lb = !attn.buf<tensor<32xf32>, 0>
!Kr = !attn.ring<2, !Kb>
!KLr = !attn.ring<1, !Kb, !Lb>

// CHECK-LABEL: attn.kernel @roles
attn.kernel @roles {
^bb0(%k: !g, %n: i32, %more: i1):
  // CHECK: %[[K:.*]] = attn.alloc as "K" readers 4 at 0 : !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
  // CHECK: %[[KL:.*]] = attn.alloc : !attn.ring<1, !attn.buf<tensor<32x64xf16>, 128>, !attn.buf<tensor<32xf32>, 0>>
  %K = attn.alloc as "K" readers 4 at 0 : !Kr
  %KL = attn.alloc : !KLr
  // CHECK: attn.role "compute" warps 0 + 4 groups 1 {
  attn.role "compute" warps 0 + 4 groups 1 {
  ^bb0(%group: i32):
    // CHECK: attn.alloc at 0 over "K" : !attn.buf<tensor<32x64xf16>, 128>
    %o = attn.alloc at 0 over "K" : !Kb
    // CHECK: %[[SLOT:.*]] = attn.acquire %[[K]]{{\[}}[[N:%[a-z0-9]+]]] : <2, !attn.buf<tensor<32x64xf16>, 128>> -> !attn.buf<tensor<32x64xf16>, 128>
    %slot = attn.acquire %K[%n] : !Kr -> !Kb
    // CHECK: attn.copy %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %[[SLOT]] fills %[[K]]{{\[}}[[N]]] if %{{.*}} via cp_async : memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>, !attn.buf<tensor<32x64xf16>, 128>, !attn.ring<2, !attn.buf<tensor<32x64xf16>, 128>>
    attn.copy %k[%n, %n, %n] to %slot fills %K[%n] if %more via cp_async : !g, !Kb, !Kr
    // CHECK: attn.wait %[[K]]{{\[}}[[N]]] leaves 1 :
    %b = attn.wait %K[%n] leaves 1 : !Kr -> !Kb
    // CHECK: attn.release %[[K]]{{\[}}[[N]]] :
    attn.release %K[%n] : !Kr
    // CHECK: attn.wait %[[KL]]{{\[}}[[N]]] : <1, !attn.buf<tensor<32x64xf16>, 128>, !attn.buf<tensor<32xf32>, 0>> -> !attn.buf<tensor<32x64xf16>, 128>, !attn.buf<tensor<32xf32>, 0>
    %kl:2 = attn.wait %KL[%n] : !KLr -> !Kb, !Lb
    // CHECK: attn.sync group
    // CHECK: attn.sync block
    attn.sync group
    attn.sync block
    // CHECK: attn.copy %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] via vector : !attn.buf<tensor<32x64xf16>, 128>, memref
    attn.copy %o to %k[%n, %n, %n] via vector : !Kb, !g
  }
}

!Qb = !attn.buf<tensor<64x128xbf16>, 128>
!Qm = !attn.map<tensor<64x128xbf16>, 128>
!Qr = !attn.ring<2, !Qb>
!T = !attn.ring<1, !attn.buf<tensor<1xi32>, 0>>
!w = !attn.buf<tensor<1xi32>, 0>
!S = tensor<64x128xf32, #attn.frag<4, 1>>
!Sp = !attn.pending<tensor<64x128xf32, #attn.frag<4, 1>>>
!P = tensor<64x128xbf16, #attn.frag<4, 1>>
!rm = tensor<64xi1, #attn.frag<4, 1, rows>>

// CHECK-LABEL: attn.kernel @specialised
// CHECK-SAME: schedule = #attn.schedule<tile = [128, 128], warps = [4, 1], groups = 2, regs = [24, 240], order = ["S", "await S", "pin max"], skip = 8, out = own, seam = overlap, tiles = dynamic>
attn.kernel @specialised attributes {schedule = #attn.schedule<tile = [128, 128], warps = [4, 1], groups = 2, regs = [24, 240], order = ["S", "await S", "pin max"], skip = 8, out = own, seam = overlap, tiles = dynamic>} {
^bb0(%q: !Qm, %count: memref<1xi32>, %n: i32):
  // CHECK: attn.alloc as "Q" readers 4 at 0 barriers 65536 :
  %Q = attn.alloc as "Q" readers 4 at 0 barriers 65536 : !Qr
  %T = attn.alloc as "tile" readers 8 at 65568 : !T
  // CHECK: attn.role "producer" warps 0 + 4 groups 1 regs 24 elect {
  attn.role "producer" warps 0 + 4 groups 1 regs 24 elect {
  ^bb0(%g: i32):
    // CHECK: attn.tiles dynamic(%{{.*}}) counter(%{{.*}} : memref<1xi32>) init(%{{.*}}) heaviest_first -> i32 {
    %end = attn.tiles dynamic(%n, %n, %n) counter(%count : memref<1xi32>) init(%n) heaviest_first -> i32 {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32, %base: i32):
      %s = attn.acquire %Q[%t] : !Qr -> !Qb
      // CHECK: attn.copy %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}} fills %{{.*}} via tma : !attn.map<tensor<64x128xbf16>, 128>,
      attn.copy %q[%b, %h, %i] to %s fills %Q[%t] via tma : !Qm, !Qb, !Qr
      // CHECK: attn.fetch %{{.*}} upto %{{.*}} : memref<1xi32>
      %next = attn.fetch %count upto %n : memref<1xi32>
      %word = attn.acquire %T[%t] : !T -> !w
      // CHECK: attn.put %{{.*}}, %{{.*}} : <tensor<1xi32>, 0>
      // CHECK: attn.commit %{{.*}} : <1, !attn.buf<tensor<1xi32>, 0>>
      attn.put %next, %word : !w
      attn.commit %T[%t] : !T
      attn.yield %base : i32
    }
  }
  // CHECK: attn.role "compute" warps 4 + 8 groups 2 regs 240 {
  attn.role "compute" warps 4 + 8 groups 2 regs 240 {
  ^bb0(%g: i32):
    %yes = arith.constant dense<true> : !rm
    %p = arith.constant dense<0.0> : !P
    %word = attn.wait %T[%n] : !T -> !w
    // CHECK: attn.get %{{.*}} : <tensor<1xi32>, 0>
    %id = attn.get %word : !w
    %qb = attn.wait %Q[%n] : !Qr -> !Qb
    // CHECK: attn.turn take
    attn.turn take
    // CHECK: %[[S:.*]] = attn.dot as "S" async %{{.*}}, %{{.*}} : (tensor<64x128xbf16, #attn.frag<4, 1>>, !attn.buf<tensor<128x128xbf16>, 128>) -> !attn.pending<tensor<64x128xf32, #attn.frag<4, 1>>>
    %kb = attn.alloc : !attn.buf<tensor<128x128xbf16>, 128>
    %sp = attn.dot as "S" async %p, %kb : (!P, !attn.buf<tensor<128x128xbf16>, 128>) -> !Sp
    // CHECK: attn.turn give
    attn.turn give
    // CHECK: attn.await %[[S]] keep(%{{.*}} : tensor<64x128xbf16, #attn.frag<4, 1>>) leaves 0 : !attn.pending<tensor<64x128xf32, #attn.frag<4, 1>>> -> tensor<64x128xf32, #attn.frag<4, 1>>
    %s = attn.await %sp keep(%p : !P) leaves 0 : !Sp -> !S
    // CHECK: attn.pin %{{.*}} : tensor<64x128xf32, #attn.frag<4, 1>>
    attn.pin %s : !S
    // CHECK: attn.any %{{.*}} : tensor<64xi1, #attn.frag<4, 1, rows>>
    %any = attn.any %yes : !rm
    // CHECK: attn.sync group publish
    attn.sync group publish
    // CHECK: attn.copy %{{.*}} to %{{.*}} via tma : !attn.buf<tensor<64x128xbf16>, 128>, !attn.map<tensor<64x128xbf16>, 128>
    attn.copy %qb to %q[%n, %n, %n] via tma : !Qb, !Qm
    // CHECK: attn.drain 0 read
    // CHECK: attn.drain 1
    attn.drain 0 read
    attn.drain 1
  }
}

// CHECK-LABEL: func.func @host
func.func @host(%q: memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>, %n: index) {
  // CHECK: attn.tensor_map %{{.*}} : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>> -> <tensor<64x128xbf16>, 128>
  %m = attn.tensor_map %q : memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>> -> !Qm
  // CHECK: attn.launch @one persistent tiles(
  attn.launch @one persistent tiles(%n, %n, %n) args(%m : !Qm)
  return
}
attn.kernel @one {
^bb0(%q: !Qm):
}
