// Which of two functions a call runs, for real: whole tiles of 64 queries for long calls, the others for short ones.
// RUN: attn-compile %s --chip=cpu -o %t
// RUN: attn-run %t/manifest.json --shape batch=1,q_heads=2,k_heads=1,q_len=96,k_len=70 --repeat=1 | FileCheck %s --check-prefix LONG
// RUN: attn-run %t/manifest.json --shape batch=1,q_heads=2,k_heads=1,q_len=95,k_len=70 --repeat=1 | FileCheck %s --check-prefix SHORT
// LONG: starts attention_fwd
// LONG: PASS
// SHORT: starts attention_short_fwd
// SHORT: PASS

!q = tensor<?x?x?x32xf32>
!l = tensor<?x?x?xf32>
func.func @attention_short(%q: !q, %k: !q, %v: !q) -> (!q, !l) attributes {attn.alternative = @attention} {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.2 schedule <tile = [16, 32], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
  return %o, %lse : !q, !l
}
func.func @attention(%q: !q, %k: !q, %v: !q) -> (!q, !l) attributes {attn.when = {size = "q_len", from = 96}} {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.2 schedule <tile = [64, 32], warps = [1, 1]> : (!q, !q, !q) -> (!q, !l)
  return %o, %lse : !q, !l
}
