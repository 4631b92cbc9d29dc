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
}

def ConvertAttnToCPUPass : Pass<"convert-attn-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Convert mapped kernels to loops over vectors on the CPU";
}

#endif // ATTN_CONVERSION_PASSES_TD
