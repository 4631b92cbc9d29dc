// RUN: attn-opt %s -attn-partition-roles | FileCheck %s
// RUN: attn-opt %s -attn-partition-roles -attn-assign-fragments -attn-schedule-sweep -attn-lower-tiles -attn-plan-memory -attn-count-waits -o /dev/null

// The backward's form on family wgmma: keys on the rows, a loop over heads around the sweep, rows of numbers, and a
// product that sums over the rows of all groups.
!g = memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>
!w = memref<?x?x?xf32>
!a = memref<?x?x?x128xf32>
!KT = tensor<128x128xbf16>
!QT = tensor<64x128xbf16>
!T = tensor<128x64xf32>
!b = tensor<128x64xbf16>
!A = tensor<128x128xf32>

// K is each group's own and everybody's; L lies behind Q in a slot of Q's ring, D behind dO; dS has room for two groups.
// CHECK-LABEL: attn.kernel @exchange
// CHECK: ^bb0({{.*}}, %[[LSE:[^:]*]]: memref<?x?x?xf32>, %[[SUM:[^:]*]]: memref<?x?x?xf32>, %[[ACC:[^:]*]]: memref<?x?x?x128xf32>, %{{[^:]*}}: i32, %{{[^:]*}}: !attn.map<{{[^>]*>}}, 128>, %{{[^:]*}}: !attn.map<{{[^>]*>}}, 128>, %[[MQ:[^:]*]]: !attn.map
// CHECK: %[[K:.*]] = attn.alloc as "K" readers 8 : !attn.ring<2, !attn.buf<tensor<64x128xbf16>, 128>>
// CHECK: %[[V:.*]] = attn.alloc as "V" readers 4 : !attn.ring<2, !attn.buf<tensor<64x128xbf16>, 128>>
// CHECK: %[[Q:.*]] = attn.alloc as "Q" readers 8 : !attn.ring<2, !attn.buf<tensor<64x128xbf16>, 128>, !attn.buf<tensor<64xf32>, 0>>
// CHECK: %[[DO:.*]] = attn.alloc as "dO" readers 8 : !attn.ring<2, !attn.buf<tensor<64x128xbf16>, 128>, !attn.buf<tensor<64xf32>, 0>>
// CHECK: %[[DS:.*]] = attn.alloc as "dS" readers 8 : !attn.ring<2, !attn.buf<tensor<64x128xbf16>, 128>>

// The loop carries the number of the sweep's next item.
// CHECK: attn.role "producer"
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[B:.*]]: i32, %[[N0:.*]]: i32):
// CHECK: %[[NEXT:.*]] = scf.for %{{.*}} iter_args(%[[N:.*]] = %[[N0]]) -> (i32)
// CHECK: attn.sweep ascending
// CHECK-NEXT: ^bb0(%[[U:.*]]: i32, %{{.*}}: i32):
// CHECK: %[[IT:.*]] = arith.addi %[[N]], %[[U]]
// CHECK-NEXT: %[[QS:.*]]:2 = attn.acquire %[[Q]][%[[IT]]]
// CHECK-NEXT: attn.copy %[[MQ]][%[[B]], %[[H:.*]], %[[ROW:.*]]] to %[[QS]]#0 fills %[[Q]][%[[IT]]] via tma
// CHECK-NEXT: attn.copy %[[LSE]][%[[B]], %[[H]], %[[ROW]]] to %[[QS]]#1 fills %[[Q]][%[[IT]]] via bulk
// CHECK: attn.acquire %[[DO]]
// CHECK: attn.copy %[[SUM]]{{.*}} fills %[[DO]]{{.*}} via bulk
// CHECK: scf.yield
// CHECK: attn.yield %[[NEXT]]

// CHECK: attn.role "compute"
// CHECK-NEXT: ^bb0(%[[G:.*]]: i32):
// CHECK: %[[MINE:.*]] = attn.wait %[[K]]
// CHECK: %[[OTHERS:.*]] = attn.wait %[[K]]
// CHECK: %[[VB:.*]] = attn.wait %[[V]]
// CHECK: %[[HELD:.*]] = attn.slice %[[VB]][%{{.*}}] : {{.*}} -> <tensor<64x64xbf16>, 128>
// CHECK: %[[REST:.*]] = attn.slice %[[VB]][%{{.*}}]
// CHECK: %[[REGS:.*]] = attn.load %[[HELD]] : {{.*}} -> tensor<64x64xbf16>
// CHECK: scf.for
// CHECK: attn.sweep
// CHECK: %[[QB:.*]]:2 = attn.wait %[[Q]]
// CHECK: %[[L:.*]] = attn.load as "L" %[[QB]]#1 : !attn.buf<tensor<64xf32>, 0> -> tensor<64xf32>
// CHECK: %[[DB:.*]]:2 = attn.wait %[[DO]]
// CHECK: attn.load as "D" %[[DB]]#1
// CHECK: attn.dot as "S" %[[MINE]], %[[QB]]#0 trans_b
// CHECK: attn.dot as "dP" %[[REGS]], %{{.*}} trans_b then %[[REST]], %{{.*}}

