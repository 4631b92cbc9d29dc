// Which argument is q, k or v is a matter of the op, not of the order of arguments; the manifest lists q, k, v, captures,
// o, lse. One argument may be two of them, and LSE need not be returned.
// RUN: rm -rf %t && split-file %s %t

// RUN: attn-compile %t/shuffled.mlir --chip=cpu -o %t/shuffled && FileCheck %s --check-prefix SHUFFLED --input-file %t/shuffled/manifest.json
// SHUFFLED: "operands": {"k":"k","lse":"lse","o":"o","q":"q","v":"values"}
// SHUFFLED: "sizes": {"batch":["q",0],"k_heads":["k",1],"k_len":["k",2],"q_heads":["q",1],"q_len":["q",2]}
// SHUFFLED: "dims":["batch","q_heads","q_len",64],"name":"q"
// SHUFFLED-NEXT: "dims":["batch","k_heads","k_len",64],"name":"k"
// SHUFFLED-NEXT: "dims":["batch","k_heads","k_len",40],"name":"values"
// SHUFFLED-NEXT: "name":"slopes"
// SHUFFLED-NEXT: "dims":["batch","q_heads","q_len",40],"name":"o"
// SHUFFLED-NEXT: "dims":["batch","q_heads","q_len"],"name":"lse"
// RUN: attn-run %t/shuffled/manifest.json --shape=batch=2,q_heads=6,k_heads=2,q_len=70,k_len=130 | FileCheck %s
// RUN: attn-run %t/shuffled/manifest.json --shape=q_len=5,k_len=0 | FileCheck %s
// CHECK: PASS

// RUN: attn-compile %t/only-o.mlir --chip=cpu -o %t/only-o && FileCheck %s --check-prefix ONLY --input-file %t/only-o/manifest.json
// ONLY: "fill":{"o":0}
// ONLY-NOT: lse
// RUN: attn-run %t/only-o/manifest.json --shape=q_len=70,k_len=130 | FileCheck %s

// RUN: attn-compile %t/k-is-v.mlir --chip=cpu -o %t/k-is-v && attn-run %t/k-is-v/manifest.json --shape=q_len=70,k_len=130 | FileCheck %s
// RUN: attn-compile %t/self.mlir --chip=cpu -o %t/self && attn-run %t/self/manifest.json --shape=q_len=70 | FileCheck %s
// v must then have the sizes of q, which are those of k.
// RUN: attn-compile %t/q-is-k.mlir --chip=cpu -o %t/q-is-k && FileCheck %s --check-prefix QK --input-file %t/q-is-k/manifest.json
// QK: "dims":["batch","q_heads","q_len",64],"name":"q"
// QK-NEXT: "dims":["batch","q_heads","q_len",64],"name":"v"
// RUN: attn-run %t/q-is-k/manifest.json --shape=q_len=70 | FileCheck %s
// A region may read an operand too.
// RUN: attn-compile %t/reads-q.mlir --chip=cpu -o %t/reads-q && attn-run %t/reads-q/manifest.json --shape=q_len=70,k_len=130 | FileCheck %s

//--- shuffled.mlir
!q = tensor<?x?x?x64xf16>
!v = tensor<?x?x?x40xf16>
func.func @f(%k: !q, %slopes: tensor<?xf32> {attn.name = "slopes"}, %v: !v {attn.name = "values"}, %q: !q) -> (tensor<?x?x?xf32>, !v) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>] captures(%slopes : tensor<?xf32>)
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
      %m = attn.gather %slopes[%h] : (tensor<?xf32>, i32) -> f32
      %x = arith.mulf %s, %m : f32
      attn.yield %x : f32
    } : (!q, !q, !v) -> (!v, tensor<?x?x?xf32>)
  return %lse, %o : tensor<?x?x?xf32>, !v
}

//--- only-o.mlir
!q = tensor<?x?x?x64xf32>
func.func @f(%q: !q, %k: !q, %v: !q) -> !q {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
  return %o : !q
}

//--- k-is-v.mlir
!q = tensor<?x?x?x64xf32>
func.func @f(%kv: !q, %q: !q) -> (!q, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %kv, %kv) scale 0.125 : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
  return %o, %lse : !q, tensor<?x?x?xf32>
}

//--- self.mlir
!q = tensor<?x?x?x64xf32>
func.func @f(%x: !q) -> !q {
  %o, %lse = attn.sdpa(%x, %x, %x) scale 0.125 mask [#attn.causal<top_left>] : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
  return %o : !q
}

//--- q-is-k.mlir
!q = tensor<?x?x?x64xf32>
func.func @f(%v: !q, %x: !q) -> !q {
  %o, %lse = attn.sdpa(%x, %x, %v) scale 0.125 : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
  return %o : !q
}

//--- reads-q.mlir
!q = tensor<?x?x?x64xf32>
func.func @f(%q: !q, %k: !q, %v: !q) -> (!q, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%q : !q)
    score {
    ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
      %zero = arith.constant 0 : i32
      %m = attn.gather %q[%b, %h, %qi, %zero] : (!q, i32, i32, i32, i32) -> f32
      %x = arith.addf %s, %m : f32
      attn.yield %x : f32
    } : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
  return %o, %lse : !q, tensor<?x?x?xf32>
}
