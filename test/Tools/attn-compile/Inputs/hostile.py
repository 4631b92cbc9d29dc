"""Writes the inputs of hostile.test; with --refused, checks that each is refused in one line with exit code 1."""
import os
import subprocess
import sys

SPEC = """func.func @f(%q: tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>) {
  %o, %lse = attn.sdpa(%q, %q, %q) scale 0.125 : (tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>, tensor<?x?x?x64xf16>) -> (tensor<?x?x?x64xf16>, tensor<?x?x?xf32>)
  return %o, %lse : tensor<?x?x?x64xf16>, tensor<?x?x?xf32>
}
"""
LINKS = 100000
FILES = {
    "empty": "",
    "zeros": "\0" * 4096,
    "huge": "(" * 50_000_000,
    "parentheses": "(" * 1_000_000,
    "regions": "func.func @f(%c: i1) {\n" + "scf.if %c {\n" * 10_000 + "}\n" * 10_000 + "return\n}\n",
    "types": "func.func @f(%c: " + "tensor<" * 10_000,
    "minus": "#m = affine_map<(d0) -> (" + "-" * 3_000_000 + "d0)>",
    "truncated": SPEC[:200],
    "string": 'module attributes {a = "abc',
    "bytes": b'module attributes {a = "\xff"} {}',
    "unknown": '"foo.bar"() : () -> ()',
    "chain": "func.func @f(%a: i32) -> i32 {\n%0 = arith.addi %a, %a : i32\n"
    + "".join(f"%{i + 1} = arith.addi %{i}, %a : i32\n" for i in range(LINKS))
    + f"return %{LINKS} : i32\n}}\n",
    "crlf": SPEC.replace("\n", "\r\n"),
    "bom": b"\xef\xbb\xbf" + SPEC.encode(),
}

if sys.argv[1] != "--refused":
    for name, content in FILES.items():
        with open(os.path.join(sys.argv[1], name + ".mlir"), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    sys.exit(0)

for name in sys.argv[3:]:
    path = os.path.join(sys.argv[2], name + ".mlir")
    done = subprocess.run(["attn-compile", path, "--chip=sm_80", "-o", "out"], capture_output=True, timeout=60, cwd=sys.argv[2])
    lines = done.stderr.decode(errors="replace").splitlines()
    if done.returncode != 1 or len(lines) != 1 or not lines[0].startswith(path) or "error: " not in lines[0] or len(lines[0]) > 2300:
        sys.exit(f"{name}: exit code {done.returncode}, {len(lines)} lines: {lines[:3]}")
