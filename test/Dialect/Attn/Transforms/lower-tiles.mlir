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
}
