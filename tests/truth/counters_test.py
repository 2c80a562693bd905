#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counters of the hardware against XProf: counters_test.py

 - Where the Python package xprof is there: counters with ids of whole ranges and values by chance, on one to two chips in one to
   two readings, ids and values on events or on their metadata. XProf picks those that it knows, by its own tables: the rows of its
   utilization viewer are those of counters.utilization, in its order.
 - check says which option records counters, by chip and with the version of libtpu, and says nothing where there are some.
 - In a trace for Perfetto counters over time are a row, and those of the capture's end are not there.
 - Where they are there: the files and answers of $TS_CORPUS/../review/hardware (expect.json).
"""
import gzip
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import PROGRAM, TOP, ended, must, need
from wire import blob, double, num

REVIEW = pathlib.Path(os.environ.get("TS_CORPUS", os.path.join(TOP, "..", "shared", "corpus")), "..", "review", "hardware")
STATS = ["performance_counter_id", "counter_value", "device_id", "device_type_string"]
ROUNDS = 6
DIE = 1 << 29


def span(first, length, *copies):
    """Ids from FIRST on, and those of its copies: (how many, how far apart)."""
    ids = list(range(first, first + length, 8))
    for nr, stride in copies:
        ids = [i + n * stride for n in range(nr) for i in ids]
    return ids


CHIPS = {
    "TPU v6 Lite": span(3257466888, 1848) + span(3019980824, 48, (16, 2097152), (2, 33554432)) + span(2953257136, 176)
    + span(3490185224, 1016, (16, 2097152), (2, 44040192)) + span(3532193800, 48, (2, 44040192)),
    "TPU v7x": span(2791874568, 1848, (2, DIE)) + span(2847490056, 64, (2, DIE))
    + span(2705724440, 48, (16, 131072), (4, 2097152), (2, DIE)) + span(3238449440, 64, (4, 32768))
    + span(2792513544, 48, (16, 1048576), (2, 27262976), (2, DIE)) + span(2809282576, 64, (16, 524288), (2, 27262976), (2, DIE))
    + span(2817921032, 48, (2, 27262976), (2, DIE)),
}


def stat(field, name, value):
    return blob(field, num(1, STATS.index(name) + 1) + value)


def named(field, key, name, rest=b""):
    return blob(field, num(1, key) + blob(2, num(1, key) + blob(2, name) + rest))


def value_of(chance):
    whole = chance.choice([0, chance.randrange(1 << 12), chance.randrange(1 << 24), chance.randrange(1 << 40)])
    return double(2, whole + chance.choice([0, 0.5])) if chance.random() < 0.3 else num(chance.choice([3, 4]), whole)


def reading(chance, ids, keys):
    """A line's events, and their metadata; each has a key of its own."""
    events = metadata = b""
    few = chance.choice([0.5, 1, 1])
    for counter in chance.sample(ids, int(few * len(ids))):
        id_is = stat(5 if chance.random() < 0.3 else 4, STATS[0], num(chance.choice([3, 4]), counter))
        value = stat(5 if chance.random() < 0.2 else 4, STATS[1], value_of(chance))
        key = next(keys)
        on_event = b"".join(s for s in (id_is, value) if s[0] >> 3 == 4)
        on_metadata = b"".join(s for s in (id_is, value) if s[0] >> 3 == 5)
        events += blob(4, num(1, key) + on_event)
        metadata += named(4, key, f"counter {counter}", on_metadata)
    return events, metadata


def capture(chance, kind):
    out = b""
    for device in range(chance.choice([1, 2])):
        keys = iter(range(1, 1 << 20))
        plane = blob(2, f"/device:TPU:{device}")
        for sample in chance.sample(range(10), chance.choice([1, 2])):
            events, metadata = reading(chance, CHIPS[kind], keys)
            start = chance.choice([0, 1700000000000000000])
            plane += blob(3, num(1, sample) + blob(2, chance.choice(["", "counters"])) + num(3, start) + events) + metadata
        for i, name in enumerate(STATS):
            plane += named(5, i + 1, name)
        plane += stat(6, STATS[2], num(4, device + chance.choice([0, 4]))) + stat(6, STATS[3], blob(5, kind))
        out += blob(1, plane)
    return out


def report_of(path):
    return json.loads(subprocess.run([PROGRAM, "report", "--json", str(path)], check=True, capture_output=True, text=True).stdout)


def near(x, y, error=1e-9):
    return abs(x - y) <= error * max(abs(y), 1)


def same_rows(what, ours, theirs):
    """Rows (device, sample, node, name, unit, achieved, peak)."""
    must([r[:5] for r in ours] == [r[:5] for r in theirs], f"{what}: rows have other names or another order than XProf's")
    for us, xprof in zip(ours, theirs):
        must(near(us[5], xprof[5]) and near(us[6], xprof[6]), f"{what}: {us} is not {xprof}")


def row_of(unit):
    return tuple(unit[key] for key in ("device", "sample", "node", "name", "unit", "achieved", "peak"))


def against_xprof(ask):
    nr = 0
    for turn in range(ROUNDS):
        for kind in CHIPS:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "host.xplane.pb")
                path.write_bytes(capture(random.Random(turn), kind))
                data, _ = ask([str(path)], "utilization_viewer", {})
                theirs = [[cell["v"] for cell in row["c"]] for row in json.loads(data)["rows"]]
                theirs = [(r[1], r[2], r[3], r[4], r[7], r[5], r[6]) for r in theirs]
                same_rows(f"{kind} {turn}", [row_of(u) for u in report_of(path)["counters"]["utilization"]], theirs)
                nr += len(theirs)
    must(nr > 500, f"XProf gave {nr} rows")


