// RUN: attn-opt %s -split-input-file -attn-partition-roles | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-partition-roles -remarks-filter=attn-partition-roles -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!g = memref<?x?x?x16xf16, strided<[?, ?, ?, 1], offset: ?>>
!A = tensor<16x16xf16>
!S = tensor<16x16xf32>
#toy = #attn.target<chip = "toy", family = mma_sync, smem = 65536>

// Two slots: one item ahead. The wait ends in a barrier, so the copy behind it may overwrite what step t - 1 read.
// CHECK-LABEL: attn.kernel @two_slots
// CHECK-SAME: schedule
// CHECK: %[[Q:.*]] = attn.alloc as "Q" readers 1 : !attn.ring<1, !attn.buf<tensor<16x16xf16>, 32>>
// CHECK: %[[K:.*]] = attn.alloc as "K" readers 1 : !attn.ring<2, !attn.buf<tensor<16x16xf16>, 32>>
// CHECK: attn.role "compute" warps 0 + 1 groups 1
// CHECK: %[[O:.*]] = attn.alloc as "O" over "Q" : !attn.buf<tensor<16x16xf16>, 32>
// CHECK: attn.tiles
// CHECK: %[[QS:.*]] = attn.acquire %[[Q]][%[[QI:.*]]]
// CHECK: attn.copy %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %[[QS]] fills %[[Q]][%[[QI]]] via cp_async
// Item 0 is key tile hi - 1.
// CHECK: %[[J0:.*]] = arith.subi %[[HI:.*]], %{{.*}} : i32
// CHECK: %[[KEY0:.*]] = arith.muli %[[J0]]
// CHECK: %[[KS0:.*]] = attn.acquire %[[K]][%[[ZERO:.*]]]
// CHECK: attn.copy %{{.*}}[%{{.*}}, %{{.*}}, %[[KEY0]]] to %[[KS0]] fills %[[K]][%[[ZERO]]] via cp_async
// CHECK: %[[QB:.*]] = attn.wait %[[Q]][%[[QI]]]
// CHECK: attn.sweep descending
// CHECK: ^bb0(%[[T:.*]]: i32, %[[J:.*]]: i32, %{{.*}}):
// CHECK: %[[T1:.*]] = arith.addi %[[T]], %{{.*}}
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[T1]], %[[HI]]
// CHECK: %[[J1:.*]] = arith.subi %[[J]], %{{.*}}
// CHECK: %[[KEY1:.*]] = arith.muli %[[J1]]
// CHECK: %[[KB:.*]] = attn.wait %[[K]][%[[T]]]
// CHECK-NEXT: %[[KS:.*]] = attn.acquire %[[K]][%[[T1]]]
// CHECK-NEXT: attn.copy %{{.*}}[%{{.*}}, %{{.*}}, %[[KEY1]]] to %[[KS]] fills %[[K]][%[[T1]]] if %[[MORE]] via cp_async
// CHECK-NEXT: attn.dot as "S" %[[QB]], %[[KB]] trans_b
// CHECK-NEXT: attn.release %[[K]][%[[T]]]
// CHECK-NOT: attn.sync
// CHECK: attn.yield
// CHECK: attn.release %[[Q]][%[[QI]]]
// O lies over Q, which every warp must have read, and leaves through shared memory in rows.
// CHECK: attn.sync group
// CHECK-NEXT: attn.store %{{.*}}, %[[O]] :
// CHECK-NEXT: attn.sync group
// CHECK-NEXT: attn.copy %[[O]] to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] via vector
// CHECK-NOT: attn.load
// REMARK: travels through shared memory: {{.*}}bytes=512, depth=1, ring=Q
// REMARK: travels through shared memory: {{.*}}bytes=1024, depth=2, ring=K
// REMARK: staged through shared memory: {{.*}}buf=O, over=Q
module attributes {attn.target = #toy} {
  attn.kernel @two_slots attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1], depth = {k = 2}>} {
  ^bb0(%q: !g, %k: !g, %o: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %c0 = arith.constant 0 : i32
      %c16 = arith.constant 16 : i32
      %row = arith.muli %i, %c16 : i32
      %qt = attn.load as "Q" %q[%b, %h, %row] : !g -> !A
      %z = arith.constant dense<0.0> : !S
      %r = attn.sweep descending %c0 to %n plain %c0 to %c0 init(%z : !S) -> !S {
      ^bb0(%t: i32, %j: i32, %acc: !S):
        %key = arith.muli %j, %c16 : i32
        %kt = attn.load as "K" %k[%b, %h, %key] : !g -> !A
        %s = attn.dot as "S" %qt, %kt trans_b plus %acc : (!A, !A, !S) -> !S
        attn.yield %s : !S
      }
      %f = arith.truncf %r : !S to !A
      attn.store %f, %o[%b, %h, %row] : !A, !g
      attn.yield
    }
  }
}

