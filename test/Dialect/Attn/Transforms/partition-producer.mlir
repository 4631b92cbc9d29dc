// RUN: attn-opt %s -split-input-file -attn-partition-roles | FileCheck %s
// RUN: attn-opt %s -split-input-file -attn-partition-roles -remarks-filter=attn-partition-roles -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!q = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!k = memref<?x?x?x40xf16, strided<[?, ?, ?, 1], offset: ?>>
!l = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
#toy = #attn.target<chip = "toy", family = wgmma, smem = 98304>

// The host describes every operand that travels; K and O are one operand each, Q and K differ in their boxes.
// CHECK-LABEL: func.func @host
// CHECK: %[[HQ:.*]] = attn.tensor_map %arg0 : {{.*}} -> <tensor<64x64xf16>, 128>
// CHECK: %[[HK:.*]] = attn.tensor_map %arg1 : {{.*}} -> <tensor<32x64xf16>, 128>
// CHECK: %[[HO:.*]] = attn.tensor_map %arg2 : {{.*}} -> <tensor<64x64xf32>, 128>
// CHECK: attn.launch @two_groups {{.*}}, %[[HQ]], %[[HK]], %[[HO]] :
// CHECK-LABEL: attn.kernel @two_groups
// CHECK: ^bb0({{.*}}, %[[MQ:.*]]: !attn.map<tensor<64x64xf16>, 128>, %[[MK:.*]]: !attn.map<tensor<32x64xf16>, 128>, %[[MO:.*]]: !attn.map<tensor<64x64xf32>, 128>):
// Two groups: four warps read an item of Q, eight an item of K.
// CHECK: %[[Q:.*]] = attn.alloc as "Q" readers 4 : !attn.ring<4, !attn.buf<tensor<64x64xf16>, 128>>
// CHECK: %[[K:.*]] = attn.alloc as "K" readers 8 : !attn.ring<3, !attn.buf<tensor<32x64xf16>, 128>>

// The producer: addresses, copies, nothing else.
// CHECK: attn.role "producer" warps 0 + 4 groups 1 regs 24 elect
// CHECK: attn.tiles fixed({{.*}}) init(%{{.*}}) -> i32 {
// CHECK-NEXT: ^bb0(%[[T:.*]]: i32, %[[I:.*]]: i32, %[[H:.*]]: i32, %[[B:.*]]: i32, %[[N:.*]]: i32):
// CHECK-NEXT: %[[ROW:.*]] = arith.muli %[[I]], %{{.*}}
// CHECK: %[[C2:.*]] = arith.constant 2
// CHECK-NEXT: %[[T2:.*]] = arith.muli %[[T]], %[[C2]]
// CHECK-NEXT: %[[S0:.*]] = attn.acquire %[[Q]][%[[T2]]]
// CHECK-NEXT: attn.copy %[[MQ]][%[[B]], %[[H]], %[[ROW]]] to %[[S0]] fills %[[Q]][%[[T2]]] via tma
// CHECK: %[[ROW1:.*]] = arith.addi %[[ROW]], %{{.*}}
// CHECK: %[[T21:.*]] = arith.addi %{{.*}}, %{{.*}}
// CHECK-NEXT: %[[S1:.*]] = attn.acquire %[[Q]][%[[T21]]]
// CHECK-NEXT: attn.copy %[[MQ]][%[[B]], %[[H]], %[[ROW1]]] to %[[S1]] fills %[[Q]][%[[T21]]] via tma
// CHECK-NEXT: attn.sweep descending %[[LO:.*]] to %[[HI:.*]] plain %[[LO]] to %[[HI]] {
// CHECK-NEXT: ^bb0(%[[U:.*]]: i32, %[[J:.*]]: i32):
// CHECK-NEXT: %[[KEY:.*]] = arith.muli %[[J]]
// CHECK-NEXT: %[[NU:.*]] = arith.addi %[[N]], %[[U]]
// CHECK-NEXT: %[[KS:.*]] = attn.acquire %[[K]][%[[NU]]]
// CHECK-NEXT: attn.copy %[[MK]][%[[B]], %[[H]], %[[KEY]]] to %[[KS]] fills %[[K]][%[[NU]]] via tma
// CHECK-NEXT: }
// CHECK-NEXT: %[[COUNT:.*]] = arith.subi %[[HI]], %[[LO]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[N]], %[[COUNT]]
// CHECK-NEXT: attn.yield %[[NEXT]]

