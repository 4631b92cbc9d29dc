// A mask region: packed documents of one sequence. A query sees the keys of its own document up to itself; `document`
// numbers the document of each token.
func.func @attention(%q: tensor<?x?x?x128xbf16>, %k: tensor<?x?x?x128xbf16>, %v: tensor<?x?x?x128xbf16>,
                     %document: tensor<?x?xi32> {attn.name = "document"})
    -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.0883883461 mask [#attn.causal<top_left>]
    captures(%document : tensor<?x?xi32>)
    visible {
    ^bb0(%b: i32, %h: i32, %qi: i32, %ki: i32):
      %mine = attn.gather %document[%b, %qi] : (tensor<?x?xi32>, i32, i32) -> i32
      %theirs = attn.gather %document[%b, %ki] : (tensor<?x?xi32>, i32, i32) -> i32
      %same = arith.cmpi eq, %mine, %theirs : i32
      attn.yield %same : i1
    } : (tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>, tensor<?x?x?x128xbf16>)
      -> (tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x128xbf16>, tensor<?x?x?xf32>
}
