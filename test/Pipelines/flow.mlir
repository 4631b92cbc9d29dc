// One spec through every stage, each of them entered again as text and continued.
// RUN: rm -rf %t && attn-compile %s --chip=sm_80 --stop-after=spec | FileCheck %s --check-prefix SPEC
// RUN: attn-compile %s --chip=sm_80 --save-stages=%t -o %t.out
// RUN: FileCheck %s --check-prefix TILED --input-file %t/1-tiled.mlir
// RUN: FileCheck %s --check-prefix MAPPED --input-file %t/2-mapped.mlir
// RUN: FileCheck %s --check-prefix PARTITIONED --input-file %t/3-partitioned.mlir
// RUN: FileCheck %s --check-prefix NVVM --input-file %t/4-nvvm.mlir
// RUN: FileCheck %s --check-prefix PTX --input-file %t.out/attention_fwd.ptx

// From any stage on, the result is the same, to the letter.
// RUN: attn-compile %t/1-tiled.mlir -o %t.1 && diff -r %t.out %t.1
// RUN: attn-compile %t/2-mapped.mlir -o %t.2 && diff -r %t.out %t.2
// RUN: attn-compile %t/3-partitioned.mlir -o %t.3 && diff -r %t.out %t.3
// RUN: attn-compile %t/4-nvvm.mlir -o %t.4 && diff -r %t.out %t.4

// The pipelines of attn-opt are the same functions.
// RUN: attn-opt %s --attn-to-tiled=chip=sm_80 | attn-opt --attn-stage-mapped --attn-stage-partitioned --attn-stage-nvvm \
// RUN:   | attn-compile - -o %t.5 && diff -r %t.out %t.5

// SPEC: attn.sdpa
func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.0883883461 mask [#attn.causal<bottom_right>]
    : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}

// TILED-NOT: attn.sdpa
// TILED: scf.forall
// TILED: attn.load as "Q"
// TILED: attn.sweep descending
// TILED: attn.dot as "S"
// TILED: attn.mask
// TILED: math.exp2
// TILED: attn.dot as "PV"
// TILED: attn.store

// MAPPED-NOT: scf.forall
// MAPPED: attn.section
// MAPPED: attn.launch @attention_fwd
// MAPPED: attn.kernel @attention_fwd
// MAPPED: attn.tiles single({{.*}}) section({{.*}}) heaviest_first
// MAPPED: attn.sweep

// PARTITIONED-NOT: attn.tiles
// PARTITIONED-NOT: attn.sweep
// PARTITIONED: smem_bytes = 98304
// PARTITIONED: attn.role "compute" warps 0 + 4
// PARTITIONED: gpu.block_id
// The loop with the mask, then the plain one.
// PARTITIONED: scf.for
// PARTITIONED: attn.wait {{.*}} leaves 1
// PARTITIONED: attn.mask
// PARTITIONED: scf.for
// PARTITIONED-NOT: attn.mask

// NVVM: llvm.func @attention_fwd
// NVVM: nvvm.cp.async.shared.global
// NVVM: nvvm.ldmatrix
// NVVM: nvvm.mma.sync

// PTX: .target sm_80
// PTX: .entry attention_fwd
// PTX: .reqntid 128
// PTX: cp.async.cg.shared.global
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX: ex2.approx
