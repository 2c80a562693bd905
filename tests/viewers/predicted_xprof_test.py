#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""XProf opens a predicted profile: predicted_xprof_test.py

  - trace_viewer@ has the step, the module, the ops and the transfers, and a row that says that nothing was measured
  - hlo_stats has each op that the report has, with its time
  - overview_page knows the step's time, and says that it is predicted
  - the same holds when it was annotated; our rows then say so as well, and --strip leaves every byte
Run in the build folder. $TPUSIGHT names the program (default bin/tpusight), $TS_VIEWERS_PYTHON a Python that has
tests/requirements.txt. Exit 77: xprof is not there.
"""
import json
import os
import subprocess
import sys
import tarfile
import tempfile

from viewers_test import OVERLAY, ask, digests, tpusight

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = os.path.join(HERE, "..", "data", "modules.tar.xz")
PROGRAM = os.environ.get("TPUSIGHT", "bin/tpusight")
NAME = "all_gather_v6e.hlo_proto.pb"
LINES = ["Steps", "XLA Modules", "XLA Ops", "Async XLA Ops"]
SAID = "PREDICTED, not measured"


def run(*args):
    return subprocess.run([PROGRAM, *args], check=True, capture_output=True, text=True).stdout


def trace_faults(answer, is_annotated):
    events = json.loads(answer)[0]["traceEvents"] if answer.startswith("[") else json.loads(answer)["traceEvents"]
    groups = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
    lines = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    rows = {(groups.get(e["pid"], ""), lines.get((e["pid"], e.get("tid")), "")) for e in events if e.get("ph") == "X"}
    faults = [f"no events of {line}" for line in LINES if not any(line == row for _, row in rows)]
    if not any(SAID in group for group, _ in rows):
        faults.append("no row says that it is predicted")
    ours = [group for group in groups.values() if OVERLAY in group]
    if is_annotated != bool(ours) or any("(predicted)" not in group for group in ours):
        faults.append(f"our rows: {ours}")
    return faults


def stats_faults(answer, report):
    table = json.loads(answer)
    at = {column["id"]: i for i, column in enumerate(table["cols"])}
    theirs = {row["c"][at["hlo_op_name"]]["v"]: row["c"][at["total_self_time"]]["v"] for row in table["rows"]}
    faults = []
    for op in report["ops"]:
        own = op["self_time_ps"] / 1e6
        if op["name"] not in theirs or abs(theirs[op["name"]] - own) > 1e-3 + 1e-6 * own:
            faults.append(f"{op['name']}: {theirs.get(op['name'])} us, not {own}")
    return faults


def overview_faults(answer, report):
    properties = [table.get("p", {}) for table in json.loads(answer)]
    said = [p["active_steptime_ms_average"] for p in properties if "active_steptime_ms_average" in p]
    step = report["prediction"]["step_ps"] / 1e9
    faults = [] if said and abs(float(said[0]) - step) < 0.006 else [f"step: {said} ms, not {step}"]
    return faults + ([] if "Predicted by TPUsight" in answer else ["overview_page does not say that it is predicted"])


def main():
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(MODULES) as tar:
            tar.extract(NAME, scratch, filter="data")
        folder = os.path.join(scratch, "out")
        run("hlo", "-q", "--topology", "v6e:2x2", f"--predict={folder}", "--view", "prediction", os.path.join(scratch, NAME))
        session = os.path.join(folder, "plugins", "profile", "predicted")
        report = json.loads(run("report", "--json", folder))
        first, faults = digests(session), []
        for is_annotated in (False, True):
            if is_annotated:
                tpusight(session)
            got = ask(session, ["trace_viewer@", "hlo_stats", "overview_page"], os.path.join(scratch, f"answers{is_annotated}"))
            faults += trace_faults(got["trace_viewer@"], is_annotated)
            faults += stats_faults(got["hlo_stats"], report) + overview_faults(got["overview_page"], report)
        tpusight("--strip", session)
        if digests(session) != first:
            faults.append("--strip left another file")
    print("\n".join(faults) or f"{len(report['ops'])} ops, a step of {report['prediction']['step_ps'] / 1e6:.1f} us: as XProf shows it")
    return bool(faults)


sys.exit(main())
