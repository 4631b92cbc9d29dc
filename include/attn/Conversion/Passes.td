//===- Passes.td - conversions out of the dialect ---------------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_CONVERSION_PASSES_TD
#define ATTN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertAttnToNVVMPass : Pass<"convert-attn-to-nvvm", "::mlir::ModuleOp"> {
  let summary = "Convert the partitioned stage to llvm and nvvm";
  let description = [{
    Consumes kernels whose sweeps are loops (attn-split-sweeps), whose tiles are block ids (attn-lower-tiles) and whose
    tensors carry fragments. Produces one `llvm.func` a kernel, of llvm, nvvm, and arith, vector and scf on vectors,
    which upstream passes convert. Loops stay `scf.for`: what a loop does not change should be moved in front of it
    (loop-invariant-code-motion) before they become branches. The host plan is left alone.

    A fragment becomes one vector a thread, a memref a pointer with strides and sizes, a buf its address in shared
    memory. Each kernel is converted by the rules of its own target's family:

    | | `mma_sync` | `wgmma` |
    |---|---|---|
    | roles | one, the block | branches by warp, registers moved between them; one thread, or groups of warps |
    | rings | cp.async groups | a full and an empty mbarrier a slot |
    | copies | 16 bytes a thread | boxes of a tensor map, which is a `grid_constant` parameter |
    | dots | ldmatrix and mma.sync | one inline asm each: fence, all wgmma, commit |
    | results into a buf | words | stmatrix |

    On `wgmma` no branch depends on the thread (predicates do), and a mask of coordinates is one comparison an element.

    Fails when a kernel needs what its family or the machine does not have: an operation of `math` without a lowering
    (the error lists those there are), a dot without an instruction shape, warps that share rows, a ring without
    barriers, more named barriers than there are.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::vector::VectorDialect"];
}

def RotateLoopsPass : Pass<"attn-rotate-loops", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Turn the loops of a kernel into branches, tested at the bottom and never unrolled";
  let description = [{
    Consumes a kernel with `scf.for` and `scf.if` on values of llvm and vector. Produces branches: a loop is guarded once
    and tested at its end, where the back edge carries the request not to unroll; fragments of 16-bit floats are carried
    as the 32-bit pairs that instructions read. Never fails on what
    convert-attn-to-nvvm produces; loops counted upwards by a positive step are what it expects.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect"];
}

def ConvertAttnToCPUPass : Pass<"convert-attn-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Convert mapped kernels to loops over vectors on the CPU";
  let description = [{
    Consumes: `attn.kernel` of family cpu after attn-split-sweeps and attn-lower-tiles (its last arguments are the first
    tile and the one past the last). Produces: for each a module of the kernel's name that holds a private function of
    scf loops, memref buffers and 1-D vectors, and `NAME(params, begin, end)`, its entry from C; beside them the host
    function as it was, and on the outer module `attn.cpu`.
    Fails when: an op is not known here; a constant tile is no splat.
    Query rows lie in the lanes of vectors (docs/Rationale/CPU.md).
  }];
  let options = [
    Option<"cpu", "cpu", "std::string", "\"native\"", "Processor the code is for, recorded for what compiles it">,
    Option<"vectorLanes", "vector-lanes", "int64_t", "8", "f32 values in a vector register">,
    Option<"vectorRegisters", "vector-registers", "int64_t", "16", "Vector registers">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // ATTN_CONVERSION_PASSES_TD
