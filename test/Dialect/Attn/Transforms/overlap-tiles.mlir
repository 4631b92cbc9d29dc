// Tiles of one block, from a counter (Inputs/tiles-forward.mlir is what it works on).
// RUN: sed 's/ORDER/"get K", "take", "S", "PV@1", "give", "await S", "max", "pin max", "await PV", "P", "PV.acc"/; s/TILES/dynamic(%rows, %heads, %batch) counter(%count : memref<1xi32>)/; s/DEPTH/4/' %S/Inputs/tiles-forward.mlir > %t.mlir
// RUN: attn-opt %t.mlir -attn-schedule-sweep -attn-lower-tiles -attn-overlap-tiles -cse | FileCheck %s
// RUN: attn-opt %t.mlir -attn-schedule-sweep -attn-lower-tiles -attn-overlap-tiles -remarks-filter=attn-overlap-tiles -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
//
// Without seam = overlap nothing changes.
// RUN: sed 's/, seam = overlap//' %t.mlir | attn-opt -attn-schedule-sweep -attn-lower-tiles -o %t.plain
// RUN: attn-opt %t.plain -attn-overlap-tiles | diff %t.plain -

// The producer: K and Q of the first tile, then rounds of a sweep, the id of the next tile, its K and Q, and only then
// the last V of this tile.
// CHECK: attn.role "producer"
// CHECK: attn.acquire %[[KR:[a-zA-Z0-9_]+]][
// CHECK: attn.acquire %[[QR:[a-zA-Z0-9_]+]][
// CHECK: attn.acquire %[[QR]][
// CHECK: scf.while
// CHECK: attn.fetch
// CHECK: attn.sweep
// CHECK: attn.acquire %[[KR]][
// CHECK: attn.acquire %[[VR:[a-zA-Z0-9_]+]][
// CHECK: }
// CHECK: attn.acquire %[[IDS:[a-zA-Z0-9_]+]][
// CHECK: attn.put
// CHECK-NEXT: attn.commit %[[IDS]][
// CHECK: scf.condition
// CHECK: } do {
// CHECK: attn.acquire %[[KR]][
// CHECK: attn.acquire %[[QR]][
// CHECK: attn.acquire %[[QR]][
// CHECK: attn.acquire %[[VR]][
// CHECK: scf.yield
// CHECK: attn.acquire %[[VR]][
// CHECK-NOT: attn.acquire

// The other role starts its first tile in front of the loop.
// CHECK: attn.role "compute"
// CHECK: attn.wait %[[QR]][
// CHECK: attn.dot as "S"
// CHECK: attn.pack as "P"
// CHECK: scf.while
// CHECK: attn.sweep
// CHECK: attn.turn take
// CHECK: }
// CHECK: attn.wait %[[IDS]][
// CHECK: attn.get
// CHECK: attn.release %[[IDS]][
// CHECK-NOT: attn.dot
// CHECK: scf.condition

// The seam is a step of the order: S of the next tile, PV of this one. Q of this tile is done with.
// CHECK: } do {
// CHECK: attn.release %[[QR]][
// CHECK: %[[Q:.*]] = attn.wait %[[QR]][
// CHECK: %[[K:.*]] = attn.wait %[[KR]][%[[KN:.*]]] :
// CHECK-NEXT: attn.turn take
// CHECK-NEXT: %[[SP:.*]] = attn.dot as "S" async %[[Q]], %[[K]] trans_b
// CHECK: attn.wait %[[VR]][%[[VN:.*]]] :
// CHECK-NEXT: %[[OP:.*]] = attn.dot as "PV" async %[[P:.*]], %{{.*}} plus
// CHECK-NEXT: attn.turn give
// CHECK-NEXT: attn.await %[[SP]] leaves 1
// CHECK-NEXT: attn.release %[[KR]][%[[KN]]]
// CHECK: attn.reduce as "max"
// CHECK: %[[M:.*]] = arith.select
// CHECK-NEXT: attn.pin %[[M]]
// CHECK-NEXT: attn.await %[[OP]] keep(%[[P]] : {{.*}}) leaves 0
// CHECK-NEXT: attn.release %[[VR]][%[[VN]]]
// CHECK: %[[PN:.*]] = attn.pack as "P"
// CHECK: attn.store
// CHECK: attn.copy
// CHECK: scf.yield {{.*}}%[[PN]]

// The last tile ends behind the loop.
// CHECK: attn.wait %[[VR]][
// CHECK: attn.dot as "PV"
// CHECK: attn.store
// CHECK: attn.copy
// CHECK: attn.drain 0
// CHECK-NOT: attn.dot

// REMARK: the next tile starts over the end of this one: {{.*}}producer
// REMARK: the next tile starts over the end of this one: {{.*}}compute
