"""Attention that PyTorch differentiates, from two manifests of one spec.

    attn-compile spec.mlir -o fwd && attn-compile spec.mlir --backward -o bwd
    PYTHONPATH=runtime/python python3 docs/examples/autograd.py fwd/manifest.json bwd/manifest.json

prints how far the gradients are from PyTorch's own (specs without captures, no mask or causal).
"""
import sys

import attn_rt
import torch

fwd, bwd = attn_rt.load(sys.argv[1]), attn_rt.load(sys.argv[2])


class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        o, lse = fwd(q, k, v)
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.mark_non_differentiable(lse)
        return o, lse

    @staticmethod
    def backward(ctx, do, _):
        return bwd(*ctx.saved_tensors, do if do.stride(-1) == 1 else do.contiguous())


def compare(batch=2, heads=4, kv_heads=2, length=300):
    """(name, largest difference from PyTorch, largest value) of each gradient."""
    device = "cpu" if fwd.chip == "cpu" else "cuda"
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[fwd.operands[0].dtype]
    shapes = [(batch, h, length, fwd.operands[i].dims[3]) for i, h in enumerate((heads, kv_heads, kv_heads))]
    mine = [torch.randn(s, device=device, dtype=dtype, requires_grad=True) for s in shapes]
    theirs = [t.detach().float().requires_grad_() for t in mine]
    o, _ = Attention.apply(*mine)
    q, k, v = theirs[0], *(t.repeat_interleave(heads // kv_heads, 1) for t in theirs[1:])
    expected = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, is_causal=bool(fwd.meaning["masks"]), scale=fwd.meaning["scale"])
    do = torch.randn_like(o)
    o.backward(do)
    expected.backward(do.float())
    for name, a, b in zip(("dq", "dk", "dv"), mine, theirs):
        yield name, (a.grad.float() - b.grad).abs().max().item(), b.grad.abs().max().item()


if __name__ == "__main__":
    for name, difference, largest in compare():
        print(f"{name}: differs by {difference:.2e}, largest {largest:.2f}")
