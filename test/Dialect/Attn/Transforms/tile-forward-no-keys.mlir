// A spec without keys still has a sweep of one block (W1): the host never launches the kernel, but it compiles like
// any other, and what roles count (n + hi - lo) is what they do.
// RUN: attn-opt %s -attn-to-partitioned=chip=sm_90a -o /dev/null
// RUN: attn-opt %s -attn-to-mapped=chip=sm_90a | FileCheck %s
// RUN: attn-opt %s -attn-to-mapped=chip=sm_80 | FileCheck %s
// CHECK: attn.kernel @full_fwd
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: attn.sweep descending %[[NONE]] to %[[ONE]] plain %[[NONE]] to %[[NONE]]
func.func @full(%q: tensor<1x1x64x64xbf16>, %k: tensor<1x1x0x64xbf16>, %v: tensor<1x1x0x64xbf16>) -> (tensor<1x1x64x64xbf16>, tensor<1x1x64xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<1x1x64x64xbf16>, tensor<1x1x0x64xbf16>, tensor<1x1x0x64xbf16>) -> (tensor<1x1x64x64xbf16>, tensor<1x1x64xf32>)
  return %o, %lse : tensor<1x1x64x64xbf16>, tensor<1x1x64xf32>
}

// The first step of the next tile runs over the last one of this tile.
func.func @overlap(%q: tensor<?x6x?x64xf16>, %k: tensor<?x1x0x64xf16>, %v: tensor<?x1x0x64xf16>, %w: i32) -> (tensor<?x6x?x64xf16>, tensor<?x6x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%w : i32)
    visible {
    ^bb0(%b: i32, %h: i32, %qi: i32, %ki: i32):
      %r = arith.cmpi slt, %ki, %w : i32
      attn.yield %r : i1
    } : (tensor<?x6x?x64xf16>, tensor<?x1x0x64xf16>, tensor<?x1x0x64xf16>) -> (tensor<?x6x?x64xf16>, tensor<?x6x?xf32>)
  return %o, %lse : tensor<?x6x?x64xf16>, tensor<?x6x?xf32>
}
