#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `tpusight compile A B ...` against the traces' own marks: median and number of ProfilerStep#N, and the speed-up by them.

A step's end is the next one's begin or its last kernel, so ours may be longer than the mark, by what lies between two marks.
"""
import gzip
import json
import statistics
import sys


def marks(path):
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    return [e["dur"] for e in events if e.get("ph") == "X" and e["name"].startswith("ProfilerStep#")]


def main():
    with open(sys.argv[1]) as file:
        rows = json.load(file)["modes"]
    bad, medians = [], []
    for row, path in zip(rows, sys.argv[2:], strict=True):
        durations = marks(path)
        medians.append(statistics.median(durations))
        mode = path.split("mode_")[-1].split(".")[0]
        if row["mode"] != mode or row["steps"] != len(durations):
            bad.append(f"{path}: {row['steps']} steps of {row['mode']}, the trace has {len(durations)} of {mode}")
        if abs(row["step_time_ms"] * 1e3 - medians[-1]) > 0.02 * medians[-1]:
            bad.append(f"{path}: {row['step_time_ms']} ms, the marks {medians[-1]} us")
        if abs(row["speedup"] - medians[0] / medians[-1]) > 0.03 * row["speedup"]:
            bad.append(f"{path}: speed-up {row['speedup']}, by the marks {medians[0] / medians[-1]}")
    print("\n".join(bad) or f"{len(rows)} modes: steps and speed-up as by the traces' own marks")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
