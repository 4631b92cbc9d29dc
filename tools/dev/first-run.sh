#!/bin/sh
# From a bare Debian 12 machine to an attention spec that has been compiled, run and checked.
set -eu
cd "$(dirname "$0")/../.."
tools/dev/build.sh attn-compile attn-opt attn-run
PATH="$PWD/${BUILD_DIR:-build}/bin:$PATH"

echo "== docs/examples/causal.mlir for sm_80: PTX and manifest"
attn-compile docs/examples/causal.mlir --chip=sm_80 -o out.sm_80
ls out.sm_80
echo "== the same spec for the CPU, run on random tensors, compared with a double-precision reference"
attn-compile docs/examples/causal.mlir --chip=cpu -o out.cpu
attn-run out.cpu/manifest.json --shape batch=1,q_heads=8,k_heads=2,q_len=512,k_len=512
if [ -e /dev/nvidia0 ]; then
  echo "== the PTX on this machine's GPU"
  attn-run out.sm_80/manifest.json --shape batch=1,q_heads=8,k_heads=2,q_len=2048,k_len=2048
fi
