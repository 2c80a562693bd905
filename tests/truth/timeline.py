# SPDX-License-Identifier: MIT
"""A timeline's trace opens, and says the same as what it was made of.

    timeline.py TPUSIGHT CORPUS CHECK

Written of traces and xplanes, whole and packed, each file is held against what Perfetto's importer
needs (CHECK: tests/viewers/perfetto_check.py), and read back: device and host are active as before.
"""
import json
import os
import subprocess
import sys
import tempfile

INPUTS = (
    "kineto/hta_trace_diff_control.json.gz",
    "kineto/hta_ns_resolution.pt.trace.json.gz",
    "kineto/tracelens_h100_timesformer.json.gz",
    "xplane/gpu_mi300x_jax_conv.xplane.pb",
)
# Both ends of an event are cut to ns.
FIGURES = ("gpu_active_ms", "overlap_ms", "cuda_time_ms")


def fail(what):
    sys.exit(f"FAIL: {what}")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def figures(tpusight, path):
    return json.loads(run(tpusight, "timeline", "--no-python", "--json", path))


def nr_slices(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    return sum(event["ph"] == "X" and event.get("cat") != "tpusight" for event in events)


def check_input(tpusight, source, check, folder):
    drawn = os.path.join(folder, "timeline.json")
    run(tpusight, "timeline", "--no-python", "--min-duration-us", "0", "--format", "chrome",
        "-o", drawn, source)
    run(sys.executable, check, drawn)
    before, after = figures(tpusight, source), figures(tpusight, drawn)
    for figure in FIGURES:
        if abs(before[figure] - after[figure]) > 0.002 * before[figure] + 1e-3:
            fail(f"{source}: {figure} was {before[figure]}, is {after[figure]}")
    few = os.path.join(folder, "few.json")
    told = run(tpusight, "timeline", "--max-events", "100", "--format", "chrome", "-o", few, source)
    if nr_slices(few) != 100 or "100 of" not in told or "--max-events=0" not in told:
        fail(f"{source}: {nr_slices(few)} events of 100: {told}")
    packed = os.path.join(folder, "few.json.gz")
    run(tpusight, "timeline", "--max-events", "100", "--format", "chrome", "-o", packed, source)
    run(sys.executable, check, packed)
    if os.path.getsize(packed) >= os.path.getsize(few):
        fail(f"{source}: not packed")


def main():
    tpusight, corpus, check = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for source in INPUTS:
            check_input(tpusight, f"{corpus}/{source}", check, folder)
    print(f"timelines of {len(INPUTS)} profiles: good, and the same when read back")


if __name__ == "__main__":
    main()
