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
    warps, all of the block.
    Example: `attn.role "compute" warps 0 + 4 groups 1 { ^bb0(%g: i32): ... }`.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$firstWarp, I64Attr:$warps, I64Attr:$groups);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `warps` $firstWarp `+` $warps `groups` $groups $body attr-dict";
  let hasVerifier = 1;
}

def Attn_AllocOp : Attn_Op<"alloc"> {
  let summary = "shared memory for a ring or a buf";
  let description = [{
    At kernel level one per block, inside a role one per group. `readers`: warps that release an item. PlanMemory sets
    the offset (A1: aligned to 1024 if swizzled). A2: `over` names the label of an alloc whose bytes may be reused,
    because its last item is drained before the first store here.
    Example: `%K = attn.alloc as "K" readers 4 at 32768 : !attn.ring<2, !attn.buf<tensor<64x128xbf16>, 128>>`.
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$label, OptionalAttr<I64Attr>:$readers, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<StrAttr>:$over);
  let results = (outs Res<AnyTypeOf<[Attn_RingType, Attn_BufType]>, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    (`as` $label^)? (`readers` $readers^)? (`at` $offset^)? (`over` $over^)? attr-dict `:` type($result)
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
  I32EnumAttrCase<"CpAsync", 0, "cp_async">, I32EnumAttrCase<"Vector", 1, "vector">]>;
def Attn_TransportAttr : EnumAttr<Attn_Dialect, Attn_Transport, "transport"> {
  let assemblyFormat = "$value";
}

def Attn_CopyOp : Attn_OrderedOp<"copy", [AttrSizedOperandSegments]> {
  let summary = "move a tile between global and shared memory";
  let description = [{
    memref to buf (asynchronous with `cp_async`; it fills an item of a ring) or buf to memref (`vector`: the group's
    threads, 16 bytes each). Out of range reads fill with 0, out of range writes are dropped; coordinates as in
    `attn.load`. `if`: when false nothing is moved, the item still counts as filled. Y1: `fills` iff the destination is
    a slot of that ring.
    Example: `attn.copy %k[%b, %h, %key] to %slot fills %K[%n] if %more via cp_async : memref<...>, !buf, !ring`.
  }];
  let arguments = (ins AnyTypeOf<[AnyStridedMemRef, Attn_BufType]>:$source, Variadic<I32>:$from,
                       AnyTypeOf<[AnyStridedMemRef, Attn_BufType]>:$dest, Variadic<I32>:$into,
                       Optional<Attn_RingType>:$ring, Optional<I32>:$item, Optional<I1>:$guard,
                       Attn_TransportAttr:$via);
  let assemblyFormat = [{
    $source (`[` $from^ `]`)? `to` $dest (`[` $into^ `]`)? (`fills` $ring^ `[` $item `]`)? (`if` $guard^)?
    `via` $via attr-dict `:` type($source) `,` type($dest) (`,` type($ring)^)?
  }];
  let hasVerifier = 1;
}

def Attn_WaitOp : Attn_OrderedOp<"wait"> {
  let summary = "wait until an item is filled";
  let description = [{
    Returns the slot's bufs. `leaves`: newer cp.async groups that may still be open (CountWaits).
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
    Everybody's shared memory accesses before it are done and visible after it. Example: `attn.sync group`.
  }];
  let arguments = (ins Attn_Scope:$scope);
  let assemblyFormat = "$scope attr-dict";
}

#endif // ATTN_ROLEOPS_TD
