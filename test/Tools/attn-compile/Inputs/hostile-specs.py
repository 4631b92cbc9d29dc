"""Compiles specs that must be refused: exit code 1, one error with a location, the message promised, no output.

A note may follow the error; it points at the second place involved.
"""
import os
import re
import subprocess
import sys

T = "tensor<?x?x?x64xf16>"
L = "tensor<?x?x?xf32>"


def spec(q=T, k=T, v=T, o=T, lse=L, scale="0.125", rest="", args=""):
    return f"""func.func @f(%q: {q}, %k: {k}, %v: {v}{args}) -> ({o}, {lse}) {{
  %o, %lse = attn.sdpa(%q, %k, %v) scale {scale} {rest} : ({q}, {k}, {v}) -> ({o}, {lse})
  return %o, %lse : {o}, {lse}
}}
"""


def every(shape, element="f16"):
    t = f"tensor<{shape}x{element}>"
    return dict(q=t, k=t, v=t, o=t)


def score(body, ends="attn.yield %s : f32", **more):
    head = "^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):"
    return spec(rest=f"{more.pop('captures', '')} score {{\n{head}\n{body}\n{ends}\n}}", **more)


def visible(body, ends):
    head = "^bb0(%b: i32, %h: i32, %qi: i32, %ki: i32):"
    return spec(rest=f"visible {{\n{head}\n{body}\n{ends}\n}}")


def mask(text):
    return spec(rest=f"mask [{text}]")


def schedule(text):
    return spec(rest=f"schedule <{text}>")


def score_arguments(text):
    return spec(rest=f"score {{\n^bb0({text}):\nattn.yield %s : f32\n}}")


def target(text):
    return f"module attributes {{attn.target = {text}}} {{\n{spec()}}}"


SDPA = f"attn.sdpa(%q, %q, %q) scale 1.0 : ({T}, {T}, {T}) -> ({T}, {L})"

