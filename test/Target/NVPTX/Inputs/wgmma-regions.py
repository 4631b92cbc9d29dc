"""Compiles ops with score and mask regions by the schedule table for sm_90a and judges the assembler's report on the
warpgroup kernels (docs/Testing.md, T3).

    wgmma-regions.py SCRATCH [word ...]      only specs whose name has every word, to look at one of them
"""
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "Integration"))
import cases

scratch, words = pathlib.Path(sys.argv[1]), sys.argv[2:]
CAUSAL = ("causal<bottom_right>",)
# What each score reads for itself, beside the bias of cases.py: a whole matrix, one and a relative position, a mask.
MATRIX = cases.Region("""
      %g = attn.gather %bias[%b, %h, %qi, %ki] : (tensor<?x?x?x?xbf16>, i32, i32, i32, i32) -> bf16
      %f = arith.extf %g : bf16 to f32
      %z = arith.addf %s, %f : f32
      attn.yield %z : f32""", (("bias", "tensor<?x?x?x?xbf16>"),))
TWO = cases.Region("""
      %d = arith.subi %qi, %ki : i32
      %e = attn.gather %rel[%h, %d] : (tensor<?x?xf32>, i32, i32) -> f32
      %g = attn.gather %bias[%h, %qi, %ki] : (tensor<?x?x?xbf16>, i32, i32, i32) -> bf16
      %f = arith.extf %g : bf16 to f32
      %x = arith.addf %s, %e : f32
      %z = arith.addf %x, %f : f32
      attn.yield %z : f32""", (("rel", "tensor<?x?xf32>"), ("bias", "tensor<?x?x?xbf16>")))
KEEP = cases.Region("""
      %g = attn.gather %keep[%qi, %ki] : (tensor<?x?xi1>, i32, i32) -> i1
      attn.yield %g : i1""", (("keep", "tensor<?x?xi1>"),))


def specs():
    """By name: every region of cases.py there as it is, and at head dims and with masks that cases.py leaves out."""
    out = {}

    def add(spec):
        out[spec.name] = spec

    for case in cases.cases(("bf16",), "sm_90a"):
        spec = case.spec
        if (spec.score or spec.visible) and not spec.schedule:
            add(spec)
            other = dataclasses.replace(spec, masks=() if spec.masks else CAUSAL, tag=spec.tag + ("_full" if spec.masks else "_causal"))
            add(other)
    for d in (64, 128, 256):
        for tag, masks in (("full", ()), ("causal", CAUSAL)):
            for name, fields in (("matrix", {"score": MATRIX}), ("two", {"score": TWO}), ("keep", {"visible": KEEP})):
                add(cases.Spec(d, masks=masks, tag=f"{name}_{tag}", **fields))
    for d in (192, 256):
        for name, score in (("bias", cases.BIAS), ("softcap", cases.SOFTCAP)):
            add(cases.Spec(d, masks=CAUSAL, score=score, tag=name))
    return {name: spec for name, spec in out.items() if all(word in name for word in words)}


def judge(job):
    """Lines about the kernels of one op, and whether they are as planned."""
    name, spec = job
    folder = scratch / name
    folder.mkdir(parents=True)
    (folder / "spec.mlir").write_text(spec.text())
    run = subprocess.run(["attn-compile", str(folder / "spec.mlir"), "--chip=sm_90a", "--cubin=on", "--report", "-o", str(folder)], capture_output=True, text=True)
    report = re.findall(r"^(\w+): sm_90a, (\d+) threads, \d+ bytes of shared memory, (\d+) registers(?: at launch \([^)]*\))?, (\d+) bytes spilled", run.stdout, re.M)
    kernels = [r for r in report if "_unaligned" not in r[0]]
    if run.returncode or not kernels:
        return f"{name}: {(run.stderr or run.stdout).strip()[:2000]}", False
    notes = [line for line in run.stderr.splitlines() if "warning" in line]
    ok = not notes and all(int(spilled) == 0 and int(threads) >= 256 for _, threads, _, spilled in kernels)
    text = ", ".join(f"{kernel} {threads} threads {registers} registers {spilled} bytes spilled" for kernel, threads, registers, spilled in kernels)
    return "\n    ".join([f"{name}: {text}", *notes]), ok


with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(judge, specs().items()))
for text, ok in results:
    print("ok  " if ok else "FAIL", text)
failed = sum(not ok for _, ok in results)
print(f"{len(results) - failed} passed, {failed} failed")
sys.exit(failed > 0 or not results)
