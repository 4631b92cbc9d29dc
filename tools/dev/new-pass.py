#!/usr/bin/env python3
"""Makes a pass: its stanza in Passes.td, its file, its line in CMakeLists.txt, its test and the -errors twin.

    new-pass.py FoldScale --stage=tiled          in the tree, lib/Dialect/Attn/Transforms/FoldScale.cpp
    new-pass.py FoldScale --plugin fold-scale    a plug-in in a directory of its own: no rebuild of the project
    --stage=mapped, --stage=partitioned          starts from kernels instead of specs, plug-in or not

docs/FirstPass.md walks through both.
"""
import argparse
import pathlib
import re
import sys

HEADER = """//===- {name}.cpp - {summary}
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
"""

STANZA = """def {name}Pass : Pass<"attn-{kebab}", "::mlir::ModuleOp"> {{
  let summary = "TODO: what it does, in a line";
  let description = [{{
    Consumes TODO; produces TODO.
    Fails if TODO. Example: test/Dialect/Attn/Transforms/{kebab}.mlir.
  }}];
}}

"""

REWRITE = """/// TODO: the IR before and after, in a picture.
static LogicalResult rewrite({op} op, RewriterBase &rewriter) {{
  LDBG() << "steps aside: TODO: why";
  return success();
}}
"""

RUN = """  void runOnOperation() override {{
    SmallVector<{op}> ops;
    getOperation()->walk([&]({op} op) {{ ops.push_back(op); }});
    IRRewriter rewriter(&getContext());
    for ({op} op : ops)
      if (failed(rewrite(op, rewriter)))
        return signalPassFailure();
  }}
"""

TREE = HEADER + """
#include "attn/Dialect/Attn/Transforms/Passes.h"

#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/DebugLog.h"

namespace attn {{
#define GEN_PASS_DEF_{upper}PASS
#include "attn/Dialect/Attn/Transforms/Passes.h.inc"
}} // namespace attn

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-{kebab}"

""" + REWRITE + """
namespace {{
struct {name} : attn::impl::{name}PassBase<{name}> {{
  using {name}PassBase::{name}PassBase;

""" + RUN + """}};
}} // namespace
"""

PLUGIN = HEADER + """
#include "attn/Dialect/Attn/IR/Attn.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Support/DebugLog.h"

using namespace mlir;
using namespace attn;

#define DEBUG_TYPE "attn-{kebab}"

""" + REWRITE + """
namespace {{
struct {name} : PassWrapper<{name}, OperationPass<ModuleOp>> {{
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID({name})
  StringRef getArgument() const override {{ return "attn-{kebab}"; }}
  StringRef getDescription() const override {{ return "TODO: what it does, in a line"; }}

""" + RUN + """}};
}} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo mlirGetPassPluginInfo() {{
  return {{MLIR_PLUGIN_API_VERSION, "{name}", "1", [] {{ PassRegistration<{name}>(); }}}};
}}
"""

TEST = """// TODO: what {kebab} does, in a line.
// RUN: {run} %s | FileCheck %s

{types}// CHECK-LABEL: {symbol} @say_one_behaviour
// CHECK: {check}
{behaviour}"""

ERRORS = """// TODO: what {kebab} refuses: one {noun} per reason, `expected-error` on the line above the op.
// RUN: {run} %s -split-input-file -verify-diagnostics

{types}{reason}"""

SPEC = """func.func @NAME(%q: !t, %k: !t, %v: !t) -> (!t, !l) {
  %o, %lse = attn.sdpa(%q, %k, %v) scale 0.125 : (!t, !t, !t) -> (!t, !l)
  return %o, %lse : !t, !l
}
"""

KERNEL = """attn.kernel @NAME {
^bb0(%rows: i32, %heads: i32, %batch: i32):
  attn.tiles single(%rows, %heads, %batch) {
  ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
    attn.yield
  }
}
"""

ROLES = """attn.kernel @NAME {
^bb0(%rows: i32, %heads: i32, %batch: i32):
  attn.role "compute" warps 0 + 4 groups 1 {
  ^bb0(%g: i32):
    attn.tiles single(%rows, %heads, %batch) {
    ^bb0(%t: i32, %i: i32, %h: i32, %b: i32):
      attn.yield
    }
    attn.yield
  }
}
"""

