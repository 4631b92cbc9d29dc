// What keeps the promises of a stage passes, and comes out as it went in.
// RUN: split-file %s %t
// RUN: attn-opt %t/spec.mlir -attn-verify-stage=stage=spec | FileCheck %s --check-prefix=SPEC
// RUN: attn-opt %t/mapped.mlir -attn-verify-stage=stage=mapped | FileCheck %s --check-prefix=MAPPED
// RUN: attn-opt %t/mapped.mlir -attn-stage-partitioned | attn-opt -attn-verify-stage=stage=partitioned | FileCheck %s --check-prefix=PARTITIONED
// RUN: attn-opt %t/nvvm.mlir -attn-verify-stage=stage=nvvm | FileCheck %s --check-prefix=NVVM

// SPEC: attn.sdpa
// MAPPED: attn.tiles
// PARTITIONED: attn.wait {{.*}} leaves
// NVVM: llvm.func

//--- spec.mlir
func.func @f(%q: tensor<?x?x?x16xf16>) -> (tensor<?x?x?x16xf16>, tensor<?x?x?xf32>) {
  %o, %l = attn.sdpa(%q, %q, %q) scale 1.0 : (tensor<?x?x?x16xf16>, tensor<?x?x?x16xf16>, tensor<?x?x?x16xf16>) -> (tensor<?x?x?x16xf16>, tensor<?x?x?xf32>)
  return %o, %l : tensor<?x?x?x16xf16>, tensor<?x?x?xf32>
}

//--- mapped.mlir
!g = memref<?x16xf16, strided<[?, 1], offset: ?>>
!A = tensor<16x16xf16>
!S = tensor<16x16xf32>
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 4096>} {
  func.func @host(%q: !g, %k: !g, %o: !g, %n: i32) {
    %x = arith.constant 1 : index
    attn.launch @f tiles(%x, %x, %x) args(%q, %k, %o, %n : !g, !g, !g, i32)
    return
  }
  attn.kernel @f attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1], depth = {k = 2}>} {
  ^bb0(%q: !g, %k: !g, %o: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %c0 = arith.constant 0 : i32
      %qt = attn.load as "Q" %q[%i, %c0] : !g -> !A
      %z = arith.constant dense<0.0> : !S
      %r = attn.sweep descending %c0 to %n plain %c0 to %i init(%z : !S) -> !S {
      ^bb0(%t: i32, %j: i32, %acc: !S):
        %kt = attn.load as "K" %k[%j, %c0] : !g -> !A
        %s = attn.dot as "S" %qt, %kt trans_b plus %acc : (!A, !A, !S) -> !S
        %kk = attn.coord %j along 1 : tensor<16x16xi32>
        %nn = tensor.splat %n : tensor<16x16xi32>
        %v = arith.cmpi slt, %kk, %nn : tensor<16x16xi32>
        %m = attn.mask %s where %v : !S, tensor<16x16xi1>
        attn.yield %m : !S
      }
      %f = arith.truncf %r : !S to !A
      attn.store %f, %o[%i, %c0] : !A, !g
      attn.yield
    }
  }
}

//--- nvvm.mlir
func.func @host(%q: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %q, %c0 : memref<?xf32>
  attn.launch @f tiles(%d, %d, %d) args(%q : memref<?xf32>)
  return
}
llvm.func @f() attributes {nvvm.kernel} {
  %t = nvvm.read.ptx.sreg.tid.x : i32
  llvm.return
}
