#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sessions of `tpusight live LOGDIR --serve` stand where they were captured, in real Chromium: sessions_test.py

Run a was captured at 9 and at 10 o'clock, run b at 12, and they are annotated now, all at once and the latest first. In the chart a
line joins the two of run a and none leads to run b; what a point says names its session and the day. $TPUSIGHT names the
program, $TS_SHOTS a folder for a screenshot.
"""
import json
import os
import sys
import tempfile

import doors
import profiles

HOUR_NS = 3600 * 10**9
DAY_NS = 1_699_920_000 * 10**9  # 14 November 2023 begins
CAPTURED = [("b", 12), ("a", 10), ("a", 9)]


def profile(start_ns):
    """A device that runs ops for some steps, captured at START_NS."""
    plane = profiles.device()
    ps = profiles.filled(plane, ["fusion.1", "fusion.2"], 20, 2)
    task = profiles.Plane("Task Environment")
    task.add_stats({"profile_start_time": ("uint", start_ns), "profile_stop_time": ("uint", start_ns + ps // 1000)})
    return profiles.space([plane, task], ["host"])


def main():
    doors.need_tools()
    with tempfile.TemporaryDirectory() as folder:
        logdir = os.path.join(folder, "logs")
        for run, hours in CAPTURED:
            session = os.path.join(logdir, run, "plugins", "profile", f"2023_11_14_{hours:02}_00_00")
            os.makedirs(session)
            with open(os.path.join(session, "host.xplane.pb"), "wb") as f:
                f.write(profile(DAY_NS + hours * HOUR_NS))
        setup = {"program": doors.PROGRAM, "port": doors.free_port(), "logdir": logdir, "shots": os.environ.get("TS_SHOTS"),
                 "sessions": len(CAPTURED),
                 "captured": "14 Nov 2023, 12:00:00", "when": "captured on 14 Nov 2023 at 12:00:00"}
        path = os.path.join(folder, "setup.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(setup, f)
        done = doors.node("sessions.mjs", path, stdout=None, env={**os.environ, "TZ": "UTC"})
    if done.returncode == doors.SKIP:
        doors.skip(done.stderr.strip().removesuffix(": skipped"))
    return doors.ended(done.stderr.splitlines() if done.returncode else [])


if __name__ == "__main__":
    sys.exit(main())