# What a pass of each stage starts from: the IR before the stage is complete.
START = {
    "tiled": dict(op="SdpaOp", noun="function", symbol="func.func", check="attn.sdpa",
                  types="!t = tensor<?x?x?x64xf16>\n!l = tensor<?x?x?xf32>\n\n", body=SPEC),
    "mapped": dict(op="KernelOp", noun="kernel", symbol="attn.kernel", check="attn.tiles", types="", body=KERNEL),
    "partitioned": dict(op="KernelOp", noun="kernel", symbol="attn.kernel", check="attn.role", types="", body=ROLES),
}

LIT = """# Tests of a plug-in, for tools/dev/lit.sh.
import os
import lit.formats

config.name = "{kebab}"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.environ["PATH"]
"""


def create(path, text):
    if path.exists():
        sys.exit(f"new-pass.py: {path} is there already")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    print(f"made     {path}")


def edit(path, change):
    before = path.read_text()
    after = change(before)
    if after == before:
        sys.exit(f"new-pass.py: found no place in {path}")
    path.write_text(after)
    print(f"changed  {path}")


def make_plugin(directory, words):
    words["run"] = (f"attn-opt --load-pass-plugin=%S/{words['name']}.so "
                    f"--pass-pipeline='builtin.module(attn-{words['kebab']})'")
    create(directory / f"{words['name']}.cpp", PLUGIN.format(**words))
    create(directory / f"{words['kebab']}.mlir", TEST.format(**words))
    create(directory / f"{words['kebab']}-errors.mlir", ERRORS.format(**words))
    create(directory / "lit.cfg.py", LIT.format(**words))
    print(f"build    tools/dev/build-plugin.sh {directory}/{words['name']}.cpp")
    print(f"test     tools/dev/lit.sh -v {directory}")


def make_pass(root, stage, words):
    name, kebab = words["name"], words["kebab"]
    words["run"] = f"attn-opt --attn-{kebab}"
    transforms = "Dialect/Attn/Transforms"
    create(root / "lib" / transforms / f"{name}.cpp", TREE.format(**words))
    create(root / "test" / transforms / f"{kebab}.mlir", TEST.format(**words))
    create(root / "test" / transforms / f"{kebab}-errors.mlir", ERRORS.format(**words))
    edit(root / "include/attn" / transforms / "Passes.td",
         lambda text: text.replace("def VerifyStagePass", STANZA.format(**words) + "def VerifyStagePass"))

    def add_source(text):
        head, sources, tail = re.match(r"(.*?INTENDED\n)((?:  \w+\.cpp\n)+)(.*)", text, re.S).groups()
        return head + "".join(sorted(sources.splitlines(True) + [f"  {name}.cpp\n"])) + tail

    edit(root / "lib" / transforms / "CMakeLists.txt", add_source)
    print(f"left     one line in the {stage} stage function of lib/Pipelines, a row in docs/Pipeline.md,\n"
          f"         and tools/dev/gen-docs.sh")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="a verb first: FoldScale, TileForward")
    parser.add_argument("--stage", default="tiled", choices=["tiled", "mapped", "partitioned"],
                        help="the stage function it will be part of (default: tiled)")
    parser.add_argument("--plugin", metavar="DIR", type=pathlib.Path, help="make a plug-in there instead")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[2],
                        help="the source tree (default: this script's)")
    arguments = parser.parse_args()
    name = arguments.name
    if not re.fullmatch(r"([A-Z][a-z0-9]+)+", name):
        sys.exit(f"new-pass.py: expects a name like FoldScale, got '{name}'")
    kebab = re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
    start = START[arguments.stage]
    words = dict(start, behaviour=start["body"].replace("NAME", "say_one_behaviour"),
                 reason=start["body"].replace("NAME", "say_one_reason"), name=name, kebab=kebab, upper=name.upper(), summary="TODO: what it does, in a line")
    if arguments.plugin:
        make_plugin(arguments.plugin, words)
    else:
        make_pass(arguments.root, arguments.stage, words)


main()
