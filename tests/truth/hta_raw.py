#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Gaps, launches, queues and sequences of our hta against the traces' JSON, worked out again the plain way: all in memory, in
whole nanoseconds.

Usage: hta_raw.py TPUSIGHT TRACE...
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
from decimal import Decimal

STREAMS = {"kernel", "gpu_memcpy", "gpu_memset"}
CALLS = {"cuda_runtime", "cuda_driver"}


def ns(value):
    return int(Decimal(value) * 1000)


def load(path):
    opened = gzip.open(path, "rt") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as text:
        events = json.load(text, parse_float=Decimal)["traceEvents"]
    events = [e for e in events if e.get("ph") == "X" and "dur" in e and isinstance(e.get("args", {}), dict)]
    for event in events:
        event["start"], event["length"] = ns(event["ts"]), ns(event["dur"])
    return sorted(events, key=lambda e: (e["start"], -e["length"]))


class Trace:
    def __init__(self, path):
        events = load(path)
        steps = {e["name"]: e["start"] for e in events
                 if e["name"].startswith("ProfilerStep") and e["cat"] == "user_annotation"}
        self.cut = max(steps.values()) if len(steps) > 1 else None
        self.calls = {e["args"]["correlation"]: e for e in events
                      if e.get("cat") in CALLS and "correlation" in e.get("args", {})}
        self.kernels = [k for k in events if k.get("cat") in STREAMS and self.counts(k)]
        self.operators = [e for e in events if e.get("cat") == "cpu_op"]

    def call_of(self, kernel):
        return self.calls.get(kernel["args"].get("correlation"))

    def counts(self, kernel):
        call = self.call_of(kernel)
        return self.cut is None or (call or kernel)["start"] < self.cut

    def streams(self):
        found = collections.defaultdict(list)
        for kernel in self.kernels:
            found[kernel["tid"]].append(kernel)
        return found


def gaps(trace, kernels):
    sums = dict.fromkeys(("host_wait", "kernel_wait", "other_wait"), 0)
    end = None
    for kernel in kernels:
        call = trace.call_of(kernel)
        if end is not None and kernel["start"] > end:
            cause = ("host_wait" if call and call["start"] > end else
                     "kernel_wait" if kernel["start"] - end < 30000 else "other_wait")
            sums[cause] += kernel["start"] - end
        end = max(end or 0, kernel["start"] + kernel["length"])
    return sums


def launches(trace):
    rows, seen = collections.defaultdict(lambda: dict.fromkeys(("count", "cpu", "gpu", "delay"), 0)), set()
    for kernel in trace.kernels:
        call = trace.call_of(kernel)
        if not call or id(call) in seen:
            continue
        seen.add(id(call))
        row = rows[call["name"]]
        row["count"] += 1
        row["cpu"] += call["length"]
        row["gpu"] += kernel["length"]
        row["delay"] += max(0, kernel["start"] - call["start"] - call["length"])
    return rows


def queue(trace, kernels):
    changes = []
    for kernel in kernels:
        call = trace.call_of(kernel)
        if call:
            changes += [(call["start"], 1, 1), (kernel["start"], 0, -1)]
    length, lengths = 0, []
    for _, _, by in sorted(changes):
        length += by
        lengths.append(length)
    return len(lengths), max(lengths, default=0), sum(lengths) / max(len(lengths), 1)


def sequences(trace):
    roots = collections.defaultdict(list)
    for operator in trace.operators:  # in the order of starts, the longer first
        of_thread = roots[operator["pid"], operator["tid"]]
        if not of_thread or operator["start"] >= of_thread[-1]["start"] + of_thread[-1]["length"]:
            of_thread.append(operator)
    found = collections.defaultdict(list)
    at = {}
    for thread, operators in roots.items():
        calls = sorted((c for c in trace.calls.values() if (c["pid"], c["tid"]) == thread), key=lambda c: c["start"])
        i = 0
        for call in calls:
            while i < len(operators) and operators[i]["start"] + operators[i]["length"] <= call["start"]:
                i += 1
            if i < len(operators) and operators[i]["start"] <= call["start"]:
                at[call["args"]["correlation"]] = operators[i]
    for kernel in trace.kernels:
        root = at.get(kernel["args"].get("correlation"))
        if root:
            found[id(root)].append(kernel)
    by_id = {id(o): o for operators in roots.values() for o in operators}
    counts = collections.Counter()
    times = collections.Counter()
    for root, kernels in found.items():
        if len(kernels) >= 3:
            key = (by_id[root]["name"],) + tuple(k["name"] for k in kernels)
            counts[key] += 1
            times[key] += sum(k["length"] for k in kernels)
    return counts, times


class Check:
    def __init__(self, name):
        self.name, self.numbers, self.bad = name, 0, 0

    def equal(self, what, got, wanted, tolerance=0):
        self.numbers += 1
        if got is None or abs(got - wanted) > tolerance:
            print(f"{self.name}: {what} is {got}, by the JSON {wanted}")
            self.bad += 1


def check_streams(check, trace, ours):
    idle = {int(row["stream"].split()[-1]): row for row in ours["idle"]}
    queues = {int(row["stream"].split()[-1]): row for row in ours["queues"]}
    for stream, kernels in trace.streams().items():
        for cause, wanted in gaps(trace, kernels).items():
            check.equal(f"{cause} of stream {stream}", idle[stream][f"{cause}_ps"] // 1000, wanted)
        nr, most, mean = queue(trace, kernels)
        row = queues.get(stream, {"changes": 0, "max": 0, "mean": 0})
        check.equal(f"changes of stream {stream}", row["changes"], nr)
        check.equal(f"the longest queue of stream {stream}", row["max"], most)
        check.equal(f"the mean queue of stream {stream}", row["mean"], mean, 1e-9 * max(mean, 1))


def check_launches(check, trace, ours):
    rows = {row["call"]: row for row in ours["launches"]}
    for call, wanted in launches(trace).items():
        check.equal(f"count of {call}", rows[call]["count"], wanted["count"])
        for what in ("cpu", "gpu", "delay"):
            check.equal(f"{what} of {call}", rows[call][f"{what}_sum_ps"] // 1000, wanted[what])


def check_sequences(check, trace, ours):
    counts, times = sequences(trace)
    rows = ours.get("kernel_sequences", [])
    check.equal("the number of sequences", len(rows), min(len(counts), 50))
    check.equal("the most frequent's count", rows[0]["count"] if rows else 0, max(counts.values(), default=0))
    left = collections.Counter((key[0], n, times[key], len(key) - 1) for key, n in counts.items())
    for row in rows:
        key = (row["operator"], row["count"], row["gpu_ps"] // 1000, row["kernel_count"])
        check.equal(f"a sequence {key}", left[key] > 0, True)
        left[key] -= 1


def main():
    bad = 0
    for path in map(pathlib.Path, sys.argv[2:]):
        ours = json.loads(subprocess.run([sys.argv[1], "hta", "--json", path], stdout=subprocess.PIPE, check=True).stdout)
        check = Check(path.name)
        if ours["kernel_count"] > 0:
            trace = Trace(path)
            check.equal("kernels", ours["kernel_count"], len(trace.kernels))
            check_streams(check, trace, ours)
            check_launches(check, trace, ours)
            check_sequences(check, trace, ours)
        print(f"{path.name}: {check.numbers - check.bad} of {check.numbers} numbers are those of the JSON")
        bad += check.bad
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
