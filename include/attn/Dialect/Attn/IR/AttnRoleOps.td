//===- AttnRoleOps.td - roles, rings and asynchrony -------------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// acquire / copy / wait / release say what must be ordered; how (cp.async group and barrier, mbarrier) is the
// conversion's choice.
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ROLEOPS_TD
#define ATTN_ROLEOPS_TD

include "attn/Dialect/Attn/IR/AttnTileOps.td"

/// Side effects on the order of execution: nothing is moved over these.
def Attn_Order : Resource<"::attn::ExecutionOrder">;
class Attn_OrderedOp<string mnemonic, list<Trait> traits = []>
    : Attn_Op<mnemonic, traits # [MemoryEffects<[MemWrite<Attn_Order>]>]>;

def Attn_RoleOp : Attn_Op<"role", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"::attn::YieldOp">]> {
  let summary = "what some warps of the block do";
  let description = [{
    `groups` groups of warps run the body; its argument is the group's number. U1: the roles of a kernel cover disjoint
    warps, all of the block. `regs`: registers a thread asks for at entry or gives back (setmaxnreg). `elect`: one
    thread runs the body, the others have nothing to do.
    Example: `attn.role "compute" warps 4 + 8 groups 2 regs 240 { ^bb0(%g: i32): ... }`.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$firstWarp, I64Attr:$warps, I64Attr:$groups, OptionalAttr<I64Attr>:$regs,
                       UnitAttr:$elect);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `warps` $firstWarp `+` $warps `groups` $groups (`regs` $regs^)? (`elect` $elect^)? $body attr-dict
  }];
  let hasVerifier = 1;
}

