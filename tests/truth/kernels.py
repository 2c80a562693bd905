# SPDX-License-Identifier: MIT
"""Kernels of traces and xplanes against readings that share no code with ours.

    kernels.py TPUSIGHT CORPUS

Traces: counts, sums, least, most, standard deviation, bytes, occupancy and the operator that launched
each kernel, worked out here from the JSON as a whole, in decimals. The xplane: XProf's own answer
(truth/xprof_*.kernel_stats.json).
"""
import bisect
import collections
import gzip
import json
import statistics
import subprocess
import sys
from decimal import Decimal

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")
TRACES = (
    "hta_df_index_resolver.json.gz",
    "hta_mi250_minitoy_train_ROCm6_2_kineto.json.gz",
    "hta_ns_resolution.pt.trace.json.gz",
    "hta_trace_diff_control.json.gz",
    "tracelens_h100_owlv2.json.gz",
    "tracelens_h100_timesformer.json.gz",
    "tracelens_mi300_resnet_act_checkpoint.json.gz",
)


def fail(what):
    sys.exit(f"FAIL: {what}")


def near(what, ours, theirs, error):
    if ours is None or abs(ours - theirs) > error:
        fail(f"{what} is {ours}, not {theirs}")


def report(tpusight, path):
    return json.loads(subprocess.run([tpusight, "kernels", "--json", path], check=True,
                                     capture_output=True).stdout)


def ps(microseconds):
    return int(Decimal(microseconds) * 1000000)


def read(path):
    with gzip.open(path) as file:
        text = file.read().decode("utf-8", "replace")
    events = json.loads(text, strict=False, parse_float=Decimal)["traceEvents"]
    return [event for event in events if event.get("ph") == "X"]


def operators_by_thread(events):
    threads = collections.defaultdict(list)
    for place, event in enumerate(events):
        if event["cat"] == "cpu_op" and not event["name"].startswith(
                ("DataLoader", "enumerate(Data", "nccl:", "gloo:")):
            threads[event["pid"], event["tid"]].append(
                (event["ts"], -event["dur"], place, event["name"]))
    for operators in threads.values():
        operators.sort()
    return threads


def innermost(operators, starts, at):
    """The operator with the latest start that holds the moment; of equal ones the file's last."""
    for start, negative, _, name in reversed(operators[:bisect.bisect_right(starts, at)]):
        if start - negative > at:
            return name
    return None


def callers(events):
    threads = operators_by_thread(events)
    starts = {thread: [entry[0] for entry in operators] for thread, operators in threads.items()}
    result = {}
    for event in events:
        if event["cat"] in CALLS and "correlation" in event["args"]:
            thread = event["pid"], event["tid"]
            result[event["args"]["correlation"]] = innermost(
                threads.get(thread, []), starts.get(thread, []), event["ts"])
    return result


def expected_rows(events):
    by_kernel = collections.defaultdict(list)
    for event in events:
        if event["cat"] in DEVICE:
            by_kernel[event["name"], event["cat"], event["pid"]].append(event)
    return by_kernel


def check_row(row, kernels, launched_by):
    name = row["name"][:60]
    lengths = [ps(kernel["dur"]) for kernel in kernels]
    if (row["count"], row["total_ps"], row["min_ps"], row["max_ps"]) != (
            len(lengths), sum(lengths), min(lengths), max(lengths)):
        fail(f"{name}: {row['count']} x, {row['total_ps']} ps")
    near(f"mean of {name}", row["mean_ps"], sum(lengths) / len(lengths), 1)
    if len(lengths) > 1:
        near(f"deviation of {name}", row["stddev_ps"], statistics.stdev(lengths), 1)
    sizes = [kernel["args"]["bytes"] for kernel in kernels if "bytes" in kernel["args"]]
    if row["bytes"] != (sum(sizes) if sizes else None):
        fail(f"{name}: {row['bytes']} bytes")
    key = "est. achieved occupancy %"
    known = [kernel for kernel in kernels if kernel["args"].get(key, 0) > 0]  # 0: Kineto cannot tell
    weights = [ps(kernel["dur"]) for kernel in known]
    if sum(weights):
        shares = [kernel["args"][key] for kernel in known]
        near(f"occupancy of {name}", row["occupancy_pct"],
             float(sum(w * s for w, s in zip(weights, shares)) / sum(weights)), 1e-6)
    elif row["occupancy_pct"] is not None:
        fail(f"occupancy of {name}: {row['occupancy_pct']}")
    ops = collections.Counter(launched_by.get(kernel["args"].get("correlation"))
                              for kernel in kernels)
    del ops[None]
    if row["op_count"] != len(ops):
        fail(f"{name}: launched by {row['op_count']} operators, not {dict(ops)}")
    for op in row["ops"]:
        if ops[op["op"]] != op["count"]:
            fail(f"{name}: {op['op']} launched {op['count']}, not {ops[op['op']]}")


