#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures in which the time of some event cannot be: figures are those of the capture without it, and `check` names it.

A step every 1 ms, 4 of them, in each a kernel of 300 us and one of 200 us: the run lasts 3.999 ms, busy for 2 ms. One thing at a
time is put in, of each sort of event, at each sort of time, in JSON and in an xplane, before all others and behind them.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import PROGRAM
from wire import Plane, space

T0 = 1_700_000_000_000_000  # us
HOUR = 3600 * 10**6
STEPS = 4
US = 1_000_000  # in ps


def kernel(ts, dur, link=900, name="gemm"):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur,
            "args": {"device": 0, "stream": 7, "correlation": link}}


def base(first=T0):
    events, link = [], 1
    for step in range(STEPS):
        t = first + 1000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 10, "tid": 10, "ts": t, "dur": 999})
        for at, dur, name in ((100, 300, "gemm"), (500, 200, "relu")):
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": t + at - 40, "dur": 10,
                           "args": {"correlation": link}})
            events.append(kernel(t + at, dur, link, name))
            link += 1
    return events


def trace(folder, events):
    path = os.path.join(folder, "a.pt.trace.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}], "traceEvents": events}, file)
    return path


def program(*words):
    ran = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)
    return json.loads(ran.stdout)


def causes(path):
    check = program("check", "--json", path)["checks"][0]
    return check["verdict"], {cause["id"]: cause for cause in check["causes"]}


def figures(path):
    report = program("report", "--json", path)
    return {"length": report["run"]["duration_ps"], "steps": report["overview"]["step_count"],
            "busy": round(report["overview"]["duty_cycle_pct"] or 0, 6)}


FAILED = []


def expect(what, found, wanted):
    if found != wanted:
        FAILED.append(what)
        print(f"{what}: {found}, wanted {wanted}")


