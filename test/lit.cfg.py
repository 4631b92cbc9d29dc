"""Test tiers T0-T5 (docs/Testing.md). T5 needs a GPU and is unsupported, with a count, where there is none."""
import ctypes
import os
import shutil

import lit.formats

config.name = "attn"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test", ".c", ".cpp"]
config.excludes = ["CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py.in", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.attn_obj_root, "test")

bin_dir = os.path.join(config.attn_obj_root, "bin")
config.environment["PATH"] = os.pathsep.join([bin_dir, config.llvm_tools_dir, os.environ["PATH"]])
# Variables of a CHECK file do not leak from one CHECK-LABEL to the next.
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --dump-input=fail"
for name in ("CUDA_HOME", "CUDA_VISIBLE_DEVICES"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions += [
    ("%attn_src", config.attn_src_root),
    ("%attn_obj", config.attn_obj_root),
    ("%attn_rt_lib", os.path.join(config.attn_obj_root, "lib")),
    ("%attn_rt_include", os.path.join(config.attn_src_root, "runtime", "include")),
    ("%cc", config.cc),
    ("%cxx", config.cxx),
    ("%python", config.python),
]

# The assembler's verdict (T3) needs ptxas, found on PATH or in a CUDA toolkit.
ptxas = shutil.which("ptxas") or next(
    (p for p in (os.path.join(d, "bin", "ptxas") for d in (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda")) if os.access(p, os.X_OK)), None)
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
sanitizer = shutil.which("compute-sanitizer") or next(
    (p for p in (os.path.join(d, "bin", "compute-sanitizer") for d in (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda")) if os.access(p, os.X_OK)), None)
if sanitizer:
    config.available_features.add("compute-sanitizer")
    config.substitutions.append(("%sanitizer", sanitizer))
if shutil.which("clang-format-22") or os.path.exists(os.path.join(config.llvm_tools_dir, "clang-format")):
    config.available_features.add("clang-format")
if os.path.exists("/dev/nvidia0"):
    config.available_features.add("gpu")
    # Code for sm_90a runs on GPUs of this architecture only.
    try:
        driver, number = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
        driver.cuInit(0)
        capability = []
        for attribute in (75, 76):  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR
            driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, 0)
            capability.append(number.value)
        if capability == [9, 0]:
            config.available_features.add("sm_90a")
    except OSError:
        pass
