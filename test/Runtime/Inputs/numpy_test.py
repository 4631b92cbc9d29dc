"""Run by python-numpy.test: argv[1] the source root, argv[2] the manifest of docs/examples/causal.mlir for the CPU."""
import sys

import numpy as np

sys.path.insert(0, f"{sys.argv[1]}/runtime/python")
import attn_rt


def to_bf16(x):
    """The upper halves of f32, rounded to nearest even."""
    word = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((word + 0x7FFF + (word >> 16 & 1)) >> 16).astype(np.uint16)


def to_f32(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def refused(call):
    try:
        call()
    except TypeError as error:
        print(error)
    else:
        sys.exit("TypeError expected")


b, hq, hk, sq, sk = 2, 4, 2, 70, 90
random = np.random.default_rng(7)
q, k, v = (to_bf16(random.standard_normal((b, s, h, 128))).transpose(0, 2, 1, 3) for s, h in ((sq, hq), (sk, hk), (sk, hk)))
kernel = attn_rt.load(sys.argv[2])
refused(lambda: attn_rt.Bits(np.zeros(4, np.float32), "bf16"))
refused(lambda: kernel(q, k, v))

scores = np.einsum("bhqd,bhkd->bhqk", to_f32(q), np.repeat(to_f32(k), hq // hk, 1)) * 0.0883883461
scores[:, :, np.arange(sk) > np.arange(sq)[:, None] + sk - sq] = -np.inf
weights = np.exp(scores - scores.max(-1, keepdims=True))
want = weights / weights.sum(-1, keepdims=True) @ np.repeat(to_f32(v), hq // hk, 1)

# Outputs that follow: o is Bits, in the order of q in memory; lse is f32, which numpy has.
o, lse = kernel(*(attn_rt.Bits(x, "bf16") for x in (q, k, v)))
assert isinstance(o, attn_rt.Bits) and o.shape == (b, hq, sq, 128) and o.array.strides == q.strides
assert np.abs(to_f32(o.array) - want).max() < 0.02, np.abs(to_f32(o.array) - want).max()
assert lse.dtype == np.float32 and lse.shape == (b, hq, sq)

try:
    from ml_dtypes import bfloat16
except ImportError:  # not a package of the project
    pass
else:
    typed = kernel(*(x.view(bfloat16) for x in (q, k, v)))[0]
    assert typed.dtype == bfloat16 and (typed.view(np.uint16) == o.array).all()
print("done")
