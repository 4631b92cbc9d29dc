//===- AttnAttrs.td - masks, targets, schedules, fragments ------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_ATTRS_TD
#define ATTN_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
include "attn/Dialect/Attn/IR/AttnDialect.td"

class Attn_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Attn_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}
class Attn_Enum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::attn";
  let genSpecializedAttr = 0;
}
/// A keyword of an op's own syntax.
class Attn_Keyword<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::attn";
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

def Attn_Align : Attn_Enum<"Align", "which corner of the score matrix a diagonal mask starts from", [
  I32EnumAttrCase<"TopLeft", 0, "top_left">, I32EnumAttrCase<"BottomRight", 1, "bottom_right">]>;

def Attn_CausalAttr : Attn_Attr<"Causal", "causal"> {
  let summary = "a query sees itself and the keys before it";
  let description = [{
    Query `q` sees key `k` iff `k <= q + off`, with `off = 0` for `top_left` and `off = Sk - Sq` for `bottom_right`.
    The alignment has no default: with Sq != Sk the two differ, and each is somebody's silent assumption.
    Example: `#attn.causal<bottom_right>`.
  }];
  let parameters = (ins "::attn::Align":$align);
  let hasCustomAssemblyFormat = 1; // its error lists both choices
}

def Attn_WindowAttr : Attn_Attr<"Window", "window"> {
  let summary = "a query sees a band of keys around itself";
  let description = [{
    Query `q` sees key `k` iff `q + off - left <= k <= q + off + right`: both bounds count keys *besides self*, so a
    causal window of W keys in all is `#attn.window<W - 1, 0, bottom_right>`. -1 is unbounded. M3: bounds lie in
    [-1, 2^30], so that positions plus bounds stay inside i32. `#attn.window<-1, 0, a>` is `#attn.causal<a>`.
  }];
  let parameters = (ins "int64_t":$left, "int64_t":$right, "::attn::Align":$align);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Machine and schedule
//===----------------------------------------------------------------------===//

def Attn_Family : Attn_Enum<"Family", "which instructions move tiles and multiply them", [
  I32EnumAttrCase<"MmaSync", 0, "mma_sync">, I32EnumAttrCase<"Wgmma", 1, "wgmma">, I32EnumAttrCase<"Cpu", 2, "cpu">]>;

def Attn_TargetAttr : Attn_Attr<"Target", "target"> {
  let summary = "the machine a module is compiled for";
  let description = [{
    A row of Facts written out, so that a test can state any machine. `smem`: bytes of shared memory one block may
    use; `smem_sm`: bytes an SM has for all its blocks, 0 where nobody counts them; `regs`: 32-bit registers of an SM.
    T1: no number is negative, and there is at least one SM. T2: a chip that Facts know has instructions of the family.
    Example: `#attn.target<chip = "sm_80", family = mma_sync, smem = 166912, smem_sm = 167936, sms = 108>`.
  }];
  let parameters = (ins StringRefParameter<"chip">:$chip, "::attn::Family":$family,
                        DefaultValuedParameter<"int64_t", "0">:$smem, DefaultValuedParameter<"int64_t", "0">:$smem_sm,
                        DefaultValuedParameter<"int64_t", "1">:$sms, DefaultValuedParameter<"int64_t", "65536">:$regs);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Attn_TilingKind : Attn_Keyword<"Tiling", "how tiles of the grid reach a block", [
  I32EnumAttrCase<"Single", 0, "single">, I32EnumAttrCase<"Fixed", 1, "fixed">,
  I32EnumAttrCase<"Dynamic", 2, "dynamic">]>;
def Attn_Staging : Attn_Enum<"Staging", "where a result waits for its way out", [
  I32EnumAttrCase<"Alias", 0, "alias">, I32EnumAttrCase<"Own", 1, "own">]>;
def Attn_Seam : Attn_Enum<"Seam", "what happens between two tiles of a block", [
  I32EnumAttrCase<"Plain", 0, "plain">, I32EnumAttrCase<"Overlap", 1, "overlap">]>;

def Attn_ScheduleAttr : Attn_Attr<"Schedule", "schedule"> {
  let summary = "how one kernel is tiled, partitioned and pipelined";
  let description = [{
    One language for the table in Facts, for users' overrides, for the tuner and for remarks. Every field but `tile`
    and `warps` may be left out.

    | field | meaning | read by |
    |---|---|---|
    | `tile = [q, k]` | queries and keys of a tile | TileForward |
    | `warps = [m, n]` | warps of a group along rows and columns | AssignFragments |
    | `groups` | groups that share the rows of a tile | PartitionRoles |
    | `regs = [p, c]` | registers of a thread that copies and of one that computes | PartitionRoles (setmaxnreg) |
    | `grads = ["dK", "dV"]` | backward: the gradients that this nest makes; none in a forward | TileBackward |
    | `depth = {q = 1, k = 2, v = 2, do = 2, ds = 2}` | slots of each operand's ring (of one that stays for a whole tile: for each group) | PartitionRoles |
    | `hold = {q = 8, v = 4}` | k16 steps of an operand that stays in registers for a whole tile | AssignFragments |
    | `order = ["S", ..]` | how the steps of a sweep overlap | ScheduleSweep |
    | `skip` | how much, in powers of two, a row's maximum may grow before its accumulator is rescaled; 0: none | SkipRescale |
    | `out` | `alias`: results are staged over the drained ring of Q; `own`: in bytes of their own | PartitionRoles |
    | `seam` | `overlap`: the first step of the next tile runs over the last one of this tile; needs `q = 2` and `own` | OverlapTiles |
    | `blocks` | blocks an SM should hold | AttnToNVVM (launch bounds) |
    | `tiles` | `single`: one tile a block; `fixed`, `dynamic`: a block walks tiles by a stride, or by a counter | MapToGrid |
    | `section` | bytes of L2 that the keys and values of the heads walked together may take; 0: no sections; 1: one head at a time | MapToGrid |
    | `from` | which rule chose it | remarks only |

    `order` is a list of entries over the labels of the sweep's ops and the rings it reads; `@n` after an entry: for the
    block n steps behind. In a forward sweep S and PV are products, max is the reduction and P the packing between them, K and V
    are rings. In turn: `["S", "await S", "max", "P", "PV.acc", "PV", "await PV"]`; a block apart, so that PV runs under the softmax
    of the next block: `["S", "PV@1", "await S", "max", "await PV", "P", "PV.acc"]`.

    | entry | does |
    |---|---|
    | `X` | issue op X; a product becomes asynchronous on wgmma |
    | `await X` | wait until product X is done |
    | `get X` | wait for the item of ring X |
    | `X.in`, `X.acc` | compute the first operand, the accumulator of X: `P.in` is what P packs; `max.in`, of a reduction, what each thread has seen |
    | `st X`, `put R` | store what X computes; commit ring R |
    | `take`, `give` | begin and end this group's turn at the tensor cores |
    | `pin X` | no later wait moves above the value that X feeds into the next step |
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$tile, ArrayRefParameter<"int64_t">:$warps, "int64_t":$groups,
                        ArrayRefParameter<"int64_t">:$regs, ArrayRefParameter<"::mlir::StringAttr">:$grads,
                        "int64_t":$depth_q, "int64_t":$depth_k, "int64_t":$depth_v, "int64_t":$depth_do,
                        "int64_t":$depth_ds, "int64_t":$hold_q, "int64_t":$hold_v, ArrayRefParameter<"::mlir::StringAttr">:$order, "int64_t":$skip,
                        "::attn::Staging":$out, "::attn::Seam":$seam, "int64_t":$blocks, "::attn::Tiling":$tiles, "int64_t":$section,
                        StringRefParameter<"from">:$from);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getTileQueries() const { return getTile()[0]; }
    int64_t getTileKeys() const { return getTile()[1]; }
    int64_t getNumWarps() const { return getWarps()[0] * getWarps()[1]; }
    /// Whether the nest makes the gradient `name` (dQ, dK or dV).
    bool makes(::llvm::StringRef name) const;
    /// The same schedule with another `from`.
    ScheduleAttr withFrom(::llvm::StringRef from) const;
    /// One group, no overlap, one tile a block.
    static ScheduleAttr plain(::mlir::MLIRContext *context, int64_t queries, int64_t keys, int64_t warps, int64_t depth,
                              ::llvm::StringRef from);
  }];
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

def Attn_Form : Attn_Enum<"Form", "which part of a tile a fragment covers", [
  I32EnumAttrCase<"Tile", 0, "tile">, I32EnumAttrCase<"Rows", 1, "rows">, I32EnumAttrCase<"Cols", 2, "cols">,
  I32EnumAttrCase<"Quads", 3, "quads">]>;

def Attn_FragAttr : Attn_Attr<"Frag", "frag", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "how a tile is spread over the registers of a group of warps";
  let description = [{
    The encoding of every tensor inside a role. `warpsM` x `warpsN` warps tile the rows and columns; inside a warp
    16-row atoms and 8-column atoms are laid out like the accumulator of `mma.sync.m16n8k16`, which `wgmma` shares:

    ```
    lane l, quad lane q = l % 4, row atom a, column atom j, element e of the atom's four:
      row    = 16 a + l / 4 + 8 (e / 2)
      column =  8 j + 2 q + e % 2            stored at (a * column atoms + j) * 4 + e
    ```
    `rows` (`cols`): a rank-1 value of the tile's rows (columns), equal in all lanes that hold the row (column).
    `quads`: R x 4, column c = what lane c of a quad has summed so far. `Analysis/FragmentCoords.h` is the one place
    that computes with this. F1: rows are a multiple of 16 warpsM. F2: columns of 8 warpsN. F3: `rows` and `cols` are of
    rank 1, `quads` has 4 columns.
    Example: `tensor<128x64xf32, #attn.frag<4, 1>>`, `tensor<128xf32, #attn.frag<4, 1, rows>>`.
  }];
  let parameters = (ins "int64_t":$warpsM, "int64_t":$warpsN,
                        DefaultValuedParameter<"::attn::Form", "::attn::Form::Tile">:$form);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // ATTN_ATTRS_TD