// -----

!g = memref<?x16xf16, strided<[?, 1], offset: ?>>
!A = tensor<16x16xf16>
!S = tensor<16x16xf32>
#toy = #attn.target<chip = "toy", family = mma_sync, smem = 65536>

// One slot: K's next item waits for the barrier of V's wait, which all warps reach after reading K. V is read last in the
// step, so a barrier is made for it. Ascending: the item behind the next is one further right.
// CHECK-LABEL: attn.kernel @one_slot
// CHECK: %[[K:.*]] = attn.alloc as "K" readers 2 : !attn.ring<1
// CHECK: %[[V:.*]] = attn.alloc as "V" readers 2 : !attn.ring<1
// CHECK: attn.copy %{{.*}}[%[[LO:.*]], %{{.*}}] to %{{.*}} fills %[[K]]
// CHECK: attn.copy %{{.*}}[%[[LO]], %{{.*}}] to %{{.*}} fills %[[V]]
// CHECK: attn.sweep ascending
// CHECK: ^bb0(%[[T:.*]]: i32, %[[J:.*]]: i32, %{{.*}}):
// CHECK: %[[T1:.*]] = arith.addi %[[T]]
// CHECK: %[[J1:.*]] = arith.addi %[[J]]
// CHECK: attn.wait %[[K]][%[[T]]]
// CHECK-NEXT: attn.dot
// CHECK-NEXT: attn.release %[[K]][%[[T]]]
// CHECK: attn.wait %[[V]][%[[T]]]
// CHECK-NEXT: attn.acquire %[[K]][%[[T1]]]
// CHECK-NEXT: attn.copy %{{.*}}[%[[J1]], %{{.*}}] to %{{.*}} fills %[[K]][%[[T1]]]
// CHECK-NEXT: attn.dot
// CHECK-NEXT: attn.release %[[V]][%[[T]]]
// CHECK-NEXT: attn.sync group
// CHECK-NEXT: attn.acquire %[[V]][%[[T1]]]
// CHECK-NEXT: attn.copy %{{.*}} fills %[[V]][%[[T1]]]
// CHECK-NEXT: attn.yield
module attributes {attn.target = #toy} {
  attn.kernel @one_slot attributes {schedule = #attn.schedule<tile = [16, 16], warps = [2, 1]>} {
  ^bb0(%k: !g, %v: !g, %lo: i32, %hi: i32, %a: i32):
    attn.tiles single(%hi, %hi, %hi) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %z = arith.constant dense<0.0> : !S
      %c0 = arith.constant 0 : i32
      %r = attn.sweep ascending %lo to %hi plain %lo to %hi init(%z : !S) -> !S {
      ^bb0(%t: i32, %j: i32, %acc: !S):
        %kt = attn.load as "K" %k[%j, %c0] : !g -> !A
        %vt = attn.load as "V" %v[%j, %c0] : !g -> !A
        %p = attn.pack %acc : !S -> !A
        %s = attn.dot %p, %kt trans_b : (!A, !A) -> !S
        %e = math.exp2 %s : !S
        %pb = attn.pack %e : !S -> !A
        %u = attn.dot %pb, %vt plus %s : (!A, !A, !S) -> !S
        attn.yield %u : !S
      }
      attn.yield
    }
  }
}

// -----

!g = memref<?x16xf16, strided<[?, 1], offset: ?>>
!A = tensor<16x16xf16>
!S = tensor<16x16xf32>
#toy = #attn.target<chip = "toy", family = mma_sync, smem = 65536>

