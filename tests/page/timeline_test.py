#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page's timeline in real Chromium: timeline_test.py

  - a file has each op of the mean step and of the slowest one, in slices that are bounded, whatever the run
  - a click on an op opens it, by mouse and by keys; wheel, W A S D, drags and Escape do what they do in Perfetto; one crosshair
  - rows are a tree that opens and shuts; gaps have the colour and the words of what was waited for; a finding marks its ops
  - the critical path is that of the report, in a file as at a server
  - a server is asked for what is in sight, once a look; where it has no events, the page says so
Run in the build folder; $TPUSIGHT names the program, $TS_SHOTS a folder for screenshots.
"""
import json
import os
import re
import sys
import tempfile

import doors
import page_test
import points_test

MOST = {"whole": 3000, "mean": 6000, "slowest": 6000}
FIELDS = 6
PLACES = 8192  # of a step: what is narrower may be one slice with others


def pictures(path):
    """{kind: picture} of a file."""
    with open(path, encoding="utf-8") as f:
        found = re.search(r'id="tpusight-slices">(.*?)</script>', f.read(), re.S)
    return {kept["kind"]: kept for kept in json.loads(found[1])}


def slices(lane):
    flat = lane["slices"]
    return [flat[i:i + FIELDS] for i in range(0, len(flat), FIELDS)]


def check_pictures(kept, report):
    """The steps are those of the report; each op is a slice of its own; there are no more than the file has room for."""
    steps = report["steps"]
    mean = report["overview"]["step_time_ps"]["mean"]
    nearest = min(steps, key=lambda s: abs(s["duration_ps"] - mean))["step"]
    slowest = max(steps, key=lambda s: s["duration_ps"])["step"]
    wrong = []
    if (kept["mean"]["step"], kept["slowest"]["step"]) != (nearest, slowest):
        wrong.append(f"steps {kept['mean']['step']} and {kept['slowest']['step']} instead of {nearest} and {slowest}")
    for kind, one in kept.items():
        lanes = one["picture"]["lanes"]
        nr = sum(len(slices(lane)) for lane in lanes)
        if nr > MOST[kind] or one["picture"]["left_out"]:
            wrong.append(f"{kind}: {nr} slices, {one['picture']['left_out']} lanes left out")
        if len(one["picture"]["names"]) != len(one["picture"]["modules"]):
            wrong.append(f"{kind}: names and modules differ in number")
        least = (one["picture"]["to_ps"] - one["picture"]["from_ps"]) / PLACES
        merged = [lane["name"] for lane in lanes if kind != "whole" for s in slices(lane) if s[4] != 1 and s[1] > least]
        wrong += [f"{kind}: {name} has slices of several events" for name in merged]
    return wrong


def longest_op(kept):
    """Of the first device in the mean step, and where it stands among its rows."""
    picture = kept["mean"]["picture"]
    ops = next(lane for lane in picture["lanes"] if lane["device"] == 0 and lane["kind"] == "ops")
    start, length, _, name, *_ = max(slices(ops), key=lambda s: s[1])
    from_ps = picture["from_ps"] + start
    return {"name": picture["names"][name], "from_ps": from_ps, "to_ps": from_ps + length, "device": 0,
            "row": 0}  # that of the chip


PARTS = {"ops_ps": "in ops", "collectives_ps": "in collectives", "transfers_ps": "in transfers", "input_ps": "waiting for input",
         "compile_ps": "waiting for a compilation", "launch_ps": "waiting for a launch", "host_ps": "waiting for the host",
         "idle_ps": "with nothing known"}


def spoken(ps):
    """A time as the page writes it: three digits in the largest unit that it has one of."""
    for unit, of in (("s", 1e12), ("ms", 1e9), ("\u00b5s", 1e6), ("ns", 1e3), ("ps", 1)):
        if ps >= 0.9995 * of:
            return f"{ps / of:#.3g}".rstrip(".") + f" {unit}"
    return f"{ps} ps"


def path_words(report, step):
    """What the page must say of the path of a step: the report's own figures."""
    row = next(r for r in report["critical_path"]["steps"] if r["step"] == step)
    parts = ", ".join(f"{spoken(row[name])} {words}" for name, words in PARTS.items() if row[name] > 0)
    return f"Critical path of step {step}, {spoken(row['duration_ps'])}: {parts}."


def gap_of(report):
    """The longest wait for the compiler, of the first device, and the words that the page must have for it."""
    waits = [g for g in report["time"]["idle_gaps"] if g["cause"] == "compilation" and g["device_id"] == 0]
    gap = max(waits, key=lambda g: g["duration_ps"])
    return {"from_ps": gap["start_ps"], "to_ps": gap["start_ps"] + gap["duration_ps"], "words": f"Compilation: {gap['host_event']}"}


def main():
    doors.need_tools()
    with tempfile.TemporaryDirectory() as folder:
        file = doors.html(doors.SAMPLE, os.path.join(folder, "sample.html"))
        kept = pictures(file)
        report = doors.report(doors.SAMPLE)
        wrong = check_pictures(kept, report)
        mean = kept["mean"]["picture"]
        job = {"file": f"file://{file}", "mean": {"from_ps": mean["from_ps"], "to_ps": mean["to_ps"]}, "op": longest_op(kept),
               "kept": [kept[kind]["step"] for kind in ("mean", "slowest")], "path": path_words(report, kept["mean"]["step"]),
               "gap": gap_of(report), "colors": points_test.COLORS,
               "shots": os.environ.get("TS_SHOTS")}
        reported = page_test.made_before(os.path.join(folder, "made"), doors.SAMPLE)
        with doors.serving(doors.SAMPLE) as (url, _), doors.serving(reported) as (made, _):
            path = os.path.join(folder, "job.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump({**job, "url": url, "made": made}, f)
            done = doors.node("timeline.mjs", path)
    if done.returncode == doors.SKIP:
        doors.skip(done.stderr.strip().removesuffix(": skipped"))
    print(done.stdout.strip())
    return doors.ended(wrong + done.stderr.splitlines())


if __name__ == "__main__":
    sys.exit(main())
