//===- Passes.td - passes from spec to partitioned --------------*- tablegen -*-===//
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef ATTN_TRANSFORMS_PASSES_TD
#define ATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SetTargetPass : Pass<"attn-set-target", "::mlir::ModuleOp"> {
  let summary = "Put the facts of a chip on the module";
  let description = [{
    Consumes a module without `attn.target`; produces the same module with the chip's row of Facts as `#attn.target`.
    An `attn.target` that is already there wins, numbers included, so that a test or a user can state any machine.
    Fails if the chip is unknown, or is not the one the module was written for.

    ```mlir
    module { ... }                                                         // chip=sm_80
    module attributes {attn.target = #attn.target<chip = "sm_80", family = mma_sync, smem = 166912, ...>} { ... }
    ```
  }];
  let options = [
    Option<"chip", "chip", "std::string", "", "Machine to compile for: a row of Facts, such as sm_80, sm_90a or cpu">
  ];
  let dependentDialects = ["::attn::AttnDialect"];
}

def ChooseSchedulePass : Pass<"attn-choose-schedule", "::mlir::ModuleOp"> {
  let summary = "Choose how every attention op is tiled and pipelined";
  let description = [{
    Consumes `attn.sdpa` and `attn.sdpa_grad` in a module with `attn.target`; produces the same ops with `schedule` set,
    `from` naming the rule that spoke: one schedule forward, backward one for each nest. First answer wins:

    1. the schedule written on the op;
    2. the `schedule` option;
    3. the first row of the schedule table (family, pass, head dimension, mask or none) that fits;
    4. the largest of a short list that fits (forward, not on wgmma).

    With `deterministic` rows are passed over in which dQ is added up in memory, in no order.

    Where what a kernel cannot see asks for more than one schedule, the function becomes several, which differ in
    schedule and in `attn.when`, the calls each is for; those behind the first name it as `attn.alternative`:

    | function | made for | `attn.when` |
    |---|---|---|
    | @f | the first row | `aligned` operands (wgmma); its query lengths, if it is for some only |
    | @f_below_1536 and the like | rows for the lengths that are left | the same |
    | @f_unaligned | what no tensor map describes: family wgmma becomes mma_sync by an `attn.target` of its own | none: the last one takes all |

    An override is for all lengths; on wgmma it gets @f_unaligned as well. Where no row of wgmma fits, @f itself becomes
    mma_sync (remark `wgmma`).

    What is chosen fits the target: shared memory and registers by formula, tiles that are multiples of the matrix
    instruction, fields that the family knows. Fails if an override does not fit, if nothing fits, or if the target has
    no such kernel (f32 on a GPU); the message names need and limit. The remark `schedule` of every function carries
    rule, tile, warps and bytes.
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "",
           "Schedule for every op that has none, as in #attn.schedule<...>, for example tile = [128, 64], warps = [4, 1]; backward <...>, <...>">,
    Option<"deterministic", "deterministic", "bool", "false", "Gradients that are the same, bit by bit, from run to run">
  ];
}

def TileForwardPass : Pass<"attn-tile-forward", "::mlir::ModuleOp"> {
  let summary = "Rewrite attention into loops over tiles with online softmax";
  let description = [{
    Consumes a function of one `attn.sdpa` on its tensor arguments, with a schedule on the op and a target on the
    module. Produces the same function on memrefs (any strides, last dimension dense), results behind the arguments as
    destinations: an `scf.forall` over (batch, heads, query tiles) with an `attn.sweep` over key tiles that carries
    (O, max, sum). Arguments get `attn.name` and `attn.role`, the function `attn.meaning` and, from the op,
    `attn.schedule`. Head dimensions are padded in the tiles (to 16, on wgmma to panels of 64, on the CPU to 8), not in
    the memrefs.

    A score of -2^99 or below, from a score region, counts as hidden. Lengths are exact up to 2^30. An i1 capture is
    passed as one byte an element, 0 or 1.

    Fails when there is no target or no schedule, or when the function does more than this one op on its arguments.
    Remarks: `tiled`; `mask not analysed` where a mask region leaves every tile masked.
  }];
  let options = [Option<"noRanges", "no-ranges", "bool", "false",
                        "Visit and mask every key tile: slow, but right whatever the range analysis says">];
}

def DeriveGradPass : Pass<"attn-derive-grad", "::mlir::ModuleOp"> {
  let summary = "Derive the gradients of attention";
  let description = [{
    Consumes functions of one `attn.sdpa`; produces in the place of each, with `_grad` behind its name, the function of its
    gradients: `attn.sdpa_grad` on the same arguments, then o, lse and do, with dq, dk and dv as results. The forward is
    not in it; the caller keeps its o and lse. `attn.sdpa_grad` that are already there stay.

    Fills in `score_grad` where there is a score region, by reverse mode over its ops:

    ```mlir
    score {                                                     score_grad {
    ^bb0(%s: f32, %b: i32, %h: i32, %q: i32, %k: i32):          ^bb0(%s: f32, ..., %dz: f32):
      %x = math.tanh %s : f32                                     %x = math.tanh %s : f32
      attn.yield %x : f32                                         %xx = arith.mulf %x, %x : f32
    }                                                             %w = arith.subf %one, %xx : f32
                                                                  %ds = arith.mulf %dz, %w : f32
                                                                  attn.yield %ds : f32
    ```

    Integers and comparisons are constants (slope 0). Of equal operands of a maximum the first one counts, |x| has slope 0
    at 0, and a gradient of 0 stays 0 whatever slope it meets.

    Fails, by name and place, on an op of a score region that the result depends on and that has no rule
    (`arith.bitcast`, for one); if the results of `attn.sdpa` are used by more than the return; if the name is taken.
    Remark: `gradients`. Example: test/Dialect/Attn/Transforms/derive-grad.mlir.
  }];
  let options = [Option<"dlse", "dlse", "bool", "false", "Take a gradient of lse as well, as the last argument">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def TileBackwardPass : Pass<"attn-tile-backward", "::mlir::ModuleOp"> {
  let summary = "Rewrite gradients of attention into nests of loops over tiles";
  let description = [{
    Consumes a function of one `attn.sdpa_grad` on its tensor arguments, with schedules on the op and a target on the
    module. Produces the same function on memrefs, as TileForward does, with an `scf.forall` for each of these, in the
    order of launch; `attn.nest` names it and `attn.schedule` is its own:

    | nest | over | does |
    |---|---|---|
    | pre | batch, heads, query tiles | L = LSE log2(e) and D = rowsum(dO O) - dLSE into the workspaces `lse2` and `dsum` (`memref.alloc`); L = +inf, so that P = 0, for a query without a key and past the end |
    | dkv, dk, dv | batch, key heads, key tiles | the gradients named: an `scf.for` over the query heads that read the key head, in it an ascending `attn.sweep` over the query tiles that see the key tile; keys on rows |
    | dq | batch, heads, query tiles | dQ, by a descending `attn.sweep` over key tiles as in the forward |
    | dkvq | as dkv | all three: what a tile adds to dQ goes to the workspace `dqsum` (`store add`), which `pre` sets to 0 |
    | post | batch, heads, query tiles | dQ from `dqsum`, behind dkvq |

    After `pre` there is one nest for each schedule of the op, which makes the gradients it names (`grads`). Where none is
    dkvq nobody adds in memory, and results are the same from run to run. On wgmma `pre` and `post` have an `attn.target`
    of their own, of mma_sync.

    Fails when there is no target, no schedule or no derivative of a score region, when a schedule makes gradients that no
    nest does, or when the function does more than this one op on its arguments. Remarks: `tiled` for every nest; `mask not
    analysed` where a mask region leaves every tile masked. Example: test/Dialect/Attn/Transforms/tile-backward.mlir.
  }];
  let options = [Option<"noRanges", "no-ranges", "bool", "false",
                        "Visit and mask every tile: slow, but right whatever the range analysis says">];
}

def MapToGridPass : Pass<"attn-map-to-grid", "::mlir::ModuleOp"> {
  let summary = "Turn nests over row tiles, heads and batch into kernels and their launches";
  let description = [{
    Consumes functions of sizes, workspaces (`memref.alloc`) and `scf.forall` nests over (batch, heads, row tiles), each
    with at most one `attn.sweep` in it, alone or in loops, and `attn.schedule` on the nest or the function. Produces,
    for the nest of a function @f, an `attn.kernel @f_fwd` with the nest as `attn.tiles` (the body is not changed), and
    leaves @f as the host plan: sizes, workspaces, `attn.section` if the schedule has a budget, `attn.launch`. A
    function of several nests becomes as many kernels and launches, in their order: nest `attn.nest = "dkv"` is @f_dkv.
    A kernel takes those arguments and workspaces of the function that its nest uses. Row tiles are walked from the
    last if a sweep grows with the row tile (its end depends on it, its begin does not).

    A section holds the heads whose sweeps load together what the budget says: rows times bytes a row, times the trips
    of the loops between nest and sweep (a tile of keys walks the query heads of its group).

    `tiles = fixed` or `dynamic`: the launch is `persistent`. For `dynamic` the host plan has the counter, a
    `memref.alloc` that the kernel gets as its last argument: workspace, 0 in front of the first launch and left 0 by
    every launch. A target of the nest's or the function's own moves on to its kernel too; `attn.when` and
    `attn.alternative` stay where they are, on the function.

    Fails when there is no target or no schedule, when the function has anything but arguments, sizes, workspaces and
    nests, when a nest reads a workspace that none in front of it writes, when several nests lack names or share one, or
    when a block of its family takes one tile only (mma_sync, cpu) and the schedule says otherwise.
    Remark: `mapped`, for each nest.
  }];
}

def PartitionRolesPass : Pass<"attn-partition-roles", "::mlir::ModuleOp"> {
  let summary = "Give the block its roles, and every operand a ring filled ahead of its use";
  let description = [{
    Consumes kernels at `mapped`. On family mma_sync it produces one role "compute" of all warps of the schedule around
    the nest of tiles, and

    | before | after |
    |---|---|
    | `load as "K"` in a sweep that a product reads | ring "K" of `depth.k` slots: the first items copied in front of the sweep, in it `wait` before the first use, `copy` of item t + depth - 1 behind the wait's barrier (one slot: behind a barrier after the release), `release` after the last use |
    | such a load outside a sweep | one item: copied in place, waited for at its first use, released after its last |
    | a sweep inside `scf.for` (a head at a time) | the same, numbered from 0 each time, `sync` in front of its first copies |
    | a sweep of more than two products (a backward) | products and vectors stand close to their readers; one barrier for all waits of a step |
    | `load` outside a sweep of a 16-bit matrix that no product reads | one item: copied, waited for and loaded from its buf at the first use |
    | any other load | unchanged: read directly from global memory |
    | `store` of a matrix | staged: `store` to a buf over the ring filled once, `sync`, `copy via vector` |

    On family wgmma it produces a role "producer", one thread of four warps, and a role "compute" of `groups` groups of
    four warps, each with a nest of its own that carries n, the items of earlier tiles, and

    | before | after |
    |---|---|
    | `load as "K"` in a sweep, B of a product | item n + t: in the producer's sweep `acquire` and `copy via tma`; in the other `wait` before the first use, `release` after the last |
    | `load as "Q"` outside a sweep, A of a product | items t groups + g, one a group: its share of the rows. `hold.q` (of "V": `hold.v`) steps of it are loaded into registers once; a second pair of operands goes on with the rest |
    | the same, and B of a product that reads A transposed | every group waits for the items of all |
    | `load as "L"` in a sweep: f32 numbers of a workspace, with the rows of a tile that the sweep loads | in the slots of that tile's ring, `copy via bulk` (one a tile, in order) |
    | `dot` of a computed tile `trans_a`, stored | the tile goes through a ring of `depth.ds` slots that all groups fill and drain; a group makes 64 rows of the result, or its share of the columns |
    | `scf.for` around a sweep | in both roles; it carries n as well |
    | any value along the rows | shorter: group g has rows [g n, (g + 1) n), coordinates move on by g n |
    | any other load | unchanged but for that |
    | `store` of a matrix | staged in a buf of the group (`out`: of its own, or over its slot of "Q"), `copy via tma`; a buf of its own holds a piece, whole panels of columns taken by `tensor.extract_slice`, as few as fit the target |
    | kernel, launch | one tensor map more for each operand and tile that travels so |

    Fails if the module has no target or its family no roles, the kernel has no schedule or not one nest of tiles, a
    product's B operand is computed, a source's last stride is not 1, or coordinates depend on more than the numbers of the
    tile and of the loops and sweeps around it; on wgmma also if a tensor map cannot describe an operand (rank 4, an argument, 128-byte rows, boxes of 256 rows) or warps
    are not [4, 1] a group.
    Remarks: roles, every ring (depth, bytes), every staged output (over what, pieces, bytes). Examples:
    test/Dialect/Attn/Transforms/partition-roles.mlir, partition-producer.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def AssignFragmentsPass : Pass<"attn-assign-fragments", "::mlir::ModuleOp"> {
  let summary = "Spread every tile over the registers of the warps that own it";
  let description = [{
    Consumes roles whose tensors have no encoding; produces the same ops with `#attn.frag` on every tensor: matrices in
    `tile` form, vectors in `rows` or `cols` form as reductions, spreads and coordinates demand. A running sum of rows
    is carried through a sweep in `quads` form and reduced once behind it. `tensor.extract_slice` of a few columns, whole
    atoms of them, is a tile of its own.
    Fails if no matrix instruction of the family takes a product (lists those there are), a tile is not a whole number
    of atoms for every warp, a vector is used along rows and columns, an op has no meaning on fragments (a slice of
    anything but columns), or the schedule asks for warps along columns on mma_sync. Remarks: registers of every accumulator, every deferred sum.
    Example: test/Dialect/Attn/Transforms/assign-fragments.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def SkipRescalePass : Pass<"attn-skip-rescale", "::mlir::ModuleOp"> {
  let summary = "Rescale accumulators only when a maximum has grown";
  let description = [{
    Consumes kernels whose schedule has `skip = s`, with a sweep that rescales an accumulator by a running maximum m (in
    powers of two). Produces a vote in every step, a maximum that stays where it is unless a row of the warp grew by more
    than s, and a branch around the rescaling:

    | before | after |
    |---|---|
    | `m1 = maxnumf m, mc` | `mw = maxnumf m, mc`; `grow = attn.any (mw - m > s)`; `m1 = select grow, mw, m` |
    | `os = mulf o, spread(exp2(m - m1))` | `os = scf.if grow { mulf o, spread(exp2(m - m1)) } else { o }` |

    Without `skip` nothing changes. Never fails. Remarks: every accumulator; missed: there is none.
    Example: test/Dialect/Attn/Transforms/skip-rescale.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def ScheduleSweepPass : Pass<"attn-schedule-sweep", "::mlir::ModuleOp"> {
  let summary = "Overlap the steps of a sweep as the schedule's order says";
  let description = [{
    Consumes kernels with roles and fragments, family wgmma; other families are left alone. Every sweep with products
    becomes, after the entries of the schedule's `order` (`#attn.schedule` lists them), a prologue, a sweep that works on
    two steps at once, and an epilogue; without an entry `@1` one sweep in another order. Every product is issued
    asynchronously and awaited; `leaves` and `keep` are filled in. The range loses the block that comes first; it may
    become empty. Without an order each product is awaited where it stands.

    ```
    order = ["S", "PV@1", "await S", "P", "await PV"]
      S 0, P 0                                      prologue
      u = 0 .. n - 2:  S u+1, PV u, P u+1           sweep, carrying P
      PV n-1                                        epilogue
    ```

    Beside the entries listed there, `st X` stores what X computes and `put R` commits ring R; `X.in` of a reduction is
    what each thread has seen. What no entry names follows its users or, if nobody named uses it, its operands. Waits
    for rings stand in front of the first reader, releases behind the await that retires the last one. Sweeps that only
    fill rings are rotated alike: loads in the order of the waits, with their lags; their prologue stands in front of
    what is filled once a tile.

    Fails if an entry names no op, or an op twice; a product has no entry or stays in flight at the end of a step; a value
    is needed before it is computed or awaited (the message names both entries). Remarks: order, lag, carried values and
    registers; missed: a value of more than 32 registers that travels without an entry.
    Example: test/Dialect/Attn/Transforms/schedule-sweep.mlir; reasons: docs/Rationale/Overlap.md.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PlanMemoryPass : Pass<"attn-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place every buffer in shared memory";
  let description = [{
    Consumes kernels with roles and allocs; produces an offset on every alloc (a multiple of 1024 if anything in its
    bytes is swizzled, else of 128), `smem_bytes` and `threads` on the kernel. Allocs joined by `over` share bytes, as
    many as the largest needs; an alloc inside a role is one a group, side by side. On family wgmma every ring of the
    kernel gets `barriers`, behind all data: 8 bytes for each slot that say full, then as many that say empty.
    Fails if the plan is over the target's limit (need, limit, and the whole plan in notes), `over` names no alloc, or
    two allocs share a label. Remarks: the plan; missed: the blocks an SM should hold do not fit, a buf whose rows
    collide in the banks. Example: test/Dialect/Attn/Transforms/plan-memory.mlir.
  }];
}

def CountWaitsPass : Pass<"attn-count-waits", "::mlir::ModuleOp"> {
  let summary = "Count the copies that may still be open at every wait";
  let description = [{
    Consumes roles that fill their own rings through cp.async; produces `leaves` on every `wait`: the groups that are
    younger than the item's on every path, the least over prologue and steady state, so that it also holds in every
    clone of a sweep. A guarded copy counts as a group: the conversion commits an empty one. Where one role fills the
    rings of another (family wgmma) an item has a barrier of its own and a wait needs no count.
    Fails if a path breaks a rule of the rings (Analysis/InFlight.h, Analysis/RingProtocol.h): a slot overwritten before
    all warps have read it, a wait for an item nobody fills, a read after the release. Example:
    test/Dialect/Attn/Transforms/count-waits.mlir.
  }];
}

def SplitSweepsPass : Pass<"attn-split-sweeps", "::mlir::ModuleOp"> {
  let summary = "Split every sweep into masked and plain loops";
  let description = [{
    Consumes `attn.sweep` at `mapped` (the CPU path) or `partitioned`; produces up to three `scf.for` on i32, chained
    through the carried values in the order they run. They count t, the sweep's ordinal, on through all of them;
    `j = lo + t` ascending, `hi - 1 - t` descending.

    | loop | exists |
    |---|---|
    | masked, [plainHi, hi) | if `plainHi` and `hi` are different values and `edge` is not 0 |
    | plain, [plainLo, plainHi) | unless `plainLo` and `plainHi` are one value: then one masked loop does all |
    | masked, [lo, plainLo) | if `lo` and `plainLo` are different values |

    In the plain loop every `attn.mask` is its operand and the code that only fed masks is gone. A body without masks
    gets one loop. Never fails. Remark: which loops. Example: test/Dialect/Attn/Transforms/split-sweeps.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def LowerTilesPass : Pass<"attn-lower-tiles", "::mlir::ModuleOp"> {
  let summary = "Find the tiles of a block from its id";
  let description = [{
    Consumes `attn.tiles`; produces its body with the tile's numbers computed from a linear id, once for each tile of
    the block. Sweeps stay as they are.

    | tiles | become | ids |
    |---|---|---|
    | `single` | the body, in place | `gpu.block_id x` |
    | `fixed` | `scf.while`, test at the bottom, over (id, ordinal, carried values) | the block's, then steps of `gpu.grid_dim x` |
    | `dynamic` | the same | the block's, then from the counter: the first role, one thread, fetches it at a tile's start and hands it to the others at its end, in a ring "tile" of one word that is made here |
    | any, on the CPU | `scf.for` over [begin, end), two more i64 arguments of the kernel | the counter of the loop |

    The loops run once before they ask: a launch has at least one tile for each block. A block fetches once for each
    tile it runs, so that there are as many fetches as tiles and the counter ends at 0. Every nest of a kernel decodes
    an id the same way, so all roles of a block see the same tile. Without a section all heads of all batches are one.

    Fails if the module has no target, nests of a kernel are of different kinds, or dynamic tiles have no first role of
    one thread, or a role that does not walk them. Remark: where ids come from.
    Example: test/Dialect/Attn/Transforms/lower-tiles.mlir.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect"];
}

def OverlapTilesPass : Pass<"attn-overlap-tiles", "::mlir::ModuleOp"> {
  let summary = "Start the next tile over the end of this one";
  let description = [{
    Consumes kernels whose schedule has `seam = overlap`, with sweeps that are rotated and tiles that are loops
    (`scf.while` of LowerTiles); others are left alone. Produces loops that are rotated as the sweeps are: what stands in
    front of the sweep (lead) runs once in front of the loop, and then at a tile's end for the next one, over what stands
    behind the sweep (trail).

    ```
    lead(first)
    while {
      sweep; next id; condition(more)
    } do {
      seam: lead(next), trail(this)
    }
    trail(last)
    ```

    The seam follows the schedule's order: entries of the newest step place ops of the lead, entries `@1` ops of the
    trail, turns and pins stand as in the sweep. In a role that fills rings: the lead's copies, then the trail's, which is the
    order in which the seam waits for them. What a lead computes is carried around the loop, as are results of divisions
    by sizes; other numbers are computed again.

    Fails if a role has no loop over tiles with one sweep, the order works on one step at a time, an operand is held for
    a whole tile in a ring with less than two slots a group, or results lie over a ring. Remark: values carried by a role.
    Example: test/Dialect/Attn/Transforms/overlap-tiles.mlir.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect"];
}

def HoistInvariantsPass : Pass<"attn-hoist-invariants"> {
  let summary = "Move what does not change in front of loops, if it is worth its registers";
  let description = [{
    Consumes any op with loops; produces the same with pure, speculatable ops that depend on nothing of a loop in front
    of it: all of them where the loop is a sweep's, single numbers only where it is a loop over tiles (`scf.while`),
    since a tile or fragment would take registers in every sweep. Never fails.
    Example: test/Dialect/Attn/Transforms/hoist-invariants.mlir.
  }];
}

def VerifyStagePass : Pass<"attn-verify-stage", "::mlir::ModuleOp"> {
  let summary = "Check what a stage promises";
  let description = [{
    Consumes a module at the given stage, changes nothing. Fails with one error per broken promise, naming the pass that
    should have kept it.

    | stage | promises |
    |---|---|
    | spec | semantic ops only |
    | tiled | a target; no `sdpa`; a schedule on every function with tile loops; no kernel, no fragment |
    | mapped | no `scf.forall`; every kernel has a schedule and a nest of tiles; launches fit their kernels |
    | partitioned | no `sweep`, no `tiles`; tiles in roles only, all with fragments; offsets aligned and disjoint (or joined by `over`); warps and roles one to one; every slot free when it is filled, every item waited for, read and released in this order on every path, `leaves` not above what is younger (recomputed); with several roles: one role fills a ring, roles number items alike |
    | nvvm, llvm | nothing but these dialects beside the host functions |

    Example: test/Dialect/Attn/Transforms/verify-stage.mlir.
  }];
  let options = [Option<"stage", "stage", "::attn::Stage", "::attn::Stage::Spec", "The stage the module must be at",
                        "::attn::stageValues()">];
}

#endif // ATTN_TRANSFORMS_PASSES_TD
