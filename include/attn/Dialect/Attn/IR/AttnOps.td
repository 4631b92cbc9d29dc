//===- AttnOps.td - what attention means ------------------------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_OPS_TD
#define ATTN_OPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "attn/Dialect/Attn/IR/AttnAttrs.td"
include "attn/Dialect/Attn/IR/AttnTypes.td"

def Attn_SdpaOp : Attn_Op<"sdpa", [Pure]> {
  let summary = "scaled dot-product attention";
  let description = [{
    `O = softmax(mask(score(scale * Q K^T))) V` and `LSE = log sum exp` of the same rows (natural log, f32), per batch
    and query head; query head h reads key head `h / (Hq / Hk)`. Logical order is B, H, S, D. A query row that sees no
    key has O = 0 and LSE = -inf.

    `score` maps one scaled score: `(s: f32, b, h, q, k: i32) -> f32`. `visible` says whether a query sees a key:
    `(b, h, q, k: i32) -> i1`. Both hold `arith`, `math` and `attn.gather` only. Values from outside that they use are
    listed in `captures`. The order is scale, score, mask; named masks and `visible` must all agree to let a key in.

    ```mlir
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 mask [#attn.causal<bottom_right>] captures(%slopes : tensor<?xf32>)
      score {
      ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):
        %m = attn.gather %slopes[%h] : (tensor<?xf32>, i32) -> f32
        %d = arith.subi %ki, %qi : i32
        %f = arith.sitofp %d : i32 to f32
        %x = arith.mulf %m, %f : f32
        %y = arith.addf %s, %x : f32
        attn.yield %y : f32
      } : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$q, AnyRankedTensor:$k, AnyRankedTensor:$v, Variadic<AnyType>:$captures,
                       F32Attr:$scale, OptionalAttr<ArrayAttr>:$mask, OptionalAttr<Attn_ScheduleAttr>:$schedule);
  let results = (outs AnyRankedTensor:$o, AnyRankedTensor:$lse);
  let regions = (region AnyRegion:$score, AnyRegion:$visible);
  let assemblyFormat = [{
    `(` $q `,` $k `,` $v `)` `scale` $scale (`mask` $mask^)? (`captures` `(` $captures^ `:` type($captures) `)`)?
    (`score` $score^)? (`visible` $visible^)? (`schedule` $schedule^)? attr-dict
    `:` `(` type($q) `,` type($k) `,` type($v) `)` `->` `(` type($o) `,` type($lse) `)`
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def Attn_GatherOp : Attn_Op<"gather", [Pure]> {
  let summary = "read captured values at computed indices";
  let description = [{
    One element of `source` at i32 indices, each clamped into range (so that an index computed for a slot past the end
    stays legal; a source with a dimension of 0 is refused at launch).
    Example: `%m = attn.gather %slopes[%h] : (tensor<?xf32>, i32) -> f32`.
  }];
  let arguments = (ins AnyType:$source, Variadic<AnyType>:$at);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source `[` $at `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "end of every region of this dialect";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

#endif // ATTN_OPS_TD
