#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Annotates a copy of the sample and asks the real viewers: viewers_test.py [SESSION]

  - XProf's other answers are byte for byte the same before and after (op_profile but for its order)
  - trace_viewer@ shows the overlay, smart_suggestion the findings
  - the Perfetto file passes perfetto_check.py
  - the page in Chromium shows the overlay and the findings, and findings' links open the op and the time they are about;
    screenshots go to $TS_SHOTS (default viewer-shots)
  - the findings' SQL finds their slices in tables made from the Perfetto file
  - --strip leaves every file as it was (sha256)
Run in the build folder. $TPUSIGHT names the program (default bin/tpusight), $TS_VIEWERS_PYTHON a Python that has
tests/requirements.txt. Exit 77: xprof is not there; without node or Chromium only the page is left out, with a word.
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

from perfetto_tables import Tables

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import PROGRAM, ended, need

SAMPLE = os.path.join(HERE, "..", "data", "sample", "train_step_simulated", "plugins", "profile", "2026_01_01_00_00_00")
UNTOUCHED = ["hlo_stats", "op_profile", "overview_page", "framework_op_stats", "roofline_model",
             "input_pipeline_analyzer"]
UNORDERED = {"op_profile", "trace_viewer@"}  # XProf itself gives these in another order each time
OVERLAY = "/device:CUSTOM:TPUsight"


def python():
    return os.environ.get("TS_VIEWERS_PYTHON", sys.executable)


def ask(session, tools, out):
    """{tool: text}, by a process of its own: XProf keeps state."""
    got = subprocess.run([python(), os.path.join(HERE, "xprof_answers.py"), session, *tools, "-o", out],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if got.returncode:
        print(got.stderr[-500:], file=sys.stderr)
        sys.exit(got.returncode)
    from xprof_answers import canonical
    answers = {}
    for tool in tools:
        with open(os.path.join(out, tool + ".json")) as f:
            answers[tool] = canonical(f.read()) if tool in UNORDERED else f.read()
    return answers


def digests(folder):
    out = {}
    for at, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(at, name), "rb") as f:
                out[os.path.relpath(os.path.join(at, name), folder)] = hashlib.sha256(f.read()).hexdigest()
    return out


def tpusight(*args):
    subprocess.run([PROGRAM, "annotate", "-q", *args], check=True)


def findings(session):
    with open(os.path.join(session, "ALL_HOSTS.tpusight.json")) as f:
        return json.load(f)["doctor"]["findings"]


def check_sql(session):
    """Each finding has slices, and where it has a time, one of them at that time; perfetto_sql_test.py counts them."""
    tables, wrong = Tables(os.path.join(session, "perfetto_trace.json.gz")), []
    for finding in findings(session):
        sql, ranges = finding["links"]["perfetto_sql"], finding["time_ranges"]
        rows = tables.ask(sql)
        hit = [s for s in rows for r in ranges if s["ts"] * 1000 < r["end_ps"] and (s["ts"] + s["dur"]) * 1000 > r["start_ps"]]
        if not rows or (ranges and not hit):
            wrong.append(f"{finding['id']}: {len(rows)} slices, none of them when it happens")
    return wrong


def look(logdir, session):
    """What the page shows, or a word that says why it was not looked at."""
    shots = os.environ.get("TS_SHOTS", "viewer-shots")
    links = [f["links"] for f in findings(session)]
    times = [n["links"]["xprof_trace"] for n in findings(session) if n["time_ranges"] and not n["time_ranges"][0]["example"]]
    links = [w for a in [link["xprof"] for link in links if link["xprof"]][:2] for w in ("--op", a)]
    links += [w for a in times[:2] for w in ("--time", a)]
    status = subprocess.call([python(), os.path.join(HERE, "run_chromium.py"), logdir, shots, "--expect", OVERLAY,
                              "--suggest", "TPUsight:", "--suggest", "see it in the trace viewer",
                              *links])
    return [] if status in (0, 77) else ["the page does not show the annotations, or a link leads nowhere"]


def main():
    need()
    sys.path.insert(0, HERE)
    source = sys.argv[1] if len(sys.argv) > 1 else SAMPLE
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        logdir = os.path.join(scratch, "logs")
        session = os.path.join(logdir, "run", "plugins", "profile", "2026_01_01_00_00_00")
        shutil.copytree(source, session)
        subprocess.run(["chmod", "-R", "u+w", logdir], check=True)
        before, native = digests(logdir), ask(session, UNTOUCHED, os.path.join(scratch, "before"))
        tpusight(logdir)
        after = ask(session, UNTOUCHED + ["trace_viewer@", "smart_suggestion"], os.path.join(scratch, "after"))
        wrong += [f"XProf's {t} is another one" for t in UNTOUCHED if native[t] != after[t]]
        wrong += [f"{OVERLAY} is not in trace_viewer@"] if OVERLAY not in after["trace_viewer@"] else []
        wrong += ["no finding in smart_suggestion"] if "TPUsight" not in after["smart_suggestion"] else []
        trace = os.path.join(session, "perfetto_trace.json.gz")
        if subprocess.call([sys.executable, os.path.join(HERE, "perfetto_check.py"), trace]):
            wrong.append("perfetto_trace.json.gz is not good")
        wrong += check_sql(session)
        wrong += look(logdir, session)
        tpusight("--strip", logdir)
        left = digests(logdir)
        wrong += [f"{k} is another one after --strip" for k in before if left.get(k) != before[k]]
        wrong += [f"{k} is left after --strip" for k in left if "tpusight" in k or "perfetto" in k]
    return ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
