"""What the compute role's sweep does, in order, on one line: reads the IR from stdin."""
import re
import sys

KINDS = [
    (r"attn\.wait %(\w+)", "wait {}"),
    (r"attn\.release %(\w+)", "release {}"),
    (r"attn\.acquire %(\w+)", "acquire {}"),
    (r"attn\.commit %(\w+)", "commit {}"),
    (r"attn\.(store)", "{}"),
    (r"attn\.turn (\w+)", "{}"),
    (r'attn\.dot as "(\w+)"', "dot {}"),
    (r"attn\.await .*leaves (\d)", "await {}"),
    (r"attn\.reduce .*max ", "max"),
    (r"attn\.(any|pin|pack)", "{}"),
    (r"scf\.(if)", "{}"),
    (r"math\.(exp2)", "{}"),
]
text = sys.stdin.read()
rings = {number: label for number, label in re.findall(r'%(\w+) = attn\.alloc as "(\w+)"', text)}
sweep = text[text.index('role "compute"') :]
sweep = sweep[sweep.index("attn.sweep") : sweep.rindex("attn.yield")]
steps = []
for line in sweep.splitlines():
    for pattern, name in KINDS:
        if match := re.search(pattern, line):
            names = rings if name.split()[0] in ("wait", "release", "acquire", "commit") else {}
            steps.append(name.format(*[names.get(group, group) for group in match.groups()]))
print(", ".join(steps))
