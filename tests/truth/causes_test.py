#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs with a planted cause: the first finding that is a cause names it, and its gain is the difference to the run without it.

$TS_CAUSES names the folder of the runs (default: ../shared/review/causes beside the sources); without it this skips. truth.json
has of each run its length with and without the cause, what must be said and what must not.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(os.environ.get("srcdir", ".")).resolve()
CAUSES = pathlib.Path(os.environ.get("TS_CAUSES", TOP / "../shared/review/causes"))
PROGRAM = os.environ.get("TPUSIGHT", "bin/tpusight")

GAIN = 0.15  # of the planted gain
SUM = 0.05  # of what the run can lose


def findings_of(name):
    ran = subprocess.run([PROGRAM, "report", "--json", str(CAUSES / "inputs" / name)], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)["doctor"]["findings"]


def told(finding):
    return finding["title"] + " " + (finding["evidence"] or "")


def gain(finding):
    return finding["gain_ps"] or 0


def names(finding, planted):
    return all(re.search(pattern, told(finding)) for pattern in planted["says"])


def check_cause(findings, planted):
    first = next((finding for finding in findings if finding["kind"] == "cause" and gain(finding) > 0), None)
    if first is None or not names(first, planted):
        yield f"the first cause is {first and first['title']!r}, planted is {planted['what']}"
        return
    wanted = planted["gain_ps"]
    if abs(gain(first) - wanted) > GAIN * wanted:
        yield f"gain {gain(first) / 1e9:.3f} ms, planted {wanted / 1e9:.3f}: {first['title']}"


def check_rest(findings, truth):
    causes = truth["causes"]
    for finding in findings:
        limit = truth["other_gain_at_most_ps"] * (1 + GAIN)
        if not any(names(finding, planted) for planted in causes) and gain(finding) > limit:
            yield f"gain {gain(finding) / 1e9:.3f} ms of at most {limit / 1e9:.3f}: {finding['title']}"
        for rule in truth.get("must_not", []):
            if finding["severity"] != "info" and re.search(rule["re"], finding[rule["part"]] or ""):
                yield f"{finding['rule']} says {rule['re']}: {rule['why']}"
        if truth.get("no_warning") and finding["severity"] != "info":
            yield f"a {finding['severity']} where nothing is wrong: {finding['title']}"
    most = sum(planted["gain_ps"] for planted in causes) + truth["other_gain_at_most_ps"]
    everything = sum(map(gain, findings))
    if everything > most * (1 + SUM):
        yield f"all gains are {everything / 1e9:.3f} ms, the run can lose {most / 1e9:.3f}"
    gains = [gain(finding) for finding in findings if finding["gain_ps"] is not None]
    if gains != sorted(gains, reverse=True):
        yield f"gains rise: {gains}"


def check(name, truth):
    findings = findings_of(name)
    for planted in truth["causes"]:
        yield from check_cause(findings, planted)
    yield from check_rest(findings, truth)


def main():
    if not (CAUSES / "truth.json").exists():
        print(f"no planted runs in {CAUSES}")
        return 77
    failed = 0
    scenes = json.loads((CAUSES / "truth.json").read_text())
    for name, truth in scenes.items():
        wrong = list(check(name, truth))
        failed += bool(wrong)
        for line in wrong:
            print(f"{name}: {line}")
    print(f"{len(scenes) - failed} of {len(scenes)} planted runs are told as planted")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
