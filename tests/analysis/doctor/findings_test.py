#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What holds for every finding of every profile there is: findings_test.py

The bundled runs, and those of $TS_CORPUS/xplane where it is there: an impact is never above the run's core time, nor, where
a finding is about one op alone, above what that op took; times lie in the run; ids are one of a kind and stay when
thresholds change. Run in the build folder; $TPUSIGHT names the program (default bin/tpusight).
"""
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "fixtures"))
from helpers import PROGRAM, ended, need

ONE_OP = {"matmul_fill", "dominant_op", "padding_waste"}  # rules that report an op each
LOOSER = ["--threshold", "finding_min=0", "--threshold", "max_findings=1000", "--threshold", "unfused_high=0",
          "--threshold", "dominant_op_high=1", "--threshold", "mxu_fill_low=100", "--threshold", "padding_waste_high=1"]


def report(path, *options):
    got = subprocess.run([PROGRAM, "report", "-q", "--format", "json", *options, path], capture_output=True,
                         text=True)
    if got.returncode not in (0, 4):
        raise SystemExit(f"{path}: {got.stderr}")
    return json.loads(got.stdout)


def wrong_in(doc, finding):
    total, impact, out = doc["time"]["total_ps"], finding["impact_ps"], []
    ops = {(o["module"], o["name"]): max(o["self_time_ps"], o["exclusive_ps"]) for o in doc["ops"]}
    if impact is not None and not 0 <= impact <= total:
        out.append(f"{impact} of {total} ps")
    if (impact is None) != (finding["ceiling"] is None):
        out.append("an impact without its bound")
    if finding["rule"] in ONE_OP and len(finding["where"]) == 1 and impact is not None:
        took = ops.get((finding["where"][0]["module"], finding["where"][0]["op"]))
        if took is not None and impact > took:
            out.append(f"{impact} ps in an op of {took} ps")
    for r in finding["time_ranges"]:
        if not r["start_ps"] < r["end_ps"] or not finding["start_ps"] <= r["start_ps"] <= r["end_ps"] <= finding["end_ps"]:
            out.append(f"a time from {r['start_ps']} to {r['end_ps']}")
    return [f"{finding['id']}: {line}" for line in out]


def wrong_gains(doc):
    """Gains are time of the run: never more than it, all together; severities follow from them, or say why not."""
    wall, findings, out = doc["time"]["wall_ps"] or 0, doc["doctor"]["findings"], []
    if sum(f["gain_ps"] or 0 for f in findings) > wall:
        out.append(f"all gains are more than the run of {wall} ps")
    for f in findings:
        pct = f["gain_pct"]
        by_gain = "info" if pct is None or pct < 5 else "warning" if pct < 25 else "critical"
        if f["gain_ps"] is not None and f["gain_ps"] > f["impact_ps"]:  # who loses so much core time ends no earlier by more
            out.append(f"{f['id']}: gains more than its impact")
        if (f["severity"] == by_gain) != (f["severity_reason"] is None):
            out.append(f"{f['id']}: {f['severity']} by {f['severity_reason']}, with {pct} %")
    return out


def rules_of(doc):
    """With what was merged into others."""
    findings = doc["doctor"]["findings"]
    return {f["rule"] for f in findings} | {m["rule"] for f in findings for m in f["merged"]}


def check(path):
    docs, wrong = [report(path), report(path, *LOOSER)], []
    for doc in docs:
        findings = doc["doctor"]["findings"]
        wrong += wrong_gains(doc)
        for finding in findings:
            wrong += wrong_in(doc, finding)
        if len({f["id"] for f in findings}) != len(findings):
            wrong.append("two findings of one id")
    few, many = ({f["id"]: f["title"] for f in doc["doctor"]["findings"]} for doc in docs)
    wrong += [f"{rule} is gone when thresholds are lower" for rule in rules_of(docs[0]) - rules_of(docs[1])]
    print(f"{os.path.basename(path)}: {len(few)} findings, {len(many)} with lower thresholds")
    return [f"{path}: {line}" for line in wrong]


def main():
    need()
    data = os.path.join(HERE, "..", "..", "data")
    paths = [os.path.join(data, "sample"), *sorted(glob.glob(os.path.join(data, "*.xplane.pb")))]
    corpus = sorted(glob.glob(os.path.join(os.environ.get("TS_CORPUS", ""), "xplane", "*.xplane.pb")))
    if not corpus:
        print("no corpus (TS_CORPUS): only the bundled runs")
    wrong = [line for path in paths + corpus for line in check(path)]
    return ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
