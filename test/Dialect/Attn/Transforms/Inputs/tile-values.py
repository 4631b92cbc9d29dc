"""Do overlapped tiles compute what tiles one after the other do?

    tile-values.py plain.mlir overlapped.mlir       both in generic form, tiles lowered; see overlap-tiles-values.test

As sweep-values.py, for all tiles of one block: what both groups store and where they copy it to, the items they wait for
and release.
"""
import importlib
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sweeps = importlib.import_module("sweep-values")
DIVIDE = {"arith.divui": lambda a, b: a // b, "arith.remui": lambda a, b: a % b}


class Role(sweeps.Role):
    def __init__(self, group):
        super().__init__(0)
        self.group, self.taken = group, 0

    def op(self, name, values, text, blocks, env):
        integers = all(isinstance(value, int) for value in values)
        if name == "attn.role":
            return self.block(blocks[0], env, [self.group]) if '"compute"' in text else []
        if name == "scf.while":
            while True:
                more, *values = self.block(blocks[0], env, values)
                if not more:
                    return values
                values = self.block(blocks[1], env, values)
        if name in ("gpu.block_id", "gpu.grid_dim"):
            return int(name == "gpu.grid_dim")
        if name == "arith.index_cast":
            return values[0]
        if name in DIVIDE and integers:
            return DIVIDE[name](*values)
        if name == "arith.cmpi" and integers:
            assert "predicate = 6" in text, "not ult"
            return values[0] < values[1]
        if name == "attn.get":
            return values[0][1][1] + 1  # the only block: ids in turn
        if name in ("attn.store", "attn.copy"):
            self.reports.append((name, *values))
            return []
        if name == "attn.turn":
            self.taken += 1 if "kind = 0" in text or "take" in text else -1
            assert self.taken in (0, 1), "turns are not taken and given alternately"
            return []
        if name in ("attn.pin", "attn.sync", "attn.drain"):
            return []
        return super().op(name, values, text, blocks, env)


def run(path, rows, heads, group):
    lines = open(path).read().splitlines()
    start = next(i for i, line in enumerate(lines) if '"attn.kernel"' in line)
    kernel, _ = sweeps.parse(lines, start + 1)
    role = Role(group)
    sizes = {"%arg4": rows, "%arg5": heads, "%arg6": 1, "%arg7": 2}
    role.block(kernel, {}, [sizes.get(name, ("argument", name)) for name in kernel[0]])
    assert not role.held and not role.taken, f"{role.held} are never released, or a turn is never given"
    events = {ring: {kind: [i for k, i in all if k == kind] for kind, _ in all} for ring, all in role.ring_events.items()}
    return role.reports, events


for rows, heads in ((1, 1), (2, 1), (3, 1), (1, 3), (3, 2)):
    for group in (0, 1):
        plain, overlapped = (run(path, rows, heads, group) for path in sys.argv[1:3])
        assert len(plain[0]) == 2 * rows * heads, "a tile does not store and copy once"
        assert plain[0] == overlapped[0], f"{rows} x {heads} tiles: other values"
        assert plain[1] == overlapped[1], f"{rows} x {heads} tiles: other items"
print("equal")