// Three slots: two items ahead, the second only if the sweep has it. What no product reads is not staged: neither the
// vector that is loaded (a captured value) nor the vector that is stored.
// CHECK-LABEL: attn.kernel @three_slots
// CHECK: %[[K:.*]] = attn.alloc as "K" readers 1 : !attn.ring<3
// CHECK: %[[N:.*]] = arith.subi %{{.*}}, %{{.*}} : i32
// CHECK: attn.copy {{.*}} fills %[[K]][%[[C0:.*]]] via
// CHECK: %[[G:.*]] = arith.cmpi slt, %[[C1:.*]], %[[N]]
// CHECK: attn.copy {{.*}} fills %[[K]][%[[C1]]] if %[[G]] via
// CHECK: attn.sweep
// CHECK: ^bb0(%[[T:[^:]*]]: i32
// CHECK: %[[T2:.*]] = arith.addi %[[T]], %[[TWO:.*]] : i32
// CHECK: arith.cmpi slt, %[[T2]], %[[N]]
// CHECK: attn.load %{{.*}}[%{{.*}}] : memref<?xf32> -> tensor<16xf32>
// CHECK: attn.wait %[[K]][%[[T]]]
// CHECK: attn.copy {{.*}} fills %[[K]][%[[T2]]]
// CHECK: attn.release %[[K]][%[[T]]]
// CHECK: attn.store %{{.*}} : tensor<16xf32>, memref<?xf32>
module attributes {attn.target = #toy} {
  attn.kernel @three_slots attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1], depth = {k = 3}>} {
  ^bb0(%k: !g, %bias: memref<?xf32>, %lo: i32, %hi: i32):
    attn.tiles single(%hi, %hi, %hi) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %z = arith.constant dense<0.0> : !S
      %zr = arith.constant dense<0.0> : tensor<16xf32>
      %c0 = arith.constant 0 : i32
      %r, %m = attn.sweep descending %lo to %hi plain %lo to %hi init(%z, %zr : !S, tensor<16xf32>) -> !S, tensor<16xf32> {
      ^bb0(%t: i32, %j: i32, %acc: !S, %old: tensor<16xf32>):
        %kt = attn.load as "K" %k[%j, %c0] : !g -> !A
        %w = attn.load %bias[%j] : memref<?xf32> -> tensor<16xf32>
        %p = attn.pack %acc : !S -> !A
        %s = attn.dot %p, %kt trans_b : (!A, !A) -> !S
        attn.yield %s, %w : !S, tensor<16xf32>
      }
      attn.store %m, %bias[%i] : tensor<16xf32>, memref<?xf32>
      attn.yield
    }
  }
}

// -----

!g = memref<?x32xf16, strided<[?, 1], offset: ?>>
!A = tensor<16x32xf16>
!S = tensor<16x16xf32>
#toy = #attn.target<chip = "toy", family = mma_sync, smem = 65536>

