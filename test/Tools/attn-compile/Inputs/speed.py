"""CPU seconds, best of three, from a spec to PTX and manifest; fails above the limit given."""
import os
import subprocess
import sys

limit, scratch, chip, specs = float(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
for spec in specs:
    best = None
    for _ in range(3):
        before = os.times()
        subprocess.run(["attn-compile", spec, f"--chip={chip}", "-o", scratch], check=True)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        best = min(best or spent, spent)
    print(f"{os.path.basename(spec)}: {best:.3f} s")
    if best > limit:
        sys.exit(f"{spec} takes {best:.3f} s, more than {limit}")
