// RUN: attn-opt %s -attn-map-to-grid -split-input-file | FileCheck %s

// A function of several nests: a kernel and a launch for each, in order. A nest's schedule, name and target are its own
// where it has them; a kernel takes the arguments and workspaces that it uses, and no others.

// CHECK-LABEL: func.func @grad(
// CHECK-SAME: %[[Q:[^:]*]]: memref<?x?x?x8xf32> {attn.name = "q"}, %[[K:[^:]*]]: memref<?x?x?x16xf32> {attn.name = "k"}, %[[O:[^:]*]]: memref<?x?x?xf32> {attn.name = "out"})
// CHECK-NOT: attn.schedule
// CHECK-DAG: %[[B:.*]] = memref.dim %[[Q]], %c0
// CHECK-DAG: %[[H:.*]] = memref.dim %[[Q]], %c1
// CHECK-DAG: %[[HK:.*]] = memref.dim %[[K]], %c1
// CHECK: %[[W:.*]] = memref.alloc(%[[B]], %[[H]], %{{.*}}) {attn.name = "sums"} : memref<?x?x?xf32>
// CHECK: attn.launch @grad_pre tiles(%[[NQ:.*]], %[[H]], %[[B]]) args(%[[Q]], %[[W]] : memref<?x?x?x8xf32>, memref<?x?x?xf32>)

// The section of the sweep that walks all heads of a group: what it loads a query, 8 x 4 + 4 bytes, times queries
// times heads.
// CHECK: %[[S:.*]] = memref.dim %[[Q]]
// CHECK: %[[ONE:.*]] = arith.muli %[[S]], %c36
// CHECK: %[[G:.*]] = arith.divui %{{.*}}, %{{.*}} : i32
// CHECK: %[[GX:.*]] = arith.index_cast %[[G]] : i32 to index
// CHECK: %[[ALL:.*]] = arith.muli %[[ONE]], %[[GX]]
// CHECK: %[[SEC:.*]] = attn.section of(%[[B]], %[[HK]]) unit(%[[ALL]]) budget 1000
// CHECK: attn.launch @grad_dkv tiles(%{{.*}}, %[[HK]], %[[B]]) args(%[[Q]], %[[K]], %[[W]], %[[SEC]] : memref<?x?x?x8xf32>, memref<?x?x?x16xf32>, memref<?x?x?xf32>, i32)
// CHECK: attn.launch @grad_post tiles(%[[NQ]], %[[H]], %[[B]]) args(%[[Q]], %[[O]], %[[W]] :
// CHECK: return

// CHECK-LABEL: attn.kernel @grad_pre
// CHECK-SAME: attn.target = #attn.target<chip = "other", family = mma_sync
// CHECK-SAME: schedule = #attn.schedule<tile = [4, 4], warps = [4, 1]
// CHECK: ^bb0(%{{.*}}: memref<?x?x?x8xf32>, %[[W:.*]]: memref<?x?x?xf32>):
// CHECK: attn.tiles single(%{{.*}}, %{{.*}}, %{{.*}}) {
// CHECK: attn.store %{{.*}}, %[[W]]

// Later tiles of keys are seen by fewer queries: the first come first.
// CHECK-LABEL: attn.kernel @grad_dkv
// CHECK-NOT: attn.target
// CHECK-SAME: schedule = #attn.schedule<tile = [4, 8], warps = [4, 1]{{.*}}section = 1000
// CHECK: attn.tiles single(%{{.*}}, %{{.*}}, %{{.*}}) section(%{{.*}}) {
// CHECK: scf.for
// CHECK: attn.sweep

// CHECK-LABEL: attn.kernel @grad_post
// CHECK-SAME: schedule = #attn.schedule<tile = [4, 8], warps = [2, 1]
// CHECK: attn.load
module attributes {attn.target = #attn.target<chip = "toy", family = wgmma>} {
  func.func @grad(%q: memref<?x?x?x8xf32> {attn.name = "q"}, %k: memref<?x?x?x16xf32> {attn.name = "k"},
                  %out: memref<?x?x?xf32> {attn.name = "out"})
      attributes {attn.schedule = #attn.schedule<tile = [4, 8], warps = [2, 1], section = 1000>} {
    %x0 = arith.constant 0 : index
    %x1 = arith.constant 1 : index
    %x2 = arith.constant 2 : index
    %x4 = arith.constant 4 : index
    %B = memref.dim %q, %x0 : memref<?x?x?x8xf32>
    %H = memref.dim %q, %x1 : memref<?x?x?x8xf32>
    %S = memref.dim %q, %x2 : memref<?x?x?x8xf32>
    %Hk = memref.dim %k, %x1 : memref<?x?x?x16xf32>
    %Sk = memref.dim %k, %x2 : memref<?x?x?x16xf32>
    %nq = arith.ceildivui %S, %x4 : index
    %Sp = arith.muli %nq, %x4 : index
    %nk = arith.ceildivui %Sk, %x4 : index
    %Hi = arith.index_cast %H : index to i32
    %Hki = arith.index_cast %Hk : index to i32
    %nqi = arith.index_cast %nq : index to i32
    %w = memref.alloc(%B, %H, %Sp) {attn.name = "sums"} : memref<?x?x?xf32>
    scf.forall (%bx, %hx, %ix) in (%B, %H, %nq) {
      %b = arith.index_cast %bx : index to i32
      %h = arith.index_cast %hx : index to i32
      %i = arith.index_cast %ix : index to i32
      %x = attn.load %q[%b, %h, %i] : memref<?x?x?x8xf32> -> tensor<4x8xf32>
      %s = attn.reduce sum %x : tensor<4x8xf32> -> tensor<4xf32>
      attn.store %s, %w[%b, %h, %i] : tensor<4xf32>, memref<?x?x?xf32>
    } {attn.nest = "pre", attn.schedule = #attn.schedule<tile = [4, 4], warps = [4, 1]>,
       attn.target = #attn.target<chip = "other", family = mma_sync>}
    scf.forall (%bx, %hx, %jx) in (%B, %Hk, %nk) {
      %b = arith.index_cast %bx : index to i32
      %kv = arith.index_cast %hx : index to i32
      %j = arith.index_cast %jx : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %G = arith.divui %Hi, %Hki : i32
      %kt = attn.load %k[%b, %kv, %j] : memref<?x?x?x16xf32> -> tensor<4x16xf32>
      scf.for %g = %c0 to %G step %c1 : i32 {
        attn.sweep ascending %j to %nqi plain %j to %nqi {
        ^bb0(%t: i32, %m: i32):
          %x = attn.load %q[%b, %g, %m] : memref<?x?x?x8xf32> -> tensor<4x8xf32>
          %l = attn.load %w[%b, %g, %m] : memref<?x?x?xf32> -> tensor<4xf32>
          attn.yield
        }
      }
    } {attn.nest = "dkv", attn.schedule = #attn.schedule<tile = [4, 8], warps = [4, 1], section = 1000>}
    scf.forall (%bx, %hx, %ix) in (%B, %H, %nq) {
      %b = arith.index_cast %bx : index to i32
      %h = arith.index_cast %hx : index to i32
      %i = arith.index_cast %ix : index to i32
      %l = attn.load %w[%b, %h, %i] : memref<?x?x?xf32> -> tensor<4xf32>
      attn.store %l, %out[%b, %h, %i] : tensor<4xf32>, memref<?x?x?xf32>
    } {attn.nest = "post"}
    return
  }
}
