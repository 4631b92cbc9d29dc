// The order of two groups in turn, one product of each step behind (Inputs/sweep-forward.mlir is what it works on).
// RUN: sed 's/ORDER/"get K", "take", "S", "PV@1", "give", "await S", "max", "pin max", "await PV", "P", "PV.acc"/; s/EDGE/edge 3/' %S/Inputs/sweep-forward.mlir > %t.mlir
// RUN: attn-opt %t.mlir -attn-schedule-sweep | FileCheck %s
// RUN: attn-opt %t.mlir -attn-schedule-sweep -attn-split-sweeps | FileCheck %s --check-prefix=LOOPS
// RUN: attn-opt %t.mlir -attn-schedule-sweep -remarks-filter=attn-schedule-sweep -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
//
// Only one block can be masked, and the prologue takes it:
// RUN: sed 's/ORDER/"S", "PV@1", "await S", "await PV"/; s/EDGE/edge 1/' %S/Inputs/sweep-forward.mlir | attn-opt -attn-schedule-sweep -attn-split-sweeps | FileCheck %s --check-prefix=EDGE
//
// Without an order every product is awaited where it stands. Other families are left alone.
// RUN: sed 's/ORDER//; s/EDGE//' %S/Inputs/sweep-forward.mlir | attn-opt -attn-schedule-sweep | FileCheck %s --check-prefix=PLAIN
// RUN: sed 's/ORDER//; s/EDGE//; s/wgmma/mma_sync/' %S/Inputs/sweep-forward.mlir | attn-opt -attn-schedule-sweep | FileCheck %s --check-prefix=OTHER
//
// One group has no turns to take.
// RUN: sed 's/ORDER/"take", "S", "PV@1", "give", "await S", "await PV"/; s/EDGE//; s/groups = 2/groups = 1/; s/+ 8 groups 2/+ 4 groups 1/' %S/Inputs/sweep-forward.mlir | attn-opt -attn-schedule-sweep | FileCheck %s --check-prefix=ONE

// The producer fills the first K in front of Q, then in the order of the waits: K of the step to come, V of this one.
// CHECK: attn.role "producer"
// CHECK: %[[BASE:.*]] = arith.addi %[[N:.*]], %c16
// CHECK: %[[HI1:.*]] = arith.subi %[[HI:.*]], %c1
// CHECK: attn.acquire %[[KR:.*]][%[[BASE]]]
// CHECK: %[[KEY:.*]] = arith.muli %[[HI1]]
// CHECK: attn.copy %{{.*}}[%{{.*}}, %{{.*}}, %[[KEY]]] to %{{.*}} fills %[[KR]][%[[BASE]]]
// CHECK: attn.acquire %[[QR:.*]][%[[N]]]
// CHECK: attn.sweep descending %{{.*}} to %[[HI1]] plain %{{.*}} to %[[HI1]] {
// CHECK: ^bb0(%[[T:.*]]: i32, %[[J:.*]]: i32):
// CHECK: %[[T1:.*]] = arith.addi %[[T]], %c1
// CHECK: %[[KN:.*]] = arith.addi %[[BASE]], %[[T1]]
// CHECK: attn.acquire %[[KR]][%[[KN]]]
// CHECK: %[[KEY:.*]] = arith.muli %[[J]]
// CHECK: attn.copy %{{.*}}[%{{.*}}, %{{.*}}, %[[KEY]]] to
// CHECK: %[[VN:.*]] = arith.addi %[[BASE]], %[[T]]
// CHECK: attn.acquire %[[VR:.*]][%[[VN]]]
// CHECK: %[[J1:.*]] = arith.addi %[[J]], %c1
// CHECK: %[[KEY:.*]] = arith.muli %[[J1]]
// CHECK: attn.copy %{{.*}}[%{{.*}}, %{{.*}}, %[[KEY]]] to
// CHECK: }
// CHECK: %[[VN:.*]] = arith.addi %[[BASE]], %[[HI1]]
// CHECK: attn.acquire %[[VR]][%[[VN]]]
// CHECK-NOT: attn.acquire

// Prologue of the other role: S, softmax and P of the first block. What starts at zero is not rescaled.
// CHECK: attn.role "compute"
// CHECK: %[[Q:.*]] = attn.wait %[[QR]]
// CHECK: %[[K:.*]] = attn.wait %[[KR]][%[[BASE:.*]]]
// CHECK: %[[SP:.*]] = attn.dot as "S" async %[[Q]], %[[K]] trans_b
// CHECK: %[[S:.*]] = attn.await %[[SP]] leaves 0
// CHECK: attn.release %[[KR]][%[[BASE]]]
// CHECK: %[[SM:.*]] = attn.mask %[[S]]
// CHECK-NOT: scf.if
// CHECK: %[[L:.*]] = attn.reduce sum
// CHECK: %[[P:.*]] = attn.pack as "P"
// CHECK-NOT: attn.dot

