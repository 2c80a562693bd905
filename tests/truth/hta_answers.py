#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our hta against what HolisticTraceAnalysis 0.5.0 answered for the corpus' traces (truth/hta.json).

Usage: hta_answers.py TPUSIGHT CORPUS

Idle, compute and the rest within 0.01 points; its times in us, but for 1 us where whole us make kernels begin together,
whose order its sort leaves to chance; sums of kernels equal; the overlap within 0.01 points: all of hta_0_5. Where HTA stops
with an error, ours must still answer.
"""
import json
import math
import pathlib
import subprocess
import sys

POINTS = {"gpu_idle_time_pct": "idle_time_pctg", "compute_time_pct": "compute_time_pctg",
          "non_compute_time_pct": "non_compute_time_pctg"}
TIMES = {"kernel_time_us": "kernel_time(us)", "idle_time_us": "idle_time(us)",
         "compute_time_us": "compute_time(us)", "non_compute_time_us": "non_compute_time(us)"}
TOLERANCE = 0.0100001  # HTA rounds to two digits


class Comparison:
    def __init__(self, name):
        self.name, self.numbers, self.bad = name, 0, 0

    def equal(self, what, got, wanted, tolerance):
        self.numbers += 1
        if got is None or abs(got - wanted) > tolerance:
            print(f"{self.name}: {what} is {got}, HTA says {wanted}")
            self.bad += 1


def compare_times(comparison, ours, truth):
    row = truth["temporal_breakdown"][0]
    for name, theirs in POINTS.items():
        comparison.equal(name, ours["hta_0_5"][name], row[theirs], TOLERANCE)
    for name, theirs in TIMES.items():
        comparison.equal(name, ours["hta_0_5"][name], row[theirs], 1)
    overlap = truth["comm_comp_overlap"][0]["comp_comm_overlap_pctg"]
    if not math.isnan(overlap):
        comparison.equal("the overlap", ours["hta_0_5"]["comm_comp_overlap_pct"], overlap, TOLERANCE)


def others_of(kernels):
    """What HTA sums as others of a type: behind the tenth, or past the 80 % quantile of the running sum."""
    sums = sorted((k["sum_us"] for k in kernels), reverse=True)
    running = [sum(sums[:i + 1]) for i in range(len(sums))]
    at = 0.8 * (len(running) - 1)
    low = int(at)
    limit = running[low] + (at - low) * (running[min(low + 1, len(running) - 1)] - running[low])
    return sum(n for i, n in enumerate(sums) if i >= 10 or running[i] > limit)


def compare_kernels(comparison, ours, truth):
    """HTA's names are cut at 120 bytes here."""
    left = list(ours["top_kernels"])
    for row in truth["top_kernels"]:
        if row["name"] == "others":
            same_type = [k for k in ours["top_kernels"] if k["kernel_type"] == row["kernel_type"]]
            comparison.equal("others", others_of(same_type), row["sum (us)"], 0)
            continue
        found = [k for k in left if k["name"].startswith(row["name"])
                 and k["sum_us"] == row["sum (us)"]]
        comparison.equal(row["name"], found[0]["sum_us"] if found else None, row["sum (us)"], 0)
        left = [k for k in left if not found or k is not found[0]]


def main():
    program, corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    truths = json.loads((corpus / "truth/hta.json").read_text())
    bad = 0
    for name, truth in truths.items():
        answer = subprocess.run([program, "hta", "--json", corpus / "kineto" / name],
                                capture_output=True, check=False)
        if answer.returncode != 0:
            print(f"{name}: no answer ({answer.stderr.decode().strip()})")
            bad += 1
            continue
        ours = json.loads(answer.stdout)
        failed = truth.get("load_error") or truth.get("temporal_breakdown_error")
        comparison = Comparison(name)
        if failed:
            idle = ours["gpu_idle_time_pct"]
            print(f"{name}: HTA stops ({failed[:60]}); ours: {ours['kernel_count']} kernels"
                  + (f", {idle:.2f} % idle" if idle is not None else ""))
        else:
            compare_times(comparison, ours, truth)
            compare_kernels(comparison, ours, truth)
            print(f"{name}: {comparison.numbers - comparison.bad} of {comparison.numbers} "
                  "numbers are HTA's")
        bad += comparison.bad
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
