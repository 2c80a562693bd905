#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the report's scopes and host steps against the clock of the program that made them: scopes.py REPORT ANSWER

ANSWER has the times that Python measured inside each scope (tests/fixtures/make_cpu.py), so ours is at least as long,
and longer by what entering and leaving a scope takes.
"""
import json
import sys

ENTER_PS = 300_000_000  # 0.3 ms a scope, generously


def main():
    with open(sys.argv[1]) as file:
        report = json.load(file)
    with open(sys.argv[2]) as file:
        answer = json.load(file)
    scopes = {row["name"]: row for row in report["scopes"]["named"]}
    bad = []
    if set(scopes) != set(answer["scopes_ns"]):
        bad.append(f"scopes {sorted(scopes)}, not {sorted(answer['scopes_ns'])}")
    for name, times in answer["scopes_ns"].items():
        row, total_ps = scopes.get(name, {"count": 0, "total_ps": 0}), 1000 * sum(times)
        if row["count"] != len(times) or not total_ps <= row["total_ps"] <= total_ps + len(times) * ENTER_PS:
            bad.append(f"{name}: {row['count']} of {row['total_ps']} ps, not {len(times)} of {total_ps}")
    if [step["step"] for step in report["steps"]] != answer["steps"]:
        bad.append(f"steps {[step['step'] for step in report['steps']]}")
    if [row["epoch"] for row in report["scopes"]["epochs"]] != list(range(answer["epochs"])):
        bad.append("epochs: " + json.dumps(report["scopes"]["epochs"]))
    for line in bad:
        print(f"{sys.argv[1]}: {line}")
    print(f"{sys.argv[1]}: {len(answer['scopes_ns'])} scopes against the program's own clock")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
