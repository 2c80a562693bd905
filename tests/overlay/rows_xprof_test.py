#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our rows in the real XProf's trace viewer, one by one: rows_xprof_test.py

The sample and the profiles of $TS_CORPUS (default: ../shared/corpus beside the sources) are annotated, and trace_viewer@ is asked:
 - the first row of a device's group is "Time classes"; "Findings" comes next where it is there; no row and no counter is empty;
 - slices of a row do not meet in the viewer's doubles (start + duration is never behind the next start), so that the new
   frontend draws a row in one line and drops nothing;
 - the name of a slice of "Findings" that has an op says that op's own share of core time, the same as in the report's ops, and
   ends with the op's name; it is not the sentence of the run;
 - what a click on it brings names the op and its module as the viewers' links need them (hlo_op, hlo_module).
$TS_ANNOTATE names the program (default: bin/tpusight-annotate). Without the Python package xprof it is skipped.
"""
import collections
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import ended, need_viewer

TOP = pathlib.Path(os.environ.get("srcdir", pathlib.Path(__file__).parents[2]))
CORPUS = pathlib.Path(os.environ.get("TS_CORPUS", TOP / ".." / "shared" / "corpus"))
ANNOTATE = shlex.split(os.environ.get("TS_ANNOTATE", "bin/tpusight-annotate"))
SAMPLE = TOP / "tests/data/sample/train_step_simulated/plugins/profile/2026_01_01_00_00_00/simulated-host.xplane.pb"
GROUP = "/device:CUSTOM:TPUsight "
OWN = re.compile(r"^(\d+\.\d|\d+|< 0\.1) % of core time(?:, \S+ % of the matrix units' peak)?: (.+)$")

need_viewer("xprof")
from xprof.convert import raw_to_tool_data


def ask(profile, **params):
    data, _ = raw_to_tool_data.xspace_to_tool_data([str(profile)], "trace_viewer@", {"tqx": "out:json;", **params})
    return json.loads(data)["traceEvents"]


def names_of(events, kind, key):
    return {key(e): e["args"]["name"] for e in events if e.get("name") == kind}


def rows_of(events):
    """{group: {row: its slices, in the order of time}}, rows in the viewer's order; and the values of our counters."""
    groups = names_of(events, "process_name", lambda e: e["pid"])
    lines = names_of(events, "thread_name", lambda e: (e["pid"], e["tid"]))
    rows, counters = collections.defaultdict(dict), collections.defaultdict(list)
    for (pid, tid), name in sorted(lines.items()):
        if GROUP in groups[pid] and name != "_counters_":
            found = [e for e in events if e.get("ph") == "X" and (e["pid"], e["tid"]) == (pid, tid)]
            rows[groups[pid]][name] = sorted(found, key=lambda e: e["ts"])
    for e in events:
        if e.get("ph") == "C" and GROUP in groups[e["pid"]]:
            counters[groups[e["pid"]], e["name"]] += [value for _, value in e["entries"]]
    return rows, counters


def meetings(slices):
    return sum(a["ts"] + a["dur"] > b["ts"] for a, b in zip(slices, slices[1:]))


def wrong_order(rows, counters):
    for group, lines in rows.items():
        if group.endswith(" counters"):
            yield f"{group}: rows {sorted(lines)} beside counters"
            continue
        first = list(lines)[:2]
        if first[:1] != ["Time classes"] or ("Findings" in lines and first[1] != "Findings"):
            yield f"{group}: begins with {first}"
        yield from (f"{group}: {name} is empty" for name, slices in lines.items() if not slices)
        yield from (f"{group}: {meetings(s)} slices of {name} meet" for name, s in lines.items() if meetings(s))
    yield from (f"{where}: is 0 all the time" for where, values in counters.items() if not any(values))


def shares(report):
    """Share of core time, in %, by the op's name; of an op that two modules have, both. Findings say what all of it is."""
    known = [f for f in report["doctor"]["findings"] if f["impact_ps"] and f["impact_pct"]]
    core_ps = max((100 * f["impact_ps"] / f["impact_pct"] for f in known), default=0)
    out = collections.defaultdict(list)
    for op in report["ops"]:
        if op["exclusive_ps"] is not None and core_ps:
            out[op["name"]].append(100 * op["exclusive_ps"] / core_ps)
    return out


def wrong_name(event, known, sentences):
    own = OWN.match(event["name"])
    if not own:
        return event["name"] in sentences and "is the run's sentence"
    said, op = own.groups()
    near = [share for share in known[op] if abs(float(said.lstrip("< ")) - share) <= 0.051 + share / 200]
    return False if near else f"of an op with {known[op]} %"


def wrong_findings(rows, report):
    known = shares(report)
    sentences = {f["title"] for f in report["doctor"]["findings"] if any(w["op"] for w in f["where"])}
    for group, lines in rows.items():
        by_name = {e["name"]: e for e in lines.get("Findings", [])}
        for name, event in by_name.items():
            wrong = wrong_name(event, known, sentences)
            if wrong:
                yield f"{group}: Findings has \"{name}\", which {wrong}"


def args_of(profile, event):
    """What the page asks for when the slice is clicked."""
    options = {"event_name": event["name"], "start_time_ms": str(event["ts"] / 1000), "duration_ms": str(event["dur"] / 1000),
               "unique_id": str(event.get("z", 0)), "format": "json"}
    found = [e for e in ask(profile, trace_viewer_options=options) if e.get("ph") == "X" and e["pid"] == event["pid"]]
    return found[0].get("args", {}) if found else {}


def wrong_links(profile, rows, report):
    programs = {f"{op['module']}({op['program_id']})" for op in report["ops"]}
    for lines in list(rows.values())[:1]:
        for event in [e for e in lines.get("Findings", []) if OWN.match(e["name"])][:3]:
            args = args_of(profile, event)
            if not event["name"].endswith(": " + args.get("hlo_op", "-")):
                yield f"a click on \"{event['name']}\" names the op {args.get('hlo_op')}"
            if args.get("hlo_module") not in programs:
                yield f"a click on \"{event['name']}\" names the module {args.get('hlo_module')}, not one of {sorted(programs)[:3]}"


def complaints(source, scratch):
    session = scratch / "logs" / "run" / "plugins" / "profile" / "2026_01_01_00_00_00"
    session.mkdir(parents=True)
    profile = session / source.name
    shutil.copyfile(source, profile)  # writable, whatever the source is
    subprocess.run([*ANNOTATE, "-q", session], check=True)
    report = json.loads((session / "ALL_HOSTS.tpusight.json").read_text())
    rows, counters = rows_of(ask(profile))
    slices = sum(len(s) for lines in rows.values() for s in lines.values())
    print(f"{source.name}: {len(rows)} groups with rows, {slices} slices, {len(counters)} counters")
    if not slices or not counters:
        yield "nothing of ours is there"
    yield from wrong_order(rows, counters)
    yield from wrong_findings(rows, report)
    yield from wrong_links(profile, rows, report)


def main():
    wrong = []
    for source in [SAMPLE, *sorted((CORPUS / "xplane").glob("*.xplane.pb"))]:
        with tempfile.TemporaryDirectory() as scratch:
            wrong += [f"{source.name}: {what}" for what in complaints(source, pathlib.Path(scratch))]
    return ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
