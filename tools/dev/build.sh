#!/bin/sh
# Installs what is missing (Debian 12's own packages), configures and builds. Everything else starts with this.
#   tools/dev/build.sh [target...]      default target: all. BUILD_DIR names another build directory.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD_DIR:-build}
llvm=/usr/lib/llvm-22

missing=
for package in $(cat tools/dev/packages.txt); do
  dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
if [ -n "$missing" ]; then
  root=$([ "$(id -u)" = 0 ] || echo sudo)
  echo "installing:$missing"
  $root apt-get update -qq
  # shellcheck disable=SC2086
  $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

if [ ! -f "$build/build.ninja" ]; then
  cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=$llvm \
    -DCMAKE_C_COMPILER=$llvm/bin/clang -DCMAKE_CXX_COMPILER=$llvm/bin/clang++ -DLLVM_USE_LINKER=lld \
    -DPython3_EXECUTABLE=/usr/bin/python3
fi
exec ninja -C "$build" "$@"
