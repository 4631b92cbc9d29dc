#!/usr/bin/env python3
"""T5 with PyTorch: views that only a tensor library makes, tensors past 2^31 elements, and the same bits every time.

    views.py KERNELS      KERNELS: what `test/Integration/bench_kernels.py KERNELS --dims 64,72,128` wrote

Needs PyTorch with CUDA and the runtime's Python module on PYTHONPATH. The reference is dense attention in float32 of the rows
looked at; the bound is twice the error of the same in bf16, plus its last bit (docs/Testing.md). The last line counts.
"""
import math
import pathlib
import sys

import torch

import attn_rt

DEV, BF16 = "cuda", torch.bfloat16
KERNELS = pathlib.Path(sys.argv[1])
kernels = {}


def kernel(name):
    if name not in kernels:
        kernels[name] = attn_rt.load(KERNELS / name / "manifest.json")
    return kernels[name]


def dense(q, k, v, row0, sq, causal, dtype):
    """Rows [row0, row0 + q rows) of one head."""
    q, k, v = (t.to(dtype) for t in (q, k, v))
    s = (q @ k.T) / math.sqrt(q.shape[-1])
    if causal:
        i = torch.arange(row0, row0 + q.shape[0], device=DEV)[:, None] + k.shape[0] - sq
        s = s.masked_fill(torch.arange(k.shape[0], device=DEV)[None] > i, float("-inf"))
    return torch.softmax(s, -1) @ v


def check(o, q, k, v, at, rows=slice(None), causal=False):
    """Compares the given rows of head `at` = (batch, head)."""
    b, h = at
    kv = h * k.shape[1] // q.shape[1]
    sq = q.shape[2]
    row0 = range(sq)[rows][0]
    part = (q[b, h, rows], k[b, kv], v[b, kv], row0, sq, causal)
    ref, plain, got = dense(*part, torch.float32), dense(*part, BF16).float(), o[b, h, rows].float()
    noise = 2 * ((ref + 0.3).to(BF16).float() - 0.3 - ref).abs().max()
    error, bound = (got - ref).abs().max().item(), (2 * (plain - ref).abs().max() + noise).item()
    assert error <= bound, f"error {error:.3g}, allowed {bound:.3g}"  # NaN fails too


def normal(*shape):
    return torch.randn(*shape, device=DEV, dtype=BF16)


def packed_qkv():
    """Slices of one [B, S, 3, H, D] projection, causal."""
    qkv = normal(2, 500, 3, 8, 128)
    q, k, v = (qkv[:, :, i].transpose(1, 2) for i in range(3))
    o, _ = kernel("d128_causal")(q, k, v)
    check(o, q, k, v, (1, 7), causal=True)


def expanded_heads():
    """K and V of one head, expanded over all of them: stride 0 (S06), then dense with the same shapes."""
    q, k, v = normal(2, 6, 300, 64), normal(2, 1, 300, 64).expand(2, 6, 300, 64), normal(2, 1, 300, 64).expand(2, 6, 300, 64)
    o, _ = kernel("d64_full")(q, k, v)
    check(o, q, k, v, (1, 5))
    k, v = k.contiguous(), v.contiguous()
    again, _ = kernel("d64_full")(q, k, v)
    assert torch.equal(o, again)


def odd_strides():
    """Rows 65 elements apart and a base 2 bytes off: no 16-byte access is legal (S10)."""
    def odd(): return torch.as_strided(normal(2 * 3 * 200 * 65 + 1), (2, 3, 200, 64), (3 * 200 * 65, 200 * 65, 65, 1), 1)
    q, k, v = odd(), odd(), odd()
    o, _ = kernel("d64_causal")(q, k, v)
    check(o, q, k, v, (1, 2), causal=True)


def poisoned_cache():
    """A cache filled with NaN past the used length (N06): the same bits as with zeros there."""
    q, used = normal(2, 4, 100, 128), 77
    out = []
    for poison in (float("nan"), float("inf"), 0.0):
        k, v = torch.full((2, 4, 256, 128), poison, device=DEV, dtype=BF16), torch.full((2, 4, 256, 128), poison, device=DEV, dtype=BF16)
        g = torch.Generator(device=DEV).manual_seed(1)
        for cache in (k, v):
            cache[:, :, :used] = torch.randn(2, 4, used, 128, device=DEV, dtype=BF16, generator=g)
        out.append(kernel("d128_full")(q, k[:, :, :used], v[:, :, :used])[0])
    assert torch.equal(out[0], out[2]) and torch.equal(out[1], out[2])


def size_one_strides():
    """Junk strides on dimensions of size 1 (S03)."""
    def junk(s): return torch.as_strided(normal(s * 64), (1, 1, s, 64), (3331333, 99990001, 64, 1))
    q, k, v = junk(130), junk(200), junk(200)
    o, _ = kernel("d64_full")(q, k, v)
    check(o, q, k, v, (0, 0))


def same_bits():
    """150 launches, bit for bit, LSE too; some of them replays of a CUDA graph."""
    q, k, v = normal(4, 8, 1000, 128), normal(4, 2, 1000, 128), normal(4, 2, 1000, 128)
    first = [t.clone() for t in kernel("d128_causal")(q, k, v)]
    for _ in range(100):
        assert all(torch.equal(a, b) for a, b in zip(first, kernel("d128_causal")(q, k, v)))
    launch = kernel("d128_causal").bind(q, k, v)
    launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch = kernel("d128_causal").bind(q, k, v)
        outputs = launch()
    for _ in range(50):
        for t in outputs: t.fill_(float("nan"))
        graph.replay()
        assert all(torch.equal(a, b) for a, b in zip(first, outputs))


def past_2_31_bytes():
    """1600 images of 729 patches, 16 heads of 72 (I03): 1.3e9 elements, 2.7e9 bytes."""
    q, k, v = (normal(1600, 16, 729, 72) for _ in range(3))
    o, _ = kernel("d72_full")(q, k, v)
    for at in ((0, 0), (800, 3), (1599, 15)): check(o, q, k, v, at)


def past_2_31_elements():
    """One sequence of 262144, 48 heads of 128, packed (I01): 4.8e9 elements."""
    qkv = torch.empty(1, 262144, 3, 48, 128, device=DEV, dtype=BF16)
    for part in qkv.view(-1).chunk(64): part.normal_()
    q, k, v = (qkv[:, :, i].transpose(1, 2) for i in range(3))
    o, _ = kernel("d128_causal")(q, k, v)
    for h in (0, 47):
        check(o, q, k, v, (0, h), slice(0, 64), causal=True)
        check(o, q, k, v, (0, h), slice(262144 - 64, None), causal=True)


def many_sequences():
    """15000 sequences of 128 (I02): 240000 tiles, more than one grid dimension other than x can have."""
    q, k, v = (normal(15000, 16, 128, 64) for _ in range(3))
    o, _ = kernel("d64_full")(q, k, v)
    for at in ((0, 0), (14999, 15)): check(o, q, k, v, at)


CASES = (packed_qkv, expanded_heads, odd_strides, poisoned_cache, size_one_strides, same_bits, past_2_31_bytes, past_2_31_elements,
         many_sequences)
failed = 0
for case in CASES:
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
