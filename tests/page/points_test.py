#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What pictures and numbers of the page once made people believe that was not so, in real Chromium: points_test.py [JOB...]

  A1   axes of stacked and filled charts begin at 0, and a class is drawn as large as it is
       also on 64 hosts, where a file has too few slices to show when each class was
  A2   the strip is the whole capture, also of a run without devices; what lies outside of steps and where findings are can be seen
  A3   what is chosen (a time, a step, a device of one host of many) is what all figures are of, or they say that they are not
  A4   utilization has a scale from 0 to 100 %, the bandwidth a line at its peak; what is above cannot be true and says so
  A5   the HBM utilization is one number
  A6   no share is above 100 %, no rate above what the chip can do
  A7   no time is longer than the run, but for core time, which has a unit of its own
  A8   beside what says how idle something was stands the time that it is of
  A9   charts over time have one axis, one left edge and one crosshair; hosts compile once, not once a device
  A10  what is inferred is not called measured
  A11  while a run loads, nothing of the one before stands under its name
  A12  columns for programs are not shown to people
  A13  a verdict does not praise what findings warn of, and key figures do not contradict it
What is true is worked out here from the report. $TPUSIGHT names the program, $TS_SHOTS a folder for screenshots. Exit 77: a tool is
missing.
"""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile

import doors
import expect
import views_test


def palette():
    """The colours of the classes of time, as the page has them."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "..", "plugin", "page", "src", "colors.js"), encoding="utf-8") as f:
        classes = re.search(r"const CLASSES = \{([^}]+)\}", f.read())[1]
    return {name: tuple(bytes.fromhex(color)) for name, color in re.findall(r'(\w+): "#([0-9a-f]{6})"', classes)}


COLORS = palette()
CPU = os.path.join(doors.HERE, "..", "data", "cpu_steps.xplane.pb")
CORE = "each core, from its first event to its last"
CAPTURE = "the capture"
KERNELS = "from the first kernel to the last"
BOTH = "from the first event of a host or a device to the last"
WINDOW = "Window: "
EVEN = {"compute": 0.45, "memory_wait": 0.35, "communication": 0.2}
# What may be longer than the run, or above 100 %, and says what it is: limits, waits of launches that wait at once, how much longer
# a step took.
SUMS = ("good up to", "good from", "Delay, sum", "Above the median, share")


def end_of(report):
    time = report["time"]
    return max(report["run"].get("capture_ps") or 0, (time.get("wall_start_ps") or 0) + (time.get("wall_ps") or 0))


def part_of(folder, name, path, change):
    """The page of PATH with another report."""
    return views_test.with_report(path, os.path.join(folder, f"{name}.html"), change)


# --- A1

def even(report):
    """Steps that are all alike: their least time is far above 0."""
    for step in report["time"]["per_step"]:
        for name in COLORS:
            step[f"{name}_ps"] = round(step["total_ps"] * EVEN.get(name, 0))
    return report


def middle_of(report, i):
    step = report["time"]["per_step"][i]
    return (step["start_ps"] + step["duration_ps"] / 2) / end_of(report)


def even_step(report):
    return {"at": middle_of(report, 0), "colors": [COLORS[name] for name in EVEN], "shares": list(EVEN.values())}


# --- A2

def steps_of(report):
    """None, where the time between them is not outside of steps: devices work behind the host's marks, GPUs one after the other."""
    gpus = len(report["run"]["devices"]) > 1 and all("GPU" in d["name"] for d in report["run"]["devices"])
    if any(s["source"] == "launched" or (s["source"] == "inferred" and gpus) for s in report["steps"]):
        return []
    listed = [s for s in report["time"]["per_step"] if not s.get("is_others")]
    return listed if len(listed) > 1 else []


def gap_before(steps, end, least):
    """The middle of a time that lies in no step, as a share of all; None: there is none that is wide enough."""
    at = 0
    for step in [*steps, {"start_ps": end, "duration_ps": 0}]:
        if step["start_ps"] - at > least * end:
            return (step["start_ps"] + at) / 2 / end
        at = max(at, step["start_ps"] + step["duration_ps"])
    return None


def marked(report):
    """Findings with times of their own, and where these are."""
    doctor = report["doctor"]
    for finding in doctor["findings"]:
        ranges = finding.get("time_ranges") or [r for r in doctor.get("ranges") or [] if r["finding"] == finding["id"]]
        longest = sorted(ranges, key=lambda r: r["start_ps"] - r["end_ps"])[:8]
        if longest:
            yield {"id": finding["id"], "title": finding["title"],
                   "at": [(r["start_ps"] + r["end_ps"]) / 2 / end_of(report) for r in longest]}


