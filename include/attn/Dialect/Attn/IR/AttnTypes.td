//===- AttnTypes.td - shared-memory buffers and rings -----------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TYPES_TD
#define ATTN_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "attn/Dialect/Attn/IR/AttnDialect.td"

class Attn_Type<string name, string typeMnemonic> : TypeDef<Attn_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Attn_BufType : Attn_Type<"Buf", "buf"> {
  let summary = "a tile in shared memory";
  let description = [{
    The second number is the swizzle span in bytes (0, 32, 64, 128). The tile is stored as panels of
    span / element-size columns, each panel [rows][span bytes]; the 16-byte chunk c of row r sits at chunk
    `c ^ (r * span / 128 % (span / 16))` of its row, so that eight rows of one chunk column touch all banks once.
    B1: rank 1 or 2, static. B2: span 0, or the row's bytes are a multiple of it. B3: rank 1 has span 0.
    Example: `!attn.buf<tensor<64x128xbf16>, 128>`.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tile, "int64_t":$swizzle);
  let assemblyFormat = "`<` $tile `,` $swizzle `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes the tile takes in shared memory.
    int64_t getBytes() const;
  }];
}

def Attn_RingType : Attn_Type<"Ring", "ring"> {
  let summary = "slots of shared memory that are filled and drained in turn";
  let description = [{
    `depth` slots, each holding the listed bufs, which are filled and drained together. Items (the n-th filling) are
    numbered by SSA values: item n lives in slot n % depth. R1: depth >= 1. R2: only `!attn.buf` inside.
    Example: `!attn.ring<2, !attn.buf<tensor<64x128xbf16>, 128>>`.
  }];
  let parameters = (ins "int64_t":$depth, ArrayRefParameter<"::mlir::Type">:$bufs);
  let assemblyFormat = "`<` $depth `,` $bufs `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes of one slot, each buf rounded up to 128.
    int64_t getSlotBytes() const;
  }];
}

def Attn_PendingType : Attn_Type<"Pending", "pending"> {
  let summary = "an accumulator that matrix instructions may still be writing";
  let description = [{
    What an asynchronous `attn.dot` yields; only `attn.await` makes a tile of it, so reading registers in flight is a
    type error. P1: an f32 tile with `#attn.frag` in `tile` form.
    Example: `!attn.pending<tensor<64x128xf32, #attn.frag<4, 1>>>`.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
  let genVerifyDecl = 1;
}

def Attn_MapType : Attn_Type<"Map", "map"> {
  let summary = "a tensor map: what the tensor memory accelerator knows of an operand";
  let description = [{
    Made on the host by `attn.tensor_map` from an operand, passed to the kernel by value. A copy through it moves a box:
    the tile of the `buf` it is for, stored the way the buf stores it. Coordinates count in the operand's own
    dimensions; what lies outside them reads 0 and is not written.
    B1 to B3 of `!attn.buf` hold, and N1: rank 2, swizzled.
    Example: `!attn.map<tensor<64x128xbf16>, 128>`.
  }];
  let parameters = (ins "::mlir::RankedTensorType":$tile, "int64_t":$swizzle);
  let assemblyFormat = "`<` $tile `,` $swizzle `>`";
  let genVerifyDecl = 1;
}

#endif // ATTN_TYPES_TD
