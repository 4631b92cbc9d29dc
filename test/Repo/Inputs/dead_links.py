"""Paths of this repository that documents name in backquotes must exist."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
errors = []
for document in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
    if document.name in ("FirstPass.md", "Dialect.md"):  # names files that its reader makes
        continue
    for path in re.findall(r"`((?:docs|include|lib(?!/lib)|runtime|test|tools)/[\w./-]+)`", document.read_text()):
        if not (root / path).exists():
            errors.append(f"{document.relative_to(root)}: there is no {path}")
for error in errors:
    print(error)
sys.exit(bool(errors))
