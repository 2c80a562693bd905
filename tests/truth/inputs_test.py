#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures that people have, also those with faults in them: what the program says of each is what is known of it.

$TS_INPUTS names the folder of the captures (default: ../shared/review/inputs beside the sources); without it this skips. Its
expect.json says of each what `report` and `check` must say. Formats that are named and not read pass by their name.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(os.environ.get("srcdir", ".")).resolve()
INPUTS = pathlib.Path(os.environ.get("TS_INPUTS", TOP / "../shared/review/inputs"))
PROGRAM = os.environ.get("TPUSIGHT", "bin/tpusight")


def program(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, errors="replace", check=False)


def values(tree, path):
    """What stands at a path; * is each entry."""
    found = [tree]
    for name in path.split("."):
        found = [value for at in found for value in (at if name == "*" else [at[int(name)] if isinstance(at, list) else at.get(name)])]
    return found


def is_expected(value, case):
    wanted = case["expected"]
    if not isinstance(value, (int, float)):
        return False
    if isinstance(wanted, list):
        return wanted[0] <= value <= wanted[1]
    return abs(value - wanted) <= case.get("tolerance", 0)


def verdict(file):
    return json.loads(program("check", "--json", file).stdout)["checks"][0]["verdict"]


def causes(text, where):
    keys = ("what", "evidence", "fix") if where == "causes" else ("what", "evidence")
    checks = json.loads(text)["checks"]
    return "\n".join(str(cause.get(key) or "") for check in checks for cause in check["causes"] for key in keys)


def check_path(case, file, ran):
    for value in values(json.loads(ran.stdout), case["path"]):
        if "expected" in case and not is_expected(value, case):
            if case.get("or_verdict") == verdict(file):
                continue
            yield f"{case['path']} is {value}, wanted {case['expected']}"
        if "matches" in case and not re.search(case["matches"], str(value), re.I):
            yield f"{case['path']} is {value!r}, wanted {case['matches']}"
        if "not_matches" in case and re.search(case["not_matches"], str(value), re.I):
            yield f"{case['path']} is {value!r}"


def check_text(case, file, ran):
    text = causes(ran.stdout, case["in"]) if "in" in case else ran.stdout + ran.stderr
    text = text.replace(os.path.basename(case["input"]), "")
    if "regex" in case and not re.search(case["regex"], text, re.I):
        yield f"nothing says {case['regex']!r}: {text[:400]!r}"
    if "not_regex" in case and re.search(case["not_regex"], text, re.I):
        yield f"it says {re.search(case['not_regex'], text, re.I)[0]!r}"


def check_finding(case, file, ran):
    for finding in json.loads(ran.stdout)["doctor"]["findings"]:
        said = f"{finding['title']} {finding['evidence'] or ''}"
        if finding["rule"] == case["no_finding"] and not re.search(case["unless"], said, re.I):
            yield f"a finding: {finding['title']}"


def check_read(case, file, ran):
    if ran.returncode != 0:
        text = ran.stderr.replace(os.path.basename(case["input"]), "").replace(str(file), "")
        if not re.search(case["read_or_says"], text, re.I) or "profile again" in text:
            yield text


def copies(file, folder):
    """Annotated copies stand beside the trace: of one in a folder that can be written to."""
    own = shutil.copy(file, folder)
    ran = program("annotate", own)
    return ran, sorted(pathlib.Path(folder).glob("*.tpusight.json.gz"))


def refuse(name):
    raise ValueError(name)


def check_copy(case, file, ran):
    with tempfile.TemporaryDirectory() as folder:
        ran, found = copies(file, folder)
        if not found:
            yield f"no copy: {ran.stderr}"
        for path in found:
            data = path.read_bytes()
            if data[:2] == b"\x1f\x8b":
                data = __import__("gzip").decompress(data)
            try:
                json.loads(data.decode(), parse_constant=refuse)
            except ValueError as bad:
                yield f"{path.name}: {bad}"


def check_own(case, file, ran):
    with tempfile.TemporaryDirectory() as folder:
        _, found = copies(file, folder)
        for path in found:
            if program("report", "--json", path).returncode == 0:
                yield f"{path.name} is read"
        if not found:
            yield "no copy"


CHECKS = {"path": check_path, "regex": check_text, "not_regex": check_text, "no_finding": check_finding,
          "read_or_says": check_read, "copy_valid": check_copy, "own_copy_refused": check_own}


def check(case):
    file = INPUTS / "inputs" / case["input"]
    ran = None if "copy_valid" in case else program(*case["command"].split(), file)
    if "rc" in case and ran.returncode not in case["rc"]:
        yield f"status {ran.returncode}: {ran.stderr}"
        return
    for look in dict.fromkeys(look for key, look in CHECKS.items() if key in case):
        try:
            yield from look(case, file, ran)
        except (ValueError, KeyError, IndexError, AttributeError) as bad:
            yield f"{type(bad).__name__} {bad}: {ran and ran.stderr}"


def main():
    if not (INPUTS / "expect.json").exists():
        print(f"skipped: {INPUTS} is not there")
        return 77
    failed = 0
    cases = [case for case in json.loads((INPUTS / "expect.json").read_text()) if (INPUTS / "inputs" / case["input"]).exists()]
    for case in cases:
        bad = list(check(case))
        failed += bool(bad)
        for text in bad:
            print(f"{case['point']} {case['id']}: {text.strip()[:600]} ({case['why']})")
    print(f"{len(cases) - failed} of {len(cases)} as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
