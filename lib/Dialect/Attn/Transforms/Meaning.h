//===- Meaning.h - what a kernel computes, in the words of the manifest -*- C++ -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_MEANING_H
#define ATTN_TRANSFORMS_MEANING_H

#include "attn/Dialect/Attn/IR/Attn.h"

namespace attn {

/// The `attn.meaning` of a function of one attn.sdpa or attn.sdpa_grad: what the manifest repeats under "meaning",
/// ready to print, so that a result can be checked without the compiler.
///
///   {op = "sdpa", scale = 0.125 : f32,
///    masks = [{kind = "causal", align = "bottom_right"}, {kind = "window", left = 7, right = 0, align = "top_left"}],
///    score = {values = [{op = "arith.constant", type = "f32", value = 2.0 : f32},
///                       {op = "arith.mulf", type = "f32", in = [0, 5]}], yield = 6}}
///
/// Values of a region are numbered: its arguments first, then the entries of `values` in order. A captured scalar is an
/// entry {op = "capture", source = <argument name>}; attn.gather names its source likewise, comparisons carry their
/// `predicate`. `nameOf` gives the name of a captured function argument.
mlir::DictionaryAttr describeMeaning(AttentionOp op, llvm::function_ref<mlir::StringAttr(mlir::Value)> nameOf);

} // namespace attn

#endif // ATTN_TRANSFORMS_MEANING_H
