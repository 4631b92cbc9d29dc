// Long calls by tiles of 128 queries, short ones by tiles of 64.
!q = tensor<?x?x?x128xbf16>
!l = tensor<?x?x?xf32>
func.func @attention(%q: !q, %k: !q, %v: !q) -> (!q, !l) attributes {attn.when = {size = "q_len", from = 512}} {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.0883883461 mask [#attn.causal<bottom_right>]
    schedule <tile = [128, 64], warps = [4, 1], depth = {q = 1, k = 2, v = 2}, section = 25165824> : (!q, !q, !q) -> (!q, !l)
  return %o, %lse : !q, !l
}
func.func @attention_short(%q: !q, %k: !q, %v: !q) -> (!q, !l) attributes {attn.alternative = @attention} {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.0883883461 mask [#attn.causal<bottom_right>]
    schedule <tile = [64, 64], warps = [4, 1], depth = {q = 1, k = 2, v = 2}, section = 25165824> : (!q, !q, !q) -> (!q, !l)
  return %o, %lse : !q, !l
}
