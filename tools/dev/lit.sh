#!/bin/sh
# Runs lit with this project's tools on PATH:  lit.sh -v my-pass, lit.sh -sv build/test --filter tile-forward
root=$(cd "$(dirname "$0")/../.." && pwd)
PATH="${BUILD_DIR:-$root/build}/bin:/usr/lib/llvm-22/bin:$PATH" exec /usr/lib/llvm-22/bin/lit "$@"
