"""Load and launch compiled attention kernels from Python: a thin ctypes layer over libattn_rt.

    import attn_rt
    kernel = attn_rt.load("out/manifest.json")
    o, lse = kernel(q, k, v)                                  # torch tensors; numpy arrays for a CPU kernel
    o, lse = kernel(q, k, v, captures={"slopes": slopes, "cap": 50.0})
    kernel(q, k, v, o=o, lse=lse, stream=stream)              # into memory you have

    dq, dk, dv = backward(q, k, v, o, lse, do)                # of a manifest made with --backward

    launch = kernel.bind(q, k, v)                             # everything prepared once
    launch()                                                  # one C call

Tensors are taken as they lie: any strides with a contiguous last dimension, no copies. Outputs that are not given are
allocated with the order of dimensions in memory that the first input has. On a GPU the launch goes to `stream`, by default
torch's current stream of the tensors' device. A kernel's workspace is allocated for each bind (each call of a Kernel) unless
given. Whatever is wrong raises AttnError with the library's status and message.

The library is looked for in $ATTN_RT_LIBRARY, beside this file, in ../lib, in ../../build/lib, then by the system's loader.
Needs Python 3.8 and nothing else; torch, numpy and cupy arrays are recognised by their protocols. numpy has no bf16: arrays of
ml_dtypes.bfloat16 are taken as they are, others of 16 bits as attn_rt.Bits(array, "bf16").
"""
import collections
import ctypes
import json
import os
import pathlib
import sys

ABI_VERSION = 1
MAX_RANK = 8
LAUNCH_TRUST_POINTERS = 1
LAUNCH_WORKSPACE_KEPT = 2

_DTYPES = {"f16": 1, "bf16": 2, "f32": 3, "i1": 4, "i8": 5, "i32": 6}
_DTYPE_NAMES = {code: name for name, code in _DTYPES.items()}
_DTYPE_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i1": 1, "i8": 1, "i32": 4}
# What torch, numpy and ml_dtypes call them.
_FRAMEWORK_DTYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "bool": "i1", "int8": "i8", "int32": "i32"}
_FRAMEWORK_NAMES = {ours: theirs for theirs, ours in _FRAMEWORK_DTYPES.items()}
_ROLES = {1: "in", 2: "out", 3: "capture", 4: "scalar"}


class _Tensor(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("dtype", ctypes.c_uint32), ("data", ctypes.c_void_p), ("rank", ctypes.c_uint32),
                ("reserved", ctypes.c_uint32), ("sizes", ctypes.c_int64 * MAX_RANK), ("strides", ctypes.c_int64 * MAX_RANK)]


