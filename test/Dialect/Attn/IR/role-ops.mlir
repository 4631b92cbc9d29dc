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
