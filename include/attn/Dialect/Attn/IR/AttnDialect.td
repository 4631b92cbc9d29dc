//===- AttnDialect.td - the attn dialect ------------------------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_DIALECT_TD
#define ATTN_DIALECT_TD

include "mlir/IR/OpBase.td"

def Attn_Dialect : Dialect {
  let name = "attn";
  let cppNamespace = "::attn";
  let summary = "Attention kernels, from what they mean to who moves which byte";
  let description = [{
    One dialect on two levels. The *semantic* level says what attention is computed (`attn.sdpa` on tensors, with
    masks and score regions) and knows no machine. The *tile* level says how: loops over tiles, then a kernel on a
    grid, then warp roles, buffers and asynchronous copies. Everything a rewrite does not need to see as attention or
    as a tile stays in upstream dialects (`arith`, `math`, `scf`, `memref`, `tensor`).
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();

    /// On a module: the machine everything in it is compiled for; on a function, a nest or a kernel: another one
    /// (`#attn.target`).
    static constexpr ::llvm::StringLiteral kTargetAttr = "attn.target";
    /// On a module of family cpu at `llvm`: the processor its code is made for, by LLVM's name or `native` (a string).
    static constexpr ::llvm::StringLiteral kCpuAttr = "attn.cpu";
    /// On a function at `tiled`, or on one of its nests: the schedule its loops were built from (`#attn.schedule`); the
    /// nearest one counts.
    static constexpr ::llvm::StringLiteral kScheduleAttr = "attn.schedule";
    /// On a nest of a function at `tiled`: which part of the work it is, a string; its kernel is named after it.
    static constexpr ::llvm::StringLiteral kNestAttr = "attn.nest";
    /// On a function argument: the operand's name in the manifest, a string.
    static constexpr ::llvm::StringLiteral kNameAttr = "attn.name";
    /// On a function argument from `tiled` on: in, out, capture, scalar or workspace, a string.
    static constexpr ::llvm::StringLiteral kRoleAttr = "attn.role";
    /// On a function from `tiled` on: what it computes, for the manifest's `meaning` (a dictionary).
    static constexpr ::llvm::StringLiteral kMeaningAttr = "attn.meaning";
    /// On a function: the function (a symbol) it is another way of computing, for calls that `attn.when` admits.
    static constexpr ::llvm::StringLiteral kAlternativeAttr = "attn.alternative";
    /// On a function with alternatives: the calls its kernels are for, a dictionary with `aligned` (operands, strings)
    /// and `size`, `from`, `below`. Absent: any call.
    static constexpr ::llvm::StringLiteral kWhenAttr = "attn.when";
    /// On a kernel's llvm.func at `nvvm`: bytes of dynamic shared memory, an i64.
    static constexpr ::llvm::StringLiteral kSmemBytesAttr = "attn.smem_bytes";
  }];
}

class Attn_Op<string mnemonic, list<Trait> traits = []> : Op<Attn_Dialect, mnemonic, traits>;

#endif // ATTN_DIALECT_TD
