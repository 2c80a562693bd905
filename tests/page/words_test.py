#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the page says, and what its colours mean, in real Chromium: words_test.py [NAME...]

Each view of each run is read: one colour has one meaning on a page, no label is a name of JSON, a GPU has no word of a TPU, a chip
of AMD none of NVIDIA, what is unknown is said once and with a reason, a table has no column without a value, and a time is written
in one way. $TPUSIGHT names the program. Exit 77: a tool is missing.
"""
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

import doors
import expect

PLANTED = os.path.join(doors.HERE, "..", "data", "planted")
CPU = os.path.join(doors.HERE, "..", "data", "cpu_steps.xplane.pb")
HOSTS = 64


def pod(folder):
    """A run of many hosts, whose names differ at their end: those of a planted run of two, again and again."""
    with tarfile.open(os.path.join(PLANTED, "two_hosts.tar.gz")) as tar:
        tar.extractall(folder, filter="data")
    found = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".xplane.pb"))
    session = os.path.join(folder, "pod", "plugins", "profile", "2026_01_01_00_00_00")
    os.makedirs(session)
    for i in range(HOSTS):
        shutil.copy(found[i % len(found)], os.path.join(session, f"t1v-n-8f3a-w-{i}.us-east5-b.c.project.internal.xplane.pb"))
    return os.path.join(folder, "pod")


def report_of(path):
    """The data of a page."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    begin = text.index('id="tpusight-report">') + len('id="tpusight-report">')
    return json.loads(text[begin:text.index("</script>", begin)])


def vendor(report):
    """Words that are wrong on this run."""
    words = ["MXU", "Systolic", "TensorCore", "Tensor core"] if expect.is_gpu(report) else []
    chips = [d["chip"] or d["name"] for d in report["run"]["devices"]]
    return words + (["CUDA", "NVIDIA", "CTA"] if words and all("MI" in c or "AMD" in c for c in chips) else [])


def job(name, profile, folder):
    path = doors.html(profile, os.path.join(folder, f"{name}.html"))
    report = report_of(path)
    want = {"wrong": vendor(report), "lines": 1 if len(report["run"]["hosts"]) > 1 or name == "sample" else None}
    if name == "sample":
        compiled = next(k for k in report["doctor"]["kpis"] if k["name"] == "compilation_time")
        reasons = [p["reason_name"] for p in report["fusion"]["unfused"]]
        titles = [f["title"] for f in report["doctor"]["findings"] if f["rule"] == "unfused"]
        if not titles or not all(any(f"({reason})" in title for reason in reasons) for title in titles):
            print(f"findings of fusion are called {titles}", file=sys.stderr)
            sys.exit(1)
        want |= {"command": report["doctor"]["what_if"], "compilation": expect.time(compiled["value"] * 1e12),
                 "classes": [expect.core_time(ps) for ps in report["time"]["buckets"].values() if ps]}
    return {"name": name, "url": f"file://{path}", "want": want}


def main():
    doors.need_tools()
    found = doors.profiles()
    with tempfile.TemporaryDirectory() as folder:
        all_of = found | {"cpu": CPU, "pod": None}
        names = sys.argv[1:] or [n for n in all_of if n in ("sample", "trace", "cpu", "pod", "memory", "v6e", "mi300x", "h100", "mi300")]
        jobs = [job(n, pod(folder) if n == "pod" else all_of[n], folder) for n in names]
        path = os.path.join(folder, "jobs.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(jobs, file)
        return subprocess.call(["node", os.path.join(doors.HERE, "words.mjs"), path])


if __name__ == "__main__":
    sys.exit(main())
