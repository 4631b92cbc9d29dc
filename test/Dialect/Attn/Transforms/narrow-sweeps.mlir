// A group visits the blocks that its own rows see, and hands on the items and turns of the others.
// RUN: attn-opt %s -attn-partition-roles -canonicalize -cse | FileCheck %s
// RUN: attn-opt %s -attn-partition-roles -remarks-filter=attn-partition-roles -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!q = memref<?x?x?x64xf16, strided<[?, ?, ?, 1], offset: ?>>
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma, smem = 131072>} {
  // A window from 100 keys in front of the row up to the row: both ends of the range are the group's, so are those of
  // its plain part. Without rows it visits one block.
  // CHECK-LABEL: attn.kernel @window
  // CHECK: attn.role "producer"
  // CHECK: attn.sweep descending %[[LO:.*]] to %[[HI:.*]] plain %[[LO]] to %[[HI]]
  // CHECK: attn.role "compute"
  // CHECK: ^bb0(%[[G:.*]]: i32):
  // CHECK: %[[FIRST:.*]] = arith.muli %[[G]], %c64_i32
  // CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[N:.*]]: i32):
  // CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c128_i32
  // CHECK: %[[BASE:.*]] = arith.subi %[[ROW]], %c100_i32
  // CHECK: %[[OLDHI:.*]] = arith.maxsi
  // CHECK: %[[OLDLO:.*]] = arith.maxsi
  // CHECK: %[[UP:.*]] = arith.addi %[[ROW]], %[[FIRST]]
  // CHECK: %[[DOWN:.*]] = arith.addi %[[BASE]], %[[FIRST]]
  // CHECK-DAG: %[[DOWNS:.*]] = arith.addi %[[DOWN]], %c63_i32
  // CHECK-DAG: %[[UPS:.*]] = arith.addi %[[UP]], %c63_i32
  // CHECK-DAG: %[[LEAST:.*]] = arith.minsi %[[UP]],
  // CHECK-DAG: %[[MOST:.*]] = arith.minsi %[[UPS]],
  // CHECK: %[[HAS:.*]] = arith.cmpi slt, %[[UP]], %{{.*}} : i32
  // CHECK-NEXT: %[[PAST:.*]] = arith.addi %[[MOST]], %c1_i32
  // CHECK-NEXT: %[[ENDS:.*]] = arith.ceildivsi %[[PAST]], %c32_i32
  // CHECK-NEXT: %[[MIN:.*]] = arith.minsi %[[OLDHI]], %[[ENDS]]
  // CHECK-NEXT: %[[ONE:.*]] = arith.addi %[[OLDLO]], %c1_i32
  // CHECK-NEXT: %[[MAX:.*]] = arith.maxsi %[[MIN]], %[[ONE]]
  // CHECK-NEXT: %[[NEWHI:.*]] = arith.select %[[HAS]], %[[MAX]], %[[ONE]]
  // CHECK-NEXT: %[[STARTS:.*]] = arith.floordivsi %[[DOWN]], %c32_i32
  // CHECK-NEXT: %[[LOMAX:.*]] = arith.maxsi %[[OLDLO]], %[[STARTS]]
  // CHECK-NEXT: %[[LAST:.*]] = arith.subi %[[NEWHI]], %c1_i32
  // CHECK-NEXT: %[[NEWLO:.*]] = arith.minsi %[[LOMAX]], %[[LAST]]
  // CHECK-NEXT: %[[PLO:.*]] = arith.ceildivsi %[[DOWNS]], %c32_i32
  // CHECK-NEXT: %[[PLAINLO:.*]] = arith.maxsi %[[NEWLO]], %[[PLO]]
  // CHECK-NEXT: %[[PAST1:.*]] = arith.addi %[[LEAST]], %c1_i32
  // CHECK-NEXT: %[[PHI:.*]] = arith.floordivsi %[[PAST1]], %c32_i32
  // CHECK-NEXT: %[[PLAINHI:.*]] = arith.minsi %[[NEWHI]], %[[PHI]]
  // CHECK: %[[ALL:.*]] = arith.subi %[[OLDHI]], %[[OLDLO]]
  // CHECK: %[[SKIPPED:.*]] = arith.subi %[[OLDHI]], %[[NEWHI]]
  // CHECK: scf.for %[[S:.*]] = %c0_i32 to %[[SKIPPED]]
  // CHECK-NEXT: attn.turn take
  // CHECK-NEXT: attn.turn give
  // CHECK-NEXT: %[[ITEM:.*]] = arith.addi %[[N]], %[[S]]
  // CHECK-NEXT: attn.wait %[[K:.*]][%[[ITEM]]]
  // CHECK-NEXT: attn.release %[[K]][%[[ITEM]]]
  // CHECK-NEXT: attn.wait %[[V:.*]][%[[ITEM]]]
  // CHECK-NEXT: attn.release %[[V]][%[[ITEM]]]
  // CHECK-NEXT: }
  // CHECK: %[[FROM:.*]] = arith.addi %[[N]], %[[SKIPPED]]
  // CHECK: attn.sweep descending %[[NEWLO]] to %[[NEWHI]] plain %[[PLAINLO]] to %[[PLAINHI]] init
  // CHECK-NEXT: ^bb0(%[[T:[^:]*]]: i32,
  // CHECK: arith.addi %[[FROM]], %[[T]]
  // CHECK: attn.release %{{.*}}
  // CHECK: scf.for %[[S:.*]] = %{{.*}} to %[[ALL]] step
  // CHECK-NEXT: attn.turn take
  // CHECK: arith.addi %[[N]], %[[S]]
  // The tile has taken as many items as the copying role has filled.
  // CHECK: arith.addi %[[N]], %[[ALL]]
  // REMARK: a group visits the blocks that its own rows see{{.*}}
  attn.kernel @window attributes {schedule = #attn.schedule<tile = [128, 32], warps = [4, 1], groups = 2, regs = [24, 240], depth = {q = 1, k = 2, v = 2}, order = ["S", "take", "PV@1", "give", "await S", "P", "await PV"], out = own>} {
  ^bb0(%q: !q, %k: !q, %v: !q, %o: !q, %n: i32, %sq: i32):
    %z = arith.constant dense<0.0> : tensor<128x64xf32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c100 = arith.constant 100 : i32
    %c128 = arith.constant 128 : i32
    attn.tiles fixed(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %row = arith.muli %i, %c128 : i32
      %past = arith.addi %row, %c128 : i32
      %ends = arith.minsi %past, %sq : i32
      %low = arith.subi %row, %c100 : i32
      %blocks = arith.ceildivsi %ends, %c32 : i32
      %hi = arith.maxsi %blocks, %c1 : i32
      %first = arith.floordivsi %low, %c32 : i32
      %lo = arith.maxsi %first, %c0 : i32
      %qt = attn.load as "Q" %q[%b, %h, %row] : !q -> tensor<128x64xf16>
      %ups = attn.coord %row along 0 : tensor<128xi32>
      %downs = attn.coord %low along 0 : tensor<128xi32>
      %last = arith.subi %sq, %c1 : i32
      %lasts = tensor.splat %last : tensor<128xi32>
      %limits = arith.minsi %ups, %lasts : tensor<128xi32>
      %r = attn.sweep descending %lo to %hi plain %first to %i init(%z : tensor<128x64xf32>) -> tensor<128x64xf32> {
      ^bb0(%t: i32, %j: i32, %acc: tensor<128x64xf32>):
        %key = arith.muli %j, %c32 : i32
        %kt = attn.load as "K" %k[%b, %h, %key] : !q -> tensor<32x64xf16>
        %vt = attn.load as "V" %v[%b, %h, %key] : !q -> tensor<32x64xf16>
        %s = attn.dot as "S" %qt, %kt trans_b : (tensor<128x64xf16>, tensor<32x64xf16>) -> tensor<128x32xf32>
        %keys = attn.coord %key along 1 : tensor<32xi32>
        %kk = attn.spread %keys along 0 : tensor<32xi32> -> tensor<128x32xi32>
        %uu = attn.spread %limits along 1 : tensor<128xi32> -> tensor<128x32xi32>
        %dd = attn.spread %downs along 1 : tensor<128xi32> -> tensor<128x32xi32>
        %a = arith.cmpi sle, %kk, %uu : tensor<128x32xi32>
        %c = arith.cmpi sge, %kk, %dd : tensor<128x32xi32>
        %w = arith.andi %a, %c : tensor<128x32xi1>
        %m = attn.mask %s where %w : tensor<128x32xf32>, tensor<128x32xi1>
        %e = math.exp2 %m : tensor<128x32xf32>
        %p = attn.pack as "P" %e : tensor<128x32xf32> -> tensor<128x32xf16>
        %pv = attn.dot as "PV" %p, %vt plus %acc : (tensor<128x32xf16>, tensor<32x64xf16>, tensor<128x64xf32>) -> tensor<128x64xf32>
        attn.yield %pv : tensor<128x64xf32>
      }
      %f = arith.truncf %r : tensor<128x64xf32> to tensor<128x64xf16>
      attn.store %f, %o[%b, %h, %row] : tensor<128x64xf16>, !q
      attn.yield
    }
  }

  // A mask of the keys alone, and a condition that says nothing about rows beside one that does: the first leaves the
  // range of groups with rows as it is, the second the plain part.
  // CHECK-LABEL: attn.kernel @columns
  // CHECK: attn.role "compute"
  // CHECK: %[[HAS:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i32
  // CHECK: %[[HI:.*]] = arith.select %[[HAS]], %{{.*}}, %c1_i32 : i32
  // CHECK: attn.sweep descending %c0_i32 to %[[HI]] plain %c0_i32 to %{{.*}} init
  attn.kernel @columns attributes {schedule = #attn.schedule<tile = [128, 32], warps = [4, 1], groups = 2, regs = [24, 240], depth = {q = 1, k = 2}, out = own>} {
  ^bb0(%q: !q, %k: !q, %o: !q, %n: i32, %sk: i32):
    %z = arith.constant dense<0.0> : tensor<128x64xf32>
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %c128 = arith.constant 128 : i32
    attn.tiles fixed(%n, %n, %n) {
    ^bb0(%t_: i32, %i: i32, %h: i32, %b: i32):
      %row = arith.muli %i, %c128 : i32
      %hi = arith.ceildivsi %sk, %c32 : i32
      %plain = arith.floordivsi %sk, %c32 : i32
      %qt = attn.load as "Q" %q[%b, %h, %row] : !q -> tensor<128x64xf16>
      %r = attn.sweep descending %c0 to %hi plain %c0 to %plain init(%z : tensor<128x64xf32>) -> tensor<128x64xf32> {
      ^bb0(%t: i32, %j: i32, %acc: tensor<128x64xf32>):
        %key = arith.muli %j, %c32 : i32
        %kt = attn.load as "K" %k[%b, %h, %key] : !q -> tensor<32x64xf16>
        %s = attn.dot as "S" %qt, %kt trans_b : (tensor<128x64xf16>, tensor<32x64xf16>) -> tensor<128x32xf32>
        %keys = attn.coord %key along 1 : tensor<32xi32>
        %end = tensor.splat %sk : tensor<32xi32>
        %in = arith.cmpi slt, %keys, %end : tensor<32xi32>
        %w = attn.spread %in along 0 : tensor<32xi1> -> tensor<128x32xi1>
        %m = attn.mask %s where %w : tensor<128x32xf32>, tensor<128x32xi1>
        %e = math.exp2 %m : tensor<128x32xf32>
        %p = attn.pack as "P" %e : tensor<128x32xf32> -> tensor<128x32xf16>
        %pv = attn.dot as "PV" %p, %kt plus %acc : (tensor<128x32xf16>, tensor<32x64xf16>, tensor<128x64xf32>) -> tensor<128x64xf32>
        attn.yield %pv : tensor<128x64xf32>
      }
      %f = arith.truncf %r : tensor<128x64xf32> to tensor<128x64xf16>
      attn.store %f, %o[%b, %h, %row] : tensor<128x64xf16>, !q
      attn.yield
    }
  }
}
