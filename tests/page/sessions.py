# SPDX-License-Identifier: MIT
"""Log directories with hundreds of sessions for the page's tests: one profile under many names, and beside each a report of its own,
so that nothing is analysed."""
import json
import os
import subprocess

import doors

DAY_NS = 86400 * 10**9
BEGIN_NS = 1_767_225_600 * 10**9  # 2026-01-01


def report_of(profile, folder):
    """(the report that tpusight annotate leaves beside the profile, the annotated profile, its name)."""
    session = os.path.join(doors.logdir(folder, {"one": profile}), "one", "plugins", "profile", "2026_01_01_00_00_00")
    subprocess.run([os.path.join(os.path.dirname(doors.PROGRAM), "tpusight-annotate"), "-q", "--perfetto=none", session], check=True)
    name = next(n for n in os.listdir(session) if n.endswith(".tpusight.json"))
    with open(os.path.join(session, name), encoding="utf-8") as f:
        report = json.load(f)
    return report, next(os.path.join(session, n) for n in os.listdir(session) if n.endswith(".xplane.pb")), name


# What a list of runs reads of a report, and what makes it believe the report.
LISTED = {"schema": None, "generator": None, "run": None, "annotation": None, "overview": ["health_score", "step_count", "step_time_ps"],
          "time": ["total_ps", "bottleneck", "buckets"], "steps": ["step", "duration_ps"], "modules": ["name", "total_time_ps"]}


def only(value, names):
    if names is None:
        return value
    return [only(v, names) for v in value] if isinstance(value, list) else {n: value[n] for n in names if n in value}


def slower(report, factor, start_ns, health):
    """The same report of a run that began at another time and whose steps took FACTOR times as long, without its long tables."""
    copy = json.loads(json.dumps({name: only(value, LISTED[name]) for name, value in report.items() if name in LISTED}))
    for host in copy["run"]["hosts"]:
        host["start_unix_ns"] = str(start_ns)
    copy["overview"]["health_score"] = health
    for name, ps in copy["overview"]["step_time_ps"].items():
        copy["overview"]["step_time_ps"][name] = round(ps * factor) if isinstance(ps, (int, float)) else ps
    for step in copy["steps"]:
        step["duration_ps"] = round(step["duration_ps"] * factor)
    return copy


def many(folder, runs, profile=doors.SAMPLE):
    """
    A log directory with a session for each of RUNS: {"name", "factor", "start_ns", "health"}. The profile is one file under all names.
    Returns the report that all are made of.
    """
    report, annotated, name = report_of(profile, f"{folder}.made")
    for run in runs:
        session = os.path.join(folder, run["name"], "plugins", "profile", "2026_01_01_00_00_00")
        os.makedirs(session)
        os.link(annotated, os.path.join(session, os.path.basename(annotated)))
        with open(os.path.join(session, name), "w", encoding="utf-8") as f:
            json.dump(slower(report, run["factor"], run["start_ns"], run["health"]), f)
    return report
