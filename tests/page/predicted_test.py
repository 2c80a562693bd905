#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A run that was predicted says so in the list of runs, in real Chromium: predicted_test.py

  - /api/runs has is_predicted of each run, null where nothing is known of it
  - in the page's list, in the trend of its runs and in the choice of a run, the name has it behind; that of a measured one does not
  - rows that are copied out of a predicted run's tables have it in a column
$TPUSIGHT names the program, $TS_SHOTS a folder for screenshots.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import doors

MODULE = os.path.join(doors.HERE, "..", "data", "pallas_v5e.hlo.pb")


def known(url):
    """{run: is_predicted} when nothing is missing any more."""
    end = time.monotonic() + doors.PATIENCE_S
    while True:
        with doors.get(f"{url.rstrip('/')}/api/runs") as answer:
            listed = json.loads(answer.read())
        if listed["is_known"] or time.monotonic() > end:
            return {run["run"]: run["is_predicted"] for run in listed["runs"]}
        time.sleep(0.05)


def main():
    doors.need_tools()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        logdir = doors.logdir(os.path.join(folder, "logs"), {"measured": doors.SAMPLE})
        predict = f"--predict={os.path.join(logdir, 'predicted')}"
        subprocess.run([doors.PROGRAM, "hlo", "-q", "--topology=v5e:2x4", predict, "-o", os.devnull, MODULE], check=True)
        with doors.serving(logdir) as (url, _):
            said = known(url)
            if said != {"measured": False, "predicted": True}:
                wrong.append(f"/api/runs says {said}")
            setup = {"url": url, "shots": os.environ.get("TS_SHOTS")}
            done = doors.node("predicted.mjs", json.dumps(setup), stdout=None)
    if done.returncode == doors.SKIP:
        doors.skip(done.stderr.strip().removesuffix(": skipped"))
    return doors.ended(wrong + (done.stderr.splitlines() if done.returncode else []))


if __name__ == "__main__":
    sys.exit(main())
