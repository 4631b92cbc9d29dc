//===- AttnInterfaces.td - what both directions share -----------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_INTERFACES_TD
#define ATTN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Attn_AttentionOp : OpInterface<"AttentionOp"> {
  let cppNamespace = "::attn";
  let description = [{
    What `attn.sdpa` and `attn.sdpa_grad` have in common: queries, keys and values, the scale, the masks, the regions and
    what these capture.
  }];
  let methods = [
    InterfaceMethod<"The queries.", "::mlir::Value", "getQ">,
    InterfaceMethod<"The keys.", "::mlir::Value", "getK">,
    InterfaceMethod<"The values.", "::mlir::Value", "getV">,
    InterfaceMethod<"What scores are multiplied by.", "::llvm::APFloat", "getScale">,
    InterfaceMethod<"The same, as an attribute.", "::mlir::FloatAttr", "getScaleAttr">,
    InterfaceMethod<"The named masks, or null.", "::mlir::ArrayAttr", "getMaskAttr">,
    InterfaceMethod<"Other named masks; null for none.", "void", "setMaskAttr", (ins "::mlir::ArrayAttr":$masks)>,
    InterfaceMethod<"Values the regions use.", "::mlir::Operation::operand_range", "getCaptures">,
    InterfaceMethod<"The operands that list them.", "::mlir::MutableOperandRange", "getCapturesMutable">,
    InterfaceMethod<"The score region; empty if there is none.", "::mlir::Region &", "getScore">,
    InterfaceMethod<"The mask region; empty if there is none.", "::mlir::Region &", "getVisible">,
  ];
}

#endif // ATTN_INTERFACES_TD
