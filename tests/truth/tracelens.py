# SPDX-License-Identifier: MIT
"""Products and convolutions of traces against TraceLens' answers: tracelens.py TPUSIGHT ANSWERS FOLDER

ANSWERS is of tests/fixtures/make_tracelens_answers.py; FOLDER has the traces. Calls are the same; FLOPs, bytes and time differ by
less than 1 %. TraceLens does not give an operator what hipMemsetAsync does in it (cudaMemsetAsync it does): that time is taken from
the trace here, and subtracted."""
import bisect
import collections
import gzip
import json
import os
import subprocess
import sys

WITHIN = 0.01
# The network's first convolution: nobody wants the gradient of the images, so its backward pass makes one product of the two that
# TraceLens counts.
ONE_PRODUCT = "aten::convolution_backward", [[10, 64, 112, 112], [10, 3, 224, 224], [64, 3, 7, 7]]


def fail(what):
    sys.exit(f"FAIL: {what}")


def ours_of(tpusight, path):
    command = [tpusight, "report", "-q", "--view", "operators", "--json", path]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    report = report.get("operators", report)
    return {(row["name"], json.dumps(json.loads(row["input_shapes"]))): row for row in report["by_shape"]}


def memsets_us(path, names):
    """By operator and inputs, of the operators of these names: the time of what hipMemsetAsync was called for inside of one."""
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    launches = {e["args"]["correlation"]: e for e in events if e["name"] == "hipMemsetAsync"}
    calls = collections.defaultdict(list)
    for e in events:
        if e.get("cat") == "cpu_op" and e["name"] in names:
            calls[e["tid"]].append((e["ts"], e["ts"] + e["dur"], e["name"], json.dumps(e["args"]["Input Dims"])))
    sums = collections.Counter()
    for e in events:
        launch = launches.get(e["args"].get("correlation")) if e.get("cat") == "gpu_memset" else None
        of_thread = sorted(calls[launch["tid"]]) if launch else []
        index = bisect.bisect_right(of_thread, (launch["ts"],)) - 1 if launch else -1
        if index >= 0 and launch["ts"] < of_thread[index][1]:
            sums[of_thread[index][2:]] += e["dur"]
    return sums


def is_one_product(row):
    return row["name"] == ONE_PRODUCT[0] and row["input_shapes"][:3] == ONE_PRODUCT[1]


def check(where, what, ours, theirs):
    if ours is None or abs(ours - theirs) > WITHIN * theirs:
        fail(f"{where}: {what} is {ours}, and TraceLens says {theirs}")


def check_row(trace, row, ours, memsets):
    where = f"{trace}: {row['name']} {row['input_shapes']}"
    mine = ours.get((row["name"], json.dumps(row["input_shapes"])))
    if mine is None:
        fail(f"{where} is missing")
    calls, of_both = row["calls"], 0.5 if is_one_product(row) else 1
    if mine["calls"] != calls:
        fail(f"{where}: {mine['calls']} calls, and TraceLens says {calls}")
    check(where, "flops", mine["flops"], row["flops"] * calls * of_both)
    check(where, "bytes", mine["bytes"], row["bytes"] * calls * of_both)
    check(where, "gpu_ps", mine["gpu_ps"] - memsets[row["name"], json.dumps(row["input_shapes"])] * 1e6, row["kernels_us"] * 1e6)


def main():
    tpusight, answers, folder = sys.argv[1:]
    with open(answers, encoding="utf-8") as file:
        traces = json.load(file)["traces"]
    for trace, rows in traces.items():
        path = os.path.join(folder, trace + ".json.gz")
        ours, memsets = ours_of(tpusight, path), memsets_us(path, {row["name"] for row in rows})
        for row in rows:
            check_row(trace, row, ours, memsets)
        print(f"{trace}: {len(rows)} products and convolutions are TraceLens'")


if __name__ == "__main__":
    main()
