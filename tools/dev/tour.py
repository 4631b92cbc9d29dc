#!/usr/bin/env python3
"""Fills docs/templates/Tour.md with the IR of docs/examples/causal.mlir after each stage.

    @STAGE [from /REGEX/] [lines N] [drop /REGEX/]@    the IR after a stage, from the first line that matches, N lines of
                                                       it, without the lines that match `drop`
    @ptx ...@ and @manifest ...@                       the same of the two results
    @hopper STAGE ...@                                 the same for sm_90a instead of sm_80
    @backward STAGE ...@                               the same of the gradients, on sm_80
    @hopper backward STAGE ...@                        and on sm_90a

Long types get short names; the first use of a stage that has any prints their definitions, so what is shown is real IR.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

TEMPLATE, COMPILE, NOTE = sys.argv[1:4]
SPEC = "docs/examples/causal.mlir"
DIRECTIVE = re.compile(r"^@(hopper |backward |hopper backward )?(\w+)(?: from /(.*?)/)?(?: lines (\d+))?(?: drop /(.*?)/)?@$", re.M)
# Short names for what would otherwise fill the page, longest first.
NAMES = [
    ("!global", "memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>"),
    ("!lse", "memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>"),
    ("!Qring", "!attn.ring<1, !attn.buf<tensor<128x128xbf16>, 128>>"),
    ("!KVring", "!attn.ring<2, !attn.buf<tensor<64x128xbf16>, 128>>"),
    ("!Qbuf", "!attn.buf<tensor<128x128xbf16>, 128>"),
    ("!KVbuf", "!attn.buf<tensor<64x128xbf16>, 128>"),
    ("!S", "tensor<128x64xf32, #attn.frag<4, 1>>"),
    ("!P", "tensor<128x64xbf16, #attn.frag<4, 1>>"),
    ("!Si", "tensor<128x64xi32, #attn.frag<4, 1>>"),
    ("!Sb", "tensor<128x64xi1, #attn.frag<4, 1>>"),
    ("!O", "tensor<128x128xf32, #attn.frag<4, 1>>"),
    ("!rows", "tensor<128xf32, #attn.frag<4, 1, rows>>"),
    ("!quads", "tensor<128x4xf32, #attn.frag<4, 1, quads>>"),
    ("!S", "tensor<128x64xf32>"),
    ("!O", "tensor<128x128xf32>"),
    ("!rows", "tensor<128xf32>"),
]
HOPPER_NAMES = [
    ("!Qring", "!attn.ring<3, !attn.buf<tensor<64x128xbf16>, 128>>"),
    ("!KVring", "!attn.ring<2, !attn.buf<tensor<80x128xbf16>, 128>>"),
    ("!Qbuf", "!attn.buf<tensor<64x128xbf16>, 128>"),
    ("!KVbuf", "!attn.buf<tensor<80x128xbf16>, 128>"),
    ("!KVmap", "!attn.map<tensor<80x128xbf16>, 128>"),
    ("!S", "tensor<64x80xf32, #attn.frag<4, 1>>"),
    ("!P", "tensor<64x80xbf16, #attn.frag<4, 1>>"),
    ("!O", "tensor<64x128xf32, #attn.frag<4, 1>>"),
    ("!rows", "tensor<64xf32, #attn.frag<4, 1, rows>>"),
    ("!quads", "tensor<64x4xf32, #attn.frag<4, 1, quads>>"),
]
# Keys on rows.
BACKWARD_NAMES = [
    ("!global", "memref<?x?x?x128xbf16, strided<[?, ?, ?, 1], offset: ?>>"),
    ("!workspace", "memref<?x?x?xf32>"),
    ("!T", "tensor<64x64xf32>"),
    ("!P", "tensor<64x64xbf16>"),
    ("!KQ", "tensor<64x128xbf16>"),
    ("!dKV", "tensor<64x128xf32>"),
    ("!columns", "tensor<64xf32>"),
]
HOPPER_BACKWARD_NAMES = [
    ("!sum", "memref<?x?x?x128xf32>"),
    ("!tile", "!attn.buf<tensor<64x128xbf16>, 128>"),
    ("!half", "!attn.buf<tensor<64x64xbf16>, 128>"),
    ("!vector", "!attn.buf<tensor<64xf32>, 0>"),
    ("!T", "tensor<64x64xf32, #attn.frag<4, 1>>"),
    ("!P", "tensor<64x64xbf16, #attn.frag<4, 1>>"),
    ("!dKV", "tensor<64x128xf32, #attn.frag<4, 1>>"),
    ("!columns", "tensor<64xf32, #attn.frag<4, 1, cols>>"),
]
NAMES_OF = {None: NAMES, "hopper ": HOPPER_NAMES, "backward ": BACKWARD_NAMES,
            "hopper backward ": HOPPER_BACKWARD_NAMES}
# The ring ops print their ring type without its mnemonic.
BARE = [("!Qring", "<1, !Qbuf>"), ("!Qring", "<3, !Qbuf>"), ("!KVring", "<2, !KVbuf>")]
# What each kind of directive shows: options of attn-compile.
SHOWN = {None: ["--chip=sm_80"], "hopper ": ["--chip=sm_90a"], "backward ": ["--chip=sm_80", "--backward"],
         "hopper backward ": ["--chip=sm_90a", "--backward"]}


def run(*arguments):
    return subprocess.run([COMPILE, SPEC, *arguments], check=True, capture_output=True, text=True).stdout


def main():
    results = pathlib.Path(tempfile.mkdtemp())
    texts = {}
    for machine in (None, "hopper "):
        folder = results / str(machine)
        run(*SHOWN[machine], "-o", str(folder))
        texts[machine, "ptx"] = (folder / "attention_fwd.ptx").read_text()
        texts[machine, "manifest"] = (folder / "manifest.json").read_text()

    def fill(directive):
        machine, stage, start, count, drop = directive.groups()
        if (machine, stage) not in texts:
            texts[machine, stage] = run(*SHOWN[machine], f"--stop-after={stage}")
        lines = texts[machine, stage].splitlines()
        if start:
            first = next((i for i, line in enumerate(lines) if re.search(start, line)), None)
            if first is None:
                sys.exit(f"tour.py: stage {stage} has no line that matches /{start}/")
            lines = lines[first:]
        if drop:
            lines = [line for line in lines if not re.search(drop, line)]
        cut = count and len(lines) > int(count)
        lines = lines[: int(count)] if count else lines
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        body = "\n".join(line[indent:].rstrip() for line in lines)
        used = []
        for name, long in NAMES_OF[machine]:
            if long in body:
                body = re.sub(re.escape(long), name, body)
                used.append(f"{name} = {long}")
        for name, bare in BARE:
            body = body.replace(": " + bare, ": " + name)
        body = re.sub(r"(?<=[ (])attn\.meaning = .*?, attn\.schedule", "attn.meaning = {...}, attn.schedule", body)
        wide = [line if len(line) <= 150 else line[:147] + "..." for line in body.split("\n")]
        language = {"ptx": "ptx", "manifest": "json"}.get(stage, "mlir")
        return "\n".join([f"```{language}", *used, *wide, *(["..."] if cut else []), "```"])

    text = pathlib.Path(TEMPLATE).read_text()
    sys.stdout.write(NOTE + "\n" + DIRECTIVE.sub(fill, text))


main()
