#!/usr/bin/env python3
"""Who may include whom. Dependencies point one way, from the tools down to Facts; this is the list.

    check-layers.py [root]      prints one line per include that breaks it; exit code 1 if there is one
"""
import pathlib
import re
import sys

RUNTIME_HEADER, MANIFEST_KEYS = "runtime", "manifest_keys"
# room: (path prefixes of its files, rooms it may include besides itself)
IR = ["Facts"]
ANALYSIS = ["IR"] + IR
PASSES = ["Analysis"] + ANALYSIS
ROOMS = {
    "Facts": (["Facts"], []),
    "IR": (["Dialect/Attn/IR"], IR),
    "Analysis": (["Analysis"], ANALYSIS),
    "Transforms": (["Dialect/Attn/Transforms"], PASSES),
    "Conversion": (["Conversion"], PASSES),
    "Target": (["Target"], ["IR", "Facts", MANIFEST_KEYS]),
    "Pipelines": (["Pipelines", "InitAll.h"], ["Transforms", "Conversion", "Target"] + PASSES),
    "Reference": (["Reference"], []),
}
# Tools: directory under tools/, rooms it may include.
TOOLS = {
    "attn-opt": ["Pipelines"],
    "attn-lsp": ["Pipelines"],
    "attn-compile": ["Pipelines", "Target", "Transforms", MANIFEST_KEYS] + ANALYSIS,
    "attn-run": ["Reference", RUNTIME_HEADER, MANIFEST_KEYS],
}
INCLUDE = re.compile(r'^\s*(?:#\s*)?include\s+"([^"]+)"', re.M)


def room_of(path):
    """The room of a path below include/attn or lib."""
    for room, (prefixes, _) in ROOMS.items():
        if any(path == prefix or path.startswith(prefix + "/") for prefix in prefixes):
            return room
    return None


def check(root):
    complaints = []
    sources = [p for top in ("include", "lib", "tools", "runtime") for p in (root / top).rglob("*")
               if p.suffix in (".h", ".c", ".cpp", ".td", ".def")]
    for path in sorted(sources):
        name = path.relative_to(root).as_posix()
        top, rest = name.split("/", 1)
        if top == "runtime":
            room, allowed = "runtime", [RUNTIME_HEADER, MANIFEST_KEYS]
        elif top == "tools":
            room = rest.split("/")[0]
            allowed = TOOLS.get(room)
        else:
            room = room_of(rest.removeprefix("attn/"))
            allowed = None if room is None else ROOMS[room][1] + [room]
        if allowed is None:
            complaints.append(f"{name}: is in no room; add its directory to tools/dev/check-layers.py")
            continue
        for included in INCLUDE.findall(path.read_text(errors="replace")):
            if included == "attn_rt/manifest_keys.h":
                target = MANIFEST_KEYS
            elif included.startswith("attn_rt/"):
                target = RUNTIME_HEADER
            elif included.startswith("attn/"):
                target = room_of(included.removeprefix("attn/"))
            elif included.startswith(("mlir/", "llvm/")):
                if room in ("Facts", "Reference", "runtime", "attn-run"):
                    complaints.append(f"{name}: {room} includes {included}, but knows nothing of the compiler")
                continue
            else:  # A private header: of the same room, so of the same directory.
                if not (path.parent / included).exists() and not included.endswith(".inc"):
                    complaints.append(f"{name}: includes {included}, which is not beside it")
                continue
            if target not in allowed and target is not None:
                complaints.append(f"{name}: {room} may not include {included} ({target})")
    return complaints


if __name__ == "__main__":
    found = check(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2]))
    for line in found:
        print(line)
    sys.exit(bool(found))
