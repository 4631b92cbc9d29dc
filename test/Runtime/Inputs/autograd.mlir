// Causal attention in f32, so that numpy can check its gradients closely.
!q = tensor<?x?x?x32xf32>
!v = tensor<?x?x?x16xf32>
func.func @attention(%q: !q, %k: !q, %v: !v) -> (!v, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.2 mask [#attn.causal<bottom_right>] : (!q, !q, !v) -> (!v, tensor<?x?x?xf32>)
  return %o, %lse : !v, tensor<?x?x?xf32>
}
