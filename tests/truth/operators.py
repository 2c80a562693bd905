# SPDX-License-Identifier: MIT
"""Operators of traces against torch.profiler's key_averages(), and against a reading that shares no code with ours.

    operators.py torch OURS TRUTH TRACE     the last two of tests/fixtures/make_torch_operators.py
    operators.py same OURS REDACTED         names apart, both say the same
    operators.py trace TPUSIGHT TRACE...

Of a trace: calls, time on the host with and without what is inside, kernels and their time by operator and
shapes, worked out here from the JSON as a whole, in decimals.
"""
import bisect
import collections
import gzip
import json
import math
import subprocess
import sys
from decimal import Decimal

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")
CALLS = ("cuda_runtime", "cuda_driver")
COUNTED = ("aten::mm", "aten::addmm", "aten::bmm", "aten::conv2d")  # torch.profiler's with_flops knows these


def fail(what):
    sys.exit(f"FAIL: {what}")


def ours_by_key(report):
    rows = {}
    for row in report["by_shape"]:
        rows[row["name"], row["input_shapes"]] = row
    return rows


def one_for_each_shape(rows):
    """key_averages() has a row for each overload of an operator, too."""
    sums = {}
    for row in rows:
        into = sums.setdefault((row["name"], json.dumps(row["shapes"])), dict(row, calls=0, cpu_us=0, self_cpu_us=0, flops=0))
        for name in ("calls", "cpu_us", "self_cpu_us", "flops"):
            into[name] += row[name]
    return list(sums.values())


def in_themselves(events):
    """Operators with a call right inside one of the same name: key_averages() makes one of both."""
    thread = Thread(events)
    return {call["name"] for call, outer in zip(thread.calls, thread.outer)
            if outer is not None and thread.calls[outer]["name"] == call["name"]}


def as_torch_has_it(shapes):
    """A list of tensors has no shape there."""
    return json.dumps([[] if any(isinstance(dim, list) for dim in shape) else shape for shape in json.loads(shapes)])


def near(what, ours_ps, us, calls):
    if abs(ours_ps / 1e6 - us) > 0.002 * calls:
        fail(f"{what} is {ours_ps / 1e6} us, not {us}")


def check_names(ours, truth):
    """Of each operator the calls' own time, which no call inside another one changes."""
    sums = collections.defaultdict(collections.Counter)
    for row in truth["rows"]:
        sums[row["name"]].update(calls=row["calls"], us=row["self_cpu_us"])
    for row in ours["by_name"]:
        near(row["name"], row["self_cpu_ps"], sums[row["name"]]["us"], row["calls"])


def check_shapes(ours, truth, joined):
    rows = {(name, as_torch_has_it(shapes)): row for (name, shapes), row in ours_by_key(ours).items()}
    checked = counted = 0
    for row in one_for_each_shape(truth["rows"]):
        key = row["name"], json.dumps(row["shapes"])
        mine = rows.get(key)
        if not row["shapes"] or row["name"] in joined:
            continue
        checked += 1
        if mine is None or mine["calls"] != row["calls"]:
            fail(f"{key}: {mine and mine['calls']} calls, not {row['calls']}")
        near(key, mine["cpu_ps"], row["cpu_us"], row["calls"])
        near(key, mine["self_cpu_ps"], row["self_cpu_us"], row["calls"])
        if row["name"] in COUNTED and row["flops"]:
            counted += 1
            if mine["flops"] != row["flops"]:
                fail(f"{key}: {mine['flops']} FLOPs, not {row['flops']}")
    if checked < 50 or counted < 4:
        fail(f"only {checked} rows were compared, {counted} of them with FLOPs")
    print(f"{checked} rows as key_averages() has them, {counted} with FLOPs")


def check_torch(ours, truth, trace):
    check_names(ours, truth)
    check_shapes(ours, truth, in_themselves(trace))
    if ours["flops"] != 2 * truth["step_flops"]:
        fail(f"{ours['flops']} FLOPs in all, not twice {truth['step_flops']}")


def ps(microseconds):
    return int(Decimal(microseconds) * 1000000)


def read(path):
    with gzip.open(path) as file:
        text = file.read().decode("utf-8", "replace")
    events = json.loads(text, strict=False, parse_float=Decimal)["traceEvents"]
    return [event for event in events if event.get("ph") == "X"]


def key_of(event):
    dims = event.get("args", {}).get("Input Dims") if event["cat"] == "cpu_op" else None
    return event["name"], json.dumps(dims) if dims is not None else None


class Thread:
    """Calls by their starts, and of each the one around it."""

    def __init__(self, calls):
        self.calls = [call for _, call in sorted(enumerate(calls), key=lambda e: (e[1]["ts"], -e[1]["dur"], e[0]))]
        self.starts = [call["ts"] for call in self.calls]
        self.outer = []
        stack = []
        for at, call in enumerate(self.calls):
            while stack and self.end(stack[-1]) <= call["ts"]:
                stack.pop()
            self.outer.append(stack[-1] if stack else None)
            stack.append(at)

    def end(self, at):
        return self.calls[at]["ts"] + self.calls[at]["dur"]

    def around(self, call):
        """The operators around a call of this thread, the innermost first."""
        at = bisect.bisect_left(self.starts, call["ts"])
        while self.calls[at] is not call:
            at += 1
        while (at := self.outer[at]) is not None:
            if self.calls[at]["cat"] == "cpu_op":
                yield self.calls[at]


