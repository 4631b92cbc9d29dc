// RUN: attn-opt %s -attn-map-to-grid -split-input-file | FileCheck %s

// The nest becomes tiles of a kernel in the order (row tiles, heads, batch), its body unchanged; the function keeps the
// sizes and the launch. The end of the sweep moves with the row tile, so the last row tiles come first.

// CHECK-LABEL: func.func @grows(
// CHECK-SAME: %[[A:.*]]: memref<?x?x?x8xf32> {attn.name = "a"})
// CHECK-NOT: attn.schedule
// CHECK: %[[B:.*]] = memref.dim %[[A]], %c0
// CHECK: %[[H:.*]] = memref.dim %[[A]], %c1
// CHECK: %[[S:.*]] = memref.dim %[[A]], %c2
// CHECK: %[[N:.*]] = arith.ceildivui %[[S]], %c4
// CHECK-NOT: index_cast
// CHECK: %[[LEN:.*]] = memref.dim %[[A]]
// CHECK: %[[BYTES:.*]] = arith.muli %[[LEN]], %c32
// CHECK: %[[SEC:.*]] = attn.section of(%[[B]], %[[H]]) unit(%[[BYTES]]) budget 1000
// CHECK: attn.launch @grows_fwd tiles(%[[N]], %[[H]], %[[B]]) args(%[[A]], %[[SEC]] : memref<?x?x?x8xf32>, i32)

// CHECK-LABEL: attn.kernel @grows_fwd
// CHECK-SAME: schedule = #attn.schedule<tile = [4, 4]
// CHECK: ^bb0(%[[A:.*]]: memref<?x?x?x8xf32>, %[[SEC:.*]]: i32):
// CHECK: %[[LEN:.*]] = arith.index_cast
// CHECK: %[[N:.*]] = arith.index_cast
// CHECK: %[[H:.*]] = arith.index_cast
// CHECK: %[[B:.*]] = arith.index_cast
// CHECK: attn.tiles single(%[[N]], %[[H]], %[[B]]) section(%[[SEC]]) heaviest_first {
// CHECK: ^bb0(%{{.*}}: i32, %[[i:.*]]: i32, %[[h:.*]]: i32, %[[b:.*]]: i32):
// CHECK-NOT: index_cast
// CHECK: %[[HI:.*]] = arith.addi %[[i]], %c1
// CHECK: attn.sweep ascending %c0{{.*}} to %[[HI]]
// CHECK: attn.load %[[A]][%[[b]], %[[h]], %{{.*}}]
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @grows(%a: memref<?x?x?x8xf32> {attn.name = "a"}) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1], section = 1000>} {
    %x0 = arith.constant 0 : index
    %x1 = arith.constant 1 : index
    %x2 = arith.constant 2 : index
    %x4 = arith.constant 4 : index
    %B = memref.dim %a, %x0 : memref<?x?x?x8xf32>
    %H = memref.dim %a, %x1 : memref<?x?x?x8xf32>
    %S = memref.dim %a, %x2 : memref<?x?x?x8xf32>
    %N = arith.ceildivui %S, %x4 : index
    %len = arith.index_cast %S : index to i32
    scf.forall (%bx, %hx, %ix) in (%B, %H, %N) {
      %b = arith.index_cast %bx : index to i32
      %h = arith.index_cast %hx : index to i32
      %i = arith.index_cast %ix : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %hi = arith.addi %i, %c1 : i32
      attn.sweep ascending %c0 to %hi plain %c0 to %c0 {
      ^bb0(%t: i32, %j: i32):
        %m = arith.minsi %j, %len : i32
        %x = attn.load %a[%b, %h, %m] : memref<?x?x?x8xf32> -> tensor<4x8xf32>
        attn.yield
      }
    }
    return
  }
}

// -----

// No budget, no section; every row tile is as long as the others; an induction variable used as an index is cast back.

// CHECK-LABEL: func.func @even(
// CHECK-NOT: attn.section
// CHECK: attn.launch @even_fwd tiles({{.*}}) args(%{{.*}}, %{{.*}} : memref<?x?x?x8xf32>, f32)
// CHECK-LABEL: attn.kernel @even_fwd
// CHECK: attn.tiles single(%{{.*}}, %{{.*}}, %{{.*}}) {
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[b:.*]]: i32):
// CHECK: %[[bx:.*]] = arith.index_cast %[[b]] : i32 to index
// CHECK: memref.load %{{.*}}[%[[bx]], %[[bx]], %[[bx]], %[[bx]]]
module attributes {attn.target = #attn.target<chip = "toy", family = cpu>} {
  func.func @even(%a: memref<?x?x?x8xf32>, %f: f32) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    %x0 = arith.constant 0 : index
    %B = memref.dim %a, %x0 : memref<?x?x?x8xf32>
    scf.forall (%bx, %hx, %ix) in (%B, %B, %B) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %e = memref.load %a[%bx, %bx, %bx, %bx] : memref<?x?x?x8xf32>
      %x = arith.addf %e, %f : f32
      attn.sweep ascending %c0 to %c1 plain %c0 to %c0 {
      ^bb0(%t: i32, %j: i32):
        attn.yield
      }
    }
    return
  }
}

