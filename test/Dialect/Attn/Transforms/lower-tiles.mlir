// RUN: attn-opt %s -allow-unregistered-dialect -split-input-file -attn-lower-tiles | FileCheck %s
// RUN: attn-opt %s -allow-unregistered-dialect -split-input-file -attn-lower-tiles -remarks-filter=attn-lower-tiles -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync, smem = 1024>} {
  // id -> section, then the pair inside the section runs fastest, then rows from the last.
  // CHECK-LABEL: attn.kernel @heaviest_first_in_sections
  // CHECK: ^bb0(%[[NQ:.*]]: i32, %[[H:.*]]: i32, %[[B:.*]]: i32, %[[G:.*]]: i32, %[[OUT:.*]]: memref<?xi32>):
  // CHECK: attn.role
  // CHECK: %[[X:.*]] = gpu.block_id  x
  // CHECK: %[[ID:.*]] = arith.index_cast %[[X]] : index to i32
  // CHECK: %[[T:.*]] = arith.constant 0 : i32
  // CHECK: %[[PER:.*]] = arith.muli %[[G]], %[[NQ]]
  // CHECK: %[[S:.*]] = arith.divui %[[ID]], %[[PER]]
  // CHECK: %[[R:.*]] = arith.remui %[[ID]], %[[PER]]
  // CHECK: %[[FIRST:.*]] = arith.muli %[[S]], %[[G]]
  // CHECK: %[[IN:.*]] = arith.remui %[[R]], %[[G]]
  // CHECK: %[[PAIR:.*]] = arith.addi %[[FIRST]], %[[IN]]
  // CHECK: %[[UP:.*]] = arith.divui %[[R]], %[[G]]
  // CHECK: %[[LAST:.*]] = arith.subi %[[NQ]], %{{.*}}
  // CHECK: %[[I:.*]] = arith.subi %[[LAST]], %[[UP]]
  // CHECK: %[[HEAD:.*]] = arith.remui %[[PAIR]], %[[H]]
  // CHECK: %[[BATCH:.*]] = arith.divui %[[PAIR]], %[[H]]
  // CHECK: "test.use"(%[[T]], %[[I]], %[[HEAD]], %[[BATCH]])
  // CHECK-NOT: attn.tiles
  // REMARK: tile ids come from {{.*}}the block id
  attn.kernel @heaviest_first_in_sections {
  ^bb0(%nq: i32, %h: i32, %b: i32, %sec: i32, %out: memref<?xi32>):
    attn.role "compute" warps 0 + 1 groups 1 {
    ^bb0(%g: i32):
      attn.tiles single(%nq, %h, %b) section(%sec) heaviest_first {
      ^bb0(%t: i32, %i: i32, %hh: i32, %bb: i32):
        "test.use"(%t, %i, %hh, %bb) : (i32, i32, i32, i32) -> ()
        attn.yield
      }
      attn.yield
    }
  }

  // Without a section all pairs are one, without an order rows run from the first.
  // CHECK-LABEL: attn.kernel @plain_order
  // CHECK: ^bb0(%[[NQ:.*]]: i32, %[[H:.*]]: i32, %[[B:.*]]: i32):
  // CHECK: %[[ID:.*]] = arith.index_cast
  // CHECK: %[[ALL:.*]] = arith.muli %[[H]], %[[B]]
  // CHECK: %[[PAIR:.*]] = arith.remui %[[ID]], %[[ALL]]
  // CHECK: %[[I:.*]] = arith.divui %[[ID]], %[[ALL]]
  // CHECK: %[[HEAD:.*]] = arith.remui %[[PAIR]], %[[H]]
  // CHECK: %[[BATCH:.*]] = arith.divui %[[PAIR]], %[[H]]
  // CHECK: "test.use"(%[[I]], %[[HEAD]], %[[BATCH]])
  attn.kernel @plain_order {
  ^bb0(%nq: i32, %h: i32, %b: i32):
    attn.tiles single(%nq, %h, %b) {
    ^bb0(%t: i32, %i: i32, %hh: i32, %bb: i32):
      "test.use"(%i, %hh, %bb) : (i32, i32, i32) -> ()
      attn.yield
    }
  }
}

// -----

