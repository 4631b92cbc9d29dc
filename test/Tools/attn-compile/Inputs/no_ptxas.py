"""Exit codes of --cubin without an assembler; does nothing where /usr/local/cuda has one."""
import os
import shutil
import subprocess
import sys

os.chdir(sys.argv[1])
COMPILE = shutil.which("attn-compile")
os.environ["PATH"] = os.getcwd()
os.environ.pop("CUDA_HOME", None)
if not os.path.exists("/usr/local/cuda/bin/ptxas"):
    on = subprocess.run([COMPILE, "good.mlir", "-o", "on", "--cubin=on"], capture_output=True, text=True)
    assert on.returncode == 3, on
    assert "ptxas was not found; looked at: --ptxas, PATH, /usr/local/cuda/bin/ptxas" in on.stderr, on.stderr
    auto = subprocess.run([COMPILE, "good.mlir", "-o", "auto", "--cubin=auto"], capture_output=True, text=True)
    assert auto.returncode == 0 and sorted(os.listdir("auto")) == ["good_fwd.ptx", "manifest.json"], auto
