"""Compares the passes and stages named in docs/Pipeline.md with those that exist."""
import pathlib
import re
import sys

document, help_text, stages = (pathlib.Path(p).read_text() for p in sys.argv[1:])
exist = set(re.findall(r"^ +--((?:convert-)?attn-[a-z-]+) ", help_text, re.M))
pipelines = {p for p in exist if p.startswith(("attn-to-", "attn-stage-"))}
rows = set(re.findall(r"^\| `((?:convert-)?attn-[a-z-]+)`", document, re.M))
errors = [f"docs/Pipeline.md has no row for {p}" for p in sorted(exist - pipelines - rows)]
errors += [f"docs/Pipeline.md has a row for {p}, which is no pass" for p in sorted(rows - exist)]
for name in re.findall(r'^STAGE\(\w+, "(\w+)"', stages, re.M):
    if f"| `{name}`" not in document:
        errors.append(f"docs/Pipeline.md does not describe stage {name}")
for error in errors:
    print(error)
sys.exit(bool(errors))