// Two sweeps have rings of their own, whatever their loads are called; with no ring that is filled once, a result has
// bytes of its own and needs no barrier in front of the store.
// CHECK-LABEL: attn.kernel @two_sweeps
// CHECK-DAG: attn.alloc as "K" readers 1 : !attn.ring<2, !attn.buf<tensor<16x32xf16>, 64>>
// CHECK-DAG: attn.alloc as "K1" readers 1 : !attn.ring<2, !attn.buf<tensor<16x32xf16>, 64>>
// CHECK: attn.alloc as "O" : !attn.buf
// CHECK: attn.sweep
// CHECK: attn.sweep
// CHECK-NOT: attn.sync
// CHECK: attn.store
// CHECK-NEXT: attn.sync group
// CHECK-NEXT: attn.copy
module attributes {attn.target = #toy} {
  attn.kernel @two_sweeps attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1], depth = {k = 2}>} {
  ^bb0(%k: !g, %o: memref<?x16xf32>, %n: i32, %pa: !g):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %z = arith.constant dense<0.0> : !S
      %p = attn.load %pa[%i, %n] : !g -> !A
      %e = arith.negf %p : !A
      %c0 = arith.constant 0 : i32
      %r = attn.sweep descending %c0 to %n plain %c0 to %n init(%z : !S) -> !S {
      ^bb0(%t: i32, %j: i32, %acc: !S):
        %kt = attn.load as "K" %k[%j, %c0] : !g -> !A
        %s = attn.dot %e, %kt trans_b plus %acc : (!A, !A, !S) -> !S
        attn.yield %s : !S
      }
      %u = attn.sweep descending %c0 to %n plain %c0 to %n init(%r : !S) -> !S {
      ^bb0(%t: i32, %j: i32, %acc: !S):
        %kt = attn.load as "K" %k[%j, %c0] : !g -> !A
        %s = attn.dot %e, %kt trans_b plus %acc : (!A, !A, !S) -> !S
        %s2 = attn.dot %e, %kt trans_b plus %s : (!A, !A, !S) -> !S
        attn.yield %s2 : !S
      }
      attn.store %u, %o[%i, %c0] : !S, memref<?x16xf32>
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x16xf16, strided<[?, ?, 1], offset: ?>>
!A = tensor<16x16xf16>
!S = tensor<16x16xf32>
#toy = #attn.target<chip = "toy", family = mma_sync, smem = 65536>

// A sweep for every head of a group: all warps have left the one before when the first copies of a head overwrite its
// items, which are numbered from 0 again. K stays for all of them. Q and dO, fetched a step ahead, are waited for at once.
// CHECK-LABEL: attn.kernel @heads
// CHECK: %[[K:.*]] = attn.alloc as "K" readers 1 : !attn.ring<1
// CHECK: %[[Q:.*]] = attn.alloc as "Q" readers 1 : !attn.ring<2
// CHECK: %[[DO:.*]] = attn.alloc as "dO" readers 1 : !attn.ring<2
// CHECK: %[[KB:.*]] = attn.wait %[[K]]
// CHECK: scf.for %[[H:[^ ]*]] =
// CHECK: attn.sync group
// CHECK: attn.copy %{{.*}}[%[[H]], %[[ROW0:.*]]] to %{{.*}} fills %[[Q]][%[[ZERO:.*]]] via
// CHECK: attn.copy %{{.*}}[%[[H]], %[[ROW0]]] to %{{.*}} fills %[[DO]][%[[ZERO]]] via
// CHECK: attn.sweep ascending
// CHECK: ^bb0(%[[T:[^:]*]]: i32
// CHECK: %[[QB:.*]] = attn.wait %[[Q]][%[[T]]]
// CHECK-NEXT: %[[DB:.*]] = attn.wait %[[DO]][%[[T]]]
// CHECK-NEXT: attn.acquire %[[Q]]
// CHECK-NEXT: attn.copy {{.*}} fills %[[Q]][%[[T1:.*]]] if
// CHECK-NEXT: attn.acquire %[[DO]]
// CHECK-NEXT: attn.copy {{.*}} fills %[[DO]][%[[T1]]] if
// CHECK-NEXT: attn.dot as "S" %[[KB]], %[[QB]] trans_b
// CHECK: attn.dot as "dV" %{{.*}}, %[[DB]]
// CHECK-NEXT: attn.release %[[DO]][%[[T]]]
// CHECK-NEXT: attn.dot as "dK" %{{.*}}, %[[QB]]
// CHECK-NEXT: attn.release %[[Q]][%[[T]]]
// CHECK-NOT: attn.sync
// CHECK: scf.yield
// CHECK: attn.release %[[K]]
module attributes {attn.target = #toy} {
  attn.kernel @heads attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1], depth = {q = 2, do = 2}>} {
  ^bb0(%q: !g, %k: !g, %do: !g, %dk: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h_: i32, %b: i32):
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c16 = arith.constant 16 : i32
      %z = arith.constant dense<0.0> : !S
      %kt = attn.load as "K" %k[%b, %i] : !g -> !A
      %r = scf.for %h = %c0 to %n step %c1 iter_args(%x = %z) -> (!S) : i32 {
        %y = attn.sweep ascending %c0 to %n plain %c0 to %n init(%x : !S) -> !S {
        ^bb0(%t: i32, %j: i32, %acc: !S):
          %row = arith.muli %j, %c16 : i32
          %qt = attn.load as "Q" %q[%h, %row] : !g -> !A
          %dt = attn.load as "dO" %do[%h, %row] : !g -> !A
          %s = attn.dot as "S" %kt, %qt trans_b : (!A, !A) -> !S
          %p = attn.pack %s : !S -> !A
          %u = attn.dot as "dV" %p, %dt plus %acc : (!A, !A, !S) -> !S
          %v = attn.dot as "dK" %p, %qt plus %u : (!A, !A, !S) -> !S
          attn.yield %v : !S
        }
        scf.yield %y : !S
      }
      %f = arith.truncf %r : !S to !A
      attn.store %f, %dk[%b, %i] : !A, !g
      attn.yield
    }
  }
}

// -----

!g = memref<?x16xf16, strided<[?, 1], offset: ?>>
!A = tensor<16x16xf16>
!S = tensor<16x16xf32>
#toy = #attn.target<chip = "toy", family = mma_sync, smem = 65536>

