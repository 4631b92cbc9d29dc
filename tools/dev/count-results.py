#!/usr/bin/env python3
"""Counts lit's results: 'N passed, N failed, N skipped'. Exit code 1 if anything failed or nothing ran."""
import json
import sys

try:
    with open(sys.argv[1]) as file:
        codes = [test["code"] for test in json.load(file)["tests"]]
except (OSError, ValueError) as error:
    print(f"no results: {error}")
    codes = ["UNRESOLVED"]
codes = [code for code in codes if code != "EXCLUDED"]
passed = sum(code in ("PASS", "FLAKYPASS", "XFAIL") for code in codes)
skipped = sum(code in ("UNSUPPORTED", "SKIPPED") for code in codes)
failed = len(codes) - passed - skipped
print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
sys.exit(1 if failed or not passed else 0)