def sums_of(events):
    threads = collections.defaultdict(list)
    for event in events:
        if event["cat"] in CALLS or event["cat"] == "cpu_op":
            threads[event["pid"], event["tid"]].append(event)
    threads = {name: Thread(calls) for name, calls in threads.items()}
    sums = collections.defaultdict(collections.Counter)
    for thread in threads.values():
        for at, call in enumerate(thread.calls):
            sums[key_of(call)].update(calls=1, cpu_ps=ps(call["dur"]), self_cpu_ps=ps(call["dur"]))
            if thread.outer[at] is not None:
                sums[key_of(thread.calls[thread.outer[at]])]["self_cpu_ps"] -= ps(
                    min(thread.end(at), thread.end(thread.outer[at])) - call["ts"])
    launches = {event["args"]["correlation"]: event for event in events
                if event["cat"] in CALLS and "correlation" in event.get("args", {})}
    for event in events:
        call = launches.get(event.get("args", {}).get("correlation")) if event["cat"] in DEVICE else None
        if call is None:
            continue
        for depth, operator in enumerate(threads[call["pid"], call["tid"]].around(call)):
            sums[key_of(operator)].update(gpu_ps=ps(event["dur"]), kernels=1)
            if depth == 0:
                sums[key_of(operator)]["self_gpu_ps"] += ps(event["dur"])
    return sums


WIDTHS = {"float": 4, "c10::BFloat16": 2, "c10::Half": 2}


def elements(shape):
    return math.prod(shape)


def moved(event):
    """FLOPs and bytes of a product of matrices, by its operands; None: it is not one, or a type is not known."""
    name, args = event["name"], event.get("args", {})
    dims, types = args.get("Input Dims"), args.get("Input type")
    first = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1}.get(name)
    if first is None or not dims or not types or any(t not in WIDTHS for t in types[:first + 2]):
        return None
    left, right = dims[first:first + 2]
    out = elements(left[:-1]) * right[-1]
    read = sum(elements(dims[i]) * WIDTHS[types[i]] for i in range(first + 2))
    return 2 * out * left[-1], read + out * WIDTHS[types[first]]


def check_moved(path, events, rows):
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for event in events:
        amount = moved(event) if event["cat"] == "cpu_op" else None
        if amount:
            for i, part in enumerate((1, *amount)):
                sums[key_of(event)][i] += part
    for key, (calls, flops, size) in sums.items():
        row = rows[key]
        if row["calls"] == calls and (row["flops"], row["bytes"]) != (flops, size):
            fail(f"{path}: {key} has {row['flops']} FLOPs and {row['bytes']} bytes, not {flops} and {size}")
    return len(sums)


def check_trace(tpusight, path):
    report = json.loads(subprocess.run([tpusight, "report", "--view", "operators", "--json", path], check=True,
                                       capture_output=True).stdout)
    report = report.get("operators", report)
    events = read(path)
    sums = sums_of(events)
    names = collections.defaultdict(collections.Counter)
    for (name, _), row in sums.items():
        names[name].update(row)
    theirs = {key: row for key, row in sums.items() if key[1]}
    ours = ours_by_key(report)
    if len(ours) != len(theirs):
        fail(f"{path}: {len(ours)} rows by shape, not {len(theirs)}")
    pairs = [(ours.get(key), row, key) for key, row in theirs.items()]
    mine = {row["name"]: row for row in report["by_name"]}
    if len(mine) != len(names):
        fail(f"{path}: {len(mine)} rows by name, not {len(names)}")
    pairs += [(mine.get(name), row, name) for name, row in names.items()]
    for row, sum_, key in pairs:
        for column in ("calls", "cpu_ps", "self_cpu_ps", "gpu_ps", "self_gpu_ps", "kernels"):
            if row is None or row[column] != sum_[column]:
                fail(f"{path}: {column} of {key} is {row and row[column]}, not {sum_[column]}")
    products = check_moved(path, events, ours)
    spent = sum(row["self_gpu_ps"] for row in report["categories"])
    if spent != report["gpu_ps"] - report["outside_gpu_ps"]:
        fail(f"{path}: {spent} ps in the categories, not {report['gpu_ps'] - report['outside_gpu_ps']}")
    print(f"{path}: {len(names)} operators, {len(theirs)} with shapes, {products} products with their bytes")


def check_same(ours, redacted):
    for table in ("by_name", "by_shape"):
        rows, others = (sorted(json.dumps({k: v for k, v in row.items() if k != "name"}) for row in report[table])
                        for report in (ours, redacted))
        if rows != others:
            fail(f"{table} of the redacted trace differs")


def main():
    if sys.argv[1] == "same":
        reports = []
        for path in sys.argv[2:4]:
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
            reports.append(report.get("operators", report))
        check_same(*reports)
        return
    if sys.argv[1] == "torch":
        with open(sys.argv[2], encoding="utf-8") as ours, open(sys.argv[3], encoding="utf-8") as truth:
            report = json.load(ours)
            check_torch(report.get("operators", report), json.load(truth), read(sys.argv[4]))
        return
    for path in sys.argv[3:]:
        check_trace(sys.argv[2], path)


if __name__ == "__main__":
    main()
