// Causal attention of a transformer layer: B, H and S are free, grouped heads (Hq a multiple of Hk) are allowed, and the
// last query sits under the last key (so a prefix of keys may be in a cache).
func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>)
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.0883883461 mask [#attn.causal<bottom_right>]
    : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
