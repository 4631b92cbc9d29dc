#!/usr/bin/env python3
"""Runs what a document tells its reader to type, so that it cannot go stale.

    run-doc.py README.md --source SRC --build OBJ --scratch DIR

A comment in front of a code block says what the block is; blocks without one are only to be read:
    <!-- run -->            every line is typed in a copy of the source tree and must succeed
    <!-- run: fails -->     ... and must fail
    <!-- output -->         lines that the last run printed, in this order; `...` stands for anything
    <!-- file: PATH -->     the text of a file the reader writes
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

BLOCK = re.compile(r"^<!-- (run|run: fails|output|file: (\S+)) -->\n```\w*\n(.*?)^```$", re.M | re.S)
COPIED = ["README.md", "docs", "include", "lib", "runtime", "test", "tools"]


def expect(printed, wanted, where):
    """Each wanted line in turn is found in what follows the one before."""
    rest = printed
    for line in filter(None, wanted.split("\n")):
        pattern = ".*".join(re.escape(part.rstrip() if i else part) for i, part in enumerate(line.rstrip().split("...")))
        found = re.search(r"^\s*" + pattern.lstrip(r"\ ") + r"\s*$", rest, re.M)
        if not found:
            sys.exit(f"{where}: expected to see\n  {line}\nin\n{printed}")
        rest = rest[found.end():]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("document")
    for name in ("--source", "--build", "--scratch"):
        parser.add_argument(name, required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    scratch = arguments.scratch
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    for name in COPIED:
        source = arguments.source / name
        if source.is_dir():
            shutil.copytree(source, scratch / name, symlinks=True)
        else:
            shutil.copy(source, scratch / name)
    (scratch / "build").symlink_to(arguments.build)

    text = (arguments.source / arguments.document).read_text()
    printed, ran = "", 0
    for block in BLOCK.finditer(text):
        kind, path, body = block.groups()
        where = f"{arguments.document}:{text.count(chr(10), 0, block.start()) + 1}"
        if path:
            target = scratch / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(body)
        elif kind == "output":
            expect(printed, body, where)
        else:
            printed = ""
            for line in re.sub(r"\\\n\s*", "", body).splitlines():
                command = line.split("   #")[0].strip()
                if not command or command.startswith("#"):
                    continue
                done = subprocess.run(["bash", "-c", command], cwd=scratch, text=True, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=280)
                printed += done.stdout
                ran += 1
                if (done.returncode != 0) != (kind == "run: fails"):
                    sys.exit(f"{where}: `{command}` ended with exit code {done.returncode} and printed\n{done.stdout}")
    if not ran:
        sys.exit(f"{arguments.document}: has nothing to run")
    print(f"{arguments.document}: ran {ran} commands")


main()
