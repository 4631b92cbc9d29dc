"""Run by python.test: argv[1] the source root, argv[2] a folder with d8_f32_full/manifest.json."""
import contextlib
import ctypes
import json
import math
import os
import pathlib
import shutil
import sys
import threading
import types

source, folder = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(source / "runtime" / "python"))
import attn_rt
import compare_adapter


class Array:
    """What numpy shows of an array, over a list of floats."""

    def __init__(self, values, shape, byte_strides=None, dtype="float32"):
        self.data = (ctypes.c_float * len(values))(*values)
        self.shape, self.dtype = shape, types.SimpleNamespace(name=dtype)
        self.__array_interface__ = {"data": (ctypes.addressof(self.data), False), "shape": shape, "typestr": "<f4",
                                    "strides": byte_strides}


def floats(tensor):
    return list((ctypes.c_float * (len(tensor.buffer) // 4)).from_buffer(tensor.buffer))


def refused(error, call):
    try:
        call()
    except error as e:
        print(f"{e.name} {e.status}: {e.message}" if isinstance(e, attn_rt.AttnError) else e)
    else:
        sys.exit(f"{error.__name__} expected")


kernel = attn_rt.load(folder / "d8_f32_full" / "manifest.json")
assert kernel.chip == "cpu" and kernel.meaning["op"] == "sdpa"
assert kernel.operands[0] == ("q", "in", "f32", ["batch", "q_heads", "q_len", 8])
assert kernel.operands[3] == ("slopes", "capture", "f32", [None])
kernel.prepare()
assert kernel.jit_log() == ""
attn_rt.set_cpu_threads(2)
assert attn_rt.cpu_threads() == 2

# All keys alike: o is the value, lse = score + log(keys).
b, hq, hk, sq, sk = 2, 4, 2, 5, 3
q = Array([1.0] * (b * hq * sq * 8), (b, hq, sq, 8))
k = Array([0.5] * (b * sk * hk * 8), (b, hk, sk, 8), (sk * hk * 32, 32, hk * 32, 4))  # BSHD
v = Array([3.0] * (b * hk * sk * 16), (b, hk, sk, 16))
slopes = Array([0.0, 1.0, 2.0, 3.0], (hq,))
captures = {"slopes": slopes, "cap": 2.0}
o, lse = kernel(q, k, v, captures=captures)
assert floats(o) == [3.0] * (b * hq * sq * 16)
assert all(abs(x - (8 + (i // sq) % hq + math.log(3))) < 1e-5 for i, x in enumerate(floats(lse)))

# Into given memory, by name, again and again, from threads.
mine = attn_rt.HostTensor((b, hq, sq, 16), "f32")
launch = kernel.bind(q, k=k, v=v, o=mine, slopes=slopes, cap=2.0)
assert launch.workspace_bytes() == 0 and launch.kernels() == ["attention_fwd"]
threads = [threading.Thread(target=lambda: [launch() for _ in range(20)]) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert launch()[0] is mine and floats(mine) == floats(o)

refused(attn_rt.AttnError, lambda: kernel(q, Array([0.0] * 96, (1, 2, 6, 8)), v, captures=captures))
refused(TypeError, lambda: kernel(q, k, v, captures={**captures, "sinks": slopes}))
refused(TypeError, lambda: kernel(q, k, captures={"cap": 1.0}))
refused(TypeError, lambda: kernel(q, k, v, captures={"slopes": Array([0.0] * 4, (4,), None, "float64"), "cap": 1.0}))
refused(attn_rt.AttnError, lambda: attn_rt.load(folder / "nothing.json"))

# Order in memory follows the first input: BSHD in, BSHD out.
asked = []


class Torch:
    """As much of a torch tensor as is looked at."""
    is_cuda, device = False, "cpu"

    def __init__(self, shape, order):
        self.shape, self.order = shape, order

    def permute(self, back):
        asked.append((self.shape, back))
        return self


Torch.__module__ = "torch.fake"
sys.modules["torch"] = types.SimpleNamespace(float32="torch.float32", empty=lambda shape, dtype, device: Torch(shape, None))
attn_rt._allocate(Torch(None, None), [2, 4, 5, 16], "f32", (160, 8, 32, 1))
assert asked == [([2, 5, 4, 16], [0, 2, 1, 3])], asked
del sys.modules["torch"]


# The adapter: names, and manifests that do not fit.
def case(**kw):
    base = dict(name="c", d=64, q=types.SimpleNamespace(dtype="torch.bfloat16"), causal=False, window=None, softcap=None, alibi=None, scale=0.125)
    return types.SimpleNamespace(**{**base, **kw})


names = compare_adapter.names_of
assert names(case()) == ["d64_full"]
assert names(case(causal=True, d=128, q=types.SimpleNamespace(dtype="torch.float16"))) == ["d128_f16_causal"]
assert names(case(causal=True, window=(1023, 0))) == ["d64_window1023_0", "d64_window"]
assert names(case(causal=True, window=(7, 7))) == ["d64_window7_7_causal", "d64_window_causal"]
assert names(case(causal=True, softcap=50.0)) == ["d64_softcap50_causal", "d64_softcap_causal"]
assert names(case(causal=True, softcap=50.0, window=(4095, 0), d=256)) == ["d256_softcap50_window4095_0", "d256_softcap_window"]
assert names(case(causal=True, alibi=slopes)) == ["d64_alibi_causal"]
bounds = compare_adapter.bounds
causal, window = {"kind": "causal", "align": "bottom_right"}, {"kind": "window", "left": 7, "right": 0, "align": "bottom_right"}
assert bounds([]) == (None, None) and bounds([causal]) == (None, 0) and bounds([causal, window]) == bounds([window]) == (7, 0)
assert compare_adapter.forward(case(d=32)) is None
small = case(d=8, q=q, k=k, v=v, scale=0.0883883461)
refused(ValueError, lambda: compare_adapter.forward(small))

# A kernel without captures is found, checked and run.
text = json.loads((folder / "d8_f32_full" / "manifest.json").read_text())
text["require"] = []
kernels = folder / "d8_f32_causal"
shutil.copytree(folder / "d8_f32_full", kernels)
text["meaning"]["masks"] = [causal]
text["operands"] = [o for o in text["operands"] if o["name"] not in ("slopes", "cap")]
text["kernels"][0]["args"] = [a for a in text["kernels"][0]["args"] if not {"slopes", "cap"} & set(a.values())]
(kernels / "manifest.json").write_text(json.dumps(text))
small.causal = True
compare_adapter.kernel_for(small)
small.scale = 1.0
try:
    compare_adapter.kernel_for(small)
except ValueError as e:
    assert "scale is" in str(e)
else:
    sys.exit("a wrong scale went through")
small.scale, small.causal, small.window = 0.0883883461, True, (3, 0)
shutil.copytree(kernels, folder / "d8_f32_window")
try:
    compare_adapter.kernel_for(small)
except ValueError as e:
    assert "masks leave (None, 0) visible, expected (3, 0)" in str(e), e
else:
    sys.exit("a wrong window went through")

# The backward of a case is another folder, and another meaning.
small.o, small.lse, small.do, small.window = q, q, q, None
assert compare_adapter.backward(small) is None
shutil.copytree(kernels, folder / "d8_f32_causal_bwd")
refused(ValueError, lambda: compare_adapter.backward(small))
text["meaning"].update(op="sdpa_grad", masks=[causal])
operands = {o["name"]: o for o in text["operands"]}
like = lambda name, role, other: {**operands[other], "name": name, "role": role}
text["operands"] = [operands["q"], operands["k"], operands["v"], like("o", "in", "o"), like("lse", "in", "lse"), like("do", "in", "o"),
                    like("dq", "out", "q"), like("dk", "out", "k"), like("dv", "out", "v")]
text["empty"] = []
(folder / "d8_f32_causal_bwd" / "manifest.json").write_text(json.dumps(text))
compare_adapter._loaded.clear()
small.k, small.v, small.o, small.do = k, v, Array([0.0] * (b * hq * sq * 16), (b, hq, sq, 16)), Array([0.0] * 16, (b, hq, sq, 16), (0, 0, 0, 4))
small.lse = Array([0.0] * (b * hq * sq), (b, hq, sq))
launch = compare_adapter.backward(small)
assert [o.name for o in launch.kernel.operands if o.role == "out"] == ["dq", "dk", "dv"]
assert [t.shape for t in launch.outputs] == [(b, hq, sq, 8), (b, hk, sk, 8), (b, hk, sk, 16)]

# A launch on the stand-in driver: the stream is passed on, host memory is refused.
gpu = json.loads((folder / "d8_f32_full" / "manifest.json").read_text())
gpu["kernels"][0].update(chip="sm_80", ptx="fwd.ptx", threads=128)
del gpu["kernels"][0]["code"]
(folder / "fwd.ptx").write_text("PTX")
(folder / "gpu.json").write_text(json.dumps(gpu))
on_gpu = attn_rt.load(folder / "gpu.json")
launch = on_gpu.bind(q, k, v, captures=captures, stream=types.SimpleNamespace(cuda_stream=0x1234))
assert on_gpu.chip == "sm_80" and launch._launch.stream == 0x1234
try:
    launch()
except attn_rt.AttnError as e:
    assert e.name == "ATTN_ERROR_DEVICE" and "q: data" in e.message
else:
    sys.exit("host memory went through")

# Workspace of torch's, cleared by the first launch that runs and not by those after it; one that is recorded has not run.
gpu["workspace"] = [{"name": "counter", "type": "i32", "dims": [1], "zero": "restored"}]
gpu["kernels"][0]["args"].append({"ptr": "counter"})
(folder / "fwd.ptx").write_text("PTX attention_fwd end")
(folder / "gpu.json").write_text(json.dumps(gpu))
driver, context = ctypes.CDLL(os.environ["ATTN_CUDA_LIBRARY"]), ctypes.c_void_p()
assert driver.cuInit(0) == 0 and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and driver.cuCtxSetCurrent(context) == 0
recorded = []


class GpuMemory(Torch):
    is_cuda, device, dtype = True, "cuda:0", "torch.int8"

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def data_ptr(self):
        return ctypes.addressof(self.array.data)

    def stride(self):
        return attn_rt._dense(self.shape)

    def permute(self, back):
        return self

    def record_stream(self, stream):
        recorded.append(stream)


class Floats(GpuMemory):
    dtype = "torch.float32"


GpuMemory.__module__ = "torch.fake"
Floats.__module__ = "torch.fake"
stream, capturing = types.SimpleNamespace(cuda_stream=2), [True]
sys.modules["torch"] = types.SimpleNamespace(
    int8=GpuMemory, float32=Floats, empty=lambda shape, dtype, device: dtype(Array([0.0] * math.prod(shape), tuple(shape))),
    cuda=types.SimpleNamespace(current_stream=lambda device=None: stream, is_current_stream_capturing=lambda: capturing[0],
                               device=lambda device: contextlib.nullcontext()))
on_gpu = attn_rt.load(folder / "gpu.json")
dense_k = Array(list(k.data), (b, hk, sk, 8))
for given in (None, stream):
    launch = on_gpu.bind(*map(Floats, (q, dense_k, v)), captures={"slopes": Floats(slopes), "cap": 1.0}, stream=given, trust_pointers=True)
    assert launch.workspace_bytes() == 256 and launch._launch.workspace % 256 == 0
    assert recorded == ([] if given is None else [stream])
    capturing[0] = True
    launch()
    assert launch._launch.flags == attn_rt.LAUNCH_TRUST_POINTERS
    capturing[0] = False
    launch()
    assert launch._launch.flags == attn_rt.LAUNCH_TRUST_POINTERS | attn_rt.LAUNCH_WORKSPACE_KEPT
    launch()
del sys.modules["torch"]
print("done")
