#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `tpusight report RUN` prints fits one screen of 80x24: screen_test.py

Asked of every planted run, of the profiles and traces of tests/data, and of $TS_CORPUS (default: ../shared/corpus beside the
sources), where there is one. Whatever the run is: 24 lines of 80 columns at most, the run's name first, findings or "no
findings", and how to see more. The tables of the sample's views are 80 columns wide too, and the columns that a table is about
(KEYS) are among those that stay.
$TPUSIGHT names the program (default: bin/tpusight).
"""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import PROGRAM

TOP = os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CORPUS = os.environ.get("TS_CORPUS", os.path.join(TOP, "..", "shared", "corpus"))
RUNS = ["tests/data/sample", "tests/data/planted/*.tar.gz", "tests/data/*.xplane.pb", "tests/data/*.pt.trace.json",
        "tests/data/torch/*.pt.trace.json.gz"]
WIDTH, HEIGHT = 80, 24
KEYS = {
    "ops": ("op", "self", "MXU", "HBM"),
    "systolic.ops": ("op", "MXU", "fill", "lost"),
    "padding.ops": ("op", "time lost", "suggestion"),
    "padding.arrays": ("array", "shape", "padding", "time at stake"),
    "time.per_step": ("step", "duration", "compute", "memory wait"),
    "time.per_core": ("device", "duty cycle"),
    "time.steps_outliers": ("step", "over the median", "grew"),
    "memory.ops": ("op", "HBM read", "written", "of peak"),
    "memory.layout_copies": ("op", "why", "time"),
    "remat.ops": ("op", "time", "saved"),
    "fusion.unfused": ("from", "to", "time at stake", "why"),
    "collectives": ("collective", "exposed"),
    "async.ops": ("op", "waited", "coverable"),
}


def screen(run, *options, **environment):
    """The lines that are printed for a run."""
    done = subprocess.run([PROGRAM, "report", *options, run], capture_output=True, check=False,
                          env={**os.environ, "LC_ALL": "C.UTF-8", **environment})
    assert done.returncode in (0, 4), f"{run}: exit status {done.returncode}: {done.stderr.decode()}"
    return done.stdout.decode().splitlines()


def wrong_with(run):
    """Sentences about a screen that is not as it should be."""
    lines = screen(run, COLUMNS=str(WIDTH))
    widest = max(lines, key=len)
    if len(lines) > HEIGHT:
        yield f"{len(lines)} lines"
    if len(widest) > WIDTH:
        yield f"{len(widest)} columns: {widest}"
    if not any(re.match(r"\d+ (critical|warning|info|note)|no findings", line) for line in lines):
        yield "neither a finding nor the word that there is none"
    if not any("--all" in line for line in lines):
        yield "no word of how to see more"
    if "\x1b" in "".join(lines):
        yield "it is not a terminal, and yet there are colours"
    if lines != screen(run, COLUMNS=""):
        yield "where no width is known it is not 80 columns wide"


def wrong_with_view(run, view, keys):
    """Sentences about a table that is too wide or lacks what it is about."""
    lines = screen(run, "--view", view, COLUMNS=str(WIDTH))
    if max(map(len, lines)) > WIDTH:
        yield f"--view {view}: {max(map(len, lines))} columns"
    for key in keys:
        if key not in lines[0]:
            yield f"--view {view}: no column {key} in: {lines[0].strip()}"


def main():
    runs = [run for pattern in RUNS for run in sorted(glob.glob(os.path.join(TOP, pattern)))]
    corpus = sorted(glob.glob(os.path.join(CORPUS, "xplane", "*.pb")) + glob.glob(os.path.join(CORPUS, "kineto", "*.gz")))
    wrong = [f"{os.path.relpath(run, TOP)}: {what}" for run in runs + corpus for what in wrong_with(run)]
    wrong += [what for view, keys in KEYS.items() for what in wrong_with_view(runs[0], view, keys)]
    print(f"{len(runs)} runs of our own and {len(corpus)} of the corpus, {len(wrong)} complaints")
    for line in wrong:
        print(line)
    return 1 if wrong or len(runs) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
