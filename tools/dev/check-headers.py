#!/usr/bin/env python3
"""Every source file opens with its name, what it is in a line, and the licence; every header has the guard its path
spells. Prints a line per file that does not; exit code 1 if there is one."""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
listing = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True)
names = listing.stdout.split() or [p.relative_to(root).as_posix() for t in ("include", "lib", "tools", "runtime")
                                   for p in (root / t).rglob("*") if p.is_file()]
bad = []
for name in names:
    path = root / name
    if path.suffix not in (".h", ".c", ".cpp", ".td", ".def") or name.startswith("test/") or not path.exists():
        continue
    text = path.read_text(errors="replace")
    first = text.split("\n", 1)[0]
    if not re.match(rf"//===-+ {re.escape(path.name)} - \S", first):
        bad.append(f"{name}:1: expects '//===- {path.name} - <what it is>'")
    if "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" not in text[:1000]:
        bad.append(f"{name}:1: has no SPDX licence line")
    if path.suffix == ".h" and not re.search(r"^#ifndef (\w+_H)\n#define \1$", text, re.M):
        bad.append(f"{name}: has no include guard")
for line in bad:
    print(line)
sys.exit(bool(bad))