CASES = [
    # Shapes (H03, H04, H05, H13)
    (spec(q="tensor<?x?x64xf16>"), "q has rank 3; expects 4"),
    (spec(q="tensor<f16>"), "q has rank 0; expects 4"),
    (spec(q="tensor<1x1x1x1x64xf16>"), "q has rank 5; expects 4"),
    (spec(q="tensor<*xf16>"), "expected builtin.tensor"),
    (spec(q="memref<?x?x?x64xf16>"), "expected builtin.tensor"),
    (spec(q="vector<1x1x1x64xf16>"), "expected builtin.tensor"),
    (spec(k="tensor<?x?x?x32xf16>"), "q and k head dims differ (64 vs 32)"),
    (spec(o="tensor<?x?x?x32xf16>"), "result o has head dim 32, v has 64"),
    (spec(k="tensor<1x1x8x64xf16>", v="tensor<1x1x9x64xf16>"), "k and v differ in length (8 vs 9)"),
    (spec(q="tensor<2x1x8x64xf16>", k="tensor<3x1x8x64xf16>"), "q and k differ in batch (2 vs 3)"),
    (spec(q="tensor<1x28x8x64xf16>", k="tensor<1x8x8x64xf16>"), "query heads 28 not a multiple of kv heads 8"),
    (spec(q="tensor<1x2x8x64xf16>", k="tensor<1x8x8x64xf16>"), "query heads 2 not a multiple of kv heads 8"),
    (spec(k="tensor<1x0x8x64xf16>"), "k has no heads"),
    (spec(q="tensor<1x0x8x64xf16>"), "q has no heads"),
    (spec(q="tensor<-1x1x8x64xf16>"), "expected non-function type"),
    (spec(q="tensor<9223372036854775807x1x1x64xf16>"), "q has size 9223372036854775807 in dimension 0"),
    (spec(q="tensor<99999999999999999999x1x1x64xf16>"), "invalid dimension"),
    (spec(**every("?x?x?x?")), "head dim must be static"),
    (spec(**every("?x?x?x0")), "head dim must be a positive multiple of 8; that of q is 0"),
    (spec(**every("?x?x?x1")), "head dim must be a positive multiple of 8; that of q is 1"),
    (spec(**every("?x?x?x513")), "head dim must be a positive multiple of 8; that of q is 513"),
    (spec(**every("?x?x?x264")), "head dim 264 is not supported on sm_80; max for this op is 256"),
    (spec(**every("?x?x?x100000")), "head dim 100000 needs 38400000 bytes shared memory"),
    # Element types (H06)
    (spec(**every("?x?x?x64", "f64")), "q has element type 'f64'; expects f16, bf16 or f32"),
    (spec(**every("?x?x?x64", "i8")), "q has element type 'i8'"),
    (spec(**every("?x?x?x64", "i1")), "q has element type 'i1'"),
    (spec(**every("?x?x?x64", "index")), "q has element type 'index'"),
    (spec(**every("?x?x?x64", "complex<f32>")), "q has element type 'complex<f32>'"),
    (spec(**every("?x?x?x64", "tf32")), "q has element type 'tf32'"),
    (spec(**every("?x?x?x64", "f8E5M2FNUZ")), "q has element type 'f8E5M2FNUZ'"),
    (spec(**every("?x?x?x64", "f4E2M1FN")), "q has element type 'f4E2M1FN'"),
    (spec(**every("?x?x?x64", "f32")), "f32 attention runs on --chip=cpu; on sm_80 use f16 or bf16"),
    (spec(k="tensor<?x?x?x64xbf16>"), "q and k differ in element type ('f16' vs 'bf16')"),
    (spec(lse="tensor<?x?x?xf16>"), "result lse has element type 'f16'; expects f32"),
    # Scale and masks (H08)
    (spec(scale="0x7FC00000"), "scale must be finite"),
    (spec(scale='"half"'), "invalid kind of attribute specified"),
    (mask("#attn.causal"), "expects an alignment: #attn.causal<top_left> or #attn.causal<bottom_right>"),
    (mask("#attn.causal<middle>"), "expects an alignment, top_left or bottom_right"),
    (mask("#attn.window<-2, 0, top_left>"), "-1 means unbounded; got -2"),
    (mask("#attn.window<1>"), "expects #attn.window<left, right, top_left or bottom_right>"),
    (mask("#attn.window<9223372036854775807, 0, top_left>"), "window bounds are at most 1073741824"),
    (mask("#attn.block"), "unknown attribute `block`"),
    (mask("1"), "unknown mask 1 : i64"),
    (mask("#attn.causal<top_left>, #attn.causal<top_left>"), "expects each kind of mask once"),
    # Regions (H10, H11)
    (score("memref.store %s, %m[] : memref<f32>", args=", %m: memref<f32>"), "score region must be side-effect free; found memref.store"),
    (score("memref.alloc() : memref<f32>"), "score region must be side-effect free; found memref.alloc"),
    (score("func.call @f(%s) : (f32) -> ()"), "error:"),
    (score("%t = arith.constant true\nscf.while : () -> () {\nscf.condition(%t)\n} do {\nscf.yield\n}"), "found scf.while"),
    (score("%t = arith.constant true\nscf.if %t {\n}"), "found scf.if"),
    (score(f"%x, %y = attn.sdpa(%q, %k, %v) scale 1.0 : ({T}, {T}, {T}) -> ({T}, {L})"), "found attn.sdpa"),
    (score("%p = arith.cmpi sle, %ki, %qi : i32", "attn.yield %p : i1"), "yields 'i1'; a score region yields 'f32' (did you mean a mask region?)"),
    (score("%x = arith.truncf %s : f32 to f16", "attn.yield %x : f16"), "yields 'f16'; a score region yields 'f32'"),
    (score("", "attn.yield %s, %s : f32, f32"), "yields 2 values; a score region yields one 'f32'"),
    (score("", "attn.yield"), "yields 0 values; a score region yields one 'f32'"),
    (score("%x = arith.addf %s, %c : f32", "attn.yield %x : f32", args=", %c: f32"), "score region uses a 'f32' from outside; list it in captures"),
    (score("%d = arith.subi %qi, %ki : i32\n%r = arith.divsi %qi, %d : i32"), "divides by an integer that may be 0"),
    (score("%x = arith.extf %s : f32 to f64"), "arith.extf makes 'f64'"),
    (score("%x = attn.gather %c[%h] : (tensor<?xf64>, i32) -> f64", captures="captures(%c : tensor<?xf64>)", args=", %c: tensor<?xf64>"), "cannot capture 'tensor<?xf64>'"),
    (score("%x = attn.gather %c[%h, %h] : (tensor<?xf32>, i32, i32) -> f32", captures="captures(%c : tensor<?xf32>)", args=", %c: tensor<?xf32>"), "expects an index for each of the source's 1 dimensions, got 2"),
    (score("".join(f"%x{i} = arith.addf %s, %s : f32\n" for i in range(5000))), "score region has 5000 ops; at most 4096 are compiled"),
    (score("cf.br ^bb1\n^bb1:"), "error:"),
    (visible("%x = arith.sitofp %qi : i32 to f32", "attn.yield %x : f32"), "yields 'f32'; a mask region yields 'i1' (did you mean a score region?)"),
    # Schedules (Q01)
    (schedule("tile = [128], warps = [4, 1]"), "expects 'tile' to be two positive integers up to 65536, got [128]"),
    (schedule("tile = [1, 2, 3, 4], warps = [4, 1]"), "expects 'tile' to be two positive integers up to 65536, got [1, 2, 3, 4]"),
    (schedule("tile = [], warps = [4, 1]"), "expects 'tile' to be two positive integers up to 65536, got []"),
    (schedule("tile = [128, 64]"), "expects 'warps' to be two positive integers up to 1024, got []"),
    (schedule("tile = [1.5, 64], warps = [4, 1]"), "expected integer value"),
    (schedule("tile = [128, 64], warps = [4, 1], stages = 3"), "unknown schedule field 'stages'"),
    (schedule("tile = [1024, 512], warps = [4, 1]"), "needs 262144 bytes of shared memory, sm_80 has 166912"),
    (schedule("tile = [100, 64], warps = [4, 1]"), "is not a multiple of 64 queries"),
    (schedule("tile = [128, 64], warps = [3, 1]"), "is not a multiple of 48 queries"),
    (schedule("tile = [128, 64], warps = [4, 1], depth = {q = 1, k = 0, v = 2}"), "expects 'groups', 'depth' and 'blocks' from 1 to 32, got 0"),
    (schedule("tile = [128, 128], warps = [4, 1], depth = {q = 1, k = 8, v = 8}"), "needs 278528 bytes of shared memory, sm_80 has 166912"),
    (schedule("tile = [128, 64], warps = [4, 1], tiles = single, section = -5"), "expects 'section' to be a number of bytes, got -5"),
    # What a GPU has no instruction for
    (score("%z = math.erf %s : f32", "attn.yield %z : f32"), "'math.erf' op has no lowering on a GPU"),
    (score("%z = math.powf %s, %s : f32", "attn.yield %z : f32"), "'math.powf' op has no lowering on a GPU"),
    # Arguments of regions
    (score_arguments("%s: f32, %b: i32, %h: i32, %qi: i32"), "score region takes (score: f32, b, h, q, k: i32)"),
    (score_arguments("%s: f32, %b: i64, %h: i32, %qi: i32, %ki: i32"), "score region takes (score: f32, b, h, q, k: i32)"),
    # Functions and names: they become files, symbols and JSON
    (f"func.func @f(%q: {T}) -> ({T}, {L}) {{\n%a, %b = {SDPA}\n%o, %l = {SDPA.replace('%q', '%a', 1)}\nreturn %o, %l : {T}, {L}\n}}",
     "is the second one in @f; write one function for each"),
    (spec() + spec().replace("@f", "@g"), "is the second one that launches kernels"),
    (f"func.func @f(%q: {T}, %c: i1) -> {T} {{\n%r = scf.if %c -> {T} {{ %o, %l = {SDPA}\nscf.yield %o : {T} }} "
     f"else {{ scf.yield %q : {T} }}\nreturn %r : {T}\n}}", "expects to stand in the only block of a func.func"),
    (spec().replace("@f", '@"../../../tmp/evil"'), "kernel name '../../../tmp/evil_fwd' is not an identifier"),
    (spec().replace(f"%k: {T}", f'%k: {T} {{attn.name = "../q"}}'), "attn.name '../q', which is not an identifier"),
    (spec().replace(f"%k: {T}", f'%k: {T} {{attn.name = "q"}}'), "got 'q' for both"),
    (spec().replace(f"%k: {T}", f"%k: {T} {{attn.name = 3}}"), "expects 'attn.name' to be a string"),
    (spec().replace("{\n", "attributes {attn.nonsense = 1} {\n", 1), "unknown attribute 'attn.nonsense'"),
    # Targets (H16)
    (target('#attn.target<chip = "toy", family = mma_sync>'), "toy has 0"),
    (target('#attn.target<chip = "sm_80", family = mma_sync, smem = -1>'), "expects smem, smem_sm and regs of at least 0"),
    (target('#attn.target<chip = "sm_90", family = wgmma, smem = 232448>'), "expects a chip with warpgroup instructions"),
    (target('#attn.target<chip = "sm_80", family = wgmma, smem = 232448>'), "such as sm_90a; got sm_80"),
    (f"module @a {{\n{spec()}}}\nmodule @b {{\n{spec()}}}", "stands inside another module"),
    (target("3"), "expects 'attn.target' to be an #attn.target, got 3"),
]

folder = sys.argv[1]
bad = 0
for number, (text, message) in enumerate(CASES):
    path = os.path.join(folder, f"case{number}.mlir")
    with open(path, "w") as file:
        file.write(text)
    chip = [] if "attn.target" in text else ["--chip=sm_80"]
    done = subprocess.run(["attn-compile", path, *chip, "-o", "out"], capture_output=True, text=True, timeout=60, cwd=folder)
    errors = [line for line in done.stderr.splitlines() if "note: " not in line]
    located = len(errors) == 1 and re.match(re.escape(path) + r":\d+:\d+: error: ", errors[0])
    if done.returncode != 1 or not located or message not in done.stderr or os.path.exists(os.path.join(folder, "out")):
        bad += 1
        print(f"--- case{number}: exit code {done.returncode}; expected one error with '{message}', got\n{done.stderr}{text[:2000]}")
print(f"{len(CASES) - bad} of {len(CASES)} refused as they should be")
sys.exit(bad != 0)
