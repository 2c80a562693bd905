#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks Perfetto's own trace processor how ui.perfetto.dev draws the sample: groups, their order, rows, scales, colours.

The UI makes its tracks of the table `_track_event_tracks_ordered_groups` (a row is what it draws as one), and its "Info and
stats" of `metadata`. What they say is held here against what the files are to look like, in both forms:

  - nothing is wrong with the file; a device has the group TPUsight above the group of the profile's lines
  - in TPUsight the rows of slices stand above the counters, each with a description; lines stand as in the profile
  - lanes are one row; only lines of hosts are threads, and their numbers are the system's
  - an op's slices have the colour of its category; counters of one unit have one scale
  - a file without all events says so on top, in the description of the lines, and in its metadata

$TS_TRACE_PROCESSOR names the trace processor; exit 77: it does not. $TPUSIGHT names the program (default bin/tpusight).
"""
import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import PROGRAM, skip

PROCESSOR = os.environ.get("TS_TRACE_PROCESSOR", "")
SAMPLE = os.path.join(HERE, "..", "data", "sample", "train_step_simulated", "plugins", "profile", "2026_01_01_00_00_00")
LINES = ["Steps", "XLA Modules", "XLA Ops", "Async XLA Ops", "XLA TraceMe"]  # of the sample's devices, in its order
THREADS = {"main/4242", "pjrt-tpu-tasks/4310", "tf_data_private_threadpool/4301"}
BUDGET = 5000
LEFT_OUT = "TPUsight: 17328 of 22328 events are left out"
GROUPS = """
include perfetto module viz.summary.track_event;
select coalesce(p.name, t.name) as process, parent.name as parent, g.name, g.is_counter as counter, g.has_data as data,
  coalesce(g.description, '') as description, coalesce(g.y_axis_share_key, '') as scale, coalesce(tid, '') as tid
from _track_event_tracks_ordered_groups g left join process p using (upid) left join thread t using (utid)
left join track parent on parent.id = g.parent_id where g.name is not null order by p.pid, g.parent_id, g.order_id;
"""


def ask(path, sql):
    out = subprocess.run([PROCESSOR, "query", path, sql], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(out)))


def must(good, what):
    if not good:
        raise AssertionError(what)


def look_at_form(path):
    bad = ask(path, "select name, severity, value from stats where value > 0 and severity in ('error', 'data_loss')")
    must(not bad, f"{path}: {bad}")
    facts = {r["name"].rpartition(".")[2]: r["int_value"] if r["str_value"] == "[NULL]" else r["str_value"]
             for r in ask(path, "select name, str_value, int_value from metadata where name like 'json_metadata.%'"
                                " or name like 'trace_attribute.%'")}
    want = {"generator": "tpusight", "events_left_out": "17328", "chip": "TPU v6e", "device_count": "4",
            "hosts": "simulated-host", "step_count": "20", "start_unix_ns": "1767225600000000000"}
    must({k: facts.get(k) for k in want} == want, f"{path}: the metadata says {facts}")
    slices = ask(path, "select t.name from slice s join track t on t.id = s.track_id where s.name = 'left out'"
                       " union all select thread.name from slice s join thread_track t on t.id = s.track_id"
                       " join thread using (utid) where s.name = 'left out'")
    must({"name": LEFT_OUT} in slices, f"{path}: the row that says what is left out: {slices}")


def look_at_device(rows, name):
    ours = [r for r in rows if r["parent"] == "TPUsight"]
    groups = [r["name"] for r in rows if r["parent"] == "[NULL]"]
    must(groups == ["TPUsight", "lines of the profile"], f"{name} has the groups {groups}")
    must(all(r["data"] == "0" and r["description"] for r in rows if r["parent"] == "[NULL]"), f"{name}: groups say nothing")
    must([r["counter"] for r in ours] == sorted(r["counter"] for r in ours), f"{name}: a counter stands above a row")
    must(all(r["description"] and r["data"] == "1" for r in ours), f"{name}: a row of ours does not say what it is")
    lines = [r["name"] for r in rows if r["parent"] == "lines of the profile"]
    must(lines == [x for x in LINES if x in lines] and "XLA Ops" in lines, f"{name} has the lines {lines}")
    about = next(r["description"] for r in rows if r["name"] == "lines of the profile")
    must("events are left out of this file" in about, f"{name}: {about}")
    scales = {r["name"]: r["scale"] for r in ours if r["counter"] == "1"}
    hbm = {scales[k] for k in ("HBM bandwidth (GB/s)", "HBM read (GB/s)", "HBM write (GB/s)")}
    must(hbm == {"GB/s"}, f"{name}: the scales are {scales}")
    must(all(v not in hbm for k, v in scales.items() if k.startswith("VMEM")), f"{name}: the scales are {scales}")


def look_at_tracks(path):
    rows = ask(path, GROUPS)
    devices = sorted({r["process"] for r in rows if r["process"].startswith("/device:")})
    must(len(devices) == 4, f"the devices are {devices}")
    for name in devices:
        look_at_device([r for r in rows if r["process"] == name], name)
    threads = {(r["name"], r["name"].rpartition("/")[2]) for r in rows if r["tid"]}
    must(threads == {(r["name"], r["tid"]) for r in rows if r["tid"]}, f"threads have other numbers: {rows}")
    must({name for name, _ in threads} <= THREADS, f"there are the threads {threads}")
    other = ask(path, "select count(*) as n from slice where category != 'tpusight' and"
                      " extract_arg(arg_set_id, 'correlation_id') is not category")
    must(other == [{"n": "0"}], f"{other} slices have the colour of another category")


def annotate(folder):
    for name in os.listdir(SAMPLE):
        if name.endswith(".xplane.pb"):
            shutil.copy(os.path.join(SAMPLE, name), folder)
    subprocess.run([PROGRAM, "annotate", "-q", "--perfetto=both", f"--max-trace-events={BUDGET}", folder], check=True)


def main():
    if not os.access(PROCESSOR, os.X_OK):
        skip("TS_TRACE_PROCESSOR does not name Perfetto's trace processor")
    with tempfile.TemporaryDirectory() as folder:
        session = os.path.join(folder, "plugins", "profile", "s")
        os.makedirs(session)
        annotate(session)
        for name in ("perfetto_trace.json.gz", "perfetto_trace.pftrace"):
            look_at_form(os.path.join(session, name))
        look_at_tracks(os.path.join(session, "perfetto_trace.pftrace"))
    print("groups, order, rows, scales, colours and what is left out: as they are to be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
