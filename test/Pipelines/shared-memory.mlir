// The formula that chooses a schedule and the plan that places its buffers agree to the byte (one schedule for all: rows of
// the table are tuned).
// RUN: attn-opt %s -attn-to-partitioned='chip=sm_80 schedule="tile = [64, 64], warps = [4, 1], depth = {k = 2, v = 2}"' -remarks-filter=attn-choose-schedule -remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=ESTIMATE < %t

// ESTIMATE: smem_bytes=30720
// CHECK: attn.kernel @d40_fwd {{.*}}smem_bytes = 30720 : i64
func.func @d40(%q: tensor<?x?x?x40xbf16>, %k: tensor<?x?x?x40xbf16>, %v: tensor<?x?x?x40xbf16>) -> (tensor<?x?x?x40xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x40xbf16>, tensor<?x?x?x40xbf16>, tensor<?x?x?x40xbf16>) -> (tensor<?x?x?x40xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x40xbf16>, tensor<?x?x?xf32>
}

// ESTIMATE: smem_bytes=51200
// CHECK: attn.kernel @d72_fwd {{.*}}smem_bytes = 51200 : i64
func.func @d72(%q: tensor<?x?x?x72xbf16>, %k: tensor<?x?x?x72xbf16>, %v: tensor<?x?x?x72xbf16>) -> (tensor<?x?x?x72xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x72xbf16>, tensor<?x?x?x72xbf16>, tensor<?x?x?x72xbf16>) -> (tensor<?x?x?x72xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x72xbf16>, tensor<?x?x?xf32>
}

// ESTIMATE: smem_bytes=65536
// CHECK: attn.kernel @d64_dv128_fwd {{.*}}smem_bytes = 65536 : i64
func.func @d64_dv128(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

// ESTIMATE: smem_bytes=106496
// CHECK: attn.kernel @d192_dv128_fwd {{.*}}smem_bytes = 106496 : i64
func.func @d192_dv128(%q: tensor<?x?x?x192xbf16>, %k: tensor<?x?x?x192xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x192xbf16>, tensor<?x?x?x192xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

// ESTIMATE: smem_bytes=163840
// CHECK: attn.kernel @d256_fwd {{.*}}smem_bytes = 163840 : i64
func.func @d256(%q: tensor<?x?x?x256xbf16>, %k: tensor<?x?x?x256xbf16>, %v: tensor<?x?x?x256xbf16>) -> (tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x256xbf16>, tensor<?x?x?x256xbf16>, tensor<?x?x?x256xbf16>) -> (tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>
}
