#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Habits from other profilers that the page serves, in real Chromium: habits_test.py [HABIT...]

  op, source, columns, moment   from a finding to the op, to the source line, and to the moment; columns as people want them
  share                         the address is all that one sees, in a file and in serve (habits_plugin_test.py: in TensorBoard)
  search, flame, zoom           one search, call stacks, and time from the whole run to single events
  paper, phone, outside         print, touch, and links out of a page that knows no TensorBoard
What the page must say is worked out here from the JSON report. $TPUSIGHT names the program, $TS_SHOTS a folder for screenshots.
"""
import contextlib
import json
import os
import subprocess
import sys
import tempfile

import doors
import expect
import timeline_test

OP, FINDING, WORD = "fusion.337", "unfused_attention", "softmax"
NEAR = [(236_154_000_000, 236_156_000_000), (236_154_000_000, 236_154_020_000)]  # 2 us and 20 ns of the run
FOLD = 3  # callers that are folded into one


MANY = 3  # times of a finding that are shown at first


def moment(report, finding):
    """The texts of a finding's times, the longest first, and where the first one leads."""
    devices = {d["id"]: d["name"] for d in report["run"]["devices"]}
    ranges = finding.get("time_ranges") or [r for r in report["doctor"]["ranges"] if r["finding"] == finding["id"]]
    ranges = sorted(ranges, key=lambda r: r["start_ps"] - r["end_ps"])
    texts = [f"{'Show an example' if r.get('example') else 'Show'}: {expect.time(r['end_ps'] - r['start_ps'])} at "
             f"{expect.time(r['start_ps'])}{' on ' + devices[r['device']] if r['device'] is not None else ''}" for r in ranges]
    more = len(texts) - MANY
    if more > 0:
        texts[MANY:] = [f"{more} shorter time{'s' if more > 1 else ''}"]
    first = ranges[0]
    return {"finding": finding["id"], "texts": texts, "first": {
        "from": first["start_ps"], "to": first["end_ps"], "device": None if first["device"] is None else str(first["device"])}}


def by_source(ops):
    times = {}
    for op in ops:
        if op["source"]:
            times[op["source"]] = times.get(op["source"], 0) + op["self_time_ps"]
    return sorted(times.items(), key=lambda item: -item[1])


def flame_of(path):
    """What the graph of call stacks must say, by device time; None: there is no trace to ask."""
    if not path:
        return None
    report = doors.report(path)
    rows = report["flame"]["stacks"]
    total = [r["device_self_ps"] for r in rows]
    for i in reversed(range(len(rows))):
        if rows[i]["parent"] is not None:
            total[rows[i]["parent"]] += total[i]

    def inside(i):
        while (i := rows[i]["parent"]) is not None:
            if hits[i]:
                return True
        return False

    hits = [WORD in r["name"].lower() for r in rows]
    share = sum(total[i] for i, hit in enumerate(hits) if hit and not inside(i)) / sum(r["device_self_ps"] for r in rows)
    below = {}
    for i, r in enumerate(rows):
        if total[i] > 0:
            below.setdefault(r["parent"], []).append(i)
    folded = 0
    for at in below[None]:
        chain = []
        while len(below.get(at, [])) == 1:
            chain.append(at)
            at = below[at][0]
        folded += len(chain) if len(chain) >= FOLD else 0
    names = {"device": "Hottest on the device", "cpu": "Hottest on the CPU"}
    kinds = {r["weight"] for r in report["flame"]["hottest"]}
    return {"word": WORD, "nr": sum(hits), "part": expect.share(100 * share), "measure": "device time", "folded": folded,
            "hottest": [name for kind, name in names.items() if kind in kinds]}


def executions(page, op):
    """How often an op runs in the mean step of a file, core by core."""
    kept = timeline_test.pictures(page)["mean"]
    picture, counts = kept["picture"], {}
    for lane in picture["lanes"]:
        nr = sum(1 for s in timeline_test.slices(lane) if s[3] >= 0 and picture["names"][s[3]] == op)
        if nr and lane["kind"] in ("ops", "collectives", "async"):
            counts[lane["device"]] = counts.get(lane["device"], 0) + nr
    return {"step": kept["step"], "counts": [counts[device] for device in sorted(counts)]}


def wants(report, trace, page):
    ops = {op["name"]: op for op in report["ops"]}
    findings = {f["id"]: f for f in report["doctor"]["findings"]}
    lines = by_source(report["ops"])
    other = next(f for f in report["doctor"]["findings"] if f["id"] != FINDING)
    return {
        "op": {"finding": FINDING, "name": OP, "key": f"{ops[OP]['module']}/{OP}", "nr": len(findings[FINDING]["where"]),
               "executions": executions(page, OP)},
        "source": {"line": ops[OP]["source"], "lines": [[line, expect.core_time(ps)] for line, ps in lines[:4]]},
        "moments": [moment(report, f) for f in (findings[FINDING], findings["slow_steps"])],
        "search": [{"word": OP, "kind": "op", "name": OP}, {"word": ops[OP]["source"], "kind": "source", "name": ops[OP]["source"]},
                   {"word": ops[OP]["module"], "kind": "module", "name": ops[OP]["module"]},
                   {"word": other["title"][:12], "kind": "finding", "name": other["title"]}],
        "flame": flame_of(trace), "near": NEAR, "end": report["run"]["capture_ps"]}


def trace():
    """A trace with call stacks of Python above its kernels; None: it is not there, as no bundled one has both."""
    return doors.profiles().get("h100")


def run(job, folder):
    path = os.path.join(folder, "job.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(job, file)
    return subprocess.call(["node", os.path.join(doors.HERE, "habits.mjs"), path])


def main():
    doors.need_tools()
    stacks = trace()
    if not stacks and sys.argv[1:] == ["flame"]:
        doors.skip("no trace has call stacks above its kernels")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        file = f"file://{doors.html(doors.SAMPLE, os.path.join(folder, 'sample.html'))}"
        flame = stacks and f"file://{doors.html(stacks, os.path.join(folder, 'flame.html'))}"
        session = os.path.join("first", "plugins", "profile", "2026_01_01_00_00_00")
        logdir = doors.logdir(os.path.join(folder, "logs"), {"first": doors.SAMPLE, "second": doors.SAMPLE})
        named = f"file://{doors.html(os.path.join(logdir, session), os.path.join(folder, 'named.html'))}"
        ways = [{"name": "file", "url": file, "inside": [file]}]
        if not sys.argv[1:] or "share" in sys.argv[1:]:
            url, _ = stack.enter_context(doors.serving(logdir))
            runs = json.load(doors.get(url + "api/runs"))["runs"]
            chosen = next(r for r in runs if r["run"] == "first")
            ways.append({"name": "serve", "url": url, "inside": [url], "run": chosen["id"], "title": "first"})
        want = wants(doors.report(doors.SAMPLE), stacks, file.removeprefix("file://"))
        return run({"file": file, "flame": flame, "named": named, "doors": ways, "habits": sys.argv[1:],
                    "shots": os.environ.get("TS_SHOTS"), "want": want}, folder)


if __name__ == "__main__":
    sys.exit(main())