def late_work(report, end):
    """The longest work of a device behind the host's last mark, and its class."""
    track = next(t for t in report["tracks"] if t["name"] == "Time classes")
    last = max(s["start_ps"] + s["duration_ps"] for s in report["time"]["per_step"])
    spans = [(until - begin, begin, until, track["labels"][kind]) for begin, until, kind in zip(*(track["slices"][i::3] for i in range(3)))]
    _, begin, until, says = max((span for span in spans if span[1] > last and span[3] != "Idle"), default=(0, 0, 0, None))
    return says and {"at": (begin + until) / 2 / end, "says": says, "hatched": False}


def strip(report):
    end, steps = end_of(report), steps_of(report)
    listed = steps or ([] if expect.tracks(report, "Time classes") else report["steps"])
    want = {"end_ps": end, "findings": list(marked(report))}
    want["loose"] = not listed
    if not listed and len(report["time"]["per_step"]) > 1 and len(report["run"]["devices"]) == 1:
        want["outside"] = late_work(report, end)
    if listed:
        step = listed[0]
        want["in_step"] = {"at": (step["start_ps"] + step["duration_ps"] / 2) / end, "says": f"step {step['step']}"}
        outside = gap_before(listed, end, 0.02)
        if outside:
            want["outside"] = {"at": outside, "says": "outside of steps" if steps else "nothing at", "hatched": bool(steps)}
    return want


# --- A3

def texts(report):
    return {name: [t for t in view.get("texts", []) if t] for name, view in expect.views(report).items()}


def second_step(report):
    step = report["time"]["per_step"][1]
    return step["start_ps"], step["start_ps"] + step["duration_ps"]


def link_of(begin, end):
    return f"from_ps={begin}&to_ps={end}"


def chosen(url, whole):
    """What the page must show of one step, and what of the whole run it must not."""
    begin, end = second_step(whole)
    run = doors.ask(url, "/api/runs")["runs"][0]["id"]
    part = doors.ask(url, "/api/report", run=run, from_ps=begin, to_ps=end)
    ours, theirs = texts(part), texts(whole)
    # A view's first text may be part of another figure: only those with a unit, and of their own, are looked for.
    gone = {name: [t for t in theirs.get(name, []) if t not in " ".join(ours[name]) and expect.UNKNOWN not in t and t[:1].isdigit()
                   and " " in t] for name in ours}
    for found, report in ((ours, part), (gone, whole)):  # the overview says what was profiled: that is the whole run, and says so
        found["overview"] = [t for t in found["overview"] if t != expect.time(report["run"]["duration_ps"])]
    assert part["overview"]["step_count"] == 1 and any(gone.values()), "the part is not another report"
    return {"link": link_of(begin, end), "views": {name: {"part": ours[name], "whole": gone[name]}
                                                   for name in ("overview", "systolic", "time", "memory") if name in ours}}


# --- A4

def beyond(report):
    """One cell that the program left empty and says why, one that it did not."""
    heat = report["heatmap"]
    heat["ops"][1]["mxu_utilization_pct"][2] = 1367.0
    heat["ops"][0]["mxu_utilization_pct"][3] = None
    heat["ops"][0]["mxu_utilization_pct"][5] = None  # its op did not run there
    report.setdefault("impossible", []).append({"view": "heatmap", "table": "ops", "row": 0, "item": heat["ops"][0]["op"],
                                                "field": "mxu_utilization_pct", "item_index": 3, "value": 546.0, "peak": 100.0,
                                                "cause": "its FLOPs and its time in these steps contradict the chip's peak"})
    return report


def faint(report):
    """Matrix units and memory that do nearly nothing."""
    for track in report["tracks"]:
        if track["name"] in ("MXU utilization (%)", "HBM bandwidth (GB/s)"):
            track["points"] = [v / 1000 if i % 2 else v for i, v in enumerate(track["points"])]
    return report


def scales(report, **more):
    return {"peak": report["run"]["devices"][0]["hbm_bytes_per_s"],
            "has_matrix": any(track["name"] == "MXU utilization (%)" for track in report["tracks"]), **more}


# --- A6, A7, A12

def fastest(report):
    """Bytes a second: on-chip memories are faster than HBM."""
    rates = [r["peak_bytes_per_s"] for r in (report.get("memory") or {}).get("spaces") or [] if r.get("peak_bytes_per_s")]
    rates += [d["hbm_bytes_per_s"] for d in report["run"]["devices"] if d.get("hbm_bytes_per_s")]
    roofs = [v for row in report.get("roofline_ridges") or [] for k, v in row.items() if k.endswith("bytes_per_s") and v]
    return max([*rates, *roofs, 0]) * 1.001 or 1e15


