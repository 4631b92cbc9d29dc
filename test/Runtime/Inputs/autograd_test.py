"""Run by autograd.test: argv[1] the source root, then the manifests of a forward and its backward (causal, f32)."""
import importlib.util
import pathlib
import runpy
import sys
import types

source = pathlib.Path(sys.argv[1])
sys.argv = [str(source / "docs" / "examples" / "autograd.py"), *sys.argv[2:4]]
sys.path.insert(0, str(source / "runtime" / "python"))


def check(name, difference, largest):
    print(f"{name}: differs by {difference:.2e}, largest {largest:.2f}")
    assert difference < 1e-4 * largest, name


def with_torch():
    import torch
    torch.manual_seed(1)
    example = runpy.run_path(sys.argv[0])
    for row in example["compare"]():
        check(*row)
    q = torch.randn(1, 1, 3, 32, requires_grad=True)
    o, _ = example["Attention"].apply(q, q.detach(), torch.randn(1, 1, 3, 16))
    o.sum().backward()  # a gradient of ones that has no memory of its own
    assert torch.isfinite(q.grad).all()


def with_numpy():
    import numpy as np

    class Array(np.ndarray):
        """What the example asks of a torch tensor."""

        def stride(self, dim):
            return self.strides[dim] // self.itemsize

        def contiguous(self):
            return np.ascontiguousarray(self).view(Array)

    Array.__module__ = "numpy"  # outputs are allocated by the library of the inputs' type
    sys.modules["torch"] = types.SimpleNamespace(autograd=types.SimpleNamespace(Function=object))
    example = runpy.run_path(sys.argv[0])
    ctx = types.SimpleNamespace(mark_non_differentiable=lambda lse: None)
    ctx.save_for_backward = lambda *tensors: setattr(ctx, "saved_tensors", tensors)
    rng = np.random.default_rng(1)
    b, h, g, sq, sk = 2, 2, 3, 37, 70
    make = lambda *shape: rng.standard_normal(shape).astype(np.float32).view(Array)
    q, k, v, do = make(b, h * g, sq, 32), make(b, h, sk, 32), make(b, h, sk, 16), make(b, h * g, sq, 16)
    example["Attention"].forward(ctx, q, k, v)
    got = example["Attention"].backward(ctx, do, None)

    # Gradients in double; dk and dv are summed over the query heads of a group.
    wide = lambda t: np.asarray(t, dtype=np.float64)
    q, k, v, do = wide(q), np.repeat(wide(k), g, 1), np.repeat(wide(v), g, 1), wide(do)
    s = 0.2 * q @ k.swapaxes(2, 3)
    s[..., np.arange(sk)[None, :] > np.arange(sq)[:, None] + sk - sq] = -np.inf
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    dp = do @ v.swapaxes(2, 3)
    ds = p * (dp - (dp * p).sum(-1, keepdims=True)) * 0.2
    per_group = lambda t: t.reshape(b, h, g, sk, -1).sum(2)
    for name, mine, right in zip(("dq", "dk", "dv"), got, (ds @ k, per_group(ds.swapaxes(2, 3) @ q), per_group(p.swapaxes(2, 3) @ do))):
        check(name, np.abs(mine - right).max(), np.abs(right).max())

    # One number seen as a whole tensor: the example makes it dense, a dense last dimension is taken as it lies.
    ones = np.broadcast_to(np.ones(1, np.float32), (b, h * g, sq, 16)).view(Array)
    rows = np.broadcast_to(np.ones(16, np.float32), (b, h * g, sq, 16)).view(Array)
    for mine, same in zip(example["Attention"].backward(ctx, ones, None), example["Attention"].backward(ctx, rows, None)):
        assert np.array_equal(mine, same)


with_torch() if importlib.util.find_spec("torch") else with_numpy()
print("done")
