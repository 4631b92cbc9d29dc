#!/usr/bin/env python3
"""T5 with PyTorch: gradients through docs/examples/autograd.py beside PyTorch's own, views, graphs, the same bits every time.

    gradients.py KERNELS    KERNELS: what `test/Integration/bench_kernels.py KERNELS --dims 64,128 --passes fwd,bwd` wrote

Needs PyTorch with CUDA and the runtime's Python module on PYTHONPATH. The reference is dense attention in float32,
differentiated by PyTorch; the bound is twice the error of the same in bf16, plus its last bit (docs/Testing.md). Kernels compiled with
`--deterministic` must give the same bits each time; others only if no gradient is added up in memory. The last line counts.
"""
import math
import pathlib
import runpy
import sys

import torch

import attn_rt

DEV, BF16 = "cuda", torch.bfloat16
KERNELS = pathlib.Path(sys.argv[1])
EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "examples" / "autograd.py"
loaded = {}


def attention(name):
    """The example's module for one spec: Attention, fwd, bwd."""
    if name not in loaded:
        sys.argv = [str(EXAMPLE), *(str(KERNELS / (name + suffix) / "manifest.json") for suffix in ("", "_bwd"))]
        loaded[name] = runpy.run_path(str(EXAMPLE))
    return loaded[name]


def normal(*shape):
    return torch.randn(*shape, device=DEV, dtype=BF16)


def dense(q, k, v, causal):
    group = q.shape[1] // k.shape[1]
    k, v = (t.repeat_interleave(group, 1) for t in (k, v))
    s = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        i = torch.arange(q.shape[2], device=DEV)[:, None] + k.shape[2] - q.shape[2]
        s = s.masked_fill(torch.arange(k.shape[2], device=DEV)[None] > i, float("-inf"))
    return torch.softmax(s, -1).nan_to_num(0.0) @ v  # a row without keys has no output and no gradient


def gradients_of(tensors, do, causal, dtype):
    leaves = [t.detach().to(dtype).requires_grad_() for t in tensors]
    return torch.autograd.grad(dense(*leaves, causal), leaves, do.to(dtype))


def check(name, q, k, v, do=None):
    causal = "causal" in name
    leaves = [t.detach().requires_grad_() for t in (q, k, v)]
    o, _ = attention(name)["Attention"].apply(*leaves)
    do = torch.randn_like(o) if do is None else do.expand_as(o)
    got = torch.autograd.grad(o, leaves, do)
    exact, plain = (gradients_of((q, k, v), do, causal, t) for t in (torch.float32, BF16))
    for what, g, e, p in zip(("dq", "dk", "dv"), got, exact, plain):
        noise = 2 * ((e + 0.3).to(BF16).float() - 0.3 - e).abs().max()
        error, bound = (g.float() - e).abs().max().item(), (2 * (p.float() - e).abs().max() + noise).item()
        assert error <= bound, f"{what}: error {error:.3g}, allowed {bound:.3g}"  # NaN fails too
    return got


def beside_pytorch():
    """All pairs of length and head ratio that differ, more queries than keys too."""
    for name, d in (("d64_full", 64), ("d64_causal", 64), ("d128_full", 128), ("d128_causal", 128)):
        for b, h, hk, sq, sk in ((2, 4, 4, 256, 256), (1, 6, 2, 300, 421), (2, 4, 1, 130, 65), (1, 2, 2, 1, 500)):
            check(name, normal(b, h, sq, d), normal(b, hk, sk, d), normal(b, hk, sk, d))


def gradient_of_a_sum():
    """dO is ones: in the last dimension one number, which the example makes dense; over rows a view as it lies."""
    q, k, v = normal(2, 4, 200, 64), normal(2, 2, 200, 64), normal(2, 2, 200, 64)
    check("d64_causal", q, k, v, torch.ones(1, device=DEV, dtype=BF16))
    check("d64_causal", q, k, v, torch.ones(64, device=DEV, dtype=BF16))


def packed_qkv():
    """Slices of one [B, S, 3, H, D] projection; dO in the same order."""
    qkv = normal(2, 300, 3, 8, 128)
    q, k, v = (qkv[:, :, i].transpose(1, 2) for i in range(3))
    check("d128_causal", q, k, v, normal(2, 300, 8, 128).transpose(1, 2))