def everything(report):
    return {"end_ps": end_of(report), "bytes_per_s": fastest(report), "more": list(SUMS)}


# --- A9

def compiles(report, host):
    end = end_of(report)
    track = next(t for t in report["tracks"] if t["name"] == "Host compiles")
    spans, at = 0, 0
    for begin, until in sorted(zip(track["slices"][::3], track["slices"][1::3])):
        spans += max(until - max(begin, at), 0)
        at = max(at, until)
    return {"view": "cache", "chart": "Host compiles", "end_ps": end, "rows": [host], "share": spans / end}


# --- A13

def compute_bound(report):
    """A run whose matrix units are busy and whose memory is not, with a warning."""
    assert any(f["severity"] != "info" for f in report["doctor"]["findings"])
    for kpi in report["doctor"]["kpis"]:
        if kpi["name"] == "memory_bandwidth":
            kpi.update(value=23, band="neutral", band_reason="the run is bound by the matrix units, not by memory")
    return report


def praised(report):
    return not any(f["severity"] in ("warning", "critical") for f in report["doctor"]["findings"])


# --- jobs: a door, and what is looked at there

def page(folder, name, profile):
    path = os.path.join(folder, f"{name}.html")
    return path if os.path.exists(path) else doors.html(profile, path)


def job(name, path, checks):
    return {"name": name, "url": f"file://{path}", "inside": [f"file://{path}"], "checks": checks}


def sample_jobs(folder):
    path = page(folder, "sample", doors.SAMPLE)
    report = views_test.page_of(path)[1]
    begin, end = second_step(report)
    views = [name for name in expect.views(report) if name not in ("slices", "flame")]
    pct = expect.share(report["overview"]["hbm_utilization_pct"])
    host = report["run"]["hosts"][0]["name"]
    yield job("sample", path, [
        ["from_zero", {"step": None}], ["whole_capture", strip(report)],
        ["said", {"link": link_of(begin, end), "word": "whole run", "views": views}],
        ["said", {"link": "device=1", "word": "all devices", "views": views}],
        ["one", {"link": link_of(begin, end), "view": "time", "table": "Steps"}],
        ["fixed_scales", scales(report)], ["one_utilization", {"pct": pct}],
        ["windows", {"views": {"overview": {"Duty cycle": WINDOW + CORE}}}],
        ["one_voice", {"praised": praised(report), "excused": []}], ["sweep", everything(report)],
        ["one_axis", compiles(report, host)]])
    same = part_of(folder, "even", path, even)
    yield job("even", same, [["from_zero", {"views": ["overview", "time"], "step": even_step(views_test.page_of(same)[1])}]])
    yield job("beyond", part_of(folder, "beyond", path, beyond), [["fixed_scales", scales(report, impossible={
        "cells": [[1, 2], [0, 3]], "rows": len(report["heatmap"]["ops"]), "columns": len(report["heatmap"]["steps"])})]])
    yield job("faint", part_of(folder, "faint", path, faint), [["fixed_scales", scales(report)]])
    yield job("bound", part_of(folder, "bound", path, compute_bound), [["one_voice", {"praised": False, "excused": ["Memory bandwidth"]}]])


def cpu_jobs(folder):
    path = page(folder, "cpu", CPU)
    report = views_test.page_of(path)[1]
    assert len(report["steps"]) > 1 and len(report["time"]["per_step"]) == len(report["steps"])
    yield job("cpu", path, [["whole_capture", strip(report)], ["sweep", everything(report)]])


def planted_jobs(folder):
    path = page(folder, "recompiles", views_test.planted("recompiles", folder))
    report = views_test.page_of(path)[1]
    assert len(report["run"]["devices"]) > len(report["run"]["hosts"]) == 1
    yield job("recompiles", path, [["one_axis", compiles(report, report["run"]["hosts"][0]["name"])], ["sweep", everything(report)],
                                   ["one_voice", {"praised": praised(report), "excused": []}]])
    two = page(folder, "two", views_test.planted("two_hosts", folder))
    many = part_of(folder, "many", two, views_test.pod)
    begin = 4 * 77 + 2  # a device of one host: all hosts have one of this name
    yield job("many", many, [
        ["one", {"link": f"device={begin}", "view": "systolic", "table": "Devices"}],
        ["one", {"link": f"device={begin}", "view": "time", "table": "Per core"}],
        ["from_zero", {"views": ["overview", "time"], "step": None}]])
    yield job("two", two, [["sweep", everything(views_test.page_of(two)[1])]])


