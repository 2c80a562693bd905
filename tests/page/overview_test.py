#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The overview and the list of findings in real Chromium: overview_test.py [NAME...]

The sample, a real profile of TPUs, a trace of a GPU, a run on a CPU, one of two hosts and one of nothing: what both views must say is
worked out here from the report. Each is looked at on three widths and in both themes (overview.mjs). $TPUSIGHT names the program,
$TS_SHOTS a folder for screenshots. Exit 77: a tool is missing.
"""
import datetime
import json
import os
import subprocess
import sys
import tarfile
import tempfile

import doors
import expect
import profiles

HERE = doors.HERE
CPU = os.path.join(HERE, "..", "data", "cpu_steps.xplane.pb")
PLANTED = os.path.join(HERE, "..", "data", "planted")
MOST_FINDINGS, MOST_OPS, PLACES = 8, 10, 3
CLASSES = {"compute": "Compute", "below_roofline": "Below roofline", "memory_wait": "Memory wait", "communication": "Communication",
           "host_transfer": "Host transfer", "rematerialization": "Rematerialization", "unexplained": "Unexplained",
           "compilation": "Compilation", "input": "Input", "launch": "Launch", "idle": "Idle"}
FIGURES = ("health_score", "duty_cycle_pct", "mxu_utilization_pct", "hbm_utilization_pct", "padding_waste_pct")


def two_hosts(folder):
    with tarfile.open(os.path.join(PLANTED, "two_hosts.tar.gz")) as tar:
        tar.extractall(folder, filter="data")
    return os.path.join(folder, "two_hosts")


def nothing(folder):
    path = os.path.join(folder, "nothing.xplane.pb")
    with open(path, "wb") as file:
        file.write(profiles.space([profiles.task(10**6)], ["host"]))
    return path


def found(folder):
    """{name: profile}; those of the corpus where it is there."""
    files = {"sample": doors.SAMPLE, "trace": doors.TRACE, "cpu": CPU, "two": two_hosts(folder), "nothing": nothing(folder)}
    there = doors.profiles()
    return files | {name: there[name] for name in ("v6e", "h100") if name in there}


def chips(report):
    """4 x TPU v6e."""
    kinds = {}
    for device in report["run"]["devices"]:
        kind = device["chip"] or device["kind"]
        kinds[kind] = kinds.get(kind, 0) + 1
    return [f"{n} \u00d7 {kind}" for kind, n in kinds.items()] or ["none: no TPU or GPU ran"]


def began(unix_ns):
    return datetime.datetime.fromtimestamp(unix_ns // 10**9, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def profiled(report):
    """What was profiled."""
    run, timed = report["run"], [m for m in report["modules"] if m["total_time_ps"] is not None]
    started = [int(host["start_unix_ns"]) for host in run["hosts"] if host["start_unix_ns"]]
    texts = chips(report) + [f"{report['overview']['step_count']}" if report["overview"]["step_count"] else "none"]
    texts += [max(timed, key=lambda m: m["total_time_ps"])["name"]] if timed else []
    texts += [began(min(started))] if started else []
    texts += [expect.time(run["duration_ps"])] if run["duration_ps"] is not None else []
    return texts + ([run["hosts"][0]["name"]] if len(run["hosts"]) == 1 else [])


def classes(report):
    """The legend: each class with its share of core time and its time."""
    time, parts = report["time"], report["time"]["buckets"]
    known = {name: parts[f"{name}_ps"] for name in CLASSES if parts.get(f"{name}_ps")}
    return [[CLASSES[name], expect.share(100 * ps / time["total_ps"]), expect.core_time(ps)] for name, ps in known.items()
            if 100 * ps / time["total_ps"] >= 0.1]


def verdict(report):
    """Its words without praise above warnings, and the rate behind it."""
    said, rate = report["time"]["bottleneck"], report["time"].get("bottleneck_evidence")
    if said is None:
        return []
    warned = any(f["severity"] != "info" for f in report["doctor"]["findings"])
    said = said.replace(" (good for TPU!)", "") if warned else said
    return [said, rate] if rate.lower() not in said.lower() else [said]


def hint(op):
    """What a person wrote: the einsum or the last name, and the file with its line."""
    scopes = (op["framework_op"] or "").split("/")
    name = scopes[-2] if len(scopes) > 1 and "->" in scopes[-2] else scopes[-1]
    return [text for text in (name, (op["source"] or "").split("/")[-1]) if text]


def ops(report):
    """The ops with the most time, as bars: their names, and what stands beside them."""
    known = sorted((o for o in report["ops"] if not o.get("is_others") and o["self_time_ps"]), key=lambda o: -o["self_time_ps"])
    return [{"name": o["name"], "key": f"{o['module'] or ''}/{o['name']}", "texts": hint(o) + [expect.core_time(o["self_time_ps"])],
             "width": 100 * o["self_time_ps"] / known[0]["self_time_ps"]} for o in known[:MOST_OPS]]


def steps(report):
    """The histogram, and the steps that the report calls slow; else the longest."""
    all_steps = [s for s in report["steps"] if not s.get("is_others")]
    times = report["overview"]["step_time_ps"]
    if len(all_steps) < 2:
        return None
    order = sorted(all_steps, key=lambda s: -s["duration_ps"])
    slow = {o["start_ps"]: o for o in (report["time"].get("steps_outliers") or [])}
    shown = [s for i, s in enumerate(order) if s["start_ps"] in slow or (i == 0 and s["duration_ps"] > times["median"])][:8]
    return {"marks": [f"{name} {expect.time(times[name])}" for name in ("median", "p90", "p99")],
            "slow": [{"text": f"Step {s['step']} at {expect.time(s['start_ps'])}: {expect.time(s['duration_ps'])}",
                      "range": [s["start_ps"], s["start_ps"] + s["duration_ps"]]} for s in shown]}


def bounds(span):
    return [span["start_ps"], span["end_ps"]]


def moments(finding):
    """Its moments, the longest first."""
    return sorted(finding["time_ranges"], key=lambda r: r["start_ps"] - r["end_ps"])


def end_of(report):
    """Where the axis of time ends."""
    time = report["time"]
    return max(report["run"]["capture_ps"] or 0, (time.get("wall_start_ps") or 0) + (time.get("wall_ps") or 0))


def findings(report):
    shown = report["doctor"]["findings"][:MOST_FINDINGS]
    first = next(({"at": i, "range": bounds(moments(f)[0])} for i, f in enumerate(shown) if f["time_ranges"]), None)
    placed = [f for f in shown if f["time_ranges"]]
    marks = [(row, *bounds(r)) for row, f in enumerate(placed) for r in f["time_ranges"]]
    row, start, end = max(marks, key=lambda m: m[2] - m[1], default=(0, 0, 0))
    mark = {"row": row, "at": (start + end) / 2, "end": end_of(report)} if marks else None
    return {"titles": [f["title"] for f in shown], "rows": len(placed), "first": first, "mark": mark}


def name_of(report):
    run = report["run"]
    names = [run["run"] if run["run"] != "." else None, run["session"]]
    return " / ".join(filter(None, names)) or (run["hosts"][0]["name"] if run["hosts"] else "")


def overview(report):
    figures = report["overview"]
    return {"title": f"{name_of(report)} \u00b7 TPUsight", "profiled": profiled(report), "verdict": verdict(report),
            "classes": classes(report),
            "health": None if figures["health_score"] is None else str(round(figures["health_score"])),
            "unknown": sum(figures[name] is None for name in FIGURES), "findings": findings(report), "ops": ops(report),
            "steps": steps(report),
            "hosts": len(report["run"]["hosts"]), "chips": len(report["run"]["devices"])}


def doctor(report):
    """The first finding is open; three of its places are named, the rest on a click."""
    all_findings = report["doctor"]["findings"]
    limit = {"compute": "memory_bandwidth", "memory_wait": "mxu_utilization"}.get(report["time"].get("bottleneck_bucket"))
    poor = sum(k["band"] == "poor" and k["name"] != limit for k in report["doctor"]["kpis"])
    return {"count": len(all_findings), "places": len(all_findings[0]["where"]) if all_findings else 0, "few": PLACES, "poor": poor,
            "order": [f["id"] for f in sorted(all_findings, key=lambda f: -(f["gain_ps"] or 0))],
            "ids": [f["id"] for f in all_findings]}


def jobs(folder, names):
    for name, profile in found(folder).items():
        if names and name not in names:
            continue
        report = doors.report(profile)
        page = doors.html(profile, os.path.join(folder, f"{name}.html"))
        yield {"name": name, "url": f"file://{page}", "overview": overview(report), "doctor": doctor(report)}


def main():
    doors.need_tools()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "jobs.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(list(jobs(folder, sys.argv[1:])), file)
        return subprocess.call(["node", os.path.join(HERE, "overview.mjs"), path, *filter(None, [os.environ.get("TS_SHOTS")])])


if __name__ == "__main__":
    sys.exit(main())
