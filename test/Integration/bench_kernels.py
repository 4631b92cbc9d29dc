#!/usr/bin/env python3
"""Compile the kernels that the benchmark asks for: DIR/<name>/manifest.json with name d<D>_<variant>, and of the backward
DIR/<name>_bwd/manifest.json (docs/Benchmarks.md).

The variants are those of the comparison grids: full, causal, window (causal, 1024 keys in all), softcap (20), softcap_causal (50),
alibi_causal, and Gemma 2's d256 window 4096 with softcap 50. `--schedule NAME=TEXT` compiles NAME with a schedule of its own.
"""
import argparse
import dataclasses
import pathlib
import subprocess
import sys
import time

import cases


def softcap(cap):
    return cases.Region(cases.SOFTCAP.body.replace("30.0", f"{cap:.1f}").replace("0.0333333333", f"{1 / cap:.10f}"))


def variants(d, dtype):
    causal = ("causal<bottom_right>",)
    base = cases.Spec(d, dtype=dtype)
    make = lambda tag, **kw: dataclasses.replace(base, tag=tag, **kw)
    yield make("full")
    yield make("causal", masks=causal)
    if d in (64, 128):
        yield make("window", masks=("window<1023, 0, bottom_right>",))
        yield make("softcap", score=softcap(20))
        yield make("softcap_causal", score=softcap(50), masks=causal)
        yield make("alibi_causal", score=cases.ALIBI, masks=causal)
    if d == 256:
        yield make("softcap_window", score=softcap(50), masks=("window<4095, 0, bottom_right>",))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out", type=pathlib.Path)
    ap.add_argument("--chip", default="sm_80")
    ap.add_argument("--dtype", default="bf16")
    ap.add_argument("--dims", default="64,128,256")
    ap.add_argument("--only", default="", help="variants whose name is this")
    ap.add_argument("--passes", default="fwd", help="fwd, bwd or both: fwd,bwd")
    ap.add_argument("--deterministic", action="store_true", help="the backward bit by bit the same from run to run")
    ap.add_argument("--schedule", action="append", default=[], metavar="NAME=TEXT")
    a = ap.parse_args()
    override = dict(s.split("=", 1) for s in a.schedule)
    options = {"fwd": ("", []), "bwd": ("_bwd", ["--backward", *["--deterministic"] * a.deterministic])}
    passes = [options[name] for name in a.passes.split(",")]
    failed = 0
    for d in map(int, a.dims.split(",")):
        for spec in variants(d, a.dtype):
            if a.only and spec.tag != a.only:
                continue
            for suffix, options in passes:
                folder = a.out / f"d{d}_{spec.tag}{suffix}"
                folder.mkdir(parents=True, exist_ok=True)
                (folder / "spec.mlir").write_text(spec.text())
                command = ["attn-compile", str(folder / "spec.mlir"), f"--chip={a.chip}", "-o", str(folder), *options]
                if folder.name in override:
                    command.append(f"--schedule={override[folder.name]}")
                start = time.time()
                failed += subprocess.run(command).returncode != 0
                print(f"{folder.name}: {time.time() - start:.2f} s", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