module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  // A number carried over the tiles of a block: with one tile it is what the body made of the first value.
  // CHECK-LABEL: attn.kernel @one_tile_carries
  // CHECK: ^bb0(%[[N:.*]]: i32):
  // CHECK: %[[NEXT:.*]] = "test.items"(%[[N]]) : (i32) -> i32
  // CHECK: "test.after"(%[[NEXT]])
  attn.kernel @one_tile_carries {
  ^bb0(%n: i32):
    %end = attn.tiles single(%n, %n, %n) init(%n) -> i32 {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32, %x: i32):
      %y = "test.items"(%x) : (i32) -> i32
      attn.yield %y : i32
    }
    "test.after"(%end) : (i32) -> ()
  }

  // A stride: every role counts for itself. The loop asks at its end, since a block has at least one tile.
  // CHECK-LABEL: attn.kernel @stride
  // CHECK: ^bb0(%[[NQ:.*]]: i32, %[[H:.*]]: i32, %[[B:.*]]: i32):
  // CHECK-NOT: attn.alloc
  // CHECK: attn.role "producer"
  // CHECK: scf.while
  // CHECK: attn.role "compute"
  // CHECK: %[[GX:.*]] = gpu.grid_dim  x
  // CHECK: %[[G:.*]] = arith.index_cast %[[GX]]
  // CHECK: %[[NQH:.*]] = arith.muli %[[NQ]], %[[H]]
  // CHECK: %[[COUNT:.*]] = arith.muli %[[NQH]], %[[B]]
  // CHECK: %[[BX:.*]] = gpu.block_id  x
  // CHECK: %[[FIRST:.*]] = arith.index_cast %[[BX]]
  // CHECK: %[[R:.*]]:3 = scf.while (%[[ID:.*]] = %[[FIRST]], %[[T:.*]] = %c0_i32{{.*}}, %[[X:.*]] = %[[NQ]]) : (i32, i32, i32) -> (i32, i32, i32)
  // CHECK: "test.use"(%[[T]], %{{.*}}, %{{.*}}, %{{.*}})
  // CHECK: %[[Y:.*]] = "test.items"(%[[X]])
  // CHECK: %[[NEXT:.*]] = arith.addi %[[ID]], %[[G]]
  // CHECK: %[[T1:.*]] = arith.addi %[[T]], %{{.*}}
  // CHECK: %[[MORE:.*]] = arith.cmpi ult, %[[NEXT]], %[[COUNT]]
  // CHECK: scf.condition(%[[MORE]]) %[[NEXT]], %[[T1]], %[[Y]]
  // CHECK: ^bb0(%[[A0:.*]]: i32, %[[A1:.*]]: i32, %[[A2:.*]]: i32):
  // CHECK: scf.yield %[[A0]], %[[A1]], %[[A2]]
  // CHECK: "test.after"(%[[R]]#2)
  // REMARK: tile ids come from {{.*}}the block id and a stride
  attn.kernel @stride {
  ^bb0(%nq: i32, %h: i32, %b: i32):
    attn.role "producer" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      attn.tiles fixed(%nq, %h, %b) {
      ^bb0(%t: i32, %i: i32, %hh: i32, %bb: i32):
        attn.yield
      }
      attn.yield
    }
    attn.role "compute" warps 4 + 4 groups 1 {
    ^bb0(%g: i32):
      %end = attn.tiles fixed(%nq, %h, %b) init(%nq) -> i32 {
      ^bb0(%t: i32, %i: i32, %hh: i32, %bb: i32, %x: i32):
        "test.use"(%t, %i, %hh, %bb) : (i32, i32, i32, i32) -> ()
        %y = "test.items"(%x) : (i32) -> i32
        attn.yield %y : i32
      }
      "test.after"(%end) : (i32) -> ()
      attn.yield
    }
  }

  // A counter: the first role asks at a tile's start and tells the others, 4 + 8 warps, at its end.
  // CHECK-LABEL: attn.kernel @counter
  // CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[CNT:.*]]: memref<1xi32>):
  // CHECK: %[[RING:.*]] = attn.alloc as "tile" readers 12 : !attn.ring<1, !attn.buf<tensor<1xi32>, 0>>
  // CHECK: attn.role "producer"
  // CHECK: %[[G:.*]] = arith.index_cast %{{.*}}
  // CHECK: %[[NQH:.*]] = arith.muli
  // CHECK: %[[COUNT:.*]] = arith.muli %[[NQH]], %{{.*}}
  // CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %{{.*}}
  // CHECK: scf.while (%[[ID:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}}) : (i32, i32) -> (i32, i32)
  // CHECK-NEXT: %[[F:.*]] = attn.fetch %[[CNT]] upto %[[LAST]] : memref<1xi32>
  // CHECK: "test.fill"(%[[T]])
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[G]], %[[F]]
  // CHECK-NEXT: %[[SLOT:.*]] = attn.acquire %[[RING]][%[[T]]]
  // CHECK-NEXT: attn.put %[[NEXT]], %[[SLOT]]
  // CHECK-NEXT: attn.commit %[[RING]][%[[T]]]
  // CHECK: arith.cmpi ult, %[[NEXT]], %[[COUNT]]
  // CHECK: attn.role "compute"
  // CHECK: scf.while (%{{.*}} = %{{.*}}, %[[T:.*]] = %{{.*}}) : (i32, i32) -> (i32, i32)
  // CHECK-NOT: attn.fetch
  // CHECK: "test.use"(%[[T]])
  // CHECK-NEXT: %[[SLOT:.*]] = attn.wait %[[RING]][%[[T]]]
  // CHECK-NEXT: %[[NEXT:.*]] = attn.get %[[SLOT]]
  // CHECK-NEXT: attn.release %[[RING]][%[[T]]]
  // CHECK: arith.cmpi ult, %[[NEXT]]
  // CHECK: attn.role "store"
  // CHECK: attn.wait %[[RING]]
  // REMARK: tile ids come from {{.*}}the block id and a counter
  attn.kernel @counter {
  ^bb0(%nq: i32, %h: i32, %b: i32, %cnt: memref<1xi32>):
    attn.role "producer" warps 0 + 4 groups 1 elect {
    ^bb0(%g: i32):
      attn.tiles dynamic(%nq, %h, %b) counter(%cnt : memref<1xi32>) {
      ^bb0(%t: i32, %i: i32, %hh: i32, %bb: i32):
        "test.fill"(%t) : (i32) -> ()
        attn.yield
      }
      attn.yield
    }
    attn.role "compute" warps 4 + 8 groups 2 {
    ^bb0(%g: i32):
      attn.tiles dynamic(%nq, %h, %b) counter(%cnt : memref<1xi32>) {
      ^bb0(%t: i32, %i: i32, %hh: i32, %bb: i32):
        "test.use"(%t) : (i32) -> ()
        attn.yield
      }
      attn.yield
    }
    attn.role "store" warps 12 + 4 groups 1 {
    ^bb0(%g: i32):
      attn.tiles dynamic(%nq, %h, %b) counter(%cnt : memref<1xi32>) {
      ^bb0(%t: i32, %i: i32, %hh: i32, %bb: i32):
        attn.yield
      }
      attn.yield
    }
  }
}

