#!/bin/sh
# Installs, builds, and runs the tests (T0-T4; T5 where there is a GPU). The last line counts them.
#   tools/dev/test.sh [lit arguments]      for example --filter tile-forward
set -u
cd "$(dirname "$0")/../.."
build=${BUILD_DIR:-build}
if ! tools/dev/build.sh; then
  echo "0 passed, 1 failed"
  exit 1
fi
/usr/lib/llvm-22/bin/lit -sv --timeout=900 --output "$build/test-results.json" "$@" "$build/test"
exec /usr/bin/python3 tools/dev/count-results.py "$build/test-results.json"
