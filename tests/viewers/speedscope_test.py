#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""speedscope's own page and parser (npm ci in tests/viewers) open what `tpusight flame` writes: its two formats, of the hand-made
trace, of the sample and of traces of the corpus; each profile is in its list, and its table has our heaviest functions with
their self times as speedscope prints them. Exit 77 where a tool is missing."""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import DATA, PROGRAM, skip

CORPUS = ["tracelens_h100_timesformer.json.gz", "hta_mi250_minitoy_train_ROCm6_2_kineto.json.gz", "hta_cpu_only.pt.trace.json.gz"]
NAMES = {"cpu": "CPU time", "device": "device time"}
TOP = 5


def time_texts(ns):
    """As speedscope's TimeFormatter prints it, rounded either way."""
    name, unit = next(((name, unit) for name, unit in (("s", 1e9), ("ms", 1e6), ("\u00b5s", 1e3)) if ns >= unit), ("ns", 1))
    return [f"{value:.2f}{name}" for value in (ns / unit, ns / unit - 1e-6, ns / unit + 1e-6)]


def flame(trace, *options):
    return subprocess.run([PROGRAM, "flame", "-q", *options, trace], capture_output=True, text=True)


def self_times(trace, kind, weight):
    """{name: own ns} of the nested form."""
    made, times = flame(trace, "--json", f"--kind={kind}", f"--weight={weight}"), collections.Counter()
    if made.returncode:
        return times
    stack = list(json.loads(made.stdout)["children"])
    while stack:
        frame = stack.pop()
        times[frame["name"]] += frame["self"] / 1000
        stack += frame["children"]
    return times


def rows(times):
    return [[[name], time_texts(ns)] for name, ns in times.most_common(TOP) if ns > 0 and name.isprintable()]


def jobs_of(trace, at, folder):
    scope, folded = os.path.join(folder, f"{at}.speedscope.json"), os.path.join(folder, f"{at}.folded")
    with open(scope, "w") as out:
        out.write(flame(trace, "--format=speedscope").stdout)
    names = [profile["name"] for profile in json.load(open(scope))["profiles"]]
    profiles = []
    for name in names:
        kind, weight = name.split(": ")
        weight = next(key for key, value in NAMES.items() if value == weight)
        profiles.append({"name": name, "rows": rows(self_times(trace, kind, weight))})
    kind, weight = names[0].split(": ")
    weight = next(key for key, value in NAMES.items() if value == weight)
    with open(folded, "w") as out:
        out.write(flame(trace, "--format=folded", f"--kind={kind}", f"--weight={weight}").stdout)
    names = [[row[0]] for row in profiles[0]["rows"] if ";" not in row[0][0]]
    return [{"file": scope, "profiles": profiles},
            {"file": folded, "profiles": [{"name": os.path.basename(folded), "rows": names}]}]


def main():
    if not os.access(PROGRAM, os.X_OK) or not shutil.which("node"):
        skip("tpusight is not built, or node is not installed")
    corpus = os.path.join(os.environ.get("TS_CORPUS", ""), "kineto")
    traces = [os.path.join(DATA, "hand_made.pt.trace.json"), os.path.join(DATA, "sample")]
    traces += [os.path.join(corpus, name) for name in CORPUS if os.path.exists(os.path.join(corpus, name))]
    if len(traces) == 2:
        print("the corpus is not there (TS_CORPUS names it): our own two alone", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        jobs = [job for at, trace in enumerate(traces) for job in jobs_of(trace, at, folder)]
        with open(os.path.join(folder, "jobs"), "w") as out:
            json.dump(jobs, out)
        return subprocess.run(["node", os.path.join(HERE, "speedscope.mjs"), os.path.join(folder, "jobs")]).returncode


if __name__ == "__main__":
    sys.exit(main())
