// Family wgmma: rows by mask and query length, and an alternative on mma.sync for what no tensor map describes.
// RUN: attn-opt %s -attn-choose-schedule | FileCheck %s
// RUN: attn-opt %s -attn-choose-schedule -attn-tile-forward | FileCheck %s --check-prefix=TILED
// RUN: attn-opt %s -attn-choose-schedule -remarks-filter=attn-choose-schedule -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// What the formula of shared memory says is what the plan takes.
// RUN: attn-opt %s -attn-choose-schedule -attn-tile-forward -attn-map-to-grid -attn-partition-roles -attn-assign-fragments -attn-lower-tiles -attn-plan-memory | FileCheck %s --check-prefix=PLAN
// PLAN: attn.kernel @full_fwd {{.*}} smem_bytes = 180480 : i64
// PLAN: attn.kernel @d64_causal_fwd {{.*}} smem_bytes = 114944 : i64
// PLAN: attn.kernel @d256_fwd {{.*}} smem_bytes = 229504 : i64
// PLAN: attn.kernel @d192_dv256_fwd {{.*}} smem_bytes = 229504 : i64
module attributes {attn.target = #attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>} {

// Two rows share the lengths; each function says which calls it is for, the last one takes the rest.
// CHECK-LABEL: func.func @full(
// CHECK-SAME: attributes {attn.when = {aligned = ["q", "k", "v", "o"], from = 1536 : i64, size = "q_len"}}
// CHECK: schedule <tile = [192, 80], warps = [4, 1], groups = 3, regs = [32, 160]
// CHECK-SAME: from = "table wgmma forward, head dim <= 128, no mask, q_len >= 1536"
// CHECK-LABEL: func.func @full_below_1536(
// CHECK-SAME: attributes {attn.alternative = @full, attn.when = {aligned = ["q", "k", "v", "o"], below = 1536 : i64, size = "q_len"}}
// CHECK: schedule <tile = [128, 128], warps = [4, 1], groups = 2, regs = [24, 240]
// CHECK-LABEL: func.func @full_unaligned(
// CHECK-SAME: attributes {attn.alternative = @full, attn.target = #attn.target<chip = "sm_90a", family = mma_sync, smem = 232448, smem_sm = 233472, sms = 132>}
// CHECK: schedule <tile = [128, 64], warps = [4, 1], depth
// REMARK: schedule{{.*}}Function=full |{{.*}} q_len_from=1536, rule="table wgmma forward, head dim <= 128, no mask, q_len >= 1536", smem_bytes=180480, tile_keys=80, tile_queries=192, warps=12
// REMARK: schedule{{.*}}Function=full_below_1536 |{{.*}} q_len_below=1536, {{.*}}smem_bytes=229632
// REMARK: schedule{{.*}}Function=full_unaligned | Remark="for operands that no tensor map can describe", rule="table mma_sync forward, head dim <= 128"
func.func @full(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

// Any mask is another class. Its tiles differ in length, so a counter deals them out.
// CHECK-LABEL: func.func @causal(
// CHECK-SAME: attributes {attn.when = {aligned = ["q", "k", "v", "o"], from = 6144 : i64, size = "q_len"}}
// CHECK: tile = [192, 80], {{.*}}tiles = dynamic
// CHECK-LABEL: func.func @causal_from_1536_below_6144(
// CHECK: tile = [128, 128], {{.*}}seam = overlap, tiles = dynamic, section = 33554432
// CHECK-LABEL: func.func @causal_below_6144(
// CHECK: tile = [128, 128], {{.*}}seam = overlap, tiles = dynamic, section = 25165824
// CHECK-LABEL: func.func @causal_unaligned(
func.func @causal(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<top_left>] : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

// A value that a region gathers for every score takes registers, so that another row is the first that fits; one for rows or
// columns does not.
// CHECK-LABEL: func.func @slopes(
// CHECK: schedule <tile = [192, 80]
// CHECK-SAME: from = "table wgmma forward, head dim <= 128, masked, q_len >= 6144"
func.func @slopes(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %x: tensor<?xf32>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<top_left>] captures(%x : tensor<?xf32>) score {
  ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
    %y = attn.gather %x[%ki] : (tensor<?xf32>, i32) -> f32
    %z = arith.addf %s, %y : f32
    attn.yield %z : f32
  } : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
// CHECK-LABEL: func.func @relative(
// CHECK: schedule <tile = [128, 112]
// CHECK-LABEL: func.func @relative_unaligned(
// CHECK: schedule <tile = [64, 64]
func.func @relative(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>, %x: tensor<?xf32>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%x : tensor<?xf32>) score {
  ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
    %d = arith.subi %qi, %ki : i32
    %y = attn.gather %x[%d] : (tensor<?xf32>, i32) -> f32
    %z = arith.addf %s, %y : f32
    attn.yield %z : f32
  } : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

// Some rows are for score regions only.
// CHECK-LABEL: func.func @capped(
// CHECK: schedule <tile = [128, 80]
// CHECK-SAME: from = "table wgmma forward, head dim <= 256, masked, score region"
func.func @capped(%q: tensor<?x?x?x256xbf16>, %k: tensor<?x?x?x256xbf16>, %v: tensor<?x?x?x256xbf16>) -> (tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<top_left>] score {
  ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
    %z = math.tanh %s : f32
    attn.yield %z : f32
  } : (tensor<?x?x?x256xbf16>, tensor<?x?x?x256xbf16>, tensor<?x?x?x256xbf16>) -> (tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>
}

// A length that the spec fixes needs no choice at run time. Operands go by the names they will have.
// CHECK-LABEL: func.func @long(
// CHECK-SAME: attributes {attn.when = {aligned = ["query", "k", "v", "o"]}}
// CHECK: tile = [192, 80]
// CHECK-NOT: func.func @long_below
// CHECK: func.func @long_unaligned(
func.func @long(%q: tensor<2x8x4096x128xbf16> {attn.name = "query"}, %k: tensor<2x8x4096x128xbf16>, %v: tensor<2x8x4096x128xbf16>) -> (tensor<2x8x4096x128xbf16>, tensor<2x8x4096xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<2x8x4096x128xbf16>, tensor<2x8x4096x128xbf16>, tensor<2x8x4096x128xbf16>) -> (tensor<2x8x4096x128xbf16>, tensor<2x8x4096xf32>)
  return %o, %lse : tensor<2x8x4096x128xbf16>, tensor<2x8x4096xf32>
}

// The rows of the other head dimensions, with and without a mask. Tiles hold whole panels of 64 columns.
// CHECK-LABEL: func.func @d40(
// CHECK: tile = [192, 128], warps = [4, 1], groups = 3, {{.*}}out = own, tiles = dynamic
// TILED-LABEL: func.func @d40(
// TILED: attn.load as "Q" {{.*}} -> tensor<192x64xbf16>
// TILED: func.func @d40_unaligned(
// TILED: attn.load as "Q" {{.*}} -> tensor<128x48xbf16>
func.func @d40(%q: tensor<?x?x?x40xbf16>, %k: tensor<?x?x?x40xbf16>, %v: tensor<?x?x?x40xbf16>) -> (tensor<?x?x?x40xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x40xbf16>, tensor<?x?x?x40xbf16>, tensor<?x?x?x40xbf16>) -> (tensor<?x?x?x40xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x40xbf16>, tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @d64_causal(
// CHECK: tile = [192, 128], warps = [4, 1], groups = 3, {{.*}}out = own, tiles = dynamic
// CHECK: func.func @d64_causal_below_1536(
// CHECK: tile = [128, 128], warps = [4, 1], groups = 2, {{.*}}seam = overlap, tiles = dynamic
func.func @d64_causal(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<top_left>] : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @d192_dv128(
// CHECK: tile = [128, 80], warps = [4, 1], groups = 2, {{.*}}skip = 8, out = own, tiles = fixed
func.func @d192_dv128(%q: tensor<?x?x?x192xbf16>, %k: tensor<?x?x?x192xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x192xbf16>, tensor<?x?x?x192xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @d256(
// CHECK: tile = [128, 64], warps = [4, 1], groups = 2, {{.*}}skip = 8, out = own, tiles = fixed
func.func @d256(%q: tensor<?x?x?x256xbf16>, %k: tensor<?x?x?x256xbf16>, %v: tensor<?x?x?x256xbf16>) -> (tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x256xbf16>, tensor<?x?x?x256xbf16>, tensor<?x?x?x256xbf16>) -> (tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>
}

// O has bytes of its own: half of it at a time, or the tile would have to be smaller.
// CHECK-LABEL: func.func @d192_dv256(
// CHECK: tile = [128, 64], warps = [4, 1], groups = 2, {{.*}}skip = 8, out = own, tiles = fixed
// REMARK: schedule{{.*}}Function=d192_dv256 |{{.*}} smem_bytes=229504
func.func @d192_dv256(%q: tensor<?x?x?x192xbf16>, %k: tensor<?x?x?x192xbf16>, %v: tensor<?x?x?x256xbf16>) -> (tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x192xbf16>, tensor<?x?x?x192xbf16>, tensor<?x?x?x256xbf16>) -> (tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>
}

// A schedule of one's own is for every length; it gets the last resort too.
// CHECK-LABEL: func.func @own(
// CHECK-SAME: attributes {attn.when = {aligned = ["q", "k", "v", "o"]}}
// CHECK: tile = [64, 64], warps = [4, 1], regs = [24, 256], tiles = single, from = "op"
// CHECK-LABEL: func.func @own_unaligned(
// CHECK: from = "table mma_sync forward, head dim <= 64"
func.func @own(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [64, 64], warps = [4, 1], regs = [24, 256]> : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
}
