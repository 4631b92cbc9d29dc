"""Specs that must be refused: exit code 1, one error line that holds the given words, nothing written.

    refused_specs.py SCRATCH
"""
import os
import re
import subprocess
import sys

T, L = "tensor<?x?x?x64xf16>", "tensor<?x?x?xf32>"
SCORE_ARGUMENTS = "%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32"


def spec(q=T, k=T, v=T, o=T, l=L, scale="0.125", middle="", arguments="", name="@f"):
    return f"""func.func {name}(%q: {q}, %k: {k}, %v: {v}{arguments}) -> ({o}, {l}) {{
  %o, %lse = attn.sdpa(%q, %k, %v) scale {scale} {middle} : ({q}, {k}, {v}) -> ({o}, {l})
  return %o, %lse : {o}, {l}
}}
"""


def all_of(type):
    return spec(type, type, type, type)


def score(body, value="%s : f32", arguments=SCORE_ARGUMENTS, **rest):
    captures = f"captures({rest.pop('captures')})" if "captures" in rest else ""
    region = f"{captures} score {{\n^bb0({arguments}):\n{body}\n" + (f"attn.yield {value}\n" if value is not None else "") + "}"
    return spec(middle=region, **rest)


def math(op):
    return score(f"%z = {op}", "%z : f32")


def schedule(fields):
    return spec(middle=f"schedule <{fields}>")


def target(fields):
    return f"module attributes {{attn.target = {fields}}} {{\n{spec()}}}"


SDPA = f"attn.sdpa(%q, %q, %q) scale 1.0 : ({T}, {T}, {T}) -> ({T}, {L})"
CHAIN = "%x0 = arith.addf %s, %s : f32\n" + "\n".join(f"%x{i + 1} = arith.addf %x{i}, %s : f32" for i in range(100000))