def pod_jobs(folder):
    """64 hosts: what is summed over cores is longer than the run there, and a file has two slices for each device."""
    out = os.path.join(folder, "hosts")
    subprocess.run([sys.executable, os.path.join(doors.HERE, "..", "fixtures", "pod.py"), out, "64"], check=True, stdout=subprocess.DEVNULL)
    path = page(folder, "pod", os.path.join(out, "pod"))
    report = views_test.page_of(path)[1]
    cores = [[row["communication_ps"], row["total_ps"]] for row in report["time"]["per_core"][:4]]
    assert all(0.2 < part / whole < 0.8 for part, whole in cores)
    yield job("pod", path, [["sweep", everything(report)], ["shares_of_cores", {"shares": [part / whole for part, whole in cores]}]])


def trace_jobs(folder):
    for name, profile in (("trace", doors.TRACE), ("compiled", doors.COMPILED)):
        path = page(folder, name, profile)
        report = views_test.page_of(path)[1]
        gpu = {"overview": {"Duty cycle": WINDOW + CORE}}
        more = [["windows", {"views": gpu}]] if report["run"]["devices"] else []
        yield job(name, path, [["from_zero", {"step": None}], ["whole_capture", strip(report)], ["sweep", everything(report)], *more])


def corpus_jobs(folder):
    found = doors.profiles()
    if "v6e" in found:
        path = page(folder, "v6e", found["v6e"])
        report = views_test.page_of(path)[1]
        pct = expect.share(report["overview"]["hbm_utilization_pct"])
        yield job("v6e", path, [["from_zero", {"step": None}], ["whole_capture", strip(report)], ["inferred", {}],
                                ["fixed_scales", scales(report)], ["one_utilization", {"pct": pct}], ["sweep", everything(report)],
                                ["one_voice", {"praised": praised(report), "excused": []}]])
    if "mi300x" in found:
        path = page(folder, "mi300x", found["mi300x"])
        report = views_test.page_of(path)[1]
        yield job("mi300x", path, [
            ["from_zero", {"step": None}], ["whole_capture", strip(report)], ["inferred", {}], ["sweep", everything(report)],
            ["windows", {"views": {"overview": {"Duty cycle": WINDOW + CORE, "GPU idle, share of the capture": WINDOW + CAPTURE},
                                   "hta": {"GPU idle, share of the capture": WINDOW + CAPTURE,
                                           "GPU idle, share of the kernels' window": WINDOW + KERNELS},
                                   "timeline": {"Device active, share": WINDOW + BOTH}}}]])
    if "h100" in found:
        path = page(folder, "h100", found["h100"])
        report = views_test.page_of(path)[1]
        yield job("h100", path, [["phone", {}], ["from_zero", {"step": None}], ["whole_capture", strip(report)],
                                 ["sweep", everything(report)]])
    if "mi300" in found:
        path = page(folder, "mi300", found["mi300"])
        yield job("mi300", path, [["whole_capture", strip(views_test.page_of(path)[1])]])


def served_jobs(stack, folder):
    url, _ = stack.enter_context(doors.serving(doors.SAMPLE))
    url = url.rstrip("/") + "/"
    whole = doors.ask(url, "/api/report", run=doors.ask(url, "/api/runs")["runs"][0]["id"])
    begin, end = second_step(whole)
    yield {"name": "served", "url": url, "inside": [url], "checks": [
        ["recomputed", chosen(url, whole)], ["one", {"link": link_of(begin, end), "view": "time", "table": "Steps", "scope": True}]]}
    logdir = doors.logdir(os.path.join(folder, "logs"), {"first": doors.SAMPLE, "second": doors.TRACE})
    several, _ = stack.enter_context(doors.serving(logdir))
    several = several.rstrip("/") + "/"
    runs = {r["run"]: r for r in doors.ask(several, "/api/runs")["runs"]}
    says = {name: expect.time(doors.ask(several, "/api/report", run=r["id"])["run"]["duration_ps"]) for name, r in runs.items()}
    yield {"name": "loading", "url": several, "inside": [several], "checks": [["nothing_old", {
        name: {"run": runs[name]["title"], "id": runs[name]["id"], "says": says[name]} for name in ("first", "second")}]]}


JOBS = {"sample": sample_jobs, "cpu": cpu_jobs, "planted": planted_jobs, "pod": pod_jobs, "trace": trace_jobs, "corpus": corpus_jobs}


def main():
    doors.need_tools()
    wanted = sys.argv[1:] or [*JOBS, "served"]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        jobs = [one for name in wanted if name in JOBS for one in JOBS[name](folder)]
        if "served" in wanted:
            jobs += served_jobs(stack, folder)
        path = os.path.join(folder, "jobs.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(jobs, file)
        return subprocess.call(["node", os.path.join(doors.HERE, "points.mjs"), path, *filter(None, [os.environ.get("TS_SHOTS")])])


if __name__ == "__main__":
    sys.exit(main())