class _Launch(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("num_operands", ctypes.c_uint32), ("operands", ctypes.POINTER(ctypes.POINTER(_Tensor))),
                ("stream", ctypes.c_void_p), ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_uint64),
                ("flags", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class _OperandInfo(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("role", ctypes.c_uint32), ("dtype", ctypes.c_uint32), ("rank", ctypes.c_uint32),
                ("name", ctypes.c_char_p), ("dims", ctypes.c_int64 * MAX_RANK), ("dim_names", ctypes.c_char_p * MAX_RANK)]


class AttnError(RuntimeError):
    """`status` is the attn_status as a number, `name` its spelling, str() the message."""

    def __init__(self, status, name, message):
        super().__init__(f"{name}: {message}")
        self.status, self.name, self.message = status, name, message


def _open():
    here = pathlib.Path(__file__).resolve().parent
    name = "libattn_rt.so"
    places = [here / name, here.parent / "lib" / name, here.parent.parent / "build" / "lib" / name]
    chosen = os.environ.get("ATTN_RT_LIBRARY") or next((str(p) for p in places if p.exists()), name)
    lib = ctypes.CDLL(chosen)
    handle, status = ctypes.c_void_p, ctypes.c_int
    for function, result, arguments in (
            ("attn_abi_version", ctypes.c_uint32, []),
            ("attn_status_name", ctypes.c_char_p, [status]),
            ("attn_last_error", ctypes.c_char_p, []),
            ("attn_kernel_load", status, [ctypes.c_char_p, ctypes.POINTER(handle)]),
            ("attn_kernel_unload", None, [handle]),
            ("attn_kernel_prepare", status, [handle]),
            ("attn_kernel_launch", status, [handle, ctypes.POINTER(_Launch)]),
            ("attn_kernel_chosen", status, [handle, ctypes.POINTER(_Launch), ctypes.c_uint32, ctypes.POINTER(ctypes.c_char_p)]),
            ("attn_kernel_workspace_bytes", status, [handle, ctypes.POINTER(_Launch), ctypes.POINTER(ctypes.c_uint64)]),
            ("attn_set_cpu_threads", None, [ctypes.c_uint32]),
            ("attn_cpu_threads", ctypes.c_uint32, []),
            ("attn_kernel_num_operands", ctypes.c_uint32, [handle]),
            ("attn_kernel_operand_info", status, [handle, ctypes.c_uint32, ctypes.POINTER(_OperandInfo)]),
            ("attn_kernel_chip", ctypes.c_char_p, [handle]),
            ("attn_kernel_meaning", ctypes.c_char_p, [handle]),
            ("attn_kernel_jit_log", ctypes.c_size_t, [handle, ctypes.c_char_p, ctypes.c_size_t])):
        entry = getattr(lib, function)
        entry.restype, entry.argtypes = result, arguments
    if lib.attn_abi_version() != ABI_VERSION:
        raise ImportError(f"{chosen} has ABI version {lib.attn_abi_version()}, this module needs {ABI_VERSION}")
    return lib


_lib = _open()


def _check(status):
    if status:
        raise AttnError(status, _lib.attn_status_name(status).decode(), _lib.attn_last_error().decode(errors="replace"))


def set_cpu_threads(threads):
    """Threads a CPU kernel may use, in the whole process; 0 is one a core."""
    _lib.attn_set_cpu_threads(threads)


def cpu_threads():
    return _lib.attn_cpu_threads()


#===----------------------------------------------------------------------===#
# Tensors of other libraries
#===----------------------------------------------------------------------===#


class HostTensor:
    """Uninitialised host memory with a shape, for programs that have no array library."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = tuple(shape), dtype
        count = 1
        for n in self.shape:
            count *= n
        self.buffer = ctypes.create_string_buffer(max(1, count) * _DTYPE_BYTES[dtype])

    def data_ptr(self):
        return ctypes.addressof(self.buffer)

    def stride(self):
        return _dense(self.shape)


class Bits:
    """An array of integers whose bits are numbers of a type its library does not have: Bits(x, "bf16") of a numpy uint16 array.

    Outputs that follow such an input and have no type of the library either are Bits; `array` is the integers."""

    def __init__(self, array, dtype):
        self.array, self.dtype = array, dtype
        if dtype not in _DTYPES:
            raise TypeError(f"no type is called {dtype}; there are {', '.join(_DTYPES)}")
        size = array.element_size() if hasattr(array, "element_size") else array.dtype.itemsize
        if size != _DTYPE_BYTES[dtype]:
            raise TypeError(f"elements of {size} bytes cannot be {dtype}")

    @property
    def shape(self):
        return tuple(self.array.shape)


def _dense(shape):
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def _dtype_of(array):
    name = str(getattr(array.dtype, "name", array.dtype)).replace("torch.", "")
    return _FRAMEWORK_DTYPES.get(name, name if name in _DTYPES else None) or name


def _view_of(array):
    """(pointer, shape, strides in elements, our dtype name) of a torch tensor, a numpy or cupy array, Bits, a HostTensor."""
    if isinstance(array, Bits):
        return _view_of(array.array)[:3] + (array.dtype,)
    if hasattr(array, "data_ptr"):
        return array.data_ptr(), tuple(array.shape), tuple(array.stride()), _dtype_of(array)
    interface = getattr(array, "__cuda_array_interface__", None) or getattr(array, "__array_interface__", None)
    if interface is None:
        raise TypeError(f"expected a torch tensor or an array, got {type(array).__name__}")
    shape, item = tuple(interface["shape"]), int(interface["typestr"][2:])
    strides = interface.get("strides")
    if strides is None:
        return interface["data"][0], shape, _dense(shape), _dtype_of(array)
    if any(n > 1 and s % item for n, s in zip(shape, strides)):
        raise ValueError(f"strides {tuple(strides)} are no multiples of the element's {item} bytes")
    return interface["data"][0], shape, tuple(s // item for s in strides), _dtype_of(array)


def _known(numpy, name):
    """The type of the name, None if numpy has none: bfloat16 is there once ml_dtypes was imported."""
    try:
        return numpy.dtype(name)
    except TypeError:
        return None


def _allocate(like, shape, dtype, strides):
    """Memory of the library `like` comes from, dense, its dimensions ordered in memory as `strides` are."""
    order = sorted(range(len(shape)), key=lambda d: (-strides[d], d)) if len(strides) == len(shape) else list(range(len(shape)))
    stored = [shape[d] for d in order]
    back = [order.index(d) for d in range(len(shape))]
    if isinstance(like, Bits):
        like = like.array
    module = type(like).__module__.split(".")[0]
    name = _FRAMEWORK_NAMES[dtype]
    if module == "torch":
        torch = sys.modules["torch"]
        return torch.empty(stored, dtype=getattr(torch, name), device=like.device).permute(back)
    if module in ("numpy", "cupy"):
        numpy = sys.modules[module]
        known = like.dtype if _dtype_of(like) == dtype else _known(numpy, name)
        array = numpy.empty(stored, dtype=known or f"uint{8 * _DTYPE_BYTES[dtype]}").transpose(back)
        return array if known else Bits(array, dtype)
    return HostTensor(shape, dtype)


def _torch_device(tensors):
    """The device of the first torch tensor that is on a GPU, None if there is none."""
    for tensor in tensors:
        if type(tensor).__module__.split(".")[0] == "torch" and tensor.is_cuda:
            return tensor.device
    return None


def _stream_of(stream, tensors):
    if stream is not None:
        return getattr(stream, "cuda_stream", stream)
    device = _torch_device(tensors)
    return sys.modules["torch"].cuda.current_stream(device).cuda_stream if device is not None else 0


#===----------------------------------------------------------------------===#
# Kernels
#===----------------------------------------------------------------------===#

Operand = collections.namedtuple("Operand", "name role dtype dims")  # dims: a number, a size's name or None each


class Launch:
    """A launch with everything prepared. `outputs` are its output tensors in the manifest's order."""

    def __init__(self, kernel, tensors, outputs, stream, workspace, trust_pointers):
        self.kernel, self.tensors, self.outputs, self.workspace = kernel, tensors, outputs, workspace
        count = len(kernel.operands)
        self._views, self._scalars = (_Tensor * count)(), []
        self._pointers = (ctypes.POINTER(_Tensor) * count)()
        for i, (operand, tensor) in enumerate(zip(kernel.operands, tensors)):
            self._fill(self._views[i], operand, tensor)
            self._pointers[i] = ctypes.pointer(self._views[i])
        self._launch = _Launch(ctypes.sizeof(_Launch), count, ctypes.cast(self._pointers, ctypes.POINTER(ctypes.POINTER(_Tensor))))
        self._launch.flags = LAUNCH_TRUST_POINTERS if trust_pointers else 0
        if kernel.chip != "cpu":
            self._launch.stream = _stream_of(stream, tensors)
        self._reference = ctypes.byref(self._launch)
        self._entry, self._handle = _lib.attn_kernel_launch, kernel._handle
        needed = self.workspace_bytes()
        self._clears_workspace = False  # whether a launch may rely on what the one before left there
        if needed and workspace is None:
            self.workspace = _allocate(tensors[0], [needed + 256], "i8", ())
            self._device = _torch_device([self.workspace])
            self._clears_workspace = self._device is not None
            if self._device is not None and stream is not None:  # else torch could give it away while it is in use
                torch = sys.modules["torch"]
                self.workspace.record_stream(stream if hasattr(stream, "cuda_stream") else torch.cuda.ExternalStream(stream, self._device))
        if self.workspace is not None:
            pointer, shape, _, dtype = _view_of(self.workspace)
            size = _DTYPE_BYTES[dtype]
            for n in shape:
                size *= n
            skip = -pointer % 256 if workspace is None else 0
            self._launch.workspace, self._launch.workspace_bytes = pointer + skip, size - skip

    def _fill(self, view, operand, tensor):
        view.size, view.dtype = ctypes.sizeof(_Tensor), _DTYPES[operand.dtype]
        if operand.role == "scalar":
            value = (ctypes.c_float if operand.dtype == "f32" else ctypes.c_int32)(tensor)
            self._scalars.append(value)
            view.data = ctypes.addressof(value)
            return
        pointer, shape, strides, dtype = _view_of(tensor)
        if dtype not in _DTYPES:
            raise TypeError(f"{operand.name}: is {dtype}, expected {operand.dtype}")
        if len(shape) > MAX_RANK:
            raise ValueError(f"{operand.name}: has {len(shape)} dimensions, expected {len(operand.dims)}")
        view.data, view.dtype, view.rank = pointer, _DTYPES[dtype], len(shape)
        for d, (n, s) in enumerate(zip(shape, strides)):
            view.sizes[d], view.strides[d] = n, s

    def workspace_bytes(self):
        needed = ctypes.c_uint64()
        _check(_lib.attn_kernel_workspace_bytes(self._handle, self._reference, ctypes.byref(needed)))
        return needed.value

    def kernels(self):
        """Names of the kernels a call starts for these tensors, in their order."""
        names, name = [], ctypes.c_char_p()
        while True:
            _check(_lib.attn_kernel_chosen(self._handle, self._reference, len(names), ctypes.byref(name)))
            if name.value is None:
                return names
            names.append(name.value.decode())

    def __call__(self):
        status = self._entry(self._handle, self._reference)
        if status:
            _check(status)
        if self._clears_workspace:
            self._keep_workspace()
        return self.outputs

    def _keep_workspace(self):
        """After a first launch has run, the workspace is as the kernels left it. One that was recorded into a CUDA graph has not run."""
        cuda = sys.modules["torch"].cuda
        with cuda.device(self._device):
            if cuda.current_stream().cuda_stream == (self._launch.stream or 0) and not cuda.is_current_stream_capturing():
                self._launch.flags |= LAUNCH_WORKSPACE_KEPT
                self._clears_workspace = False


class Kernel:
    """A loaded manifest: `operands`, `chip` ("cpu", "sm_80"), `meaning` (what it computes, from the manifest)."""

    def __init__(self, manifest):
        self._handle = None
        handle = ctypes.c_void_p()
        _check(_lib.attn_kernel_load(os.fsencode(manifest), ctypes.byref(handle)))
        self._handle = handle
        self.chip = _lib.attn_kernel_chip(handle).decode()
        self.meaning = json.loads(_lib.attn_kernel_meaning(handle))
        self.operands = [self._operand(i) for i in range(_lib.attn_kernel_num_operands(handle))]

    def _operand(self, index):
        info = _OperandInfo(ctypes.sizeof(_OperandInfo))
        _check(_lib.attn_kernel_operand_info(self._handle, index, ctypes.byref(info)))
        dims = [info.dim_names[d].decode() if info.dim_names[d] else None if info.dims[d] < 0 else info.dims[d] for d in range(info.rank)]
        return Operand(info.name.decode(), _ROLES[info.role], _DTYPE_NAMES[info.dtype], dims)

    def __del__(self):
        if getattr(self, "_handle", None) and _lib is not None:  # None: the interpreter is going away
            _lib.attn_kernel_unload(self._handle)

    def _names(self, *roles):
        return [o.name for o in self.operands if o.role in roles]

    def bind(self, *inputs, captures=None, stream=None, workspace=None, trust_pointers=False, **named):
        """A Launch of these tensors. Inputs by position or name, outputs by name or allocated, captures by name."""
        given = dict(zip(self._names("in"), inputs))
        if len(inputs) > len(given):
            raise TypeError(f"takes {len(given)} inputs ({', '.join(given)}), got {len(inputs)}")
        for name, tensor in {**named, **(captures or {})}.items():
            if name in given:
                raise TypeError(f"{name}: given twice")
            if name not in self._names("in", "out", "capture", "scalar"):
                raise TypeError(f"no operand is called {name}; there are {', '.join(self._names('in', 'out', 'capture', 'scalar'))}")
            if tensor is not None:
                given[name] = tensor
        missing = [n for n in self._names("in", "capture", "scalar") if n not in given]
        if missing:
            raise TypeError(f"missing {', '.join(missing)}")
        sizes, first = {}, given[self._names("in")[0]]
        for operand in self.operands:
            if operand.name in given and operand.role != "scalar":
                for name, n in zip(operand.dims, _view_of(given[operand.name])[1]):
                    sizes.setdefault(name, n)
        for operand in self.operands:
            if operand.role == "out" and operand.name not in given:
                shape = [d if isinstance(d, int) else sizes.get(d) for d in operand.dims]
                if None in shape:
                    raise TypeError(f"{operand.name}: its shape {operand.dims} does not follow from the inputs; give the tensor")
                given[operand.name] = _allocate(first, shape, operand.dtype, _view_of(first)[2])
        return Launch(self, [given[o.name] for o in self.operands], tuple(given[n] for n in self._names("out")), stream, workspace, trust_pointers)

    def __call__(self, *inputs, **options):
        """Launches once; returns the outputs. Arguments as for bind."""
        return self.bind(*inputs, **options)()

    def prepare(self):
        """Loads the code into the current CUDA context now, which the first launch would do otherwise."""
        _check(_lib.attn_kernel_prepare(self._handle))

    def jit_log(self):
        """What the driver's assembler said when it last loaded this kernel."""
        buffer = ctypes.create_string_buffer(_lib.attn_kernel_jit_log(self._handle, None, 0))
        _lib.attn_kernel_jit_log(self._handle, buffer, len(buffer))
        return buffer.value.decode(errors="replace")


def load(manifest):
    """Loads the manifest a compile wrote. The code of a GPU kernel is brought to the GPU by its first launch."""
    return Kernel(manifest)
