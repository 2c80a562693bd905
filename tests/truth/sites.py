#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds a report of a memory profile against what was held when it was taken.

sites.py REPORT.json TRUTH.json: bytes and number of arrays of each line of source exactly, no other line, and the sum.
"""
import json
import sys


def main(report_path, truth_path):
    with open(report_path) as f:
        capacity = json.load(f)["capacity"]
    with open(truth_path) as f:
        truth = json.load(f)
    ours = {line["source"].rsplit(":", 1)[1]: {"bytes": line["bytes"], "count": line["count"]}
            for line in capacity["site_lines"]}
    for line in sorted(set(ours) | set(truth["lines"]), key=int):
        print(f"line {line}: {ours.get(line)}, held {truth['lines'].get(line)}")
    same = ours == truth["lines"] and capacity["held_bytes"] == truth["bytes"]
    shares = sum(line["share_pct"] for line in capacity["site_lines"])
    print(f"bytes by line {'equal' if same else 'DIFFER'}, {len(ours)} lines, shares add up to {shares:.6f} %")
    return not (same and abs(shares - 100) < 1e-6)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
