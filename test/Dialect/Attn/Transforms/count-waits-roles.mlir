// RUN: attn-opt %s -attn-count-waits | FileCheck %s

// A producer and two groups: items of "K" are numbered over all tiles, every group has one of "Q" of its own. Nobody
// waits forever, and nobody reads what is not his. Items have barriers: no wait counts what it leaves open.
// CHECK-LABEL: attn.kernel @agree
// CHECK: attn.wait
// CHECK-NOT: leaves {{.*}}: <2
// CHECK: attn.release
!m = memref<?x?x?x64xf16>
!map = !attn.map<tensor<64x64xf16>, 128>
!b = !attn.buf<tensor<64x64xf16>, 128>
!r = !attn.ring<2, !b>
!S = tensor<64x64xf32, #attn.frag<4, 1>>
!Sp = !attn.pending<tensor<64x64xf32, #attn.frag<4, 1>>>
attn.kernel @agree {
^bb0(%q: !m, %k: !m, %km: !map, %om: !map):
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %x2 = arith.constant 2 : index
  %rows = memref.dim %q, %x2 : !m
  %keys = memref.dim %k, %x2 : !m
  %nq = arith.index_cast %rows : index to i32
  %nk = arith.index_cast %keys : index to i32
  %hi = arith.ceildivui %nk, %c64 : i32
  %tiles = arith.ceildivui %nq, %c64 : i32
  %K = attn.alloc as "K" readers 8 : !r
  %Q = attn.alloc as "Q" readers 4 : !r
  attn.role "producer" warps 0 + 4 groups 1 elect {
  ^bb0(%g: i32):
    %end = scf.for %t = %c0 to %tiles step %c1 iter_args(%n = %c0) -> i32 : i32 {
      %q0 = arith.muli %t, %c2 : i32
      %q1 = arith.addi %q0, %c1 : i32
      %qs0 = attn.acquire %Q[%q0] : !r -> !b
      attn.copy %km[%c0, %c0, %q0] to %qs0 fills %Q[%q0] via tma : !map, !b, !r
      %qs1 = attn.acquire %Q[%q1] : !r -> !b
      attn.copy %km[%c0, %c0, %q1] to %qs1 fills %Q[%q1] via tma : !map, !b, !r
      scf.for %u = %c0 to %hi step %c1 : i32 {
        %nu = arith.addi %n, %u : i32
        %ks = attn.acquire %K[%nu] : !r -> !b
        attn.copy %km[%c0, %c0, %u] to %ks fills %K[%nu] via tma : !map, !b, !r
      }
      %n1 = arith.addi %n, %hi : i32
      scf.yield %n1 : i32
    }
    attn.yield
  }
  attn.role "compute" warps 4 + 8 groups 2 {
  ^bb0(%g: i32):
    %O = attn.alloc as "O" : !b
    %z = arith.constant dense<0.0> : tensor<64x64xf16, #attn.frag<4, 1>>
    %end = scf.for %t = %c0 to %tiles step %c1 iter_args(%n = %c0) -> i32 : i32 {
      %q0 = arith.muli %t, %c2 : i32
      %qi = arith.addi %q0, %g : i32
      %qb = attn.wait %Q[%qi] : !r -> !b
      scf.for %u = %c0 to %hi step %c1 : i32 {
        %nu = arith.addi %n, %u : i32
        %kb = attn.wait %K[%nu] : !r -> !b
        attn.turn take
        %sp = attn.dot as "S" async %qb, %kb trans_b : (!b, !b) -> !Sp
        %tp = attn.dot as "T" async %qb, %kb trans_b : (!b, !b) -> !Sp
        attn.turn give
        %s = attn.await %sp leaves 1 : !Sp -> !S
        %s2 = attn.await %tp leaves 0 : !Sp -> !S
        attn.release %K[%nu] : !r
      }
      attn.release %Q[%qi] : !r
      attn.drain 0 read
      attn.sync group
      attn.store %z, %O : tensor<64x64xf16, #attn.frag<4, 1>>, !b
      attn.sync group publish
      attn.copy %O to %om[%c0, %c0, %t] via tma : !b, !map
      %n1 = arith.addi %n, %hi : i32
      scf.yield %n1 : i32
    }
    attn.drain 0
    attn.yield
  }
}
