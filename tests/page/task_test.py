#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A stranger's task, in real Chromium: from the list of runs to the line of source of each thing that is wrong with a run of 64 hosts.

What is planted (tests/fixtures/pod.py): a chip that is late because it is slow in one op, since a step; an array with padding; a host that
compiles a function again. Each is reached through `tpusight serve` in at most five clicks and in less than a minute, and what is read on
the way is held against what was planted. Prints clicks and seconds. $TPUSIGHT names the program, $TS_SHOTS a folder for screenshots.
"""
import json
import os
import re
import sys
import tempfile

import doors

sys.path.insert(0, os.path.join(doors.HERE, "..", "fixtures"))
import pod

MOST_CLICKS, MOST_S = 5, 60


def short(host):
    """What tells the hosts of this pod apart."""
    return re.search(r"w-\d+", host)[0]


def tasks(answer, report):
    """What a reader must find, in the words of the page."""
    steps = {s["step"]: [s["start_ps"], s["start_ps"] + s["duration_ps"]] for s in report["steps"]}
    late, padded, compiled = answer["straggler"], answer["padding"], answer["recompilation"]
    return [
        {"name": "straggler", "finding": "is a straggler", "op": late["op"], "source": late["source"],
         "who": f"{short(late['host'])} TPU:{late['chip']}", "step": late["step"], "range": steps[late["step"]], "word": "since"},
        {"name": "padding", "finding": "is padding", "op": padded["op"], "source": padded["source"], "shape": "65,65,65,65"},
        {"name": "recompilation", "finding": "", "says": f"{compiled['function']} is compiled", "source": compiled["source"],
         "who": short(compiled["host"]), "step": compiled["step"], "range": steps[compiled["step"]], "word": "in",
         "inside": [compiled["start_ps"], compiled["start_ps"] + compiled["duration_ps"]]},
    ]


def main():
    doors.need_tools()
    with tempfile.TemporaryDirectory() as folder:
        logs = os.path.join(folder, "logs")
        answer = pod.write_logdir(logs)
        wanted = tasks(answer, doors.report(os.path.join(logs, pod.RUN)))
        with doors.serving(logs) as (url, _):
            job = os.path.join(folder, "job.json")
            with open(job, "w", encoding="utf-8") as f:
                json.dump({"url": url, "run": answer["run"], "hosts": answer["hosts"],
                           "late": short(answer["straggler"]["host"]), "tasks": wanted, "clicks": MOST_CLICKS, "seconds": MOST_S,
                           "shots": os.environ.get("TS_SHOTS")}, f)
            done = doors.node("task.mjs", job)
    if done.returncode == doors.SKIP:
        doors.skip(done.stderr.strip().removesuffix(": skipped"))
    print(done.stdout.strip())
    wrong = done.stderr.splitlines()
    if done.returncode not in (0, 1) or done.stdout.count("clicks") != len(wanted):
        wrong.append(f"task.mjs ended with status {done.returncode}")
    return doors.ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