def Attn_AllocOp : Attn_Op<"alloc"> {
  let summary = "shared memory for a ring or a buf";
  let description = [{
    At kernel level one per block, inside a role one per group. `readers`: warps that release an item. PlanMemory sets
    the offset (A1: aligned to 1024 if swizzled). A2: `over` names the label of an alloc whose bytes may be reused,
    because its last item is drained before the first store here. `barriers`: offset of the ring's mbarriers, a full and
    an empty one a slot, where rings have them (PlanMemory).
    Example: `%K = attn.alloc as "K" readers 4 at 32768 : !attn.ring<2, !attn.buf<tensor<64x128xbf16>, 128>>`.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$label, OptionalAttr<I64Attr>:$readers, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$barriers, OptionalAttr<StrAttr>:$over);
  let results = (outs Res<AnyTypeOf<[Attn_RingType, Attn_BufType]>, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    (`as` $label^)? (`readers` $readers^)? (`at` $offset^)? (`barriers` $barriers^)? (`over` $over^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Attn_AcquireOp : Attn_OrderedOp<"acquire"> {
  let summary = "wait until a slot may be filled again";
  let description = [{
    Waits until item n - depth is released and returns the slot's bufs. G1: by one role only.
    Example: `%k = attn.acquire %K[%n] : !ring -> !buf`.
  }];
  let arguments = (ins Attn_RingType:$ring, I32:$item);
  let results = (outs Variadic<Attn_BufType>:$bufs);
  let assemblyFormat = "$ring `[` $item `]` attr-dict `:` type($ring) `->` type($bufs)";
  let hasVerifier = 1;
}

def Attn_Transport : Attn_Enum<"Transport", "how a copy travels", [
  I32EnumAttrCase<"CpAsync", 0, "cp_async">, I32EnumAttrCase<"Vector", 1, "vector">,
  I32EnumAttrCase<"Tma", 2, "tma">, I32EnumAttrCase<"Bulk", 3, "bulk">]>;
def Attn_TransportAttr : EnumAttr<Attn_Dialect, Attn_Transport, "transport"> {
  let assemblyFormat = "$value";
}

def Attn_CopyOp : Attn_OrderedOp<"copy", [AttrSizedOperandSegments]> {
  let summary = "move a tile between global and shared memory";
  let description = [{
    memref to buf (asynchronous with `cp_async`; it fills an item of a ring) or buf to memref (`vector`: the group's
    threads, 16 bytes each). `tma`: one thread hands a box to the tensor memory accelerator, through a tensor map in
    place of the memref; into a ring it fills an item, out of a buf it stays open until a `drain` (Y6). Out of range reads fill with 0, out of range writes are dropped; coordinates as in
    `attn.load`. `bulk`: one thread moves a row of consecutive elements, all of them there (no bounds are looked at), into
    a slot (Y8). `if`: when false nothing is moved, the item still counts as filled. Y1: `fills` iff the destination is
    a slot of that ring.
    Example: `attn.copy %k[%b, %h, %key] to %slot fills %K[%n] if %more via cp_async : memref<...>, !buf, !ring`.
  }];
  let arguments = (ins AnyTypeOf<[AnyStridedMemRef, Attn_BufType, Attn_MapType]>:$source, Variadic<I32>:$from,
                       AnyTypeOf<[AnyStridedMemRef, Attn_BufType, Attn_MapType]>:$dest, Variadic<I32>:$into,
                       Optional<Attn_RingType>:$ring, Optional<I32>:$item, Optional<I1>:$guard,
                       Attn_TransportAttr:$via);
  let assemblyFormat = [{
    $source (`[` $from^ `]`)? `to` $dest (`[` $into^ `]`)? (`fills` $ring^ `[` $item `]`)? (`if` $guard^)?
    `via` $via attr-dict `:` type($source) `,` type($dest) (`,` type($ring)^)?
  }];
  let hasVerifier = 1;
}

def Attn_SliceOp : Attn_Op<"slice", [Pure]> {
  let summary = "part of a tile in shared memory";
  let description = [{
    The panels (of span / element-size columns) of a swizzled buf from column `col` on, all rows of them: these bytes are
    consecutive, so a slice is a buf like any other. N1: the result has the source's rows, element type and span.
    N2: no more columns than the source. `col` is a multiple of a panel's columns.
    Example: `%kc = attn.slice %k[%col] : !attn.buf<tensor<64x128xbf16>, 128> -> !attn.buf<tensor<64x64xbf16>, 128>`.
  }];
  let arguments = (ins Attn_BufType:$source, I32:$col);
  let results = (outs Attn_BufType:$result);
  let assemblyFormat = "$source `[` $col `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Attn_WaitOp : Attn_OrderedOp<"wait"> {
  let summary = "wait until an item is filled";
  let description = [{
    Returns the slot's bufs. `leaves`: newer cp.async groups that may still be open (CountWaits); absent where items have
    barriers (wgmma).
    Example: `%k = attn.wait %K[%t] leaves 1 : !ring -> !buf`.
  }];
  let arguments = (ins Attn_RingType:$ring, I32:$item, OptionalAttr<I64Attr>:$leaves);
  let results = (outs Variadic<Attn_BufType>:$bufs);
  let assemblyFormat = "$ring `[` $item `]` (`leaves` $leaves^)? attr-dict `:` type($ring) `->` type($bufs)";
  let hasVerifier = 1;
}

def Attn_ReleaseOp : Attn_OrderedOp<"release"> {
  let summary = "this warp is done with an item";
  let description = [{
    G2: on every path each waited item is released exactly once. Example: `attn.release %K[%t] : !ring`.
  }];
  let arguments = (ins Attn_RingType:$ring, I32:$item);
  let assemblyFormat = "$ring `[` $item `]` attr-dict `:` type($ring)";
}

def Attn_Scope : Attn_Keyword<"Scope", "who meets at a barrier", [
  I32EnumAttrCase<"Group", 0, "group">, I32EnumAttrCase<"Block", 1, "block">]>;

def Attn_SyncOp : Attn_OrderedOp<"sync"> {
  let summary = "barrier";
  let description = [{
    Everybody's shared memory accesses before it are done and visible after it; with `publish` also to the tensor memory
    accelerator. Example: `attn.sync group publish`.
  }];
  let arguments = (ins Attn_Scope:$scope, UnitAttr:$publish);
  let assemblyFormat = "$scope (`publish` $publish^)? attr-dict";
}

def Attn_CommitOp : Attn_OrderedOp<"commit"> {
  let summary = "what was stored into an item's slot is its filling";
  let description = [{
    For items that are stored, not copied. Example: `attn.commit %T[%n] : !ring`.
  }];
  let arguments = (ins Attn_RingType:$ring, I32:$item);
  let assemblyFormat = "$ring `[` $item `]` attr-dict `:` type($ring)";
}

def Attn_PutOp : Attn_OrderedOp<"put"> {
  let summary = "store one word";
  let description = [{
    Example: `attn.put %id, %slot : !attn.buf<tensor<1xi32>, 0>`.
  }];
  let arguments = (ins I32:$value, Attn_BufType:$dest);
  let assemblyFormat = "$value `,` $dest attr-dict `:` type($dest)";
  let hasVerifier = 1;
}

def Attn_GetOp : Attn_OrderedOp<"get"> {
  let summary = "read one word, the same in all threads of the group";
  let description = [{
    Example: `%id = attn.get %slot : !attn.buf<tensor<1xi32>, 0>`.
  }];
  let arguments = (ins Attn_BufType:$source);
  let results = (outs I32:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Attn_FetchOp : Attn_OrderedOp<"fetch"> {
  let summary = "take a number from a counter in global memory";
  let description = [{
    Returns the counter and adds one; whoever takes `last` sets it back to 0, so that it needs no reset between launches.
    Example: `%n = attn.fetch %counter upto %last : memref<1xi32>`.
  }];
  let arguments = (ins MemRefRankOf<[I32], [1]>:$counter, I32:$last);
  let results = (outs I32:$result);
  let assemblyFormat = "$counter `upto` $last attr-dict `:` type($counter)";
}

//===----------------------------------------------------------------------===//
// Asynchronous products
//===----------------------------------------------------------------------===//

def Attn_AwaitOp : Attn_OrderedOp<"await", [AttrSizedOperandSegments]> {
  let summary = "the listed products are done";
  let description = [{
    `keep`: register operands they were reading, which may not be reused before. `leaves`: younger products that may
    still be open; they complete in the order they were issued. I1: a tile for every pending, `leaves` not negative.
    Example: `%s = attn.await %sp leaves 1 : !attn.pending<tensor<64x128xf32, #f>> -> tensor<64x128xf32, #f>`.
  }];
  let arguments = (ins Variadic<Attn_PendingType>:$pendings, Variadic<Attn_Tile>:$keep, I64Attr:$leaves);
  let results = (outs Variadic<Attn_Tile>:$results);
  let assemblyFormat = [{
    $pendings (`keep` `(` $keep^ `:` type($keep) `)`)? `leaves` $leaves attr-dict `:` type($pendings) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Attn_TurnKind : Attn_Keyword<"TurnKind", "beginning or end of a turn", [
  I32EnumAttrCase<"Take", 0, "take">, I32EnumAttrCase<"Give", 1, "give">]>;

def Attn_TurnOp : Attn_OrderedOp<"turn"> {
  let summary = "groups of a role issue products one after another";
  let description = [{
    `take` waits until the group before has given (group 0 has the first turn), `give` passes on to the next. All groups
    take and give equally often. Example: `attn.turn take`.
  }];
  let arguments = (ins Attn_TurnKind:$kind);
  let assemblyFormat = "$kind attr-dict";
}

def Attn_PinOp : Attn_OrderedOp<"pin"> {
  let summary = "no later wait moves above the point where x is known";
  let description = [{
    The assembler lifts waits for products over arithmetic; this keeps them down. Example: `attn.pin %m : tensor<64xf32, #f>`.
  }];
  let arguments = (ins Attn_Tile:$x);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Attn_AnyOp : Attn_Op<"any"> {
  let summary = "is any element true";
  let description = [{
    Each warp asks for its own rows, so warps may get different answers: for decisions that are right either way. Not
    Pure: all lanes meet here. E6: an i1 tile. Example: `%grow = attn.any %gt : tensor<64xi1, #rows>`.
  }];
  let arguments = (ins Attn_Tile:$x);
  let results = (outs I1:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def Attn_DrainOp : Attn_OrderedOp<"drain"> {
  let summary = "wait for copies out of shared memory";
  let description = [{
    At most `leaves` copies via tma that this thread issued stay open. `read`: it is enough that their sources have been
    read. Example: `attn.drain 0 read`.
  }];
  let arguments = (ins I64Attr:$leaves, UnitAttr:$read);
  let assemblyFormat = "$leaves (`read` $read^)? attr-dict";
}

#endif // ATTN_ROLEOPS_TD