// No product and no sweep: matrices for registers are fetched in rows of 16 bytes all the same, all of them before the
// first is waited for.
// CHECK-LABEL: attn.kernel @row_sums
// CHECK: %[[O:.*]] = attn.alloc as "O" readers 1 : !attn.ring<1
// CHECK: %[[DO:.*]] = attn.alloc as "dO" readers 1 : !attn.ring<1
// CHECK: attn.copy {{.*}} fills %[[O]]
// CHECK: attn.copy {{.*}} fills %[[DO]]
// CHECK: %[[OB:.*]] = attn.wait %[[O]]
// CHECK-NEXT: %[[X:.*]] = attn.load %[[OB]] : !attn.buf<tensor<16x16xf16>, 32> -> tensor<16x16xf16>
// CHECK-NEXT: attn.release %[[O]]
// CHECK-NEXT: arith.extf %[[X]]
// CHECK-NEXT: %[[DB:.*]] = attn.wait %[[DO]]
// CHECK-NEXT: attn.load %[[DB]]
// CHECK-NEXT: attn.release %[[DO]]
// CHECK-NEXT: arith.extf
// CHECK-NOT: attn.sync
module attributes {attn.target = #toy} {
  attn.kernel @row_sums attributes {schedule = #attn.schedule<tile = [16, 16], warps = [1, 1]>} {
  ^bb0(%o: !g, %do: !g, %d: memref<?xf32>, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
      %x = attn.load as "O" %o[%i] : !g -> !A
      %y = attn.load as "dO" %do[%i] : !g -> !A
      %xf = arith.extf %x : !A to !S
      %yf = arith.extf %y : !A to !S
      %p = arith.mulf %xf, %yf : !S
      %s = attn.reduce sum %p : !S -> tensor<16xf32>
      attn.store %s, %d[%i] : tensor<16xf32>, memref<?xf32>
      attn.yield
    }
  }
}

// -----

!g = memref<?x128xf16, strided<[?, 1], offset: ?>>
!A = tensor<64x128xf16>
!S = tensor<64x64xf32>
!P = tensor<64x64xf16>
!r = tensor<64xf32>
#toy = #attn.target<chip = "toy", family = mma_sync, smem = 232448>

// Products of 64 instructions a warp or more: dP is computed beside its reader instead of waiting with S and P, and D is
// loaded under it, not in front of S.
// CHECK-LABEL: attn.kernel @long_products
// CHECK: attn.sweep
// CHECK: attn.load as "L"
// CHECK: attn.dot as "S"
// CHECK: math.exp2
// CHECK: attn.load as "D"
// CHECK-NEXT: attn.dot as "dP"
// CHECK: attn.spread
// CHECK-NEXT: arith.subf
module attributes {attn.target = #toy} {
  attn.kernel @long_products attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1], depth = {q = 2, do = 2}>} {
  ^bb0(%q: !g, %k: !g, %v: !g, %do: !g, %lse: memref<?xf32>, %ds: memref<?xf32>, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %c0 = arith.constant 0 : i32
      %kt = attn.load as "K" %k[%i, %c0] : !g -> !A
      %vt = attn.load as "V" %v[%i, %c0] : !g -> !A
      %z = arith.constant dense<0.0> : tensor<64x128xf32>
      %r = attn.sweep ascending %c0 to %n plain %c0 to %n init(%z : tensor<64x128xf32>) -> tensor<64x128xf32> {
      ^bb0(%t: i32, %j: i32, %acc: tensor<64x128xf32>):
        %qt = attn.load as "Q" %q[%j, %c0] : !g -> !A
        %dt = attn.load as "dO" %do[%j, %c0] : !g -> !A
        %l = attn.load as "L" %lse[%j] : memref<?xf32> -> !r
        %d = attn.load as "D" %ds[%j] : memref<?xf32> -> !r
        %s = attn.dot as "S" %kt, %qt trans_b : (!A, !A) -> !S
        %dp = attn.dot as "dP" %vt, %dt trans_b : (!A, !A) -> !S
        %lS = attn.spread %l along 0 : !r -> !S
        %dS = attn.spread %d along 0 : !r -> !S
        %e = arith.subf %s, %lS : !S
        %p = math.exp2 %e : !S
        %x = arith.subf %dp, %dS : !S
        %y = arith.mulf %p, %x : !S
        %yb = attn.pack as "dS" %y : !S -> !P
        %u = attn.dot as "dK" %yb, %qt plus %acc : (!P, !A, tensor<64x128xf32>) -> tensor<64x128xf32>
        attn.yield %u : tensor<64x128xf32>
      }
      attn.yield
    }
  }
}
