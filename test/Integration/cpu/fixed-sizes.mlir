// A spec may fix any size; the manifest then demands it, and loops that run once are no special case.
// RUN: rm -rf %t && attn-compile %s --chip=cpu -o %t && attn-run %t/manifest.json | FileCheck %s
// RUN: sed 's/2x4x150/1x1x1/g; s/2x2x150/1x1x1/g' %s > %t.ones.mlir
// RUN: rm -rf %t && attn-compile %t.ones.mlir --chip=cpu -o %t && attn-run %t/manifest.json | FileCheck %s
// RUN: sed 's/2x4x150/1x8x?/g; s/2x2x150/1x?x?/g' %s > %t.some.mlir
// RUN: rm -rf %t && attn-compile %t.some.mlir --chip=cpu -o %t && attn-run %t/manifest.json | FileCheck %s
// RUN: rm -rf %t && attn-compile %s --chip=sm_80 -o %t && FileCheck %s --check-prefix=MANIFEST < %t/manifest.json

// CHECK: PASS
// MANIFEST: {"dims":[2,4,150,64],"name":"q"
// MANIFEST: "tiles": [2,4,2]
func.func @fixed(%q: tensor<2x4x150x64xf16>, %k: tensor<2x2x150x64xf16>, %v: tensor<2x2x150x64xf16>) -> (tensor<2x4x150x64xf16>, tensor<2x4x150xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>]
    : (tensor<2x4x150x64xf16>, tensor<2x2x150x64xf16>, tensor<2x2x150x64xf16>) -> (tensor<2x4x150x64xf16>, tensor<2x4x150xf32>)
  return %o, %lse : tensor<2x4x150x64xf16>, tensor<2x4x150xf32>
}