def odd_strides():
    """Rows 65 elements apart and a base 2 bytes off: no 16-byte access is legal (S10)."""
    def odd(): return torch.as_strided(normal(2 * 3 * 200 * 65 + 1), (2, 3, 200, 64), (3 * 200 * 65, 200 * 65, 65, 1), 1)
    check("d64_causal", odd(), odd(), odd(), odd())


def no_queries_or_keys():
    for sq, sk in ((0, 70), (70, 0)):
        q, k, v = normal(1, 2, sq, 64), normal(1, 2, sk, 64), normal(1, 2, sk, 64)
        o, lse = attention("d64_full")["fwd"](q, k, v)
        assert all(bool((g == 0).all()) for g in attention("d64_full")["bwd"](q, k, v, o, lse, torch.ones_like(o)))


def backward_of(name):
    """A launch of the backward on fixed operands."""
    d = int(name[1:].split("_")[0])
    q, k, v, do = normal(2, 8, 1000, d), normal(2, 2, 1000, d), normal(2, 2, 1000, d), normal(2, 8, 1000, d)
    o, lse = attention(name)["fwd"](q, k, v)
    return lambda: attention(name)["bwd"].bind(q, k, v, o, lse, do)


def adds_in_memory(name):
    """Whether dQ is summed by tiles of keys, in any order: the kernel of all three gradients."""
    return '_dkvq"' in (KERNELS / f"{name}_bwd" / "manifest.json").read_text()


def same_bits():
    """50 launches, bit for bit, where no gradient is added up in memory."""
    for name in ("d64_causal", "d128_full"):
        bind = backward_of(name)
        first = [t.clone() for t in bind()()]
        for _ in range(50):
            again = bind()()
            equal = [torch.equal(a, b) for a, b in zip(first, again)]
            assert all(equal[1:]) and (equal[0] or adds_in_memory(name)), f"{name}: equal are {equal}"


def graphs_and_streams():
    """All kernels of a backward in a CUDA graph; and on a stream of one's own."""
    bind = backward_of("d128_causal")
    first = [t.clone() for t in bind()()]
    close = lambda a, b: torch.allclose(a.float(), b.float(), atol=0.02, rtol=0.02) if adds_in_memory("d128_causal") else torch.equal(a, b)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch = bind()
        outputs = launch()
    for _ in range(20):
        for t in outputs: t.fill_(float("nan"))
        graph.replay()
        assert all(close(a, b) for a, b in zip(first, outputs))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        got = bind()()
    stream.synchronize()
    assert all(close(a, b) for a, b in zip(first, got))


def refused():
    """One error each, told before anything is launched."""
    q, k = normal(1, 4, 100, 64), normal(1, 2, 100, 64)
    backward = attention("d64_full")["bwd"]
    o, lse = attention("d64_full")["fwd"](q, k, k)
    dq = torch.full_like(q, 7.0)
    needed = backward.bind(q, k, k, o, lse, o, dq=dq).workspace_bytes()
    short = torch.empty(needed - 1, dtype=torch.int8, device=DEV)
    for text, call in (("lse: is bf16, expected f32", lambda: backward(q, k, k, o, lse.bfloat16(), o, dq=dq)),
                       ("lse dimension 1 (q_heads): is 2, expected 4", lambda: backward(q, k, k, o, lse[:, :2], o, dq=dq)),
                       ("do dimension 2 (q_len): is 99, expected 100", lambda: backward(q, k, k, o, lse, o[:, :, :99], dq=dq)),
                       (f"workspace: has {needed - 1} bytes, expected at least {needed}",
                        lambda: backward(q, k, k, o, lse, o, dq=dq, workspace=short))):
        try:
            call()
        except attn_rt.AttnError as e:
            assert text in str(e), e
        else:
            raise AssertionError(f"not refused: {text}")
    assert bool((dq == 7).all())


CASES = (beside_pytorch, gradient_of_a_sum, packed_qkv, odd_strides, no_queries_or_keys, same_bits, graphs_and_streams, refused)
failed = 0
for case in CASES:
    torch.manual_seed(1)
    try:
        case()
        torch.cuda.synchronize()
        print(f"ok {case.__name__}", flush=True)
    except Exception as e:
        failed += 1
        print(f"FAIL {case.__name__}: {e}", flush=True)
    torch.cuda.empty_cache()
print(f"{len(CASES) - failed} passed, {failed} failed")
sys.exit(failed != 0)
