// A spec becomes a shared library that needs nothing but libc and libm, and the manifest says which CPU it is for.
//
// RUN: attn-compile %s --chip=cpu --cpu=x86-64-v3 -o %t && FileCheck %s --check-prefix=MANIFEST < %t/manifest.json
// MANIFEST: "chip": "cpu"
// MANIFEST: "code": "attention_fwd.so"
// MANIFEST: "cpu": "x86-64-v3"
//
// RUN: llvm-nm --dynamic %t/attention_fwd.so | FileCheck %s --check-prefix=SYMBOLS
// SYMBOLS-NOT: {{ U (__|_?mlir|printf)}}
// SYMBOLS: T attention_fwd
// SYMBOLS-NOT: attention_fwd_tiles
//
// Nothing else is left beside them.
// RUN: ls -A %t | FileCheck %s --check-prefix=FILES
// FILES: attention_fwd.so
// FILES-NEXT: manifest.json
// FILES-NOT: {{.}}
//
// AVX2 code has no 512-bit register, and its dots are fused multiply-adds of broadcasts.
// RUN: llvm-objdump -d --no-show-raw-insn %t/attention_fwd.so | FileCheck %s --check-prefix=AVX2
// AVX2: vbroadcastss
// AVX2: vfmadd{{.*}} %ymm
// AVX2-NOT: zmm

func.func @attention(%q: tensor<?x?x?x64xbf16>, %k: tensor<?x?x?x64xbf16>, %v: tensor<?x?x?x64xbf16>)
    -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>]
    : (tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>, tensor<?x?x?x64xbf16>) -> (tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xbf16>, tensor<?x?x?xf32>
}
