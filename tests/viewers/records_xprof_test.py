#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""XProf shows the overlay of HOST.xplane.riegeli: records_xprof_test.py

  - trace_viewer@ has the same rows of ours as of the same profile as HOST.xplane.pb
  - XProf's other answers are the same before and after
  - --strip leaves every byte of the records
Run in the build folder. $TPUSIGHT names the program (default bin/tpusight), $TS_VIEWERS_PYTHON a Python that has
tests/requirements.txt. Exit 77: xprof is not there.
"""
import json
import os
import sys
import tempfile

from viewers_test import OVERLAY, SAMPLE, ask, digests, tpusight

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
import riegeli

UNTOUCHED = ["hlo_stats", "op_profile", "overview_page", "framework_op_stats", "roofline_model"]
HOST = "simulated-host"


def rows(answer):
    """What the trace viewer shows of ours: (group, row, name, start, duration, value of a counter)."""
    [answer] = json.loads(answer)
    events = answer["traceEvents"]
    groups = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
    lines = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    return sorted((groups[e["pid"]], lines.get((e["pid"], e.get("tid")), ""), e["name"], e.get("ts", 0), e.get("dur", 0),
                   json.dumps(e.get("args", {}).get("value")))
                  for e in events if e.get("ph") in ("X", "C") and OVERLAY in groups.get(e.get("pid"), ""))


def session_of(top, name, data):
    session = os.path.join(top, name, "plugins", "profile", "s")
    os.makedirs(session)
    with open(os.path.join(session, name), "wb") as f:
        f.write(data)
    return session


def main():
    with open(os.path.join(SAMPLE, HOST + ".xplane.pb"), "rb") as f:
        native = f.read()
    with tempfile.TemporaryDirectory() as scratch:
        plain = session_of(scratch, HOST + ".xplane.pb", native)
        tpusight(plain)
        expected = rows(ask(plain, ["trace_viewer@"], os.path.join(scratch, "plain"))["trace_viewer@"])
        halves = riegeli.pieces(native)
        session = session_of(scratch, HOST + ".xplane.riegeli", riegeli.file_of(*(riegeli.records(h) for h in halves), padded=False))
        first = digests(session)
        before = ask(session, UNTOUCHED, os.path.join(scratch, "before"))
        tpusight(session)
        after = ask(session, UNTOUCHED + ["trace_viewer@"], os.path.join(scratch, "after"))
        wrong = [f"{tool}: another answer" for tool in UNTOUCHED if before[tool] != after[tool]]
        wrong += [] if expected and rows(after["trace_viewer@"]) == expected else ["trace_viewer@: other rows of ours"]
        tpusight("--strip", session)
        wrong += [] if digests(session) == first else ["a strip does not bring every byte back"]
    for line in wrong:
        print("FAIL:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