REFUSED = {
    # Shapes and element types.
    "rank-0": (spec(q="tensor<f16>"), "q has rank 0; expects 4 (batch, heads, length, head dim)"),
    "rank-3": (spec(q="tensor<?x?x64xf16>"), "q has rank 3; expects 4"),
    "rank-5": (spec(q="tensor<?x?x?x?x64xf16>"), "q has rank 5; expects 4"),
    "unranked": (spec(q="tensor<*xf16>"), "'attn.sdpa'"),
    "vector": (spec(q="vector<1x1x1x64xf16>"), "'attn.sdpa'"),
    "memref": (spec(q="memref<?x?x?x64xf16>"), "'attn.sdpa'"),
    "head-dims-differ": (spec(k="tensor<?x?x?x32xf16>"), "q and k head dims differ (64 vs 32)"),
    "value-dims-differ": (spec(o="tensor<?x?x?x32xf16>"), "result o has head dim 32, v has 64"),
    "dynamic-head-dim": (all_of("tensor<?x?x?x?xf16>"), "head dim must be static"),
    "heads-not-a-multiple": (spec(q="tensor<1x28x?x64xf16>", k="tensor<1x8x?x64xf16>", v="tensor<1x8x?x64xf16>",
                                  o="tensor<1x28x?x64xf16>", l="tensor<1x28x?xf32>"),
                             "query heads 28 not a multiple of kv heads 8"),
    "no-kv-heads": (spec(k="tensor<1x0x?x64xf16>", v="tensor<1x0x?x64xf16>"), "k has no heads"),
    "lengths-differ": (spec(k="tensor<1x1x8x64xf16>", v="tensor<1x1x9x64xf16>"), "k and v differ in length (8 vs 9)"),
    "size-over-32-bits": (all_of("tensor<4294967296x1x1x64xf16>"), "q has size 4294967296 in dimension 0"),
    "head-dim-513": (all_of("tensor<?x?x?x513xf16>"), "head dim must be a positive multiple of 8; that of q is 513"),
    "head-dim-0": (all_of("tensor<?x?x?x0xf16>"), "head dim must be a positive multiple of 8; that of q is 0"),
    "head-dim-264": (all_of("tensor<?x?x?x264xf16>"), "head dim 264 is not supported on sm_80; max for this op is 256"),
    "head-dim-100000": (all_of("tensor<?x?x?x100000xf16>"), "sm_80 has 166912; max for this op is 256"),
    "mixed-types": (spec(k="tensor<?x?x?x64xbf16>"), "q and k differ in element type ('f16' vs 'bf16')"),
    "lse-in-f16": (spec(l="tensor<?x?x?xf16>"), "result lse has element type 'f16'; expects f32"),
    "f32-on-a-gpu": (all_of("tensor<?x?x?x64xf32>"), "f32 attention runs on --chip=cpu; on sm_80 use f16 or bf16"),
    **{f"type-{t}": (all_of(f"tensor<?x?x?x64x{t}>"), f"q has element type '{t}'; expects f16, bf16 or f32")
       for t in ("f64", "i8", "i1", "complex<f32>", "index", "tf32", "f8E5M2FNUZ", "f4E2M1FN", "f8E4M3FN")},
    # Scale and masks.
    "scale-nan": (spec(scale="0x7FC00000"), "scale must be finite"),
    "scale-inf": (spec(scale="0x7F800000"), "scale must be finite"),
    "scale-text": (spec(scale='"x"'), "invalid kind of attribute"),
    "mask-number": (spec(middle="mask [1]"), "unknown mask 1 : i64; expects #attn.causal<align> or #attn.window<"),
    "mask-unaligned": (spec(middle="mask [#attn.causal]"), "#attn.causal<top_left> or #attn.causal<bottom_right>"),
    "mask-minus-2": (spec(middle="mask [#attn.window<-2, 0, top_left>]"), "-1 means unbounded; got -2"),
    "mask-short": (spec(middle="mask [#attn.window<1>]"), "expects #attn.window<left, right, top_left or bottom_right>"),
    "mask-huge": (spec(middle="mask [#attn.window<9223372036854775807, 0, top_left>]"), "window bounds are at most"),
    "mask-thousand": (spec(middle="mask [" + ", ".join(["#attn.causal<top_left>"] * 1000) + "]"), "each kind of mask once"),
    # Regions.
    "store": (score("%i = arith.constant 0 : index\nmemref.store %s, %m[%i] : memref<4xf32>", arguments=SCORE_ARGUMENTS).replace(
        ") -> (", ", %m: memref<4xf32>) -> (", 1), "score region must be side-effect free; found memref.store"),
    "call": ("func.func private @g(f32) -> f32\n" + score("%y = func.call @g(%s) : (f32) -> f32", "%y : f32"), "found func.call"),
    "while": (score("%r = scf.while (%x = %s) : (f32) -> f32 { %t = arith.constant true\n scf.condition(%t) %x : f32 } "
                    "do { ^bb0(%x: f32): scf.yield %x : f32 }"), "arith, math and attn.gather only; found scf.while"),
    "nested": (score(f"%a, %c = {SDPA}"), "arith, math and attn.gather only; found attn.sdpa"),
    "yields-i1": (score("%t = arith.constant true", "%t : i1"), "a score region yields 'f32' (did you mean a mask region?)"),
    "yields-f16": (score("%t = arith.truncf %s : f32 to f16", "%t : f16"), "yields 'f16'; a score region yields 'f32'"),
    "yields-two": (score("", "%s, %s : f32, f32"), "yields 2 values"),
    "yields-none": (score("", ""), "yields 0 values"),
    "no-yield": (score("%x = arith.addf %s, %s : f32", None), "no terminator"),
    "two-blocks": (score("cf.br ^bb1\n^bb1:"), "score region must be a single block"),
    "four-arguments": (score("", arguments="%s: f32, %b: i32, %h: i32, %qi: i32"), "score region takes (score: f32, b, h, q, k: i32)"),
    "i64-argument": (score("", arguments="%s: f32, %b: i64, %h: i32, %qi: i32, %ki: i32"), "score region takes"),
    "division": (score("%d = arith.subi %qi, %ki : i32\n%e = arith.divsi %qi, %d : i32\n%f = arith.sitofp %e : i32 to f32",
                       "%f : f32"), "divides by an integer that may be 0"),
    "not-captured": (score("%x = arith.mulf %s, %m : f32", "%x : f32", ).replace(") -> (", ", %m: f32) -> (", 1), "list it in captures"),
    "captured-f64": (score("%x = arith.truncf %m : f64 to f32", "%x : f32", captures="%m : f64").replace(") -> (", ", %m: f64) -> (", 1),
                     "cannot capture 'f64'"),
    "gather-rank": (score("%x = attn.gather %m[%h, %b] : (tensor<?xf32>, i32, i32) -> f32", "%x : f32", captures="%m : tensor<?xf32>",
                          arguments=SCORE_ARGUMENTS).replace(") -> (", ", %m: tensor<?xf32>) -> (", 1), "1 dimensions, got 2"),
    "gather-float": (score("%x = attn.gather %m[%s] : (tensor<?xf32>, f32) -> f32", "%x : f32", captures="%m : tensor<?xf32>",
                           ).replace(") -> (", ", %m: tensor<?xf32>) -> (", 1), "expects i32 indices, got 'f32'"),
    "visible-float": (spec(middle="visible {\n^bb0(%b: i32, %h: i32, %qi: i32, %ki: i32):\n%x = arith.constant 0.0 : f32\n"
                                  "attn.yield %x : f32\n}"), "a mask region yields 'i1' (did you mean a score region?)"),
    "hundred-thousand-ops": (score(CHAIN, "%x100000 : f32"), "at most"),
    "erf": (math("math.erf %s : f32"), "'math.erf' op has no lowering on a GPU"),
    "powf": (math("math.powf %s, %s : f32"), "'math.powf' op has no lowering on a GPU"),
    # Functions and names.
    "two-in-one": (f"func.func @f(%q: {T}) -> ({T}, {L}) {{\n%a, %b = {SDPA}\n%o, %l = {SDPA.replace('%q', '%a', 1)}\nreturn %o, %l : {T}, {L}\n}}",
                   "is the second one in @f"),
    "two-functions": (spec() + spec(name="@g"), "expects one function that launches kernels, got 2"),
    "inside-an-if": (f"func.func @f(%q: {T}, %c: i1) -> {T} {{\n%r = scf.if %c -> {T} {{ %o, %l = {SDPA}\nscf.yield %o : {T} }} "
                     f"else {{ scf.yield %q : {T} }}\nreturn %r : {T}\n}}", "the only block of a func.func"),
    "path-as-name": (spec(name='@"../../../tmp/evil"'), "is not an identifier"),
    "name-twice": (spec().replace(f"%k: {T}", f'%k: {T} {{attn.name = "q"}}'), "got 'q' for both"),
    "name-number": (spec().replace(f"%k: {T}", f"%k: {T} {{attn.name = 3}}"), "expects 'attn.name' to be a string"),
    "unknown-attribute": (spec().replace("{\n", "attributes {attn.nonsense = 1} {\n", 1), "unknown attribute 'attn.nonsense'"),
    # Schedules and targets.
    "tile-0": (schedule("tile = [0, 64], warps = [4, 1]"), "expects 'tile' to be two positive integers"),
    "tile-short": (schedule("tile = [128], warps = [4, 1]"), "expects 'tile' to be two positive integers"),
    "depth-0": (schedule("tile = [128, 64], warps = [4, 1], depth = {q = 1, k = 0, v = 2}"), "expects 'depth'"),
    "three-warps": (schedule("tile = [128, 64], warps = [3, 1]"), "is not a multiple of 48 queries"),
    "depth-too-deep": (schedule("tile = [128, 128], warps = [4, 1], depth = {q = 1, k = 8, v = 8}"), "needs 278528 bytes of shared memory, sm_80 has 166912"),
    "section-negative": (schedule("tile = [128, 64], warps = [4, 1], tiles = single, section = -5"), "'section'"),
    "target-without-memory": (target('#attn.target<chip = "toy", family = mma_sync>'), "toy has 0"),
    "target-number": (target("3"), "expects 'attn.target' to be an #attn.target, got 3"),
    "target-negative": (target('#attn.target<chip = "sm_80", family = mma_sync, smem = -1>'), "got -1"),
}

scratch = sys.argv[1]
os.makedirs(scratch, exist_ok=True)
wrong = []
for name, (text, words) in REFUSED.items():
    path = os.path.join(scratch, re.sub(r"\W", "-", name) + ".mlir")
    with open(path, "w") as file:
        file.write(text)
    chip = [] if name.startswith("target") else ["--chip=sm_80"]
    output = os.path.join(scratch, "out")
    done = subprocess.run(["attn-compile", path, *chip, "-o", output], capture_output=True, text=True, timeout=60)
    errors = [line for line in done.stderr.splitlines() if ": error: " in line]
    if done.returncode != 1 or len(errors) != 1 or not errors[0].startswith(path + ":") or words not in errors[0] or os.path.exists(output):
        wrong.append(f"{name}: exit code {done.returncode}, expected one error with '{words}', got {errors or done.stderr[:300]}")
print("\n".join(wrong) if wrong else f"{len(REFUSED)} specs refused")
sys.exit(bool(wrong))