// The sweep carries P, the rescaled accumulator, maximum and sum. `edge` has lost a block.
// CHECK: %[[R:.*]]:4 = attn.sweep descending %c0{{.*}} to %[[HI1:.*]] plain %c0{{.*}} to %{{.*}} edge 2 init(%[[P]], %{{.*}}, %{{.*}}, %[[L]] :
// CHECK: ^bb0(%[[T:.*]]: i32, %[[J:.*]]: i32, %[[PA:.*]]: tensor<64x16xbf16, {{.*}}>, %[[OA:.*]]: tensor<64x16xf32, {{.*}}>, %[[M:.*]]: tensor<64xf32, {{.*}}>, %[[LA:.*]]: tensor<64x4xf32, {{.*}}>):
// CHECK: %[[T1:.*]] = arith.addi %[[T]], %c1
// CHECK: %[[KN:.*]] = arith.addi %{{.*}}, %[[T1]]
// CHECK: %[[K:.*]] = attn.wait %[[KR]][%[[KN]]]
// CHECK-NEXT: attn.turn take
// CHECK-NEXT: %[[SP:.*]] = attn.dot as "S" async %[[Q]], %[[K]] trans_b
// CHECK-NEXT: %[[VN:.*]] = arith.addi %{{.*}}, %[[T]]
// CHECK-NEXT: %[[V:.*]] = attn.wait %[[VR]][%[[VN]]]
// CHECK-NEXT: %[[OP:.*]] = attn.dot as "PV" async %[[PA]], %[[V]] plus %[[OA]]
// CHECK-NEXT: attn.turn give
// CHECK-NEXT: %[[S:.*]] = attn.await %[[SP]] leaves 1
// CHECK-NEXT: attn.release %[[KR]][%[[KN]]]
// CHECK: attn.coord %{{.*}} along 1
// CHECK: %[[SM:.*]] = attn.mask %[[S]]
// CHECK: attn.reduce as "max" max %[[SM]]
// CHECK: %[[GROW:.*]] = attn.any
// CHECK: %[[M1:.*]] = arith.select %[[GROW]], %{{.*}}, %[[M]]
// CHECK-NEXT: attn.pin %[[M1]]
// CHECK-NEXT: %[[O:.*]] = attn.await %[[OP]] keep(%[[PA]] : {{.*}}) leaves 0
// CHECK-NEXT: attn.release %[[VR]][%[[VN]]]
// CHECK: %[[P1:.*]] = attn.pack as "P"
// CHECK: %[[O1:.*]] = scf.if %[[GROW]]
// CHECK: arith.mulf %[[O]]
// CHECK: attn.yield %[[P1]], %[[O1]], %[[M1]], %{{.*}}

// Epilogue: Q is done with, the last PV.
// CHECK: attn.release %[[QR]]
// CHECK: %[[V:.*]] = attn.wait %[[VR]][%[[VL:.*]]]
// CHECK: %[[OP:.*]] = attn.dot as "PV" async %[[R]]#0, %[[V]] plus %[[R]]#1
// CHECK: %[[O:.*]] = attn.await %[[OP]] keep(%[[R]]#0 : {{.*}}) leaves 0
// CHECK: attn.release %[[VR]][%[[VL]]]
// CHECK: attn.pin %[[O]]
// CHECK: attn.pin %[[R]]#2
// CHECK: attn.pin %[[R]]#3

// A masked and a plain loop; their bounds are clamped, so that both may be empty.
// LOOPS: attn.role "compute"
// LOOPS: %[[HI1:.*]] = arith.subi
// LOOPS: attn.mask
// LOOPS: arith.minsi %{{.*}}, %[[HI1]]
// LOOPS: scf.for
// LOOPS: attn.mask
// LOOPS: scf.for
// LOOPS-NOT: attn.mask
// LOOPS-NOT: scf.for
// LOOPS: attn.dot as "PV"

// EDGE: attn.role "compute"
// EDGE: attn.mask
// EDGE: scf.for
// EDGE-NOT: attn.mask
// EDGE-NOT: scf.for
// EDGE: attn.dot as "PV"
// EDGE-NOT: scf.for

// REMARK: scheduled: {{.*}}carried=4, lag=1, order="get K, take, S, PV@1, give, await S, max, pin max, await PV, P, PV.acc", registers=16

// PLAIN: attn.role "compute"
// PLAIN-NOT: attn.dot
// PLAIN: attn.sweep descending %c0{{.*}} to %arg4 plain
// PLAIN: attn.wait
// PLAIN: attn.dot as "S" async
// PLAIN: attn.await {{.*}} leaves 0
// PLAIN: attn.release
// PLAIN: attn.pack
// PLAIN: scf.if
// PLAIN: attn.wait
// PLAIN: attn.dot as "PV" async
// PLAIN: attn.await {{.*}} keep({{.*}}) leaves 0
// PLAIN: attn.release
// PLAIN: attn.yield
// PLAIN-NOT: attn.dot

// OTHER-NOT: async

// ONE: attn.dot as "PV" async
// ONE-NOT: attn.turn