// -----

// A begin that follows the row tile as well (a window) leaves all tiles alike.

// CHECK-LABEL: attn.kernel @window_fwd
// CHECK: attn.tiles
// CHECK-NOT: heaviest_first
// CHECK: attn.sweep
module attributes {attn.target = #attn.target<chip = "toy", family = mma_sync>} {
  func.func @window(%a: memref<?x?x?x8xf32>) attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [1, 1]>} {
    %x0 = arith.constant 0 : index
    %B = memref.dim %a, %x0 : memref<?x?x?x8xf32>
    scf.forall (%bx, %hx, %ix) in (%B, %B, %B) {
      %i = arith.index_cast %ix : index to i32
      %c1 = arith.constant 1 : i32
      %hi = arith.addi %i, %c1 : i32
      attn.sweep ascending %i to %hi plain %i to %i {
      ^bb0(%t: i32, %j: i32):
        attn.yield
      }
    }
    return
  }
}

// -----

// Dynamic tiles: as many blocks as run at once, and a counter that is the launch's last argument. A target of the
// function's own holds for its kernel; when it may run is the host's business.

// CHECK-LABEL: func.func @walk(
// CHECK-SAME: attn.alternative = @f, attn.target = #attn.target<chip = "other"
// CHECK-SAME: attn.when = {below = 100 : i64, size = "q_len"}
// CHECK: %[[SEC:.*]] = attn.section of({{.*}}) unit({{.*}}) budget 1000{{$}}
// CHECK: %[[CNT:.*]] = memref.alloc() : memref<1xi32>
// CHECK: attn.launch @walk_fwd persistent tiles({{.*}}) args(%{{.*}}, %[[SEC]], %[[CNT]] : memref<?x?x?x8xf32>, i32, memref<1xi32>)
// CHECK-LABEL: attn.kernel @walk_fwd
// CHECK-SAME: attn.target = #attn.target<chip = "other"
// CHECK-NOT: attn.when
// CHECK: ^bb0(%{{.*}}: memref<?x?x?x8xf32>, %[[SEC:.*]]: i32, %[[CNT:.*]]: memref<1xi32>):
// CHECK: attn.tiles dynamic(%{{.*}}, %{{.*}}, %{{.*}}) section(%[[SEC]]) counter(%[[CNT]] : memref<1xi32>) {

// A fixed stride needs none.
// CHECK-LABEL: func.func @stride(
// CHECK-NOT: memref.alloc
// CHECK: attn.launch @stride_fwd persistent tiles({{.*}}) args(%{{.*}} : memref<?x?x?x8xf32>)
// CHECK-LABEL: attn.kernel @stride_fwd
// CHECK-NOT: attn.target
// CHECK: attn.tiles fixed(%{{.*}}, %{{.*}}, %{{.*}}) {
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  func.func @walk(%a: memref<?x?x?x8xf32>)
      attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [4, 1], tiles = dynamic, section = 1000>,
                  attn.alternative = @f, attn.when = {size = "q_len", below = 100 : i64},
                  attn.target = #attn.target<chip = "other", family = wgmma, sms = 100>} {
    %x0 = arith.constant 0 : index
    %B = memref.dim %a, %x0 : memref<?x?x?x8xf32>
    scf.forall (%bx, %hx, %ix) in (%B, %B, %B) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      attn.sweep ascending %c0 to %c1 plain %c0 to %c0 {
      ^bb0(%t: i32, %j: i32):
        attn.yield
      }
    }
    return
  }
  func.func @stride(%a: memref<?x?x?x8xf32>)
      attributes {attn.schedule = #attn.schedule<tile = [4, 4], warps = [4, 1], tiles = fixed>} {
    %x0 = arith.constant 0 : index
    %B = memref.dim %a, %x0 : memref<?x?x?x8xf32>
    scf.forall (%bx, %hx, %ix) in (%B, %B, %B) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      attn.sweep ascending %c0 to %c1 plain %c0 to %c0 {
      ^bb0(%t: i32, %j: i32):
        attn.yield
      }
    }
    return
  }
}
