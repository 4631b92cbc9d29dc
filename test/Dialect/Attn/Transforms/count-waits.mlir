// RUN: attn-opt %s -split-input-file -attn-count-waits | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-split-sweeps -cse -attn-count-waits | FileCheck %s --check-prefix=SPLIT

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>
!r2 = !attn.ring<2, !b>

// Q, K[0], V[0] are under way: Q's wait leaves two. In the loop the other ring's item is always younger.
// CHECK-LABEL: attn.kernel @two_rings
// CHECK: attn.wait %{{.*}} leaves 2
// CHECK: attn.sweep
// CHECK: attn.wait %{{.*}} leaves 1
// CHECK: attn.wait %{{.*}} leaves 1
// The same in every clone, although the second starts from what the first left, which may have run no step at all.
// SPLIT-LABEL: attn.kernel @two_rings
// SPLIT: attn.wait %{{.*}} leaves 2
// SPLIT: scf.for
// SPLIT: attn.wait %{{.*}} leaves 1
// SPLIT: attn.wait %{{.*}} leaves 1
// SPLIT: scf.for
// SPLIT: attn.wait %{{.*}} leaves 1
// SPLIT: attn.wait %{{.*}} leaves 1
attn.kernel @two_rings {
^bb0(%m: !g, %n: i32, %p: i32):
  %v = arith.constant dense<true> : tensor<16x16xi1>
  %Q = attn.alloc as "Q" : !r1
  %K = attn.alloc as "K" : !r2
  %V = attn.alloc as "V" : !r2
  attn.role "compute" warps 0 + 1 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %qs = attn.acquire %Q[%c0] : !r1 -> !b
    attn.copy %m[%c0, %c0] to %qs fills %Q[%c0] via cp_async : !g, !b, !r1
    %ks0 = attn.acquire %K[%c0] : !r2 -> !b
    attn.copy %m[%c0, %c0] to %ks0 fills %K[%c0] via cp_async : !g, !b, !r2
    %vs0 = attn.acquire %V[%c0] : !r2 -> !b
    attn.copy %m[%c0, %c0] to %vs0 fills %V[%c0] via cp_async : !g, !b, !r2
    %qb = attn.wait %Q[%c0] : !r1 -> !b
    attn.sweep descending %c0 to %n plain %c0 to %p {
    ^bb0(%t: i32, %j: i32):
      %t1 = arith.addi %t, %c1 : i32
      %more = arith.cmpi slt, %t1, %n : i32
      %kb = attn.wait %K[%t] : !r2 -> !b
      %ks = attn.acquire %K[%t1] : !r2 -> !b
      attn.copy %m[%c0, %c0] to %ks fills %K[%t1] if %more via cp_async : !g, !b, !r2
      %s = attn.dot %qb, %kb trans_b : (!b, !b) -> tensor<16x16xf32>
      attn.release %K[%t] : !r2
      %y = attn.mask %s where %v : tensor<16x16xf32>, tensor<16x16xi1>
      %pk = attn.pack %y : tensor<16x16xf32> -> tensor<16x16xf16>
      %vb = attn.wait %V[%t] : !r2 -> !b
      %vs = attn.acquire %V[%t1] : !r2 -> !b
      attn.copy %m[%c0, %c0] to %vs fills %V[%t1] if %more via cp_async : !g, !b, !r2
      %u = attn.dot %pk, %vb : (tensor<16x16xf16>, !b) -> tensor<16x16xf32>
      attn.release %V[%t] : !r2
      attn.yield
    }
    attn.release %Q[%c0] : !r1
    attn.yield
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r3 = !attn.ring<3, !b>

// Two items ahead: one younger is open at the wait. An item that an older wait has seen done leaves everything open.
// CHECK-LABEL: attn.kernel @two_ahead
// CHECK: attn.sweep
// CHECK: attn.wait %{{.*}} leaves 1
attn.kernel @two_ahead {
^bb0(%m: !g, %n: i32):
  %K = attn.alloc as "K" : !r3
  attn.role "compute" warps 0 + 1 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %k0 = attn.acquire %K[%c0] : !r3 -> !b
    attn.copy %m[%c0, %c0] to %k0 fills %K[%c0] via cp_async : !g, !b, !r3
    %k1 = attn.acquire %K[%c1] : !r3 -> !b
    attn.copy %m[%c0, %c0] to %k1 fills %K[%c1] via cp_async : !g, !b, !r3
    attn.sweep ascending %c0 to %n plain %c0 to %n {
    ^bb0(%t: i32, %j: i32):
      %t2 = arith.addi %t, %c2 : i32
      %kb = attn.wait %K[%t] : !r3 -> !b
      %ks = attn.acquire %K[%t2] : !r3 -> !b
      attn.copy %m[%c0, %c0] to %ks fills %K[%t2] via cp_async : !g, !b, !r3
      %s = attn.dot %kb, %kb trans_b : (!b, !b) -> tensor<16x16xf32>
      attn.release %K[%t] : !r3
      attn.yield
    }
    attn.yield
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r1 = !attn.ring<1, !b>

// Waited for out of order: B's wait has seen A done. The two arms of a branch leave one or no copy open: the least.
// CHECK-LABEL: attn.kernel @order_and_branches
// CHECK: attn.wait %{{.*}} leaves 0 :
// CHECK: attn.wait %{{.*}} leaves 0 :
// CHECK: scf.if
// CHECK: attn.wait %{{.*}} leaves 0 :
attn.kernel @order_and_branches {
^bb0(%m: !g, %n: i32, %c: i1):
  %A = attn.alloc as "A" : !r1
  %B = attn.alloc as "B" : !r1
  %C = attn.alloc as "C" : !r1
  %D = attn.alloc as "D" : !r1
  attn.role "compute" warps 0 + 1 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %a = attn.acquire %A[%c0] : !r1 -> !b
    attn.copy %m[%c0, %c0] to %a fills %A[%c0] via cp_async : !g, !b, !r1
    %b = attn.acquire %B[%c0] : !r1 -> !b
    attn.copy %m[%c0, %c0] to %b fills %B[%c0] via cp_async : !g, !b, !r1
    %bw = attn.wait %B[%c0] : !r1 -> !b
    %aw = attn.wait %A[%c0] : !r1 -> !b
    attn.release %A[%c0] : !r1
    attn.release %B[%c0] : !r1
    %cc = attn.acquire %C[%c0] : !r1 -> !b
    attn.copy %m[%c0, %c0] to %cc fills %C[%c0] via cp_async : !g, !b, !r1
    scf.if %c {
      %d = attn.acquire %D[%c0] : !r1 -> !b
      attn.copy %m[%c0, %c0] to %d fills %D[%c0] via cp_async : !g, !b, !r1
    }
    %cw = attn.wait %C[%c0] : !r1 -> !b
    attn.release %C[%c0] : !r1
    attn.yield
  }
}

// -----

!g = memref<?x16xf16>
!b = !attn.buf<tensor<16x16xf16>, 32>
!r2 = !attn.ring<2, !b>

// The sweep runs again and again, each time from item 0. Behind it nothing is in the slots: its last fetch was for an
// item that it does not have, and says so.
// CHECK-LABEL: attn.kernel @again
// CHECK: attn.wait %{{.*}} leaves 0
// SPLIT-LABEL: attn.kernel @again
// SPLIT: scf.for
// SPLIT: scf.for
// SPLIT: attn.wait %{{.*}} leaves 0
// SPLIT: scf.for
// SPLIT: attn.wait %{{.*}} leaves 0
attn.kernel @again {
^bb0(%m: !g, %lo: i32, %n: i32, %p: i32):
  %v = arith.constant dense<true> : tensor<16x16xi1>
  %K = attn.alloc as "K" : !r2
  attn.role "compute" warps 0 + 1 groups 1 {
  ^bb0(%g: i32):
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %h = %c0 to %n step %c1 : i32 {
      attn.sync group
      %count = arith.subi %n, %lo : i32
      %ks0 = attn.acquire %K[%c0] : !r2 -> !b
      attn.copy %m[%c0, %c0] to %ks0 fills %K[%c0] via cp_async : !g, !b, !r2
      attn.sweep ascending %lo to %n plain %p to %n {
      ^bb0(%t: i32, %j: i32):
        %t1 = arith.addi %t, %c1 : i32
        %more = arith.cmpi slt, %t1, %count : i32
        %kb = attn.wait %K[%t] : !r2 -> !b
        %ks = attn.acquire %K[%t1] : !r2 -> !b
        attn.copy %m[%c0, %c0] to %ks fills %K[%t1] if %more via cp_async : !g, !b, !r2
        %s = attn.dot %kb, %kb trans_b : (!b, !b) -> tensor<16x16xf32>
        %y = attn.mask %s where %v : tensor<16x16xf32>, tensor<16x16xi1>
        attn.release %K[%t] : !r2
        attn.yield
      }
    }
    attn.yield
  }
}
