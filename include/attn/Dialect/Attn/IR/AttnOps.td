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
include "attn/Dialect/Attn/IR/AttnInterfaces.td"
include "attn/Dialect/Attn/IR/AttnTypes.td"

def Attn_SdpaOp : Attn_Op<"sdpa", [Pure, Attn_AttentionOp]> {
  let summary = "scaled dot-product attention";
  let description = [{
    `O = softmax(mask(score(scale * Q K^T))) V` and `LSE = log sum exp` of the same rows (natural log, f32), per batch
    and query head; query head h reads key head `h / (Hq / Hk)`. Logical order is B, H, S, D; strides are the caller's
    business. A query row that sees no key has O = 0 and LSE = -inf.

    The order is scale, score, mask:
    - `scale`: any finite number; there is no default.
    - `score` maps one scaled score: `(s: f32, b, h, q, k: i32) -> f32`. h is the query head; q and k are positions,
      from 0.
    - `mask`: named masks, at most one of each kind. Which tiles of keys to visit is derived from them.
    - `visible` says whether a query sees a key: `(b, h, q, k: i32) -> i1`. Every named mask and `visible` must agree
      to let a key in.

    The regions hold `arith`, `math` and `attn.gather` on scalars only. Values from outside that they use are listed in
    `captures`. They are evaluated in any order and past the ends of q and k too; what they say there is ignored.

    Rules, by number (a test `@sdpa_c<n>` breaks each):

    | | |
    |---|---|
    | C1 | q, k, v, o have rank 4, lse rank 3, no encoding |
    | C2 | sizes fit 31 bits |
    | C3 | one batch |
    | C4 | k and v agree in heads and length |
    | C5 | there are heads, and query heads are a multiple of key heads |
    | C6 | head dims are static multiples of 8, those of q and k equal; how large is the target's to say |
    | C7 | one element type, f16, bf16 or f32 (f32 on the CPU only) |
    | C8 | o is like q with the head dim of v, lse is f32 |
    | C9 | scale is finite |
    | C10 | named masks are known, each kind once |
    | C11 | captures are f32 or i32, or ranked tensors of f32, f16, bf16, i32, i8 or i1 |
    | C12 | a region is one block with the arguments above |
    | C13 | it yields one f32 (score) or one i1 (visible) |
    | C14 | values from outside are captures or constants |
    | C15 | arith, math and attn.gather only, without side effects |
    | C16 | scalars of i1, i8, i16, i32, i64, f16, bf16 and f32 only |
    | C17 | integer divisors are visibly not 0: a constant, or a maximum with a positive one |
    | C18 | at most 4096 ops in a region |

    Linear biases per head (ALiBi):

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

    A schedule of one's own instead of the one the table has (otherwise `attn-choose-schedule` fills it in):

    ```mlir
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 schedule <tile = [128, 64], warps = [4, 1], depth = {q = 1, k = 2, v = 2}, tiles = single>
      : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
    ```

    Keys of another document hidden (no named mask says so, hence `visible`):

    ```mlir
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 captures(%doc : tensor<?x?xi32>)
      visible {
      ^bb0(%b: i32, %h: i32, %qi: i32, %ki: i32):
        %dq = attn.gather %doc[%b, %qi] : (tensor<?x?xi32>, i32, i32) -> i32
        %dk = attn.gather %doc[%b, %ki] : (tensor<?x?xi32>, i32, i32) -> i32
        %same = arith.cmpi eq, %dq, %dk : i32
        attn.yield %same : i1
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

def Attn_SdpaGradOp : Attn_Op<"sdpa_grad", [Pure, AttrSizedOperandSegments, Attn_AttentionOp]> {
  let summary = "the gradients of scaled dot-product attention";
  let description = [{
    With `o, lse = attn.sdpa(q, k, v)` of the same scale, masks and regions, and `dout`, the gradient of some number with
    respect to o (and `dlse`, with respect to lse): its gradients with respect to q, k and v. Nothing but o and lse is kept
    of the forward; scores are computed again.

    `score_grad` is the derivative of `score`: `(s: f32, b, h, q, k: i32, dz: f32) -> f32` is dz times the derivative at s
    (`attn-derive-grad` writes it). Where a key is hidden it counts as 0, whatever it computes. A row without a key has
    gradient 0 and adds nothing to others.

    C1 to C18 as for `attn.sdpa`, with dq, dk and dv like q, k and v. C19: o, lse, dout and dlse are those of that forward:
    dout like o, dlse like lse. C20: `score_grad` needs a `score`. C21: each schedule makes gradients (`grads`), each of dQ,
    dK and dV is made once.

    ```mlir
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125 mask [#attn.causal<bottom_right>]
      : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?xf32>, tensor<?x?x?x64xf16>)
      -> (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$q, AnyRankedTensor:$k, AnyRankedTensor:$v, AnyRankedTensor:$o,
                       AnyRankedTensor:$lse, AnyRankedTensor:$dout, Optional<AnyRankedTensor>:$dlse,
                       Variadic<AnyType>:$captures, F32Attr:$scale, OptionalAttr<ArrayAttr>:$mask,
                       OptionalAttr<TypedArrayAttrBase<Attn_ScheduleAttr, "list of schedules">>:$schedules);
  let results = (outs AnyRankedTensor:$dq, AnyRankedTensor:$dk, AnyRankedTensor:$dv);
  let regions = (region AnyRegion:$score, AnyRegion:$visible, AnyRegion:$scoreGrad);
  let assemblyFormat = [{
    `(` $q `,` $k `,` $v `,` $o `,` $lse `,` $dout (`,` $dlse^)? `)` `scale` $scale (`mask` $mask^)?
    (`captures` `(` $captures^ `:` type($captures) `)`)? (`score` $score^)? (`visible` $visible^)?
    (`score_grad` $scoreGrad^)? (`schedule` $schedules^)? attr-dict
    `:` `(` type($q) `,` type($k) `,` type($v) `,` type($o) `,` type($lse) `,` type($dout) (`,` type($dlse)^)? `)`
    `->` `(` type($dq) `,` type($dk) `,` type($dv) `)`
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def Attn_GatherOp : Attn_Op<"gather", [Pure]> {
  let summary = "read captured values at computed indices";
  let description = [{
    One element of `source` at i32 indices, each clamped into range (so that an index computed for a slot past the end
    stays legal; a source with a dimension of 0 is refused at launch). On the tile level indices may be tiles, and
    then the result is one.

    G1: the source is a ranked tensor or memref. G2: an index for each of its dimensions. G3: indices are i32, tiles
    among them of one shape and encoding. G4: the result has the source's element type, and the tiles' shape.

    Example: `%m = attn.gather %slopes[%h] : (tensor<?xf32>, i32) -> f32`.
  }];
  let arguments = (ins AnyType:$source, Variadic<AnyType>:$at);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$source `[` $at `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Attn_YieldOp : Attn_Op<"yield", [Pure, ReturnLike, Terminator,
                                     ParentOneOf<["::attn::SdpaOp", "::attn::SdpaGradOp", "::attn::SweepOp",
                                                  "::attn::TilesOp", "::attn::RoleOp"]>]> {
  let summary = "end of every region of this dialect";
  let description = [{
    What it carries depends on the op around it: a score or a visibility in `attn.sdpa`, the carried values in
    `attn.sweep`, nothing in `attn.tiles` and `attn.role`, where it need not be written.
    Example: `attn.yield %score : f32`.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

#endif // ATTN_OPS_TD
