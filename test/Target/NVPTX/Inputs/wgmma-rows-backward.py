"""The same as wgmma-rows.py for rows of the backward: every kernel of warpgroups that a row becomes (`pre`, `post` and what
serves operands without tensor maps are mma.sync code) spills nothing, and nothing is noted.

    wgmma-rows-backward.py SCRATCH [word ...]      only rows whose text has every word
"""
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

scratch, words = pathlib.Path(sys.argv[1]), sys.argv[2:]
TARGET = '#attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>'
MASKS = {"full": "", "causal": " mask [#attn.causal<bottom_right>]"}


def rows():
    """(head dim, text of the schedules)"""
    table = subprocess.run(["attn-compile", "--list-schedules"], capture_output=True, text=True, check=True).stdout
    for line in table.splitlines():
        row = re.match(r"wgmma +backward +<= (\d+) .*?(<tile = .*>) \([^()]*\)$", line)
        if row and all(word in line for word in words):
            yield int(row[1]), row[2]


def spec(d, mask, schedules):
    t, l = f"tensor<?x?x?x{d}xbf16>", "tensor<?x?x?xf32>"
    named = ", ".join(f"#attn.schedule{text}" for text in re.findall(r"<tile.*?>(?=, <|$)", schedules))
    return f"""module attributes {{attn.target = {TARGET}}} {{
  func.func @f(%q: {t}, %k: {t}, %v: {t}, %o: {t}, %lse: {l}, %do: {t}) -> ({t}, {t}, {t}) {{
    %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do) scale 0.125{mask} schedule [{named}]
      : ({t}, {t}, {t}, {t}, {l}, {t}) -> ({t}, {t}, {t})
    return %dq, %dk, %dv : {t}, {t}, {t}
  }}
}}
"""


def judge(job):
    """Lines about the kernels of a row, and whether they are as planned."""
    number, d, tag, schedules = job
    folder = scratch / f"row{number}_d{d}_{tag}"
    folder.mkdir(parents=True)
    (folder / "spec.mlir").write_text(spec(d, MASKS[tag], schedules))
    run = subprocess.run(["attn-compile", str(folder / "spec.mlir"), "--cubin=on", "--report", "-o", str(folder)], capture_output=True, text=True)
    kernels = re.findall(r"^f_(\w+): sm_90a, .*? \(roles [^()]*\), (\d+) bytes spilled", run.stdout, re.M)
    name = f"d{d} {tag} {schedules.split(', warps')[0]}"
    if run.returncode or not kernels:
        return f"{name}: {(run.stderr or run.stdout).strip()[:2000]}", False
    notes = [line for line in run.stderr.splitlines() if "warning" in line]
    told = ", ".join(f"{kernel} {spilled}" for kernel, spilled in kernels)
    return "\n    ".join([f"{name}: bytes spilled: {told}", *notes]), not notes and all(spilled == "0" for _, spilled in kernels)


jobs = [(number, d, tag, schedules) for number, (d, schedules) in enumerate(rows()) for tag in MASKS]
if not jobs:
    sys.exit(f"wgmma-rows-backward.py: no row has every word: {' '.join(words)}" if words else "wgmma-rows-backward.py: the table has no row")
with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(judge, jobs))
for line, ok in results:
    print("ok   " if ok else "WRONG", line)
sys.exit(not all(ok for _, ok in results))
