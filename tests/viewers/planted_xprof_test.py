#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the reports of the planted profiles against XProf's answers about the same files: planted_xprof_test.py [NAME...]

Of each run of tests/data/planted: every op of hlo_stats, every row of roofline_model (tests/truth compares them), the
device duty cycle and the mean step time of overview_page. So the profiles are valid, and the figures are XProf's on
three chips, with asynchronous copies, collectives, loops and two hosts.

Run in the build folder. $TPUSIGHT names the program (default bin/tpusight), $TS_VIEWERS_PYTHON a Python that has
tests/requirements.txt. Exit 77: xprof is not there.
"""
import glob
import json
import os
import subprocess
import sys
import tarfile
import tempfile

from quiet import quiet

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import PROGRAM, need_viewer

sys.path[:0] = [HERE, os.path.join(HERE, "..", "truth")]
DATA = os.path.join(HERE, "..", "data", "planted")


def overview(text):
    out = {}
    for table in json.loads(text):
        out.update(table.get("p", {}))
    return out


def same_overview(report, text):
    """XProf prints one digit of the duty cycle and of the step time in ms one or two."""
    theirs, ours, bad = overview(text), report["overview"], []
    duty = float(theirs["device_duty_cycle_percent"].rstrip("%"))
    if abs(ours["duty_cycle_pct"] - duty) > 0.051:
        bad.append(f"duty cycle {ours['duty_cycle_pct']}, XProf {duty}")
    mean_ms = float(theirs["steptime_ms_average"])
    if abs(ours["step_time_ps"]["mean"] / 1e9 - mean_ms) > 0.051:
        bad.append(f"mean step {ours['step_time_ps']['mean']} ps, XProf {mean_ms} ms")
    print(f"overview: 2 figures compared, {len(bad)} differ")
    for line in bad:
        print(" ", line)
    return bool(bad)


def check(archive, folder):
    import hlo_stats
    import roofline
    from xprof_answers import answers

    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    session = glob.glob(os.path.join(folder, "*", "plugins", "profile", "*"))[0]
    mine, his = os.path.join(folder, "report.json"), {}
    subprocess.run([PROGRAM, "report", "--format=json", "-o", mine, archive], check=True)
    with quiet():
        told = answers(session, ["hlo_stats", "roofline_model", "overview_page"])
    for tool, text in told.items():
        his[tool] = os.path.join(folder, tool + ".json")
        with open(his[tool], "w") as f:
            f.write(text)
    with open(mine) as f, open(his["overview_page"]) as g:
        bad = same_overview(json.load(f), g.read())
    return hlo_stats.main(mine, his["hlo_stats"]) | roofline.main(mine, his["roofline_model"]) | bad


def main(names):
    need_viewer("xprof")
    bad = False
    for archive in sorted(glob.glob(os.path.join(DATA, "*.tar.gz"))):
        name = os.path.basename(archive).removesuffix(".tar.gz")
        if names and name not in names:
            continue
        print(name)
        with tempfile.TemporaryDirectory() as folder:
            bad |= check(archive, folder)
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
