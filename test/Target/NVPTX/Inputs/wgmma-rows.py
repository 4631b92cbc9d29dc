"""Compiles every wgmma row of the schedule table down to a cubin and judges the assembler's report (docs/Testing.md, T3): bytes spilled
and notes. The number of registers is only told: the launch bound in the code caps it, so the assembler spills instead.

    wgmma-rows.py SCRATCH [word ...]      only rows whose text has every word, to look at one of them
"""
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

scratch, words = pathlib.Path(sys.argv[1]), sys.argv[2:]
TARGET = '#attn.target<chip = "sm_90a", family = wgmma, smem = 232448, smem_sm = 233472, sms = 132>'
MASKS = {"none": {"full": ""}, "some": {"causal": "#attn.causal<bottom_right>", "window": "#attn.window<1023, 0, bottom_right>"}}
MASKS["any"] = MASKS["none"] | MASKS["some"]


def rows():
    """(head dim, mask column, text of the schedule)"""
    table = subprocess.run(["attn-compile", "--list-schedules"], capture_output=True, text=True, check=True).stdout
    for line in table.splitlines():
        row = re.match(r"wgmma +forward +<= (\d+) +(none|some|any) .*?(tile = .*) \([^()]*\)$", line)
        if row and all(word in line for word in words):
            yield int(row[1]), row[2], row[3]


def spec(d, mask, schedule):
    q = f"tensor<?x?x?x{d}xbf16>"
    masks = f" mask [{mask}]" if mask else ""
    return f"""module attributes {{attn.target = {TARGET}}} {{
  func.func @f(%q: {q}, %k: {q}, %v: {q}) -> ({q}, tensor<?x?x?xf32>) {{
    %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125{masks} schedule <{schedule}> : ({q}, {q}, {q}) -> ({q}, tensor<?x?x?xf32>)
    return %o, %lse : {q}, tensor<?x?x?xf32>
  }}
}}
"""


def judge(job):
    """A line about one kernel, and whether it is as planned."""
    number, d, tag, mask, schedule = job
    folder = scratch / f"row{number}_d{d}_{tag}"
    folder.mkdir(parents=True)
    (folder / "spec.mlir").write_text(spec(d, mask, schedule))
    run = subprocess.run(["attn-compile", str(folder / "spec.mlir"), "--cubin=on", "--report", "-o", str(folder)], capture_output=True, text=True)
    report = re.search(r"^f_fwd: sm_90a, (\d+) threads, (\d+) bytes of shared memory, (\d+) registers at launch \(roles [^()]*\), (\d+) bytes spilled", run.stdout, re.M)
    name = f"d{d} {tag} {schedule.split(', warps')[0]}"
    if run.returncode or not report:
        return f"{name}: {(run.stderr or run.stdout).strip()[:2000]}", False
    threads, smem, registers, spilled = map(int, report.groups())
    notes = [line for line in run.stderr.splitlines() if "warning" in line and "f_fwd" in line]
    ok = spilled == 0 and not notes
    return "\n    ".join([f"{name}: {threads} threads, {smem} bytes, {registers} registers, {spilled} bytes spilled", *notes]), ok


jobs = [(number, d, tag, mask, schedule) for number, (d, column, schedule) in enumerate(rows()) for tag, mask in MASKS[column].items()]
if not jobs:
    sys.exit(f"wgmma-rows.py: no row has every word: {' '.join(words)}" if words else "wgmma-rows.py: the table has no row for wgmma")
with ThreadPoolExecutor(os.cpu_count()) as pool:
    results = list(pool.map(judge, jobs))
for text, ok in results:
    print("ok  " if ok else "FAIL", text)
failed = sum(not ok for _, ok in results)
print(f"{len(results) - failed} passed, {failed} failed")
sys.exit(failed > 0)