// -----

// A CPU kernel computes a range of tiles; a caller spreads ranges over threads.
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  // CHECK-LABEL: attn.kernel @range_of_tiles
  // CHECK: ^bb0(%[[NQ:.*]]: i32, %[[H:.*]]: i32, %[[B:.*]]: i32, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64):
  // CHECK: scf.for %[[K:.*]] = %[[BEGIN]] to %[[END]] step %{{.*}}  : i64
  // CHECK: %[[ID:.*]] = arith.trunci %[[K]] : i64 to i32
  // CHECK: %[[SINCE:.*]] = arith.subi %[[K]], %[[BEGIN]]
  // CHECK: %[[T:.*]] = arith.trunci %[[SINCE]] : i64 to i32
  // CHECK: arith.remui %[[ID]]
  // CHECK: "test.use"(%[[T]], %{{.*}}, %{{.*}}, %{{.*}})
  // REMARK: tile ids come from {{.*}}a loop
  attn.kernel @range_of_tiles {
  ^bb0(%nq: i32, %h: i32, %b: i32):
    attn.tiles single(%nq, %h, %b) {
    ^bb0(%t: i32, %i: i32, %hh: i32, %bb: i32):
      "test.use"(%t, %i, %hh, %bb) : (i32, i32, i32, i32) -> ()
      attn.yield
    }
  }

  // CHECK-LABEL: attn.kernel @range_carries
  // CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}) -> (i32)
  // CHECK: %[[Y:.*]] = "test.items"(%[[X]])
  // CHECK: scf.yield %[[Y]]
  // CHECK: "test.after"(%[[R]])
  attn.kernel @range_carries {
  ^bb0(%n: i32):
    %end = attn.tiles single(%n, %n, %n) init(%n) -> i32 {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32, %x: i32):
      %y = "test.items"(%x) : (i32) -> i32
      attn.yield %y : i32
    }
    "test.after"(%end) : (i32) -> ()
  }
}