def check_trace(tpusight, path):
    events = read(path)
    launched_by = callers(events)
    rows = expected_rows(events)
    ours = report(tpusight, path)
    total = 0
    if len(ours["kernels"]) != len(rows):
        fail(f"{path}: {len(ours['kernels'])} kernels, not {len(rows)}")
    by_name = collections.defaultdict(list)
    for (name, _, _), kernels in rows.items():
        by_name[name].append(kernels)
    for row in ours["kernels"]:
        candidates = by_name[row["name"]]
        if len(candidates) != 1:
            candidates = [kernels for kernels in candidates if len(kernels) == row["count"]]
        check_row(row, candidates[0], launched_by)
        total += row["total_ps"]
    near("time of all", ours["cuda_time_ms"], total / 1e9, 1e-6)
    return len(rows)


def check_xprof(tpusight, xplane, answer):
    with open(answer, encoding="utf-8") as file:
        table = json.load(file)
    names = [column["id"] for column in table["cols"]]
    theirs = collections.defaultdict(lambda: [0, 0.0, 1e30, 0.0, None])
    for cells in table["rows"]:
        row = {name: cell["v"] for name, cell in zip(names, cells["c"])}
        sums = theirs[row["kernel_name"]]
        sums[0] += int(row["occurrences"])
        sums[1] += row["total_duration_us"]
        sums[2] = min(sums[2], row["min_duration_us"])
        sums[3] = max(sums[3], row["max_duration_us"])
        sums[4] = (row["block_dim"], row["grid_dim"])
    ours = collections.defaultdict(lambda: [0, 0.0, 1e30, 0.0, None])
    for row in report(tpusight, xplane)["kernels"]:
        sums = ours[row["name"]]
        sums[0] += row["count"]
        sums[1] += row["total_ps"] / 1e6
        sums[2] = min(sums[2], row["min_ps"] / 1e6)
        sums[3] = max(sums[3], row["max_ps"] / 1e6)
        sums[4] = (row["block"], row["grid"])
    if ours.keys() != theirs.keys():
        fail(f"kernels {ours.keys() ^ theirs.keys()}")
    for name, (count, total, least, most, launch) in theirs.items():
        if ours[name][0] != count or ours[name][4] != launch:
            fail(f"{name[:60]}: {ours[name]}, XProf says {theirs[name]}")
        # XProf prints ns of each row
        for what, got, wanted in zip(("sum", "least", "most"), ours[name][1:],
                                     (total, least, most)):
            near(f"{what} of {name[:60]}", got, wanted, 0.0021)
    return len(theirs)


def main():
    tpusight, corpus = sys.argv[1:]
    nr_rows = sum(check_trace(tpusight, f"{corpus}/kineto/{name}") for name in TRACES)
    nr_kernels = check_xprof(tpusight, f"{corpus}/xplane/gpu_mi300x_jax_conv.xplane.pb",
                             f"{corpus}/truth/xprof_gpu_mi300x_jax_conv.kernel_stats.json")
    print(f"{nr_rows} kernels of {len(TRACES)} traces, {nr_kernels} kernels of XProf: equal")


if __name__ == "__main__":
    main()