// A group stores its own 64 x 64 and reads, of its and of the other's, all rows; its share of dQ are 64 columns.
// CHECK: %[[DSB:.*]] = attn.pack as "dS"
// CHECK: %[[SLOT:.*]] = attn.acquire %[[DS]][%[[ITEM:.*]]]
// CHECK: %[[PART:.*]] = attn.slice %[[SLOT]]
// CHECK: attn.store %[[DSB]], %[[PART]]
// CHECK: attn.commit %[[DS]][%[[ITEM]]]
// CHECK: %[[ALL:.*]] = attn.wait %[[DS]][%[[ITEM]]]
// CHECK: %[[A1:.*]] = attn.slice %[[ALL]]
// CHECK: %[[B1:.*]] = attn.slice %[[MINE]]
// CHECK: %[[A2:.*]] = attn.slice %[[ALL]]
// CHECK: %[[B2:.*]] = attn.slice %[[OTHERS]]
// CHECK: %[[DQ:.*]] = attn.dot as "dQ" %[[A1]] trans_a, %[[B1]] then %[[A2]], %[[B2]] : {{.*}} -> tensor<64x64xf32>
// CHECK: attn.release %[[DS]][%[[ITEM]]]
// CHECK: attn.store as "dQ" raw add %[[DQ]], %[[ACC]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : tensor<64x64xf32>
// CHECK: attn.release %[[K]]
// CHECK: attn.release %[[K]]
module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {
  attn.kernel @exchange attributes {schedule = #attn.schedule<tile = [64, 128], warps = [4, 1], groups = 2, regs = [24, 240], grads = ["dK", "dQ"], depth = {q = 2, do = 2, ds = 2}, hold = {v = 4},
      order = ["S", "dP", "await S", "await dP", "dS", "st dS", "put dS", "get dS", "dQ", "dK", "await dQ", "st dQ", "await dK"], out = own, tiles = single>} {
  ^bb0(%q: !g, %k: !g, %v: !g, %do: !g, %dk: !g, %lse2: !w, %dsum: !w, %acc: !a, %n: i32):
    %c0 = arith.constant 0 : i32     %c1 = arith.constant 1 : i32   %c128 = arith.constant 128 : i32   %c64 = arith.constant 64 : i32
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %kv: i32, %b: i32):
      %key = arith.muli %i, %c128 : i32
      %kt = attn.load as "K" %k[%b, %kv, %key] : !g -> !KT
      %vt = attn.load as "V" %v[%b, %kv, %key] : !g -> !KT
      %z = arith.constant dense<0.0> : !A
      %r = scf.for %gq = %c0 to %n step %c1 iter_args(%dk0 = %z) -> (!A) : i32 {
        %h = arith.addi %kv, %gq : i32
        %dkh = attn.sweep ascending %c0 to %n plain %c0 to %n init(%dk0 : !A) -> !A {
        ^bb0(%t: i32, %m: i32, %dka: !A):
          %row = arith.muli %m, %c64 : i32
          %qt = attn.load as "Q" %q[%b, %h, %row] : !g -> !QT
          %dt = attn.load as "dO" %do[%b, %h, %row] : !g -> !QT
          %l = attn.load as "L" %lse2[%b, %h, %row] : !w -> tensor<64xf32>
          %d = attn.load as "D" %dsum[%b, %h, %row] : !w -> tensor<64xf32>
          %s = attn.dot as "S" %kt, %qt trans_b : (!KT, !QT) -> !T
          %dp = attn.dot as "dP" %vt, %dt trans_b : (!KT, !QT) -> !T
          %lT = attn.spread %l along 0 : tensor<64xf32> -> !T
          %e = arith.subf %s, %lT : !T   %p = math.exp2 %e : !T
          %dT = attn.spread %d along 0 : tensor<64xf32> -> !T
          %dd = arith.subf %dp, %dT : !T   %ds = arith.mulf %p, %dd : !T
          %dsb = attn.pack as "dS" %ds : !T -> !b
          %dk1 = attn.dot as "dK" %dsb, %qt plus %dka : (!b, !QT, !A) -> !A
          %dqt = attn.dot as "dQ" %dsb trans_a, %kt : (!b, !KT) -> tensor<64x128xf32>
          attn.store as "dQ" raw add %dqt, %acc[%b, %h, %row] : tensor<64x128xf32>, !a
          attn.yield %dk1 : !A
        }
        scf.yield %dkh : !A
      }
      %rb = arith.truncf %r : !A to !KT
      attn.store as "dK" %rb, %dk[%b, %kv, %key] : !KT, !g
    }
  }
}