def core(kind, more=b""):
    """A chip that ran an op, recorded by a libtpu that says its version."""
    plane = blob(2, "/device:TPU:0") + named(4, 1, "%fusion.1 = f32[8] fusion()")
    plane += blob(3, blob(2, "XLA Ops") + num(3, 1) + blob(4, num(1, 1) + num(2, 0) + num(3, 1000000)))
    for i, name in enumerate([*STATS, "libtpu_version"]):
        plane += named(5, i + 1, name)
    return blob(1, plane + stat(6, STATS[3], blob(5, kind)) + blob(6, num(1, 5) + blob(5, "0.0.99")) + more)


def notes_of(capture_bytes):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "host.xplane.pb")
        path.write_bytes(capture_bytes)
        answer = subprocess.run([PROGRAM, "check", "--format", "json", str(path)], capture_output=True, text=True)
        return [c["evidence"] for c in json.loads(answer.stdout)["checks"][0]["causes"] if c["id"] == "no_counters"]


def check_says_why():
    option = {"TPU v6 Lite": "tpu_perf_counters", "TPU v7x": "tpu_enable_kernel_profiling", "TPU v5 lite": "not published"}
    for kind, word in option.items():
        notes = notes_of(core(kind))
        must(len(notes) == 1 and word in notes[0] and "libtpu 0.0.99" in notes[0], f"{kind}: {notes}")
    sample = blob(4, num(1, 1) + num(2, 0) + stat(4, STATS[1], num(3, 7)))
    must(notes_of(core("TPU v6 Lite", blob(3, blob(2, "_counters_") + num(3, 1) + sample))) == [], "a note beside counters")


def traces_show_samples():
    sample = blob(4, num(1, 1) + num(2, 5000000) + stat(4, STATS[0], double(2, 42.5)))
    ended = blob(4, num(1, 1) + stat(4, STATS[1], num(3, 7)))
    lines = blob(3, blob(2, "_counters_") + num(3, 1) + sample) + blob(3, blob(2, "counters") + num(3, 1) + ended)
    with tempfile.TemporaryDirectory() as folder:
        session = pathlib.Path(folder, "plugins", "profile", "now")
        session.mkdir(parents=True)
        (session / "host.xplane.pb").write_bytes(core("TPU v6 Lite", lines))
        subprocess.run([PROGRAM, "annotate", "--quiet", folder], check=True)
        events = json.loads(gzip.decompress((session / "perfetto_trace.json.gz").read_bytes()))["traceEvents"]
    rows = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
    must("counters" not in rows and "_counters_" in rows, f"rows of the trace: {rows}")


# Of expect.json: what a path begins with, and what is looked at.

def units(check, report):
    truth = json.loads((REVIEW / check["input"].replace(".xplane.pb", ".truth.json")).read_text())
    same_rows(check["input"], [row_of(u) for u in report["counters"]["utilization"]], [row_of(u) for u in truth])


def only(rows, what):
    must(len(rows) == 1, f"{what}: {len(rows)} rows")
    return rows[0] if rows else {}


def series(check, report):
    name = re.search(r"name=(.*)\]", check["path-or-regex"])[1]
    row = only([s for s in report["counters"]["series"] if s["name"] == name], name)
    for key, value in check["expected"].items():
        must(row and near(row[key], value, 0.01 if key == "mean" else 1e-6), f"{name}: {key} is {row.get(key)}, not {value}")


def by_op(check, report):
    op, name = re.search(r"op=(.*),name=(.*)\]", check["path-or-regex"]).groups()
    row = only([r for r in report["counters"]["by_op"] if (r["op"], r["name"]) == (op, name)], f"{op} {name}")
    must(row and near(row["mean"], check["expected"], 0.01), f"{op} {name}: {row}")


def no_words(check, report):
    text = json.dumps(report)
    must(not re.search(check["path-or-regex"].removeprefix("not /").removesuffix("/"), text), check["path-or-regex"])


def finding(check, report):
    must(re.search("throttl", json.dumps(report["doctor"]["findings"]), re.I), "no finding about throttling")


def between_slices(check, report):
    device, name = re.search(r"device=(\d+),name=(.*)\]", check["path-or-regex"]).groups()
    row = only([r for r in report["dcn"] if (str(r["device"]), r["name"]) == (device, name)], f"{name} of {device}")
    found = {"occurrences": row.get("occurrences"), "stall_us_total": row.get("stall_ps", 0) / 1e6,
             "observed_us_mean": row.get("observed_ps", 0) / 1e6, "bytes_each": row.get("bytes"),
             "network_latency_us": row.get("network_latency_us")}
    must(all(near(found[key], value, 0.01) for key, value in check["expected"].items()), f"{name} of {device}: {found}")


CHECKS = {"dcn": between_slices, "counters.utilization": units, "counters.series": series, "counters.by_op": by_op, "not /": no_words,
          "doctor finding": finding}


def against_review():
    for check in json.loads((REVIEW / "expect.json").read_text()):
        for begin, look in CHECKS.items():
            if check["path-or-regex"].startswith(begin):
                look(check, report_of(REVIEW / check["input"]))


need(PROGRAM)
try:
    from xprof.convert import raw_to_tool_data
except ImportError:
    raw_to_tool_data = None
check_says_why()
traces_show_samples()
if raw_to_tool_data:
    against_xprof(raw_to_tool_data.xspace_to_tool_data)
if (REVIEW / "expect.json").exists():
    against_review()
sys.exit(ended())
