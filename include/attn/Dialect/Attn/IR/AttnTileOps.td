//===- AttnTileOps.td - loops over tiles and work inside one ----*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile is a builtin tensor, so arith and math take it as it is. Up to `mapped` tensors have no encoding; inside a
// role every tensor carries `#attn.frag`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TILEOPS_TD
#define ATTN_TILEOPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "attn/Dialect/Attn/IR/AttnOps.td"

def Attn_Tile : Type<Or<[AnyStaticShapeTensor.predicate]>, "a tile (statically shaped tensor)"> {
  let cppType = "::mlir::RankedTensorType";
}
def Attn_MemRefOrBuf : AnyTypeOf<[AnyStridedMemRef, Attn_BufType]>;
def Attn_TileOrBuf : AnyTypeOf<[Attn_Tile, Attn_BufType]>;

//===----------------------------------------------------------------------===//
// Moving tiles
//===----------------------------------------------------------------------===//

def Attn_LoadOp : Attn_Op<"load"> {
  let summary = "read a tile from memory";
  let description = [{
    The coordinates name the first element in the leading dimensions; the last one or two dimensions of the source are
    read from there into the result. What lies past the end of a dimension reads as 0, so a result may be wider than
    its source (a head dimension of 40 in a tile of 48). `as` names the load for the schedule. `raw`: the elements lie in
    the order in which threads hold them (see `store`).
    Example: `%k = attn.load as "K" %K[%b, %h, %key] : memref<?x?x?x128xbf16, ...> -> tensor<64x128xbf16>`.
  }];
  let arguments = (ins Arg<Attn_MemRefOrBuf, "", [MemRead]>:$source, Variadic<I32>:$at, OptionalAttr<StrAttr>:$label,
                       UnitAttr:$raw);
  let results = (outs Attn_Tile:$result);
  let assemblyFormat = "(`as` $label^)? (`raw` $raw^)? $source (`[` $at^ `]`)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_StoreOp : Attn_Op<"store"> {
  let summary = "write a tile to memory";
  let description = [{
    The reverse of `load`: what lies past the end of a dimension is not written. `add`: added to what is there, an f32
    memref, in no order among those who add (S6). `raw`: as `add`, an f32
    memref with dense rows; blocks of 64 rows lie where they always do, but in each of them the elements are in the order
    in which four warps (`#attn.frag<4, 1>`) hold them, so that nobody shuffles (S5: whole blocks). A piece of N columns at
    column c starts c * 64 elements into its block, and has element 4 v + e of thread t at `(v 128 + t) 4 + e`.
    Example: `attn.store %o, %O[%b, %h, %row] : tensor<128x128xbf16>, memref<?x?x?x128xbf16, ...>`.
  }];
  let arguments = (ins Attn_Tile:$value, Arg<Attn_MemRefOrBuf, "", [MemWrite]>:$dest, Variadic<I32>:$at,
                       OptionalAttr<StrAttr>:$label, UnitAttr:$add, UnitAttr:$raw);
  let assemblyFormat = "(`as` $label^)? (`raw` $raw^)? (`add` $add^)? $value `,` $dest (`[` $at^ `]`)? attr-dict `:` type($value) `,` type($dest)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Computing on tiles
//===----------------------------------------------------------------------===//

def Attn_DotOp : Attn_Op<"dot", [AttrSizedOperandSegments]> {
  let summary = "matrix product of two tiles, f32 accumulation";
  let description = [{
    `C[m, n] = sum over k of A[m, k] B[k, n] (+ acc[m, n])`. With `trans_a` A is stored [k][m], with `trans_b` B [n][k].
    `then` names a second pair to go on with, so that the sum over k may have its operands in two places. From
    `partitioned` on, B is a buf and A a buf or a 16-bit fragment. D1: shapes agree. D3: the target has an instruction for
    it. `async`: the matrix instructions are issued as one group, and the result is pending until an `attn.await` (D8).
    D9: a fragment is never `trans_a`.
    Example: `%s = attn.dot as "S" %q, %k trans_b : (tensor<128x64xf16>, tensor<64x64xf16>) -> tensor<128x64xf32>`.
  }];
  let arguments = (ins Arg<Attn_TileOrBuf, "", [MemRead]>:$a, Arg<Attn_TileOrBuf, "", [MemRead]>:$b,
                       Arg<Optional<Attn_TileOrBuf>, "", [MemRead]>:$a2, Arg<Optional<Attn_TileOrBuf>, "", [MemRead]>:$b2,
                       Optional<Attn_Tile>:$acc, OptionalAttr<StrAttr>:$label, UnitAttr:$async, UnitAttr:$transA,
                       UnitAttr:$transB);
  let results = (outs AnyTypeOf<[Attn_Tile, Attn_PendingType]>:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$acc,
                                 "::mlir::StringAttr":$label, CArg<"bool", "false">:$async, CArg<"bool", "false">:$transB), [{
    build($_builder, $_state, result, a, b, /*a2=*/::mlir::Value(), /*b2=*/::mlir::Value(), acc, label, async,
          /*transA=*/false, transB);
  }]>];
  let extraClassDeclaration = [{
    /// What is accumulated, pending or not.
    ::mlir::RankedTensorType getTile();
  }];
  let assemblyFormat = [{
    (`as` $label^)? (`async` $async^)? $a (`trans_a` $transA^)? `,` $b (`trans_b` $transB^)?
    (`then` $a2^ `,` $b2)? (`plus` $acc^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Attn_ReduceKind : Attn_Keyword<"ReduceKind", "what a reduction computes", [
  I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Sum", 1, "sum">]>;

def Attn_ReduceOp : Attn_Op<"reduce", [Pure]> {
  let summary = "maximum or sum of every row";
  let description = [{
    R x C to R. With fragments the result is in `rows` form (a reduction in each thread, then over the quad), or in
    `quads` form, R x 4: what each lane of a quad has seen, no exchange. R x 4 in `quads` form reduces to `rows`.
    Example: `%m = attn.reduce max %s : tensor<128x64xf32> -> tensor<128xf32>`.
  }];
  let arguments = (ins Attn_ReduceKind:$kind, Attn_Tile:$x, OptionalAttr<StrAttr>:$label);
  let results = (outs Attn_Tile:$result);
  let assemblyFormat = "(`as` $label^)? $kind $x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_SpreadOp : Attn_Op<"spread", [Pure]> {
  let summary = "copy a rank-1 value along a dimension of a tile";
  let description = [{
    `along 1` copies a value of the rows into every column, `along 0` a value of the columns into every row. Free on a
    GPU: registers are renamed. Example: `%t = attn.spread %m along 1 : tensor<128xf32> -> tensor<128x64xf32>`.
  }];
  let arguments = (ins Attn_Tile:$x, I64Attr:$dim);
  let results = (outs Attn_Tile:$result);
  let assemblyFormat = "$x `along` $dim attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_CoordOp : Attn_Op<"coord", [Pure]> {
  let summary = "base + position along a dimension, for every element";
  let description = [{
    Example: `%keys = attn.coord %key along 1 : tensor<128x64xi32>`.
  }];
  let arguments = (ins I32:$base, I64Attr:$dim);
  let results = (outs Attn_Tile:$result);
  let assemblyFormat = "$base `along` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Attn_MaskOp : Attn_Op<"mask", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "hide scores that may not be seen";
  let description = [{
    `visible ? x : -2^100`. The value is finite, so a running maximum never becomes -inf and no loop needs a guard.
    In the plain range of a sweep every mask is the identity, and SplitSweeps drops it there. `otherwise`: another value
    for what is hidden (a gradient is 0 there).
    Example: `%m = attn.mask %s where %vis : tensor<128x64xf32>, tensor<128x64xi1>`.
  }];
  let arguments = (ins Attn_Tile:$x, Attn_Tile:$visible, OptionalAttr<F32Attr>:$otherwise);
  let results = (outs Attn_Tile:$result);
  let extraClassDeclaration = [{
    /// What a hidden element becomes.
    float getHidden() { return getOtherwise() ? getOtherwise()->convertToFloat() : kMaskedScore; }
  }];
  let assemblyFormat = "$x `where` $visible (`otherwise` $otherwise^)? attr-dict `:` type($x) `,` type($visible)";
  let hasVerifier = 1;
}

def Attn_PackOp : Attn_Op<"pack"> {
  let summary = "f32 to 16 bits, round to nearest even, where the schedule puts it";
  let description = [{
    Not Pure on purpose: left to the back end, the conversion moves away from where the schedule wants it
    (docs/Rationale/Warpgroups.md).
    Example: `%p16 = attn.pack as "P" %p : tensor<128x64xf32> -> tensor<128x64xbf16>`.
  }];
  let arguments = (ins Attn_Tile:$x, OptionalAttr<StrAttr>:$label);
  let results = (outs Attn_Tile:$result);
  let assemblyFormat = "(`as` $label^)? $x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

def Attn_SweepOrder : Attn_Keyword<"SweepOrder", "direction of a sweep", [
  I32EnumAttrCase<"Ascending", 0, "ascending">, I32EnumAttrCase<"Descending", 1, "descending">]>;

def Attn_SweepOp : Attn_Op<"sweep", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"::attn::YieldOp">,
                                     DeclareOpInterfaceMethods<LoopLikeOpInterface>]> {
  let summary = "one pass over the key (or query) tiles a tile can see";
  let description = [{
    The body runs for j in [lo, hi), in the given direction; its arguments are t (0, 1, 2, ...), j and the carried
    values. In [plainLo, plainHi) every `attn.mask` of the body is the identity. W1: whoever makes it keeps lo < hi:
    one block is visited even if all of it is masked. W2: lo <= plainLo <= plainHi <= hi, or the plain range is empty.
    `edge`: at most so many blocks lie between plainHi and hi, where that is known. W3: it is not negative.

    ```mlir
    %r = attn.sweep descending %lo to %hi plain %plo to %phi init(%x : tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%t: i32, %j: i32, %a: tensor<8xf32>):
      attn.yield %a : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Attn_SweepOrder:$order, I32:$lo, I32:$hi, I32:$plainLo, I32:$plainHi,
                       OptionalAttr<I64Attr>:$edge, Variadic<AnyType>:$init);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $order $lo `to` $hi `plain` $plainLo `to` $plainHi (`edge` $edge^)? (`init` `(` $init^ `:` type($init) `)`)? (`->` type($results)^)?
    $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Kernel, grid and host plan
//===----------------------------------------------------------------------===//

def Attn_KernelOp : Attn_Op<"kernel", [IsolatedFromAbove, Symbol, NoTerminator, SingleBlock]> {
  let summary = "a kernel: its arguments, its roles, its tiles";
  let description = [{
    The arguments of the entry block are memrefs, tensor maps and scalars; how they reach the machine is the launch's contract (each
    memref: pointer, strides but the last as i64, sizes as i32). `schedule` drives the passes after it; PlanMemory adds
    `smem_bytes` and `threads`. K1: from `partitioned` on only roles and what dominates them.
    Example: `attn.kernel @fwd attributes {...} { ^bb0(%q: memref<...>): ... }`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<Attn_ScheduleAttr>:$schedule,
                       OptionalAttr<I64Attr>:$smem_bytes, OptionalAttr<I64Attr>:$threads);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_TilesOp : Attn_Op<"tiles", [AttrSizedOperandSegments, RecursiveMemoryEffects,
                                     SingleBlockImplicitTerminator<"::attn::YieldOp">]> {
  let summary = "every tile of the grid, once";
  let description = [{
    Extents are (row tiles, heads, batch). The body's arguments are t (ordinal inside this block), the row tile i, the
    head h, the batch b and the carried i32s. `single`: one block a tile. `fixed`: block x of n takes tiles x, x + n,
    x + 2n, ... `dynamic`: it takes tile x, then whatever `counter` (in global memory, 0 before and after a launch)
    gives out. All nests of a kernel see the same tiles in the same order. `heaviest_first` walks row tiles from the last (a causal tile's
    work grows with i). `section`, a divisor of heads x batch, groups that many (head, batch) pairs, so that their keys
    and values stay in L2:

    ```
    id -> group = id / (section * rows), r = id % (section * rows)
          pair = group * section + r % section        h = pair % heads, b = pair / heads
          i = r / section   (heaviest_first: rows - 1 - r / section)
    ```
  }];
  let arguments = (ins Attn_TilingKind:$kind, Variadic<I32>:$extents, Optional<I32>:$section,
                       Optional<MemRefRankOf<[I32], [1]>>:$counter, Variadic<I32>:$init, UnitAttr:$heaviestFirst);
  let results = (outs Variadic<I32>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kind `(` $extents `)` (`section` `(` $section^ `)`)? (`counter` `(` $counter^ `:` type($counter) `)`)?
    (`init` `(` $init^ `)`)? (`heaviest_first` $heaviestFirst^)? (`->` type($results)^)? $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Attn_SectionOp : Attn_Op<"section", [Pure]> {
  let summary = "host: how many heads to walk together";
  let description = [{
    The largest divisor d of the product of `of` with d x `unit` <= budget, and 1 if there is none; `unit` is in bytes.
    `whole`: a product of at most so many is taken as it is, whatever the budget (docs/Rationale/GridMapping.md).
    Host function only: the manifest repeats it as a rule, the runtime computes it.
    Example: `%s = attn.section of(%B, %H) unit(%bytes) budget 25165824 whole 66`.
  }];
  let arguments = (ins Variadic<Index>:$of, Index:$unit, I64Attr:$budget, OptionalAttr<I64Attr>:$whole);
  let results = (outs I32:$result);
  let assemblyFormat = "`of` `(` $of `)` `unit` `(` $unit `)` `budget` $budget (`whole` $whole^)? attr-dict";
  let hasVerifier = 1;
}

def Attn_TensorMapOp : Attn_Op<"tensor_map", [Pure]> {
  let summary = "host: describe an operand to the tensor memory accelerator";
  let description = [{
    The operand is (batch, heads, rows, columns) with dense columns. At run time its base and its used strides are
    multiples of 16 bytes, or the launch is refused or goes to another kernel: the manifest says so.
    J1: rank 4, last stride 1, the map's element type.
    Example: `%m = attn.tensor_map %q : memref<?x?x?x128xbf16, ...> -> !attn.map<tensor<64x128xbf16>, 128>`.
  }];
  let arguments = (ins AnyStridedMemRef:$source);
  let results = (outs Attn_MapType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_LaunchOp : Attn_Op<"launch", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "host: launch a kernel over a grid of tiles";
  let description = [{
    The host function after `mapped` is a straight line of sizes and launches; the manifest is a print-out of it.
    `persistent`: as many blocks as run at once, each walking tiles; else a block a tile.
    Example: `attn.launch @fwd tiles(%nq, %H, %B) args(%q, %k : memref<...>, memref<...>)`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, UnitAttr:$persistent, Variadic<Index>:$tiles, Variadic<AnyType>:$args);
  let assemblyFormat = "$kernel (`persistent` $persistent^)? `tiles` `(` $tiles `)` `args` `(` $args `:` type($args) `)` attr-dict";
}

#endif // ATTN_TILEOPS_TD
