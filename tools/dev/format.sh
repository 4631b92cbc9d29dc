#!/bin/sh
# Formats every C and C++ source; with --check, names those that are not formatted (exit code 1).
set -eu
cd "$(dirname "$0")/../.."
mode=-i
[ "${1:-}" = --check ] && mode="--dry-run --Werror --ferror-limit=1"
format=$(command -v clang-format-22 || echo /usr/lib/llvm-22/bin/clang-format)
find include lib tools runtime test -name Output -prune -o \( -name '*.c' -o -name '*.cpp' -o -name '*.h' \) -print |
  sort | xargs "$format" $mode
