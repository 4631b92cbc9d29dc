// Skipping and unmasking tiles changes no bit of the result: the same kernel, with ranges and with every tile visited
// and masked. Rows without a key, ragged tiles, and both masked ends of a window are among the shapes.
// RUN: rm -rf %t && mkdir %t && split-file %s %t
// RUN: for spec in causal window wide both; do \
// RUN:   attn-compile %t/$spec.mlir --chip=cpu -o %t/ranges || exit 1; \
// RUN:   attn-compile %t/$spec.mlir --chip=cpu --no-ranges -o %t/every || exit 1; \
// RUN:   for shape in q_len=100,k_len=300 q_len=300,k_len=100 q_len=65,k_len=64 q_len=1,k_len=200; do \
// RUN:     for way in ranges every; do \
// RUN:       attn-run %t/$way/manifest.json --device=cpu --random=seed:3 --shape=batch=1,q_heads=2,k_heads=1,$shape \
// RUN:         --save o=%t/$way.o.npy --save lse=%t/$way.lse.npy || exit 1; \
// RUN:     done; \
// RUN:     cmp %t/ranges.o.npy %t/every.o.npy || exit 1; \
// RUN:     cmp %t/ranges.lse.npy %t/every.lse.npy || exit 1; \
// RUN:   done; \
// RUN: done

// The same of gradients: key ranges of a tile of queries, query ranges of a tile of keys.
// RUN: for spec in causal window; do \
// RUN:   attn-compile %t/$spec.mlir --chip=cpu --backward -o %t/ranges || exit 1; \
// RUN:   attn-compile %t/$spec.mlir --chip=cpu --backward --no-ranges -o %t/every || exit 1; \
// RUN:   for shape in q_len=100,k_len=300 q_len=300,k_len=100 q_len=65,k_len=64 q_len=1,k_len=200; do \
// RUN:     for way in ranges every; do \
// RUN:       attn-run %t/$way/manifest.json --device=cpu --random=seed:3 --shape=batch=1,q_heads=2,k_heads=1,$shape \
// RUN:         --save dq=%t/$way.dq.npy --save dk=%t/$way.dk.npy --save dv=%t/$way.dv.npy || exit 1; \
// RUN:     done; \
// RUN:     for grad in dq dk dv; do cmp %t/ranges.$grad.npy %t/every.$grad.npy || exit 1; done; \
// RUN:   done; \
// RUN: done

//--- causal.mlir
!q = tensor<?x?x?x64xf32>
func.func @causal(%q: !q, %k: !q, %v: !q) -> (!q, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>] : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
  return %o, %lse : !q, tensor<?x?x?xf32>
}
//--- window.mlir
!q = tensor<?x?x?x64xf32>
func.func @window(%q: !q, %k: !q, %v: !q) -> (!q, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.window<6, 2, top_left>] : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
  return %o, %lse : !q, tensor<?x?x?xf32>
}
//--- wide.mlir
!q = tensor<?x?x?x64xf32>
func.func @wide(%q: !q, %k: !q, %v: !q) -> (!q, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.window<130, 70, bottom_right>] : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
  return %o, %lse : !q, tensor<?x?x?xf32>
}
//--- both.mlir
!q = tensor<?x?x?x64xf32>
func.func @both(%q: !q, %k: !q, %v: !q) -> (!q, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>, #attn.window<-1, 40, top_left>]
    : (!q, !q, !q) -> (!q, tensor<?x?x?xf32>)
  return %o, %lse : !q, tensor<?x?x?xf32>
}
