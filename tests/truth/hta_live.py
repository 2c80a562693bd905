#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our hta against HolisticTraceAnalysis itself: idle time of streams, launches, queues, overlap. And how long either takes.

Usage: hta_live.py TPUSIGHT TRACE...   (a Python that has HolisticTraceAnalysis; hta_test.sh takes $TS_HTA_PYTHON)

Where a trace has whole us the numbers must be equal. Where HTA rounds, each gap may differ by 2 us and each duration by as
much, and a gap of some us may change its cause. Its time is that of reading the trace and of get_temporal_breakdown,
get_idle_time_breakdown and get_gpu_kernel_breakdown, without the imports; ours that of the whole program.
"""
import json
import logging
import subprocess
import sys
import time
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis

CALLS = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync"}


class Check:
    def __init__(self, name):
        self.name, self.numbers, self.bad = name, 0, 0

    def near(self, what, got, wanted, tolerance):
        self.numbers += 1
        if got is None or abs(got - wanted) > tolerance:
            print(f"{self.name}: {what} is {got}, HTA says {wanted}")
            self.bad += 1


def by_stream(rows):
    return {int(row["stream"].split()[-1]): row for row in rows}


def check_idle(check, hta, ours, fine):
    rows, stats = hta.get_idle_time_breakdown(ranks=[0], visualize=False, show_idle_interval_stats=True)
    counts = stats.reset_index().groupby("stream")["count"].sum()
    streams = by_stream(ours["idle"])
    for row in rows.to_dict("records"):
        cause = row["idle_category"] if row["idle_category"] != "other" else "other_wait"
        check.near(f"{cause} of stream {row['stream']}", streams[row["stream"]][f"{cause}_ps"] / 1e6,
                   row["idle_time"], 2 * counts[row["stream"]] if fine else 0)


def check_launches(check, hta, ours, fine):
    theirs = hta.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]
    rows = [row for row in ours["launches"] if row["call"] in CALLS]
    nr = sum(row["count"] for row in rows)
    check.near("launches", nr, len(theirs), 0)
    for name, column in (("cpu", "cpu_duration"), ("gpu", "gpu_duration"), ("delay", "launch_delay")):
        check.near(f"{column} in all", sum(row[f"{name}_sum_ps"] for row in rows) / 1e6, theirs[column].sum(),
                   2 * nr if fine else 0)
    slow = (theirs.cpu_duration > 50).sum()
    check.near("runtime outliers", sum(row["runtime_outliers"] for row in rows), slow, 0.05 * nr if fine else 0)


def check_queues(check, hta, ours):
    rows = hta.get_queue_length_summary(ranks=[0])
    rows.columns = ["_".join(column) for column in rows.columns]
    streams = by_stream(ours["queues"])
    for row in rows.reset_index().to_dict("records"):
        mine = streams[row["stream"]]
        check.near("changes", mine["changes"], row["queue_length_count"], 0)
        check.near("the longest queue", mine["max"], row["queue_length_max"], 0)
        # what happens in one us stands in no order in HTA
        check.near("the mean queue", mine["mean"], row["queue_length_mean"], 0.02 * row["queue_length_mean"] + 0.01)


def measure(path):
    begin = time.perf_counter()
    hta = TraceAnalysis(trace_files={0: path})
    hta.get_temporal_breakdown(visualize=False)
    hta.get_idle_time_breakdown(ranks=[0], visualize=False)
    hta.get_gpu_kernel_breakdown(visualize=False, include_memory_kernels=True)
    return hta, time.perf_counter() - begin


def ours_of(program, path):
    begin = time.perf_counter()
    answer = subprocess.run([program, "hta", "--json", path], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(answer), time.perf_counter() - begin


def main():
    program, bad, theirs_s, ours_s = sys.argv[1], 0, 0, 0
    for path in sys.argv[2:]:
        name = path.rsplit("/", 1)[-1]
        try:
            hta, slow = measure(path)
        except Exception as error:  # HTA's own
            print(f"{name}: HTA stops ({type(error).__name__})")
            continue
        ours, quick = min((ours_of(program, path) for _ in range(3)), key=lambda run: run[1])
        fine = (ours["hta_0_5"]["kernel_time_us"] or 0) * 1000000 != ours["exact"]["kernel_ps"]
        check = Check(name)
        check_idle(check, hta, ours, fine)
        check_launches(check, hta, ours, fine)
        check_queues(check, hta, ours)
        print(f"{name}: {check.numbers - check.bad} of {check.numbers} numbers; "
              f"HTA {slow:.2f} s, ours {quick:.3f} s: {slow / quick:.0f} times")
        bad, theirs_s, ours_s = bad + check.bad, theirs_s + slow, ours_s + quick
    if ours_s > 0:
        print(f"in all: HTA {theirs_s:.2f} s, ours {ours_s:.3f} s: {theirs_s / ours_s:.0f} times")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
