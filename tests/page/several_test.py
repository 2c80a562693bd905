#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The list of runs and a program's trend in real Chromium, with hundreds of runs: several_test.py

  - 300 runs stand in one list, the newest first; what people choose by is in sight at 1280 pixels; a word finds runs, and
    names that are cut stay apart
  - two that are ticked are compared; a program's trend marks where a gate would have failed, over the time when the runs
    began, and no dot is on the edge
  - of a program with more than 512 runs a trend has the newest, and says how many it leaves out
Run in the build folder; $TPUSIGHT names the program, $TS_SHOTS a folder for screenshots.
"""
import json
import math
import os
import sys
import tempfile
import urllib.parse

import doors
import expect
import sessions

RUNS, MOST = 300, 512
SLOW = (120, 121, 250)
STEP_NS = sessions.DAY_NS // 2
NAME = "experiments/llama_8b_pretrain_v6e_batch_{}_seq_4096_attempt_{:03d}_with_flash_attention"


def run(i):
    """Every second one has a long name; a few are slower by 8 %."""
    factor = 1 + 0.01 * math.sin(i) if i else 1
    return {"name": NAME.format(8 * (1 + i % 4), i) if i % 2 else f"run_{i:03d}", "factor": factor + 0.08 * (i in SLOW),
            "start_ns": sessions.BEGIN_NS + i * STEP_NS, "health": 40 + i % 55}


def check_trend(url, program, nr):
    """What the server says of a program with more runs than it gives."""
    asked = f"{url}api/trend?{urllib.parse.urlencode({'program': program})}"
    trend = json.load(doors.get(asked))
    begun = [r["when_unix_ms"] for r in trend["runs"]]
    wrong = []
    newest = (sessions.BEGIN_NS + (nr - 1) * STEP_NS) // 10**6
    if len(begun) != min(nr, MOST) or trend["older_count"] != max(nr - MOST, 0):
        wrong.append(f"of {nr} runs the trend has {len(begun)} and leaves out {trend['older_count']}")
    if begun != sorted(begun) or begun[-1] != newest:
        wrong.append(f"the trend ends at {begun[-1]} and not at {newest}, the newest run")
    return wrong


def main():
    doors.need_tools()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        logs, full = os.path.join(folder, "logs"), os.path.join(folder, "many")
        runs = [run(i) for i in range(RUNS)]
        report = sessions.many(logs, runs)
        sessions.many(full, [dict(run(i), name=f"run_{i:03d}") for i in range(MOST + 8)])
        median = report["overview"]["step_time_ps"]["median"]
        failed = [r for r in runs if round(median * r["factor"]) > median * 1.05]
        newest = runs[-1]
        with doors.serving(logs) as (url, _), doors.serving(full) as (other, _):
            listed = json.load(doors.get(f"{url}api/runs"))["runs"]
            wrong += check_trend(url, listed[0]["program"], RUNS) + check_trend(other, listed[0]["program"], MOST + 8)
            job = {"shots": os.environ.get("TS_SHOTS"), "url": url, "other": other, "runs": RUNS,
                   "titles": [r["title"] for r in listed[:2]],
                   "newest": {"when": "2026-05-30 12:00", "median": expect.time(round(median * newest["factor"])),
                              "health": f"{newest['health']} of 100", "chips": f"{listed[0]['chips']} \u00d7 {listed[0]['chip']}"},
                   "word": "attempt_12", "found": sum("attempt_12" in r["name"] for r in runs),
                   "program": listed[0]["program"], "folder": "logs", "failed": len(failed), "most": MOST, "older": 8}
            path = os.path.join(folder, "job.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump(job, f)
            done = doors.node("several.mjs", path)
        if done.returncode == doors.SKIP:
            doors.skip(done.stderr.strip().removesuffix(": skipped"))
        if done.returncode not in (0, 1):
            wrong.append(f"several.mjs ended with status {done.returncode}")
        wrong += done.stderr.splitlines()
    sys.exit(doors.ended(wrong))


if __name__ == "__main__":
    main()
