#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checker finds what it is there to find: a good trace passes, and each way of spoiling it is named."""
import copy
import gzip
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def meta(pid, tid, name, args):
    return {"ph": "M", "pid": pid, "tid": tid, "name": name, "args": args}


GOOD = {"traceEvents": [
    meta(1, 0, "process_name", {"name": "/device:TPU:0"}), meta(1, 0, "process_sort_index", {"sort_index": 1}),
    meta(1, 1, "thread_name", {"name": "XLA Ops"}), meta(1, 2, "thread_name", {"name": "Async"}),
    {"ph": "X", "pid": 1, "tid": 1, "ts": 10, "dur": 5.001, "name": "while"},
    {"ph": "X", "pid": 1, "tid": 1, "ts": 10, "dur": 2, "name": "fusion"},
    {"ph": "X", "pid": 1, "tid": 1, "ts": 12, "dur": 3.001, "name": "copy-done"},
    {"ph": "X", "pid": 1, "tid": 2, "ts": 9, "dur": 5, "name": "async-copy"},
    {"ph": "s", "pid": 1, "tid": 2, "ts": 9.5, "id": 7, "name": "copy", "cat": "c"},
    {"ph": "f", "pid": 1, "tid": 1, "ts": 13, "id": 7, "name": "copy", "cat": "c", "bp": "e"},
    {"ph": "C", "pid": 1, "ts": 10, "name": "MXU", "args": {"percent": 41.5}}]}


def spoil(index, **change):
    trace = copy.deepcopy(GOOD)
    for key, value in change.items():
        if value is None:
            del trace["traceEvents"][index][key]
        else:
            trace["traceEvents"][index][key] = value
    return trace


def without(index):
    trace = copy.deepcopy(GOOD)
    del trace["traceEvents"][index]
    return trace


def late(dur):
    """Two slices that touch, on a clock of 52 days, where a double holds no ns: the first lasts DUR."""
    trace = copy.deepcopy(GOOD)
    trace["traceEvents"] += [
        meta(1, 3, "thread_name", {"name": "Late"}),
        {"ph": "X", "pid": 1, "tid": 3, "ts": 4500000000000.001, "dur": dur, "name": "a"},
        {"ph": "X", "pid": 1, "tid": 3, "ts": 4500000000000.025, "dur": 2, "name": "b"}]
    return trace


def packed(trace):
    return gzip.compress(json.dumps(trace).encode())


TEXT = json.dumps(GOOD).encode()
CASES = [  # bytes, None for good or a piece of the complaint
    (packed(GOOD), None),
    (TEXT, None),
    (gzip.compress(TEXT[:50]) + gzip.compress(TEXT[50:]), None),
    (packed(GOOD) + b"rest", "bytes behind"),
    (packed(GOOD)[:-9], "truncated"),
    (gzip.compress(TEXT[:-2]), "delimiter"),
    (packed(spoil(4, dur=None)), "dur is missing"),
    (packed(spoil(4, dur=-1)), "negative"),
    (packed(spoil(4, dur=3)), "overlap in part"),
    (packed(late(0.026)), "overlap in part"),
    (packed(late(0.025)), None),
    (packed(spoil(5, ts=10.0001)), "parts of a nanosecond"),
    (packed(spoil(9, bp=None)), 'without bp "e"'),
    (packed(without(9)), "not one s"),
    (packed(without(8)), "not one s"),
    (packed(spoil(8, ts=100)), "in no slice"),
    (packed(spoil(10, args={"percent": "41"})), "not a number"),
    (packed(without(0)), "process_name"),
    (packed(without(1)), "process_sort_index"),
    (packed(without(2)), "thread_name"),
    (packed(spoil(4, pid="x")), "pid is missing"),
    (b"", "Expecting value"),
]


def main():
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "t.json.gz")
        for n, (data, want) in enumerate(CASES):
            with open(path, "wb") as f:
                f.write(data)
            got = subprocess.run([sys.executable, os.path.join(HERE, "perfetto_check.py"), path, "--quiet"],
                                 capture_output=True, text=True)
            good = got.returncode == (1 if want else 0) and (want or "") in got.stderr
            if not good:
                bad += 1
                print(f"case {n}: wanted {want!r}, got {got.returncode} {got.stderr!r}", file=sys.stderr)
    print(f"{len(CASES) - bad} of {len(CASES)} good")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
