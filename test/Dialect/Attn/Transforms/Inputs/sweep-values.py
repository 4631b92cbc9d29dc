"""Does a scheduled sweep compute what the plain one does?

    sweep-values.py plain.mlir scheduled.mlir       both in generic form; see schedule-sweep-values.test

Runs the role "compute" of both on 1, 2, 3 and 5 steps. Integers are numbers; everything else is an expression, so that
equal values are equal expressions of equal ring items. Zeros fold as they do in a prologue. Checked: what the role
reports at its end (attn.pin), the items waited for and released of each ring, and that no slot is read or released at a
wrong time.
"""
import re
import sys

OP = re.compile(r"(?:(?P<results>%[^=]*) = )?\"(?P<name>[\w.]+)\"\((?P<operands>[^)]*)\)(?P<rest>.*)")
ZERO = ("zero",)
INTEGER = {"arith.addi": lambda a, b: a + b, "arith.subi": lambda a, b: a - b, "arith.muli": lambda a, b: a * b}


def parse(lines, at):
    """The ops of a block from line `at` on, and the line behind it. An op: (results, name, operands, text, blocks)."""
    ops, names = [], []
    while at < len(lines):
        line = lines[at].strip()
        if block := re.match(r"\^bb\d+\((.*)\):", line):
            names = re.findall(r"(%\w+):", block.group(1))
        elif line.startswith("}"):
            return (names, ops), at
        elif op := OP.match(line):
            results = []
            for result in filter(None, re.split(r",\s*", op["results"] or "")):
                name, _, count = result.strip().partition(":")
                results += [f"{name}#{i}" for i in range(int(count))] if count else [name]
            text, blocks = op["rest"], []
            while lines[at].rstrip().endswith("({" if not blocks else "}, {"):
                block, at = parse(lines, at + 1)
                blocks.append(block)
                text += lines[at]
            ops.append((results, op["name"], re.findall(r"%[\w#]+", op["operands"]), text, blocks))
        at += 1
    return (names, ops), at


class Role:
    def __init__(self, steps):
        self.steps, self.reports, self.ring_events, self.held, self.open = steps, [], {}, set(), []

    def block(self, block, env, arguments=()):
        env = {**env, **dict(zip(block[0], arguments))}
        values = []
        for results, name, operands, text, blocks in block[1]:
            values = [env[operand] for operand in operands]
            out = self.op(name, values, text, blocks, env)
            env.update(zip(results, out if isinstance(out, list) else [out]))
        return values  # of the terminator

    def op(self, name, values, text, blocks, env):
        number = re.search(r"leaves = (\d+)", text)
        label = re.search(r'label = "(\w+)"', text)
        integers = all(isinstance(value, int) for value in values)
        if name == "arith.constant":
            if "dense" in text:
                return ZERO if "dense<0.0" in text else ("constant", re.search(r"dense<(.*?)>", text).group(1))
            return int(re.search(r"value = (-?\d+)", text).group(1))
        if name in INTEGER and integers:
            return INTEGER[name](*values)
        if name == "attn.alloc":
            return label.group(1)
        if name == "attn.role":
            return self.block(blocks[0], env, [0]) if '"compute"' in text else []
        if name == "attn.sweep":
            low, high, carried = values[0], values[1], values[4:]
            for step in range(high - low):
                j = high - 1 - step if "order = 1" in text else low + step
                carried = self.block(blocks[0], env, [step, j, *carried])
                assert not self.open, "a product is in flight at the end of a step"
            return carried
        if name == "scf.if":
            yes, no = (self.block(block, env) for block in blocks)
            return [a if a == b else ("if", values[0], a, b) for a, b in zip(yes, no)]
        if name in ("attn.wait", "attn.release"):
            item = tuple(values)
            self.ring_events.setdefault(item[0], []).append((name, item[1]))
            if name == "attn.wait":
                self.held.add(item)
                return ("item", item)
            assert not any(("item", item) in operands for _, operands in self.open), f"{item} is released while it is read"
            self.held.remove(item)
            return []
        if name == "attn.dot":
            for value in values:
                assert value[0] != "item" or value[1] in self.held, f"{value} is read, but not waited for"
            product = ("product", label.group(1), *values)
            if "async" in text:
                self.open.append((product, values))
            return product
        if name == "attn.await":
            pending = int(re.search(r"Segments?Sizes = array<i32: (\d+)", text).group(1))
            self.open = self.open[len(self.open) - int(number.group(1)) :]
            assert not any(product in values[:pending] for product, _ in self.open), "too many products are left open"
            return values[:pending]
        if name == "attn.pin":
            self.reports.append(values[0])
            return []
        if name in ("attn.turn", "attn.yield"):
            return []
        if name in ("arith.mulf", "arith.addf") and ZERO in values:
            return ZERO if name == "arith.mulf" else values[values[0] == ZERO]
        if name == "attn.reduce" and "quads>" in text.split("->")[1] and "kind = 0" in text:
            return values[0]  # half of a maximum
        return (name, re.search(r"^( <\{.*?\}>)?", text).group(), *values)


def run(path, steps):
    lines = open(path).read().splitlines()
    start = next(i for i, line in enumerate(lines) if '"attn.kernel"' in line)
    kernel, _ = parse(lines, start + 1)
    role = Role(steps)
    arguments = {"%arg3": 7, "%arg4": steps} if len(kernel[0]) > 2 else {"%arg0": 7, "%arg1": steps}
    role.block(kernel, {}, [arguments.get(name, ("argument", name)) for name in kernel[0]])
    assert not role.held, f"{role.held} are never released"
    results = 3 if len(kernel[0]) > 2 else 2
    events = {ring: {kind: [i for k, i in all if k == kind] for kind, _ in all} for ring, all in role.ring_events.items()}
    return role.reports[-results:], events


if __name__ == "__main__":
    for steps in (1, 2, 3, 5):
        plain, scheduled = (run(path, steps) for path in sys.argv[1:3])
        assert plain[0] == scheduled[0], f"{steps} steps: other values"
        assert plain[1] == scheduled[1], f"{steps} steps: other items"
    print("equal")
