#!/usr/bin/env python3
"""Names what lit skipped and counts its results: 'N passed, N failed, N skipped'. Exit code 1 if anything failed or nothing ran."""
import json
import sys

try:
    with open(sys.argv[1]) as file:
        tests = json.load(file)["tests"]
except (OSError, ValueError) as error:
    print(f"no results: {error}")
    tests = [{"name": "", "code": "UNRESOLVED"}]
codes = [test["code"] for test in tests]
for test in tests:
    if test["code"] in ("UNSUPPORTED", "SKIPPED"):
        print(f"skipped: {test['name']}")
codes = [code for code in codes if code != "EXCLUDED"]
passed = sum(code in ("PASS", "FLAKYPASS", "XFAIL") for code in codes)
skipped = sum(code in ("UNSUPPORTED", "SKIPPED") for code in codes)
failed = len(codes) - passed - skipped
print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
sys.exit(1 if failed or not passed else 0)