// The groups: half the rows each, from row 64 g on.
// CHECK: attn.role "compute" warps 4 + 8 groups 2 regs 240 {
// CHECK-NEXT: ^bb0(%[[G:.*]]: i32):
// CHECK-NEXT: %[[O:.*]] = attn.alloc as "O" : !attn.buf<tensor<64x64xf32>, 128>
// CHECK: %[[FIRST:.*]] = arith.muli %[[G]], %{{.*}}
// CHECK: attn.tiles fixed
// CHECK: ^bb0(%[[T:.*]]: i32, %[[I:.*]]: i32, %[[H:.*]]: i32, %[[B:.*]]: i32, %[[N:.*]]: i32):
// CHECK: %[[T2:.*]] = arith.muli %[[T]]
// CHECK-NEXT: %[[QI:.*]] = arith.addi %[[T2]], %[[G]]
// CHECK: %[[QB:.*]] = attn.wait %[[Q]][%[[QI]]]
// Blocks that a group's rows do not see are handed on in a loop in front.
// CHECK: scf.for
// CHECK: attn.release
// CHECK: %[[MINE:.*]] = arith.addi %[[N]], %{{.*}}
// CHECK-NEXT: %{{.*}} = attn.sweep descending %[[LO:.*]] to %{{.*}} plain %[[LO]] to %{{.*}} init({{.*}} : tensor<64x64xf32>, tensor<64xf32>)
// CHECK: ^bb0(%[[U:[^:]*]]: i32, %[[J:[^:]*]]: i32, {{.*}}):
// CHECK: %[[NU:.*]] = arith.addi %[[MINE]], %[[U]]
// CHECK: %[[KB:.*]] = attn.wait %[[K]][%[[NU]]]
// CHECK: attn.dot as "S" %[[QB]], %[[KB]] trans_b
// A row coordinate moves on, a key coordinate does not; a vector of the keys keeps its length.
// CHECK: %[[SHIFTED:.*]] = arith.addi %{{.*}}, %[[FIRST]]
// CHECK-NEXT: attn.coord %[[SHIFTED]] along 0 : tensor<64xi32>
// CHECK: attn.coord %{{.*}} along 1 : tensor<32xi32>
// CHECK: attn.dot as "PV" {{.*}} %[[KB]]
// CHECK-NEXT: attn.release %[[K]][%[[NU]]]
// CHECK: attn.release %[[Q]][%[[QI]]]
// The buf is free when the store of the tile before has read it, and all warps know.
// CHECK: attn.drain 0 read
// CHECK-NEXT: attn.sync group
// CHECK-NEXT: attn.store %{{.*}}, %[[O]] :
// CHECK-NEXT: attn.sync group publish
// CHECK-NEXT: attn.copy %[[O]] to %[[MO]][%[[B]], %[[H]], %[[OROW:.*]]] via tma
// CHECK: %[[LROW:.*]] = arith.addi %{{.*}}, %[[FIRST]]
// CHECK-NEXT: attn.store %{{.*}}, %{{.*}}[%[[B]], %[[H]], %[[LROW]]] : tensor<64xf32>
// CHECK: attn.yield
// CHECK: attn.drain 0
// REMARK-DAG: travels through shared memory: {{.*}}bytes=32768, depth=4, ring=Q
// REMARK-DAG: travels through shared memory: {{.*}}bytes=12288, depth=3, ring=K
// REMARK-DAG: staged through shared memory: {{.*}}buf=O, bytes=16384, over=nothing, pieces=1
// REMARK-DAG: groups of warps compute: {{.*}}groups=2, rows=64
module attributes {attn.target = #toy} {
  func.func @host(%q: !q, %k: !k, %o: memref<?x?x?x64xf32, strided<[?, ?, ?, 1], offset: ?>>, %lse: !l, %n: index, %x: i32) {
    attn.launch @two_groups tiles(%n, %n, %n) args(%q, %k, %o, %lse, %x : !q, !k, memref<?x?x?x64xf32, strided<[?, ?, ?, 1], offset: ?>>, !l, i32)
    return
  }
  attn.kernel @two_groups attributes {schedule = #attn.schedule<tile = [128, 32], warps = [4, 1], groups = 2, regs = [24, 240], depth = {q = 2, k = 3}, out = own>} {
  ^bb0(%q: !q, %k: !k, %o: memref<?x?x?x64xf32, strided<[?, ?, ?, 1], offset: ?>>, %lse: !l, %n: i32):
    %z = arith.constant dense<0.0> : tensor<128x64xf32>
    %zr = arith.constant dense<0.0> : tensor<128xf32>
    %c32 = arith.constant 32 : i32
    %c128 = arith.constant 128 : i32
    attn.tiles fixed(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %row = arith.muli %i, %c128 : i32
      %lo = arith.divui %i, %c32 : i32
      %hi = arith.addi %i, %c32 : i32
      %qt = attn.load as "Q" %q[%b, %h, %row] : !q -> tensor<128x64xf16>
      %r, %m = attn.sweep descending %lo to %hi plain %lo to %i init(%z, %zr : tensor<128x64xf32>, tensor<128xf32>) -> tensor<128x64xf32>, tensor<128xf32> {
      ^bb0(%t: i32, %j: i32, %acc: tensor<128x64xf32>, %old: tensor<128xf32>):
        %key = arith.muli %j, %c32 : i32
        %kt = attn.load as "K" %k[%b, %h, %key] : !k -> tensor<32x64xf16>
        %s = attn.dot as "S" %qt, %kt trans_b : (tensor<128x64xf16>, tensor<32x64xf16>) -> tensor<128x32xf32>
        %rows = attn.coord %row along 0 : tensor<128xi32>
        %keys = attn.coord %key along 1 : tensor<32xi32>
        %rt = attn.spread %rows along 1 : tensor<128xi32> -> tensor<128x32xi32>
        %kk = attn.spread %keys along 0 : tensor<32xi32> -> tensor<128x32xi32>
        %v = arith.cmpi sle, %kk, %rt : tensor<128x32xi32>
        %sm = attn.mask %s where %v : tensor<128x32xf32>, tensor<128x32xi1>
        %mx = attn.reduce max %sm : tensor<128x32xf32> -> tensor<128xf32>
        %m1 = arith.maxnumf %old, %mx : tensor<128xf32>
        %p = attn.pack as "P" %sm : tensor<128x32xf32> -> tensor<128x32xf16>
        %a = attn.dot as "PV" %p, %kt plus %acc : (tensor<128x32xf16>, tensor<32x64xf16>, tensor<128x64xf32>) -> tensor<128x64xf32>
        attn.yield %a, %m1 : tensor<128x64xf32>, tensor<128xf32>
      }
      attn.store %r, %o[%b, %h, %row] : tensor<128x64xf32>, memref<?x?x?x64xf32, strided<[?, ?, ?, 1], offset: ?>>
      attn.store %m, %lse[%b, %h, %row] : tensor<128xf32>, !l
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
#toy = #attn.target<chip = "toy", family = wgmma, smem = 98304>

// One group, all rows: nothing to split, items of Q are numbered by the tile. O lies over Q, so Q's item is the
// producer's again only when the copy out has read O. What no product reads is not copied ahead: the bias tile is loaded
// where it is used, each group its rows.
// CHECK-LABEL: attn.kernel @one_group
// CHECK: %[[Q:.*]] = attn.alloc as "Q" readers 4 : !attn.ring<1,
// CHECK: attn.role "producer" warps 0 + 4 groups 1 elect
// CHECK: ^bb0(%[[T:[^:]*]]: i32, {{.*}}):
// CHECK: attn.acquire %[[Q]][%[[T]]]
// CHECK: attn.role "compute" warps 4 + 4 groups 1 {
// CHECK: %[[O:.*]] = attn.alloc as "O" over "Q" : !attn.buf<tensor<64x64xf16>, 128>
// CHECK: ^bb0(%[[T:[^:]*]]: i32, {{.*}}):
// CHECK-NOT: attn.release %[[Q]]
// CHECK: attn.sync group publish
// CHECK-NEXT: attn.copy %[[O]]
// CHECK-NEXT: attn.drain 0 read
// CHECK-NEXT: attn.sync group
// CHECK-NEXT: attn.release %[[Q]][%[[T]]]
// REMARK: staged through shared memory: {{.*}}buf=O, bytes=8192, over=Q, pieces=1
module attributes {attn.target = #toy} {
  attn.kernel @one_group attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1]>} {
  ^bb0(%q: !g, %k: !g, %o: !g, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %qt = attn.load as "Q" %q[%b, %h, %i] : !g -> tensor<64x64xf16>
      %kt = attn.load as "K" %k[%b, %h] : !g -> tensor<64x64xf16>
      %s = attn.dot as "S" %qt, %kt trans_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
      %f = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
      attn.store %f, %o[%b, %h, %i] : tensor<64x64xf16>, !g
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!w = memref<?x?x?x128xf16, strided<[?, ?, ?, 1], offset: ?>>
!p = memref<?x?xf32, strided<[?, 1], offset: ?>>
#toy = #attn.target<chip = "toy", family = wgmma, smem = 98304>

// O is wider than Q: group 1's O would lie over a slot that is not its own, so O has bytes of its own. A bias that is
// loaded as a tile, or as a vector of the rows, is loaded a share at a time; one along the keys is loaded whole; a
// dimension that was taken whole gets a coordinate.
// CHECK-LABEL: attn.kernel @captures
// CHECK: attn.role "compute"
// CHECK: attn.alloc as "O" : !attn.buf<tensor<64x128xf16>, 128>
// CHECK: %[[FIRST:.*]] = arith.muli
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[FIRST]]
// CHECK: attn.load %{{.*}}[%[[AT]], %{{.*}}] : {{.*}} -> tensor<64x64xf32>
// CHECK: attn.load %{{.*}}[%{{.*}}, %[[FIRST]]] : {{.*}} -> tensor<64xf32>
// CHECK: attn.load %{{.*}}[%{{.*}}, %{{.*}}] : {{.*}} -> tensor<64xf32>
// CHECK: attn.gather %{{.*}}[%{{.*}}, %{{.*}}] : {{.*}} -> tensor<64xf32>
// CHECK-NOT: tensor<128x
// REMARK: has bytes of its own: {{.*}}buf=O
module attributes {attn.target = #toy} {
  attn.kernel @captures attributes {schedule = #attn.schedule<tile = [128, 64], warps = [4, 1], groups = 2>} {
  ^bb0(%q: !g, %k: !g, %v: !w, %o: !w, %bias: !p, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %qt = attn.load as "Q" %q[%b, %h, %i] : !g -> tensor<128x64xf16>
      %kt = attn.load as "K" %k[%b, %h, %i] : !g -> tensor<64x64xf16>
      %vt = attn.load as "V" %v[%b, %h, %i] : !w -> tensor<64x128xf16>
      %s = attn.dot as "S" %qt, %kt trans_b : (tensor<128x64xf16>, tensor<64x64xf16>) -> tensor<128x64xf32>
      %tile = attn.load %bias[%i, %n] : !p -> tensor<128x64xf32>
      %rows = attn.load %bias[%h] : !p -> tensor<128xf32>
      %keys = attn.load %bias[%h, %n] : !p -> tensor<64xf32>
      %at = attn.coord %i along 0 : tensor<128xi32>
      %some = attn.gather %bias[%h, %at] : (!p, i32, tensor<128xi32>) -> tensor<128xf32>
      %rows2 = arith.addf %rows, %some : tensor<128xf32>
      %rt = attn.spread %rows2 along 1 : tensor<128xf32> -> tensor<128x64xf32>
      %kk = attn.spread %keys along 0 : tensor<64xf32> -> tensor<128x64xf32>
      %s1 = arith.addf %s, %tile : tensor<128x64xf32>
      %s2 = arith.addf %s1, %rt : tensor<128x64xf32>
      %s3 = arith.addf %s2, %kk : tensor<128x64xf32>
      %p = attn.pack %s3 : tensor<128x64xf32> -> tensor<128x64xf16>
      %r = attn.dot as "PV" %p, %vt : (tensor<128x64xf16>, tensor<64x128xf16>) -> tensor<128x128xf32>
      %f = arith.truncf %r : tensor<128x128xf32> to tensor<128x128xf16>
      attn.store %f, %o[%b, %h, %i] : tensor<128x128xf16>, !w
      attn.yield
    }
  }
}

// -----

!g = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
!w = memref<?x?x?x192xf16, strided<[?, ?, ?, 1], offset: ?>>

// Beside 8192 bytes of Q, 8192 of K, 24576 of V and 128 of barriers there is no room for 24576 of O, nor is it there for two
// thirds of them: a panel of 64 columns leaves after the other. The map of O describes what leaves at once.
// CHECK-LABEL: func.func @host
// CHECK: attn.tensor_map %arg2 : {{.*}} -> <tensor<64x192xf16>, 128>
// CHECK: attn.tensor_map %arg3 : {{.*}} -> <tensor<64x64xf16>, 128>
// CHECK-LABEL: attn.kernel @pieces
// CHECK: ^bb0({{.*}}, %[[MO:.*]]: !attn.map<tensor<64x64xf16>, 128>):
// CHECK: attn.role "compute"
// CHECK: %[[O:.*]] = attn.alloc as "O" : !attn.buf<tensor<64x64xf16>, 128>
// CHECK: %[[F:.*]] = arith.truncf %{{.*}} : tensor<64x192xf32> to tensor<64x192xf16>
// CHECK: attn.drain 0 read
// CHECK-NEXT: attn.sync group
// CHECK-NEXT: %[[P0:.*]] = tensor.extract_slice %[[F]][0, 0] [64, 64] [1, 1]
// CHECK-NEXT: attn.store %[[P0]], %[[O]] :
// CHECK-NEXT: attn.sync group publish
// CHECK-NEXT: attn.copy %[[O]] to %[[MO]][%[[B:.*]], %[[H:.*]], %[[ROW:.*]]] via tma
// CHECK-NEXT: attn.drain 0 read
// CHECK-NEXT: attn.sync group
// CHECK-NEXT: %[[P1:.*]] = tensor.extract_slice %[[F]][0, 64] [64, 64] [1, 1]
// CHECK-NEXT: attn.store %[[P1]], %[[O]] :
// CHECK-NEXT: attn.sync group publish
// CHECK-NEXT: %[[C64:.*]] = arith.constant 64 : i32
// CHECK-NEXT: attn.copy %[[O]] to %[[MO]][%[[B]], %[[H]], %[[ROW]], %[[C64]]] via tma
// CHECK: tensor.extract_slice %[[F]][0, 128] [64, 64] [1, 1]
// CHECK: attn.copy %[[O]] to %[[MO]][%[[B]], %[[H]], %[[ROW]], %c128{{.*}}] via tma
// CHECK: attn.drain 0{{$}}
// REMARK: staged through shared memory: {{.*}}buf=O, bytes=8192, over=nothing, pieces=3
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 57472>} {
  func.func @host(%q: !g, %k: !g, %v: !w, %o: !w, %n: index, %x: i32) {
    attn.launch @pieces tiles(%n, %n, %n) args(%q, %k, %v, %o, %x : !g, !g, !w, !w, i32)
    return
  }
  attn.kernel @pieces attributes {schedule = #attn.schedule<tile = [64, 64], warps = [4, 1], out = own>} {
  ^bb0(%q: !g, %k: !g, %v: !w, %o: !w, %n: i32):
    attn.tiles single(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %qt = attn.load as "Q" %q[%b, %h, %i] : !g -> tensor<64x64xf16>
      %kt = attn.load as "K" %k[%b, %h, %i] : !g -> tensor<64x64xf16>
      %vt = attn.load as "V" %v[%b, %h, %i] : !w -> tensor<64x192xf16>
      %s = attn.dot as "S" %qt, %kt trans_b : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
      %p = attn.pack %s : tensor<64x64xf32> -> tensor<64x64xf16>
      %r = attn.dot as "PV" %p, %vt : (tensor<64x64xf16>, tensor<64x192xf16>) -> tensor<64x192xf32>
      %f = arith.truncf %r : tensor<64x192xf32> to tensor<64x192xf16>
      attn.store %f, %o[%b, %h, %i] : tensor<64x192xf16>, !w
      attn.yield
    }
  }
}