def sorts(ts):
    """One event of each sort that a run is made of, at this time."""
    return {"kernel": kernel(ts, 5),
            "operator": {"ph": "X", "cat": "cpu_op", "name": "aten::x", "pid": 10, "tid": 10, "ts": ts, "dur": 5},
            "copy": {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": ts, "dur": 5},
            "range": {"ph": "X", "cat": "gpu_user_annotation", "name": "forward", "pid": 0, "tid": 7, "ts": ts, "dur": 5},
            "call": {"ph": "X", "cat": "cuda_runtime", "name": "cudaFree", "pid": 10, "tid": 10, "ts": ts, "dur": 5}}


def check_outliers(folder):
    """Far from all others. A range on a stream that nobody reads is left out in silence."""
    wanted = figures(trace(folder, base()))
    expect("the capture itself", wanted, {"length": 3999 * US, "steps": STEPS, "busy": 50.012503})
    for ts, front in itertools.product((0, 1, T0 - 24 * HOUR, T0 + 2 * HOUR, T0 * 1000), (True, False)):
        for sort, event in sorts(ts).items():
            path = trace(folder, [event] + base() if front else base() + [event])
            verdict, found = causes(path)
            expect(f"{sort} at {ts}", figures(path), wanted)
            if sort != "range":
                expect(f"{sort} at {ts} is told", (verdict, "impossible_times" in found), ("usable", True))
    many = [kernel(0, 0, 900 + i) for i in range(3)]
    for events in (many + base(), base() + many):
        expect("three kernels at 0", figures(trace(folder, events)), wanted)


def check_relative(folder):
    """A file whose times count from its own beginning has events at 0 that are right."""
    path = trace(folder, base(0))
    expect("from 0", figures(path), {"length": 3999 * US, "steps": STEPS, "busy": 50.012503})
    expect("from 0 is good", causes(path), ("good", {}))


def check_lengths(folder):
    wanted = figures(trace(folder, base()))

    def changed(dur, at=2):
        events = base()
        [e for e in events if e["cat"] == "kernel"][at]["dur"] = dur
        return trace(folder, events)

    path = changed(2_000_000)  # up to the next one of its stream: 400 instead of 300
    expect("a kernel over its successors", figures(path), {"length": 3999 * US, "steps": STEPS, "busy": round(100 * 2.1 / 3.999, 6)})
    evidence = causes(path)[1]["impossible_times"]["evidence"]
    expect("it is told", "2.00 s too long, over 5 successors" in evidence, True)
    path = changed(-25)
    expect("a negative length", figures(path), wanted | {"busy": round(100 * 1.7 / 3.999, 6)})
    expect("it is told", "negative" in causes(path)[1]["impossible_times"]["evidence"], True)
    for dur in (10**15, 18446744073709551.6):  # wrapped
        verdict, found = causes(changed(dur, 7))
        expect(f"a length of {dur}", (verdict, "impossible_times" in found), ("usable", True))
    for over in (3, 50):  # the one behind begins while it drains
        expect(f"an overlap of {over} us", causes(changed(400 + over, 2)), ("good", {}))


def check_launches(folder):
    lost = [e for e in base() if e["cat"] != "kernel"]
    verdict, found = causes(trace(folder, lost))
    expect("all kernels lost", (verdict, "8 of 8 launches" in found["kernels_lost"]["what"], "no_device" in found), ("empty", True, False))
    first = [e for e in base() if e["cat"] != "kernel" or e["ts"] > T0 + 2000]
    verdict, found = causes(trace(folder, first))
    expect("those of two steps lost", (verdict, "4 of 8 launches" in found["kernels_lost"]["what"]), ("misleading", True))
    last = [e for e in base() if e["cat"] != "kernel" or e["ts"] < T0 + 3400]
    expect("the last one did not run", causes(trace(folder, last)), ("good", {}))
    early = base()
    for event in [e for e in early if e["cat"] == "kernel"][2:4]:
        event["ts"] -= 90
    verdict, found = causes(trace(folder, early))
    expect("kernels before their launch", (verdict, found["kernels_early"]["what"]),
           ("usable", "2 of 8 kernels begin before their launch, by up to 50.0 µs"))
    calls = (("cudaStreamBeginCapture", 90), ("cudaLaunchKernel", 80), ("cudaLaunchKernel", 70), ("cudaStreamEndCapture", 60))
    recorded = [{"ph": "X", "cat": "cuda_runtime", "name": name, "pid": 10, "tid": 10, "ts": T0 - ts, "dur": 2,
                 "args": {"correlation": 800 + ts}} for name, ts in calls]
    expect("launches into a graph", causes(trace(folder, recorded + base())), ("good", {}))


def span(ts, dur):
    return {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": ts, "dur": dur}


def check_profilers(folder):
    """What the profiler says of its own time counts where it fits the events: also of several that were put into one file."""
    wanted = figures(trace(folder, base()))
    far = base() + [kernel(T0 + 600 * 10**6, 5)]
    expect("a kernel 10 minutes later", figures(trace(folder, far))["steps"], STEPS)
    expect("and the profiler had stopped", figures(trace(folder, far + [span(T0, 4000)])), wanted)
    again = [e | {"ts": e["ts"] + 60 * 10**6} for e in base()]
    two = base() + [span(T0, 4000)] + again
    for spans in ([span(T0 + 60 * 10**6, 4000)], []):
        path = trace(folder, two + spans)
        expect("two profiles in one file", "impossible_times" in causes(path)[1], False)


def xplane(folder, *lines):
    core = Plane("/device:TPU:0")
    core.event_metadata(1, "fusion.1", stats={"hlo_category": ("str", "loop fusion")}.items())
    core.event_metadata(2, "0")
    host = Plane("/host:CPU")
    host.event_metadata(1, "train")

    def put(plane, number, name, events, ts=T0 * 1000):
        plane.line(number, name, [plane.event(key, start * US, dur * US) for key, start, dur in events], ts)

    put(core, 1, "Steps", [(2, 100 * s, 80) for s in range(STEPS)])
    put(core, 2, "XLA Ops", [(1, 100 * s, 80) for s in range(STEPS)])
    put(host, 1, "python", [(1, 0, 400)])
    for number, (of, name, events, ts) in enumerate(lines):
        put(core if of == "core" else host, 10 + number, name, events, ts)
    path = os.path.join(folder, "a.xplane.pb")
    with open(path, "wb") as file:
        file.write(space([core, host]))
    return path


def check_xplanes(folder):
    wanted = figures(xplane(folder))
    expect("the xplane itself", (wanted["length"], wanted["steps"]), (380 * US, STEPS))
    for of, name, key in (("core", "XLA Modules", 1), ("core", "Async XLA Ops", 1), ("host", "other", 1)):
        for ts in (0, T0 * 1000 + 2 * HOUR * 1000, T0 * 10**6):
            path = xplane(folder, (of, name, [(key, 0, 10)], ts))
            expect(f"{name} at {ts}", figures(path), wanted)
            expect(f"{name} at {ts} is told", "impossible_times" in causes(path)[1], True)
    path = xplane(folder, ("host", "other", [(1, 10, 10), (1, 30 * HOUR, 5), (1, 30, 10)], T0 * 1000))
    expect("one event of a line", figures(path), wanted)
    expect("it is told", "30.0 h" in causes(path)[1]["impossible_times"]["evidence"] or
           "after the capture" in causes(path)[1]["impossible_times"]["evidence"], True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_outliers, check_relative, check_lengths, check_launches, check_profilers, check_xplanes):
            check(folder)
    print(f"{len(FAILED)} failed")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
