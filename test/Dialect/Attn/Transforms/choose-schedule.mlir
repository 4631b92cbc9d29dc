// RUN: attn-opt %s -attn-set-target=chip=sm_80 -attn-choose-schedule | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: attn-opt %s -attn-set-target=chip=sm_89 -attn-choose-schedule | FileCheck %s --check-prefixes=CHECK,SM89
// RUN: attn-opt %s -attn-set-target=chip=sm_90 -attn-choose-schedule | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: attn-opt %s -attn-set-target=chip=cpu -attn-choose-schedule | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: attn-opt %s -attn-set-target=chip=sm_80 "-attn-choose-schedule=schedule=\"tile = [64, 64], warps = [4, 1]\"" | FileCheck %s --check-prefix=OPTION
// RUN: attn-opt %s -attn-set-target=chip=sm_80 -attn-choose-schedule -remarks-filter=attn-choose-schedule -remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// The first row of the class that fits.
// CHECK-LABEL: func.func @d64
// SM80: schedule <tile = [128, 128], warps = [4, 1], depth = {k = 2, v = 2}, blocks = 2, tiles = single, section = 25165824, from = "table mma_sync forward, head dim <= 64">
// CPU: schedule <tile = [64, 64], warps = [1, 1], tiles = single, from = "table cpu forward, head dim <= 256">
// OPTION-LABEL: func.func @d64
// OPTION: schedule <tile = [64, 64], warps = [4, 1], tiles = single, from = "option">
// REMARK: choose-schedule.mlir:[[#@LINE+2]]:{{.*}}schedule{{.*}}rule="table mma_sync forward, head dim <= 64"{{.*}}smem_bytes=81920
func.func @d64(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}

// Two blocks of 98304 bytes need a 227 KB part, one fits the others.
// CHECK-LABEL: func.func @d128
// SM80: schedule <tile = [128, 64], warps = [4, 1], depth = {k = 2, v = 2}, tiles = single
// SM89: schedule <tile = [128, 64], warps = [4, 1], depth = {k = 2, v = 2}, tiles = single
// SM90: schedule <tile = [128, 64], warps = [4, 1], depth = {k = 2, v = 2}, blocks = 2, tiles = single
func.func @d128(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

// The class is that of the larger of D and Dv.
// CHECK-LABEL: func.func @d192_dv128
// SM80: schedule <tile = [128, 64], warps = [8, 1]
// SM89: schedule <tile = [64, 32], warps = [4, 1]
func.func @d192_dv128(%q: tensor<?x?x?x192xbf16>, %k: tensor<?x?x?x192xbf16>, %v: tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x192xbf16>, tensor<?x?x?x192xbf16>, tensor<?x?x?x128xbf16>) -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @d256
// SM80: schedule <tile = [64, 64], warps = [4, 1]
// SM89: schedule <tile = [64, 32], warps = [4, 1]
// SM90: schedule <tile = [64, 64], warps = [4, 1], blocks = 2
func.func @d256(%q: tensor<?x?x?x256xbf16>, %k: tensor<?x?x?x256xbf16>, %v: tensor<?x?x?x256xbf16>) -> (tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (tensor<?x?x?x256xbf16>, tensor<?x?x?x256xbf16>, tensor<?x?x?x256xbf16>) -> (tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x256xbf16>, tensor<?x?x?xf32>
}

// A schedule on the op wins over option and table.
// CHECK-LABEL: func.func @pinned
// CHECK: schedule <tile = [64, 32], warps = [4, 1], depth = {k = 2, v = 2}, tiles = single, from = "op">
// OPTION-LABEL: func.func @pinned
// OPTION: schedule <tile = [64, 32], warps = [4, 1], depth = {k = 2, v = 2}, tiles = single, from = "op">
func.func @pinned(%q: tensor<?x?x?x64xf16>, %k: tensor<?x?x?x64xf16>, %v: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [64, 32], warps = [4, 1], depth = {k = 2, v = 2}> : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
