#!/bin/sh
# Compiles a pass or dialect plug-in for attn-opt:  build-plugin.sh Some.cpp  makes Some.so beside it.
# It links nothing: its symbols come from the attn-opt that loads it, so there is one copy of MLIR and of the dialect.
set -eu
source=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD_DIR:-$root/build}
llvm=/usr/lib/llvm-22
exec $llvm/bin/clang++ -shared -fPIC -std=c++17 -O1 -fno-exceptions -DNDEBUG -fvisibility-inlines-hidden \
  -I "$root/include" -I "$build/include" -isystem $llvm/include "$source" -o "${source%.cpp}.so"
