//===- manifest_keys.h - the words of a manifest --------------------------===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE in the project root for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one header the compiler and the runtime share, so that a word is spelled
// in one place. docs/Manifest.md says what each means and who reads it.
//
//===----------------------------------------------------------------------===//

#ifndef ATTN_RT_MANIFEST_KEYS_H
#define ATTN_RT_MANIFEST_KEYS_H

/// Version of the format. A runtime refuses a manifest with another number.
#define ATTN_MANIFEST_VERSION 1
/// The name a compiler gives the file.
#define ATTN_MANIFEST_FILE "manifest.json"

// Top level.
#define ATTN_KEY_MANIFEST "attn_manifest"
#define ATTN_KEY_MEANING "meaning"
#define ATTN_KEY_SIZES "sizes"
#define ATTN_KEY_OPERANDS "operands"
#define ATTN_KEY_REQUIRE "require"
#define ATTN_KEY_EMPTY "empty"
#define ATTN_KEY_WORKSPACE "workspace"
#define ATTN_KEY_VALUES "values"
#define ATTN_KEY_KERNELS "kernels"

// meaning: written for a reference that judges the answer; not read by the runtime.
#define ATTN_KEY_OP "op"
#define ATTN_KEY_SCALE "scale"
#define ATTN_KEY_MASKS "masks"
#define ATTN_KEY_KIND "kind"
#define ATTN_KEY_ALIGN "align"
#define ATTN_KEY_LEFT "left"
#define ATTN_KEY_RIGHT "right"
#define ATTN_KEY_SCORE "score"
#define ATTN_KEY_VISIBLE "visible"
#define ATTN_KEY_YIELD "yield"
#define ATTN_KEY_IN "in"
#define ATTN_KEY_VALUE "value"
#define ATTN_KEY_SOURCE "source"
#define ATTN_KEY_PREDICATE "predicate"
#define ATTN_OP_SDPA "sdpa"
#define ATTN_OP_SDPA_GRAD "sdpa_grad"
#define ATTN_MASK_CAUSAL "causal"
#define ATTN_MASK_WINDOW "window"
#define ATTN_ALIGN_TOP_LEFT "top_left"
#define ATTN_ALIGN_BOTTOM_RIGHT "bottom_right"

// operands, workspace.
#define ATTN_KEY_NAME "name"
#define ATTN_KEY_ROLE "role"
#define ATTN_KEY_TYPE "type"
#define ATTN_KEY_DIMS "dims"
#define ATTN_KEY_BASE_ALIGN "base_align"
#define ATTN_KEY_STRIDE_ALIGN "stride_align"
#define ATTN_KEY_ZERO "zero"
#define ATTN_ROLE_NAME_IN "in"
#define ATTN_ROLE_NAME_OUT "out"
#define ATTN_ROLE_NAME_CAPTURE "capture"
#define ATTN_ROLE_NAME_SCALAR "scalar"
#define ATTN_ZERO_BEFORE_FIRST "before_first"
#define ATTN_ZERO_BY_KERNEL "by_kernel"
#define ATTN_ZERO_RESTORED "restored"

// Numbers: an integer, a size name, {"ceil": name, "by": n or name}, a list (= product).
#define ATTN_KEY_CEIL "ceil"
#define ATTN_KEY_BY "by"

// require, empty.
#define ATTN_KEY_DIVIDES "divides"
#define ATTN_KEY_DO "do"
#define ATTN_KEY_FILL "fill"
#define ATTN_DO_NOTHING "nothing"

// values: rules the host computes at launch.
#define ATTN_KEY_RULE "rule"
#define ATTN_KEY_OF "of"
#define ATTN_KEY_UNIT_BYTES "unit_bytes"
#define ATTN_KEY_BUDGET "budget"
#define ATTN_KEY_WHOLE "whole"
#define ATTN_RULE_LARGEST_DIVISOR "largest_divisor"

// kernels: a list of steps, each a kernel or {"first_of": [ways]}; a way is a kernel or
// {"kernels": [...]}, with "when".
#define ATTN_KEY_FIRST_OF "first_of"
#define ATTN_KEY_WHEN "when"
#define ATTN_WHEN_ALIGNED "aligned"
#define ATTN_WHEN_SIZE "size"
#define ATTN_WHEN_FROM "from"
#define ATTN_WHEN_BELOW "below"
#define ATTN_KEY_CHIP "chip"
#define ATTN_KEY_PTX "ptx"
#define ATTN_KEY_CUBIN "cubin"
#define ATTN_KEY_CODE "code"
#define ATTN_KEY_CPU "cpu"
#define ATTN_KEY_THREADS "threads"
#define ATTN_KEY_SMEM_BYTES "smem_bytes"
#define ATTN_KEY_TILES "tiles"
#define ATTN_KEY_GRID "grid"
#define ATTN_KEY_BLOCKS_PER_SM "blocks_per_sm"
#define ATTN_KEY_ARGS "args"
#define ATTN_KEY_INFO "info"
#define ATTN_CHIP_CPU "cpu"
#define ATTN_GRID_ONE_PER_TILE "one_per_tile"
#define ATTN_GRID_MIN_SMS "min_sms"

// kernels[].args: each entry has one of these keys ("value" is above), "map" with three more.
#define ATTN_ARG_PTR "ptr"
#define ATTN_ARG_STRIDES "strides"
#define ATTN_ARG_SIZES "sizes"
#define ATTN_ARG_F32 "f32"
#define ATTN_ARG_I32 "i32"
#define ATTN_ARG_VALUE "value"
#define ATTN_ARG_MAP "map"
#define ATTN_KEY_LAYOUT "layout"
#define ATTN_KEY_ROWS "rows"
#define ATTN_KEY_SWIZZLE "swizzle"
#define ATTN_LAYOUT_PANELS5 "panels5"
#define ATTN_LAYOUT_ROWS4 "rows4"

#endif // ATTN_RT_MANIFEST_KEYS_H
