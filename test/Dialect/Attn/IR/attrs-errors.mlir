// Attributes and types that do not parse or verify: one error each.
// RUN: attn-opt %s -split-input-file -verify-diagnostics

// @causal
// expected-error @below {{expects an alignment: #attn.causal<top_left> or #attn.causal<bottom_right>}}
func.func private @f() attributes {attn.test = #attn.causal}

// -----

// @causal_empty
// expected-error @below {{expects an alignment, top_left or bottom_right (they differ where Sq != Sk; there is no default)}}
func.func private @f() attributes {attn.test = #attn.causal<>}

// -----

// @causal_middle
// expected-error @below {{there is no default), got 'middle'}}
func.func private @f() attributes {attn.test = #attn.causal<middle>}

// -----

// @window_one
// expected-error @below {{expects #attn.window<left, right, top_left or bottom_right>}}
func.func private @f() attributes {attn.test = #attn.window<1>}

// -----

// @window_two
// expected-error @below {{expects #attn.window<left, right, top_left or bottom_right>}}
func.func private @f() attributes {attn.test = #attn.window<1, 0>}

// -----

// @window_m3
// expected-error @below {{window bounds count keys besides self, -1 means unbounded; got -2}}
func.func private @f() attributes {attn.test = #attn.window<-2, 0, top_left>}

// -----

// @window_m3_huge
// expected-error @below {{window bounds are at most 1073741824, -1 means unbounded; got 1073741825}}
func.func private @f() attributes {attn.test = #attn.window<0, 1073741825, top_left>}

// -----

// @unknown
// expected-error @below {{unknown attribute `block` in dialect `attn`}}
func.func private @f() attributes {attn.test = #attn.block}

// -----

// @target_family
// expected-error @below {{expects a family: mma_sync, wgmma or cpu, got 'vliw'}}
func.func private @f() attributes {attn.test = #attn.target<chip = "a", family = vliw>}

// -----

// @target_chip
// expected-error @below {{expects a target to name chip and family}}
func.func private @f() attributes {attn.test = #attn.target<family = cpu>}

// -----

// @target_twice
// expected-error @below {{target field 'chip' given twice}}
func.func private @f() attributes {attn.test = #attn.target<chip = "a", chip = "b", family = cpu>}

// -----

// @target_unknown
// expected-error @below {{unknown target field 'memory'; expects chip, family, smem, smem_sm, sms or regs}}
func.func private @f() attributes {attn.test = #attn.target<chip = "a", memory = 1>}

// -----

// @target_t1
// expected-error @below {{expects smem, smem_sm and regs of at least 0 and sms of at least 1, got -1, 0, 65536 and 1}}
func.func private @f() attributes {attn.test = #attn.target<chip = "a", family = cpu, smem = -1>}

// -----

// @schedule_h1_one
// expected-error @below {{expects 'tile' to be two positive integers up to 65536, got [64]}}
func.func private @f() attributes {attn.test = #attn.schedule<tile = [64], warps = [4, 1]>}

// -----

// @schedule_h1_four
// expected-error @below {{expects 'tile' to be two positive integers up to 65536, got [1, 2, 3, 4]}}
func.func private @f() attributes {attn.test = #attn.schedule<tile = [1, 2, 3, 4], warps = [4, 1]>}

// -----

// @schedule_h1_none
// expected-error @below {{expects 'warps' to be two positive integers up to 1024, got []}}
func.func private @f() attributes {attn.test = #attn.schedule<tile = [64, 64]>}

// -----

// @schedule_h2
// expected-error @below {{expects 'groups', 'depth' and 'blocks' from 1 to 32, got 0}}
func.func private @f() attributes {attn.test = #attn.schedule<tile = [64, 64], warps = [4, 1], depth = {k = 0}>}

// -----

// @schedule_h3
// expected-error @below {{expects 'section' to be a number of bytes, got -1}}
func.func private @f() attributes {attn.test = #attn.schedule<tile = [64, 64], warps = [4, 1], section = -1>}

// -----

// @schedule_ring
// expected-error @below {{unknown ring 'o' in depth; expects q, k, v, do or ds}}
func.func private @f() attributes {attn.test = #attn.schedule<tile = [64, 64], warps = [4, 1], depth = {o = 2}>}

// -----

// @schedule_ring_twice
// expected-error @below {{ring 'k' given twice in depth}}
func.func private @f() attributes {attn.test = #attn.schedule<tile = [64, 64], warps = [4, 1], depth = {k = 1, k = 2}>}

// -----

// @schedule_unknown
// expected-error @below {{unknown schedule field 'stages'; expects tile, warps, groups, regs, grads, depth, hold, order, skip, out, seam, blocks, tiles, section or from}}
func.func private @f() attributes {attn.test = #attn.schedule<stages = 2>}

// -----

// @schedule_twice
// expected-error @below {{schedule field 'tile' given twice}}
func.func private @f() attributes {attn.test = #attn.schedule<tile = [64, 64], tile = [64, 64]>}

// -----

// @schedule_tiles
// expected-error @below {{expects how tiles reach a block: single, fixed or dynamic, got 'each'}}
func.func private @f() attributes {attn.test = #attn.schedule<tile = [64, 64], warps = [4, 1], tiles = each>}

// -----

// @frag_f1
// expected-error @below {{expects rows in a multiple of 64 (16 for each of 4 warps), got 32}}
func.func private @f(tensor<32x32xf32, #attn.frag<4, 1>>)

// -----

// @frag_f2
// expected-error @below {{expects columns in a multiple of 16 (8 for each of 2 warps), got 8}}
func.func private @f(tensor<64x8xf32, #attn.frag<4, 2>>)

// -----

// @frag_f3
// expected-error @below {{expects rank 1 with #attn.frag form rows, got 2}}
func.func private @f(tensor<64x8xf32, #attn.frag<4, 1, rows>>)

// -----

// @frag_f3_quads
// expected-error @below {{expects 4 columns, one a lane of the quad, got 8}}
func.func private @f(tensor<64x8xf32, #attn.frag<4, 1, quads>>)

// -----

// @frag_dynamic
// expected-error @below {{expects a static shape with #attn.frag}}
func.func private @f(tensor<?x8xf32, #attn.frag<4, 1>>)

// -----

// @frag_warps
// expected-error @below {{expects at least one warp along rows and columns, got 0 x 1}}
func.func private @f(tensor<64x8xf32, #attn.frag<0, 1>>)

// -----

// @frag_form
// expected-error @below {{expects a form: tile, rows, cols or quads, got 'blob'}}
func.func private @f(tensor<64x8xf32, #attn.frag<4, 1, blob>>)

// -----

// @buf_b1
// expected-error @below {{expects a buf of static shape and rank 1 or 2, got 'tensor<?x8xf32>'}}
func.func private @f(!attn.buf<tensor<?x8xf32>, 0>)

// -----

// @buf_b2
// expected-error @below {{expects rows of a multiple of 128 bytes for that swizzle span, got 32}}
func.func private @f(!attn.buf<tensor<8x8xf32>, 128>)

// -----

// @buf_b3
// expected-error @below {{expects no swizzle on a rank-1 buf, got a span of 32}}
func.func private @f(!attn.buf<tensor<8xf32>, 32>)

// -----

// @buf_span
// expected-error @below {{expects a swizzle span of 0, 32, 64 or 128 bytes, got 48}}
func.func private @f(!attn.buf<tensor<8x8xf32>, 48>)

// -----

// @ring_r1
// expected-error @below {{expects a ring of at least one slot, got 0}}
func.func private @f(!attn.ring<0, !attn.buf<tensor<8x8xf32>, 0>>)

// -----

// @ring_r2
// expected-error @below {{expects only bufs in a ring, got 'f32'}}
func.func private @f(!attn.ring<2, f32>)

// -----

// @discardable
// expected-error @below {{'func.func' op unknown attribute 'attn.test'}}
func.func private @f() attributes {attn.test = 1}

// -----

// @discardable_type
// expected-error @below {{expects 'attn.target' to be an #attn.target, got "sm_80"}}
module attributes {attn.target = "sm_80"} {}

// -----

// @schedule_h4
// expected-error @below {{expects 'regs' to be two multiples of 8 from 24 to 256, got [24, 241]}}
#s = #attn.schedule<tile = [128, 64], warps = [4, 1], regs = [24, 241]>

// -----

// @schedule_h5
// expected-error @below {{expects the 128 rows of a tile to be shared by 3 groups evenly}}
#s = #attn.schedule<tile = [128, 64], warps = [4, 1], groups = 3>

// -----

// @schedule_h5_keys
// expected-error @below {{expects the 128 rows of a tile to be shared by 3 groups evenly}}
#s = #attn.schedule<tile = [96, 128], warps = [4, 1], groups = 3, grads = ["dK", "dV"]>

// -----

// @schedule_h6
// expected-error @below {{expects 'skip' from 0 to 15, got 16}}
#s = #attn.schedule<tile = [128, 64], warps = [4, 1], skip = 16>

// -----

// expected-error @below {{expects where results are staged: alias or own, got 'there'}}
#s = #attn.schedule<tile = [128, 64], warps = [4, 1], out = there>

// -----

// expected-error @below {{expects what happens between tiles: plain or overlap, got 'none'}}
#s = #attn.schedule<tile = [128, 64], warps = [4, 1], seam = none>

// -----

// A machine of the table has the family it has; its mma.sync part is what every machine has.
// expected-error @below {{expects a chip with warpgroup instructions for family wgmma, such as sm_90a; got sm_90}}
func.func private @no_warpgroups() attributes {t = #attn.target<chip = "sm_90", family = wgmma, smem = 232448>}

// -----

// @schedule_h7
// expected-error @below {{expects 'hold' from 0 to 32 steps, got 33}}
#s = #attn.schedule<tile = [128, 64], warps = [4, 1], hold = {v = 33}>

// -----

// @schedule_h7_name
// expected-error @below {{unknown ring 'k' in hold; expects q or v}}
#s = #attn.schedule<tile = [128, 64], warps = [4, 1], hold = {k = 4}>

// -----

// @schedule_h8
// expected-error @below {{expects 'grads' to be some of "dQ", "dK" and "dV", each once, got "dO"}}
#s = #attn.schedule<tile = [128, 64], warps = [4, 1], grads = ["dO"]>

// -----

// @schedule_h8_twice
// expected-error @below {{expects 'grads' to be some of "dQ", "dK" and "dV", each once, got "dQ"}}
#s = #attn.schedule<tile = [128, 64], warps = [4, 1], grads = ["dQ", "dQ"]>
