#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An annotated run in the real XProf: the same answers as before, and ours beside them.

usage: xprof_test.py [--profile FILE]... [--annotate COMMAND]

Each FILE (default: the profiles below $TS_CORPUS/xplane) is copied into a run of its own. XProf (the
package `xprof` of the Python that runs this) is asked before and after COMMAND (default:
bin/tpusight-annotate) has annotated it:
 - every tool but the trace viewer answers byte for byte the same;
 - trace_viewer@ has a group of ours for each device, right under it where there is room, whose
   slices lie within the device's own time, and whose args a click brings; counters, which the viewer draws above
   the rows of their group, have groups of their own, with at most three right under the rows;
 - smart_suggestion holds the findings of the report;
 - caches that XProf left before do not hide any of it;
and after COMMAND --strip every file is what it was. Without xprof, or profiles, it is skipped.
"""
import argparse
import hashlib
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

# memory_profile is left out: it puts its maps in another order each time it is asked
TOOLS = ["hlo_stats", "op_profile", "overview_page", "roofline_model", "input_pipeline_analyzer",
         "framework_op_stats", "utilization_viewer", "kernel_stats"]
GROUP = "/device:CUSTOM:TPUsight "
HOST = "host0"


sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import need_viewer, skip

need_viewer("xprof")
from xprof.convert import raw_to_tool_data


def ask(session, tool, **params):
    files = sorted(str(path) for path in session.glob("*.xplane.pb"))
    data, _ = raw_to_tool_data.xspace_to_tool_data(files, tool, {"tqx": "out:json;", **params})
    return data if isinstance(data, bytes) or data is None else data.encode()


def answers(session):
    """What each tool says; None for one that does not work on this profile."""
    out = {}
    for tool in TOOLS:
        try:
            out[tool] = ask(session, tool)
        except Exception:  # what a tool raises is not documented
            out[tool] = None
    return out


def make_session(root, profile):
    session = root / "logdir" / "run" / "plugins" / "profile" / "2025_03_11_00_00_00"
    session.mkdir(parents=True)
    shutil.copyfile(profile, session / f"{HOST}.xplane.pb")
    (session / f"{HOST}.trace.json.gz").write_bytes(b"the profiler's own")
    (session / "perfetto_trace.json.gz").write_bytes(b"the profiler's own, too")
    return session


def digests(session):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in session.iterdir()}


def run(command, *args):
    done = subprocess.run(command + [str(arg) for arg in args], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"{command} {args}: status {done.returncode}\n{done.stdout}"


def check_click(session, event):
    """The page asks for the args of one event when it is clicked."""
    params = {"event_name": event["name"], "start_time_ms": str(event["ts"] / 1000),
              "duration_ms": str(event["dur"] / 1000), "unique_id": str(event.get("z", 0)),
              "format": "json"}
    data = json.loads(ask(session, "trace_viewer@", trace_viewer_options=params))
    found = [e for e in data["traceEvents"] if e.get("ph") == "X" and e["pid"] == event["pid"]]
    return found[0].get("args", {}) if found else {}


def check_counters(events, names, pid):
    """Counters have groups of their own, without rows: at most three right under the rows, more below all devices."""
    devices = [p for p, name in names.items() if "/device:" in name and "CUSTOM" not in name]
    counters = {e["name"]: e for e in events if e.get("ph") == "C" and e["pid"] == pid}
    assert counters, f"{names[pid]} is empty"
    assert not [e for e in events if e.get("ph") == "X" and e["pid"] == pid], f"{names[pid]} has slices"
    if names[pid].endswith(" more counters"):
        assert pid > max(devices), f"{names[pid]} stands between the devices"
    else:
        assert len(counters) <= 3, f"{names[pid]} has {sorted(counters)}"
        assert names.get(pid - 1, "") + " counters" in (names[pid], " counters"), f"{names[pid]} is not under its rows"


def check_group(events, names, pid):
    if names[pid].endswith(" counters"):
        check_counters(events, names, pid)
        return []
    device = names[pid].split(GROUP)[1]
    native = [p for p, name in names.items() if name == f"{HOST} /device:{device}"]
    assert len(native) == 1, f"no device {device} in {sorted(names.values())}"
    assert pid == native[0] + 1 or native[0] + 1 in names, f"{names[pid]} is not under its device"
    rows = [e for e in events if e.get("name") == "thread_name" and e["pid"] == pid]
    slices = [e for e in events if e.get("ph") == "X" and e["pid"] == pid]
    assert rows and slices, f"{names[pid]} is empty"
    return slices


HOST_ROWS = {"Host compiles", "Step classes"}  # what a host did too, drawn under the devices


def check_times(events, names, slices):
    """Ours lie within the run: a gap before a device's first op begins where another device's began. What is of a host lies
    within what the profile has of the hosts."""
    devices = {p for p, name in names.items() if "/device:" in name and "CUSTOM" not in name}
    natives = {p for p, name in names.items() if "CUSTOM" not in name}
    rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    for pids, ours in ((devices, [e for e in slices if rows[e["pid"], e["tid"]] not in HOST_ROWS]),
                       (natives, [e for e in slices if rows[e["pid"], e["tid"]] in HOST_ROWS])):
        theirs = [e for e in events if e.get("ph") == "X" and e["pid"] in pids]
        first = min(e["ts"] for e in theirs)
        last = max(e["ts"] + e["dur"] for e in theirs)
        slack = 1e-3 + 1e-9 * last  # the viewer's times are doubles
        outside = [e for e in ours if e["ts"] < first - slack or e["ts"] + e["dur"] > last + slack]
        assert not outside, f"slices outside of their time {first}..{last}: {outside[:3]}"


def check_trace_viewer(session):
    events = json.loads(ask(session, "trace_viewer@"))["traceEvents"]
    names = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
    groups = [pid for pid, name in names.items() if GROUP in name]
    assert groups, f"no group of ours in {sorted(names.values())}"
    slices = [e for pid in groups for e in check_group(events, names, pid)]
    check_times(events, names, slices)
    assert any(check_click(session, e) for e in slices[:50]), "no slice has args"
    return len(groups), len(slices)


def check_suggestions(session):
    rules = [s["ruleName"] for s in json.loads(ask(session, "smart_suggestion"))["suggestions"]]
    report = json.loads((session / "ALL_HOSTS.tpusight.json").read_text())
    ours = [rule for rule in rules if rule.startswith("TPUsight/")]
    assert ours == ["TPUsight/" + f["rule"] for f in report["doctor"]["findings"]], ours
    return len(ours)


def check_profile(command, profile, root):
    """Two sessions: one that XProf has been asked about before (it leaves caches), one fresh."""
    used, fresh = make_session(root / "used", profile), make_session(root / "fresh", profile)
    original = digests(fresh)
    before = answers(used)
    ask(used, "trace_viewer@")
    for session in (used, fresh):
        run(command, session)
    after = answers(fresh)
    for tool in TOOLS:
        assert before[tool] == after[tool], f"{tool} answers otherwise"
    assert answers(used) == before, "answers after caches were replaced"
    groups, slices = check_trace_viewer(fresh)
    assert check_trace_viewer(used) == (groups, slices), "an old cache hides the overlay"
    findings = check_suggestions(fresh)
    check_suggestions(used)
    for session in (used, fresh):
        run(command, "--strip", session)
        now = digests(session)
        changed = [name for name, digest in original.items() if now.get(name) != digest]
        assert not changed, f"not as before: {changed}"
        left = [name for name in now if "tpusight" in name.lower() or "native" in name]
        assert not left, f"left behind: {left}"
    same = sum(answer is not None for answer in before.values())
    print(f"{profile.name}: {same} answers the same, {groups} groups, {slices} slices, "
          f"{findings} suggestions")


def check_untouched(command, profile, root):
    """What no XProf ever looked at is the very same folder again; twice is once."""
    session = make_session(root / "untouched", profile)
    original = digests(session)
    run(command, session)
    once = {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in session.iterdir()}
    run(command, session)
    twice = {path.name: (path.stat().st_ino, path.stat().st_mtime_ns) for path in session.iterdir()}
    assert once == twice, "annotating twice is not the same as once"
    run(command, "--strip", session)
    assert digests(session) == original, "not the same folder after --strip"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", action="append", type=pathlib.Path)
    parser.add_argument("--annotate", default=os.environ.get("TS_ANNOTATE", "bin/tpusight-annotate"))
    args = parser.parse_args()
    corpus = os.environ.get("TS_CORPUS") or os.path.join(os.environ.get("srcdir", "."), "..",
                                                         "shared", "corpus")
    profiles = args.profile or sorted(pathlib.Path(corpus, "xplane").glob("*.xplane.pb"))
    if not profiles:
        skip("no profiles: set TS_CORPUS, or name one with --profile")
    for profile in profiles:
        with tempfile.TemporaryDirectory() as root:
            check_profile(shlex.split(args.annotate), profile, pathlib.Path(root))
            check_untouched(shlex.split(args.annotate), profile, pathlib.Path(root))


if __name__ == "__main__":
    main()
