#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trimmed and redacted profiles in the real XProf: copies_xprof_test.py

A cut must be what XProf showed there before: of each run its trace viewer's events that overlap the cut are looked up in its
answer about the whole run, and must be the answer about the trimmed one, event for event with all arguments. The other
pages must open. Runs: planted ones (one with two hosts, one with many programs), and real ones where the corpus is there
($TS_CORPUS).

Of a redacted run the tables have the same numbers in their rows, which may trade places where names break ties.

Beside that each trimmed file is looked through on the wire: every id that something refers to is there, every one that is there is
referred to, and HLO protos are those of programs whose ops are left.

Run in the build folder. $TPUSIGHT names the program (default bin/tpusight), $TS_VIEWERS_PYTHON a Python that has
tests/requirements.txt. Exit 77: xprof is not there.
"""
import collections
import glob
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

from quiet import quiet

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import DATA, PROGRAM, need_viewer

sys.path[:0] = [HERE, os.path.join(HERE, "..", "fixtures")]
PLANTED = ["clean", "two_hosts", "recompiles", "collectives"]
PAGES = ["hlo_stats", "overview_page", "op_profile", "input_pipeline_analyzer"]

# Fields of XSpace, by name (xplane.proto)
PLANES, LINES, EVENT_NAMES, STAT_NAMES, PLANE_STATS, EVENTS = 1, 3, 4, 5, 6, 4


def answers(session, tools):
    import xprof_answers
    with quiet():
        return xprof_answers.answers(session, tools)


# --- the trace viewer's events

def events_of(text, lags_us):
    """(process, thread, event) of each host's complete events; names of threads and processes in place of numbers. XProf
    counts each host's time from its own start, a cut from the first one's."""
    found = []
    for part, lag_us in zip(text.splitlines(), lags_us):
        trace = json.loads(part)["traceEvents"]
        names = {(e["pid"], e.get("tid"), e["name"]): e["args"]["name"] for e in trace
                 if e.get("ph") == "M" and e["name"] in ("process_name", "thread_name")}
        for e in trace:
            if e.get("ph") != "X":
                continue
            process = names.get((e["pid"], None, "process_name"))
            thread = names.get((e["pid"], e["tid"], "thread_name"))
            found.append((process, thread, dict(e, ts=e["ts"] + lag_us)))
    return found


# What XProf works out of other events, rows and regions: of a part of the run it is cut otherwise.
REGION = "ThreadpoolListener::Region"
DERIVED = ("Framework", "Source code", "TensorFlow", "Launch Stats", "Host Offload Ops")


def keys_of(events, cut_us):
    """The events that overlap the cut, as texts; flows are numbered anew in each answer."""
    lo, hi = cut_us
    out = []
    for process, thread, e in events:
        if e["name"] == REGION or thread and (thread.startswith(DERIVED) or " - from #" in thread):
            continue
        start, end = e["ts"], e["ts"] + e.get("dur", 0)
        if start >= hi or (end <= lo and start < lo):
            continue
        args = {k: v for k, v in e.get("args", {}).items() if k not in ("flow", "group_id", "uid")}
        out.append(json.dumps([process, thread, e["name"], round(start, 6), round(e.get("dur", 0), 6), args],
                              sort_keys=True))
    return sorted(out)


# --- the wire

def stat_refs(wire, stat, ids):
    for field, _, value in wire.fields(stat):
        if field in (1, 7):
            ids.add(value)


def entries(wire, plane, field):
    for found, _, value in wire.fields(plane):
        if found == field:
            entry = {f: v for f, _, v in wire.fields(value)}
            yield entry.get(1, 0), entry.get(2, b"")


def look_through(path):
    """What is wrong with the references in a file."""
    import wire
    bad, kept_programs, programs = [], set(), set()
    with open(path, "rb") as f:
        space = f.read()
    for field, _, plane in wire.fields(space):
        if field != PLANES:
            continue
        events, stats = set(), set()
        name = next((v.decode() for f, _, v in wire.fields(plane) if f == 2), "")
        for f, _, line in wire.fields(plane):
            if f == PLANE_STATS:
                stat_refs(wire, line, stats)
            if f != LINES:
                continue
            for g, _, event in wire.fields(line):
                if g != EVENTS:
                    continue
                for h, _, value in wire.fields(event):
                    if h == 1:
                        events.add(value)
                    if h == 4:
                        stat_refs(wire, value, stats)
        named = dict(entries(wire, plane, STAT_NAMES))
        stat_name = {key: next((v.decode() for f, _, v in wire.fields(body) if f == 2), "") for key, body in named.items()}
        bodies = dict(entries(wire, plane, EVENT_NAMES))
        for body in bodies.values():
            label = next((v.decode("utf-8", "replace") for f, _, v in wire.fields(body) if f == 2), "")
            for f, _, stat in wire.fields(body):
                if f != 5:
                    continue
                stat_refs(wire, stat, stats)
                values = {g: v for g, _, v in wire.fields(stat)}
                if stat_name.get(values.get(1)) == "program_id" and name != "/host:metadata":
                    programs.add(values.get(3, values.get(4)))
                if stat_name.get(values.get(1)) in ("Hlo Proto", "hlo_proto"):
                    kept_programs.add(label)
            if label.endswith(")") and label[:-1].rpartition("(")[2].isdigit() and name != "/host:metadata":
                programs.add(int(label[:-1].rpartition("(")[2]))
        if name != "/host:metadata" and set(bodies) != events:
            bad.append(f"{name}: event metadata {set(bodies) ^ events}")
        if set(named) != stats:
            bad.append(f"{name}: stat metadata {sorted(set(named) ^ stats)}")
        for f, _, line in wire.fields(plane):  # programs of host events (CPU)
            for g, _, event in wire.fields(line) if f == LINES else ():
                for h, _, stat in wire.fields(event) if g == EVENTS else ():
                    values = {i: v for i, _, v in wire.fields(stat)} if h == 4 else {}
                    if stat_name.get(values.get(1)) == "program_id":
                        programs.add(values.get(3, values.get(4)))
    for label in kept_programs:
        number = label[:-1].rpartition("(")[2]
        if number.isdigit() and int(number) not in programs:
            bad.append(f"HLO of {label}, of which no op is left")
    return bad


def start_ns(path):
    """When the host's profiler started: a plane's statement."""
    import wire
    with open(path, "rb") as f:
        space = f.read()
    for field, _, plane in wire.fields(space):
        if field != PLANES:
            continue
        names = {key: next((v for f, _, v in wire.fields(body) if f == 2), b"") for key, body in
                 entries(wire, plane, STAT_NAMES)}
        for f, _, stat in wire.fields(plane):
            values = {g: v for g, _, v in wire.fields(stat)} if f == PLANE_STATS else {}
            if names.get(values.get(1)) == b"profile_start_time":
                return values.get(3, values.get(4))
    return 0


def lags_of(session):
    starts = [start_ns(path) for path in sorted(glob.glob(os.path.join(session, "*.xplane.pb")))]
    return [(start - min(starts)) / 1e3 for start in starts]


# --- runs

def program(*args):
    subprocess.run([PROGRAM, *args], check=True, stdout=subprocess.DEVNULL)


def planted(name, scratch):
    folder = os.path.join(scratch, name)
    with tarfile.open(os.path.join(DATA, "planted", name + ".tar.gz")) as tar:
        tar.extractall(folder)
    return os.path.dirname(sorted(glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True))[0])


def corpus(name, scratch):
    found = os.path.join(os.environ.get("TS_CORPUS", ""), "xplane", name)
    if not os.path.exists(found):
        return None
    session = os.path.join(scratch, name, "plugins", "profile", "run")
    os.makedirs(session)
    shutil.copy(found, session)
    return session


def span_of(events):
    devices = [e for process, _, e in events if process and "TPU:" in process or process and "GPU:" in process]
    return min(e["ts"] for e in devices), max(e["ts"] + e.get("dur", 0) for e in devices)


def check(name, session):
    """Cuts the middle fifth out of the run and compares."""
    bad = []
    lags = lags_of(session)
    whole = events_of(answers(session, ["trace_viewer@"])["trace_viewer@"], lags)
    first, last = span_of(whole)
    cut = first + (last - first) * 0.4, first + (last - first) * 0.6
    cut = tuple(round(us, 3) for us in cut)  # a whole number of ns
    with tempfile.TemporaryDirectory() as out:
        program("trim", "-q", "--from-ms", f"{cut[0] / 1e3:.6f}", "--to-ms", f"{cut[1] / 1e3:.6f}", "-o", out, session)
        trimmed = os.path.join(out, "plugins", "profile", os.path.basename(session))
        got = answers(trimmed, ["trace_viewer@"] + PAGES)
        for path in sorted(glob.glob(os.path.join(trimmed, "*.xplane.pb"))):
            bad += look_through(path)
    want, have = keys_of(whole, cut), keys_of(events_of(got["trace_viewer@"], lags), (float("-inf"), float("inf")))
    missing, more = sorted(set(want) - set(have)), sorted(set(have) - set(want))
    for what, lines in (("missing", missing), ("more", more)):
        bad += [f"{what}: {line[:300]}" for line in lines[:3]]
    if not want:
        bad.append("no event lies in the cut: nothing was compared")
    for page in PAGES:
        if len(got[page]) < 50:
            bad.append(f"{page} is empty")
    print(f"{name}: {len(want)} of {len(whole)} events in the cut, {len(missing)} missing, {len(more)} more")
    for line in bad:
        print(" ", line)
    return bool(bad)


# --- redacted

def rows_of(text):
    """The numbers of each row of the tables in an answer."""
    rows = collections.Counter()
    for table in json.loads(text) if text.lstrip().startswith("[") else [json.loads(text)]:
        for row in table.get("rows", []) if isinstance(table, dict) else []:
            numbers = [cell.get("v") for cell in row["c"] if cell and isinstance(cell.get("v"), (int, float))]
            rows[json.dumps(numbers)] += 1
    return rows


def check_redacted(name, session):
    bad = []
    with tempfile.TemporaryDirectory() as out:
        program("redact", "-q", "-o", out, session)
        copy = os.path.dirname(glob.glob(os.path.join(out, "**", "*.xplane.pb"), recursive=True)[0])
        tables = ["hlo_stats", "roofline_model", "framework_op_stats", "input_pipeline_analyzer", "overview_page"]
        before, after = answers(session, tables), answers(copy, tables)
        nr = 0
        for tool in tables:
            want, got = rows_of(before[tool]), rows_of(after[tool])
            nr += sum(want.values())
            bad += [f"{tool}: {row[:200]} is {'gone' if want[row] > got[row] else 'new'}"
                    for row in ((want - got) + (got - want))]
    print(f"{name}, redacted: {nr} rows compared, {len(bad)} differ")
    for line in bad[:8]:
        print(" ", line)
    return bool(bad)


def main():
    need_viewer("xprof")
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        runs = [(name, planted(name, scratch)) for name in PLANTED]
        runs += [(name, corpus(name, scratch)) for name in ("tpu_v6e_host_offload.xplane.pb",
                                                            "gpu_mi300x_jax_conv.xplane.pb")]
        for name, session in runs:
            if session:
                failed |= check(name, session)
                failed |= check_redacted(name, session)
            else:
                print(f"{name}: the corpus is not there, so this run is left out")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
