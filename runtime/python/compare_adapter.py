"""Adapter for bench/compare.py: kernels compiled ahead of time.

    ATTN_KERNELS=kernels python3 compare.py --adapter compare_adapter.py --grid core --passes fwd,bwd

$ATTN_KERNELS is a folder with one folder for each kernel, as `attn-compile -o kernels/NAME` leaves it and for the backward
`attn-compile --backward -o kernels/NAME_bwd`:

    kernels/NAME/manifest.json
    kernels/NAME_bwd/manifest.json

The bench runs the forward first: its outputs are operands of the backward.

NAME says what a case needs, joined by "_":

    d128            head dimension
    f16             element type, left out for bf16
    alibi           score + slopes[h] * (k - q), slopes a captured operand called "slopes"
    softcap50       cap * tanh(score / cap), the cap a constant of the spec
    window1023_0    window left, right (bottom_right); -1 is unbounded
    causal          causal (bottom_right); left out beside a window whose right is 0, which says the same
    full            when there is none of the four above

so: d64_full, d128_causal, d64_f16_causal, d64_window1023_0, d128_softcap20, d64_softcap50_causal, d64_alibi_causal,
d256_softcap50_window4095_0. Where there is no such folder the name without its constants is tried (d64_window,
d64_softcap_causal). The manifest is asked whether it computes the case (head dimension, type, scale, masks, captures); one that does
not is an error, and a case without a folder is skipped.
"""
import math
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import attn_rt

SUFFIXES = {"sdpa": "", "sdpa_grad": "_bwd"}
_loaded = {}


def names_of(case):
    """Folder names that could hold the case's kernel, best first."""
    exact, plain = [f"d{case.d}"], [f"d{case.d}"]
    dtype = attn_rt._dtype_of(case.q)
    if dtype != "bf16":
        exact.append(dtype)
        plain.append(dtype)
    if case.alibi is not None:
        exact.append("alibi")
        plain.append("alibi")
    if case.softcap:
        exact.append(f"softcap{case.softcap:g}")
        plain.append("softcap")
    if case.window:
        exact.append(f"window{case.window[0]}_{case.window[1]}")
        plain.append("window")
    if case.causal and not (case.window and case.window[1] == 0):
        exact.append("causal")
        plain.append("causal")
    if case.alibi is None and not case.softcap and not case.window and not case.causal:
        exact.append("full")
        plain.append("full")
    return list(dict.fromkeys(["_".join(exact), "_".join(plain)]))


def bounds(masks):
    """(left, right) that all masks of a manifest together leave visible; None: unbounded."""
    left = right = None
    for mask in masks:
        if mask.get("align") != "bottom_right":
            raise ValueError(f"mask {mask} is not aligned bottom_right")
        l, r = (-1, 0) if mask["kind"] == "causal" else (mask["left"], mask["right"])
        if l >= 0:
            left = l if left is None else min(left, l)
        if r >= 0:
            right = r if right is None else min(right, r)
    return left, right


def mismatch(kernel, case, op):
    """What the manifest says differently from the case, or None."""
    if kernel.meaning.get("op") != op:
        return f"it computes {kernel.meaning.get('op')}, expected {op}"
    q = kernel.operands[0]
    if q.dims[-1] != case.d or q.dtype != attn_rt._dtype_of(case.q):
        return f"q is {q.dtype} with head dimension {q.dims[-1]}"
    scale = kernel.meaning.get("scale")
    if scale is not None and not math.isclose(scale, case.scale, rel_tol=1e-4):
        return f"scale is {scale}, expected {case.scale}"
    wanted = [{"kind": "causal", "align": "bottom_right"}] if case.causal else []
    if case.window:
        wanted.append({"kind": "window", "left": case.window[0], "right": case.window[1], "align": "bottom_right"})
    got = bounds(kernel.meaning.get("masks", []))
    if got != bounds(wanted):
        return f"masks leave {got} visible, expected {bounds(wanted)}"
    captures = [o.name for o in kernel.operands if o.role in ("capture", "scalar")]
    if captures != (["slopes"] if case.alibi is not None else []):
        return f"captures are {captures}"
    has_score = bool(kernel.meaning.get("score", {}).get("values"))
    if has_score != bool(case.softcap or case.alibi is not None):
        return "has a score region, expected none" if has_score else "has no score region"
    return None


def kernel_for(case, op="sdpa"):
    folder = pathlib.Path(os.environ.get("ATTN_KERNELS", "kernels"))
    for name in names_of(case):
        manifest = folder / (name + SUFFIXES[op]) / "manifest.json"
        if not manifest.exists():
            continue
        if manifest not in _loaded:
            _loaded[manifest] = attn_rt.load(manifest)
        wrong = mismatch(_loaded[manifest], case, op)
        if wrong:
            raise ValueError(f"{manifest} is not for case {case.name}: {wrong}")
        return _loaded[manifest]
    print(f"# no kernel for {case.name}: {' or '.join(name + SUFFIXES[op] for name in names_of(case))}", file=sys.stderr)
    return None


def captures_of(case):
    return {"slopes": case.alibi} if case.alibi is not None else {}


def forward(case):
    kernel = kernel_for(case)
    if kernel is None:
        return None
    # Strides, pointers and outputs are fixed here; what is timed is one C call.
    launch = kernel.bind(case.q, case.k, case.v, captures=captures_of(case))
    order = [o.name for o in kernel.operands if o.role == "out"]
    o = launch.outputs[order.index("o")]
    lse = launch.outputs[order.index("lse")] if "lse" in order else None

    def run(call=launch):
        call()
        return o, lse

    return run


def backward(case):
    kernel = kernel_for(case, "sdpa_grad")
    if kernel is None:
        return None
    # All kernels of the backward, one C call; workspace is allocated here.
    return kernel.bind(case.q, case.k, case.v, case.o, case.lse, case.do, captures=captures_of(case))
