#!/usr/bin/env python3
"""Compile the cases of cases.py and run each against Reference: T4 on the CPU, T5 on a GPU.

    run.py --chip cpu                                  compile with attn-compile (on PATH) and run
    run.py --chip sm_80 --kernels DIR --compile-only   write DIR/<spec>/ to carry to a machine with a GPU
    run.py --chip sm_80 --kernels DIR --no-compile     run what DIR holds there; needs no compiler
    run.py --backward ...                              the cases of backward_cases.py instead: gradients of the specs
    run.py --chip sm_90a ...                           adds the cases of warpgroup kernels, and checks which kernel a launch takes

Every run is a process of its own under a watchdog. Exit code 0 only when every case passed; the last line counts.
"""
import argparse
import concurrent.futures
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import backward_cases
import cases


def bits(x, dtype):
    """Rounds to the storage type; bf16 has no numpy type and travels as its 16 bits."""
    if dtype == "bf16":
        u = np.ascontiguousarray(x, np.float32).view(np.uint32)
        return np.where(np.isnan(x), 0x7FC0, (u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)
    return x.astype({"f16": np.float16, "f32": np.float32}[dtype])


def inputs(case, folder):
    """Writes the operands of a case that is not random; returns attn-run's arguments for them."""
    b, hq, hk, sq, sk = case.shape
    kind, _, value = case.inputs.partition(":")
    value = float(value or 0)
    rng = np.random.default_rng(7)
    q, k, v = (rng.standard_normal(s).astype(np.float32) for s in
               ((b, hq, sq, case.spec.d), (b, hk, sk, case.spec.d), (b, hk, sk, case.spec.value_dim)))
    if kind == "constant":
        q[:], k[:], v[:] = value, value, value
    elif kind == "nan":  # one NaN in query row 5 of every head: that row is NaN, the others are not
        q[:, :, 5, 0] = math.nan
    elif kind == "inf":  # query row 5 of every head has a score of +inf with every key
        q[:, :, 5, 0], k[..., 0] = math.inf, abs(k[..., 0])
    elif kind == "logits":  # every scaled logit near `value`: one component carries it
        q, k = 0.1 * q, 0.1 * k
        q[..., 0], k[..., 0] = math.sqrt(abs(value)), math.copysign(math.sqrt(abs(value)), value) * math.sqrt(case.spec.d)
    else:
        sys.exit(f"unknown inputs '{case.inputs}'")
    args = []
    for name, x in (("q", q), ("k", k), ("v", v)):
        np.save(folder / f"{name}.npy", bits(x, case.spec.dtype))
        args += ["--in", f"{name}={folder / name}.npy"]
    return args


def compile_spec(spec, chip, folder, options):
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "spec.mlir"
    source.write_text(spec.text())
    run = subprocess.run(["attn-compile", str(source), f"--chip={chip}", "-o", str(folder), *options, *spec.options], capture_output=True, text=True)
    return run.returncode, run.stderr.strip()


def check(case, wanted, manifest, prefix, timeout):
    """Runs a case; `wanted` is a pattern for the kernels that must start, if not None."""
    sizes = "batch={},q_heads={},k_heads={},q_len={},k_len={}".format(*case.shape)
    command = prefix + ["attn-run", str(manifest), f"--shape={sizes}", f"--layout={case.layout}", f"--row-pad={case.row_pad}", f"--offset={case.offset}", "--random=seed:7", "--repeat=1",
                        f"--same={case.same}", f"--timeout={timeout}"]
    command += [f"{flag}={value}" for flag, value in (("--gain", case.gain), ("--expand", case.expand), ("--do-layout", case.do_layout)) if value]
    with tempfile.TemporaryDirectory() as tmp:
        if case.inputs:
            command += inputs(case, pathlib.Path(tmp))
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=timeout + 60)
        except subprocess.TimeoutExpired:
            return False, f"no answer in {timeout + 60} s: " + " ".join(command)
    text = (run.stdout + run.stderr).strip()
    if run.returncode == 0 and wanted and not re.search(rf"^starts {wanted}$", text, re.MULTILINE):
        return False, f"expected {wanted} to run: {text}"
    return run.returncode == 0, f"exit {run.returncode}: {' '.join(command)}\n    " + text.replace("\n", "\n    ")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--chip", required=True)
    ap.add_argument("--kernels", type=pathlib.Path, help="folder of compiled specs (default: a temporary one)")
    ap.add_argument("--compile-only", action="store_true")
    ap.add_argument("--no-compile", action="store_true")
    ap.add_argument("--backward", action="store_true", help="gradients: attn-compile --backward and the cases of backward_cases.py")
    ap.add_argument("--slow", action="store_true", help="the long shapes too")
    ap.add_argument("--only", default="", help="cases whose name contains this")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--timeout", type=int, default=120, help="seconds that a kernel may take; one that hangs ends its process")
    ap.add_argument("--prefix", default="", help="a command to run attn-run under, e.g. 'compute-sanitizer --error-exitcode 9'")
    ap.add_argument("--options", default="", help="options of attn-compile, e.g. '--cubin=on'")
    ap.add_argument("--every", type=int, default=1, help="only every n-th case")
    a = ap.parse_args()
    dtypes = ("f32", "f16", "bf16") if a.chip == "cpu" else ("bf16", "f16")
    options = a.options.split() + (["--backward"] if a.backward else [])
    table = backward_cases if a.backward else cases
    todo = [c for c in table.cases(dtypes, a.chip) if a.only in c.name and (a.slow or not c.slow)][::a.every]
    temporary = None if a.kernels else tempfile.TemporaryDirectory()
    kernels = a.kernels or pathlib.Path(temporary.name)
    specs = {c.spec.name: c.spec for c in todo}
    assert len(specs) == len({c.spec for c in todo}), "two specs share a name"
    broken = {}
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        if not a.no_compile:
            for name, (code, text) in zip(specs, pool.map(lambda s: compile_spec(s, a.chip, kernels / s.name, options), specs.values())):
                if code:
                    broken[name] = f"attn-compile exit {code}: {text}"
        if a.compile_only:
            for name, text in broken.items():
                print(f"FAIL {name}: {text}")
            print(f"{len(specs) - len(broken)} passed, {len(broken)} failed")
            return bool(broken)

        def one(case):
            if case.spec.name in broken:
                return False, broken[case.spec.name]
            return check(case, table.expected_kernel(case, a.chip), kernels / case.spec.name / "manifest.json", a.prefix.split(), a.timeout)

        passed = 0
        for case, (ok, text) in zip(todo, pool.map(one, todo)):
            passed += ok
            if not ok:
                print(f"FAIL {case.name} ({case.why})\n  {text}", flush=True)
    print(f"{passed} passed, {len(todo) - passed} failed")
    return passed != len(todo)


if __name__ == "__main__":
    sys.exit(main())
