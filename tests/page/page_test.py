#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page in real Chromium, by two of its doors: page_test.py [DOOR...]

  file   the HTML file, opened from disk with the network cut
  serve  tpusight serve, asked for nothing but its own address
Each shows the sample, a trace of a GPU and the corpus' v6e and MI300X profiles and traces (what each view must say is worked out
from the JSON report), and a profile whose names attack it. The door "file" also tries mouse, keys, time range, state, CSV, axe-core
in both themes, 5,000 ops by 10,000 steps, and a flame graph of 60,000 frames; the times of these two are printed and judge nothing.
$TPUSIGHT names the program (default bin/tpusight), $TS_SHOTS a folder for screenshots. The third door is plugin_test.py.
"""
import base64
import csv
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse

import doors
import expect
import profiles

WORD = "fusion.3"
FRAME = "aten::"  # looked for in flame graphs
MOST_BYTES = 12 << 20  # of 5,000 ops and 10,000 steps; the corpus' files have less than one
# What makes code or markup out of text. (Preact has innerHTML, for a property that eslint keeps out of the page.)
MAKERS = (r"\beval\s*\(", r"\bFunction\s*\(", r"document\.write", r"insertAdjacentHTML",
          r"outerHTML\s*=", r"srcdoc", r"setTimeout\(\s*[\"'`]")
LEFT_OUT = {"op_index", "program_id"}  # for programs: not on the page


def matching(rows, word):
    """Rows that have WORD somewhere, as the filter has it."""
    def text(v):
        return "" if v is None else str(v).lower() if isinstance(v, bool) else str(v)
    return [r for r in rows if any(word in text(v).lower() for k, v in r.items() if k not in LEFT_OUT)]


def filter_job(report):
    nr, left = len(report["ops"]), len(matching(report["ops"], WORD))
    return {"word": WORD, "all": nr, "count": f"{left:,} of {nr:,}"}


def same(a, b):
    try:
        return a == b or abs(float(a) - float(b)) <= 1e-12 * abs(float(b))
    except ValueError:
        return False


def check_copy(copied, report, path):
    """The page's copy has the headings of report --format csv, and the filtered rows with its values."""
    made = subprocess.run([doors.PROGRAM, "report", "-q", "--format=csv", "--view=ops", path], capture_output=True, text=True,
                          check=True, encoding="utf-8")
    theirs = list(csv.DictReader(io.StringIO(made.stdout)))
    ours = list(csv.DictReader(io.StringIO(copied)))
    wanted = {(r["module"], r["name"]) for r in matching(report["ops"], WORD)}
    wrong = []
    if set(ours[0]) != set(theirs[0]) - LEFT_OUT:
        wrong.append(f"copied headings differ: {set(ours[0]) ^ (set(theirs[0]) - LEFT_OUT)}")
    if {(r["module"], r["name"]) for r in ours} != wanted or len(ours) != len(wanted):
        wrong.append(f"{len(ours)} rows were copied instead of {len(wanted)}")
    by_name = {(r["module"], r["name"]): r for r in theirs}
    wrong += [f"copied {r['name']}, {c}: {v} instead of {by_name[r['module'], r['name']][c]}"
              for r in ours for c, v in r.items() if not same(v, by_name[r["module"], r["name"]][c])]
    names = [r["name"] for r in ours]
    return wrong + ([] if names[0] > names[-1] else ["the copy is not sorted as the table is"])


def check_file(path):
    """Before a browser sees it: the policy is there, and the data ends no element."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    data = re.search(r'id="tpusight-report">(.*?)</script>', text, re.S)
    strict = policy and "default-src 'none'" in policy[1] and "connect-src" not in policy[1] and "unsafe" not in policy[1]
    wrong = [] if strict else [f"{path}: no policy"]
    for source, element in (("script-src", "script"), ("style-src", "style")):
        inlined = re.search(f"<{element}>(.*?)</{element}>", text, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(inlined.encode()).digest()).decode()
        wrong += [] if policy and f"{source} 'sha256-{digest}'" in policy[1] else [f"{path}: the policy does not name its {element}"]
    made = [word for word in MAKERS if re.search(word, text)]
    wrong += [f"{path}: the page makes code or markup out of text: {word}" for word in made]
    wrong += [] if "<" not in data[1] else [f"{path}: '<' in the data"]
    return wrong + ([] if len(text) < MOST_BYTES else [f"{path}: {len(text)} bytes"])


def attacked():
    """What the Time view, where all ops stand, shows of the hostile names."""
    return [text[:40] for _, text in profiles.NAMES if text]


def hostile_views(report):
    views = expect.views(report)
    views["time"]["texts"] += attacked()
    return views


SUMMED = {"device": "core", "cpu": "thread"}  # what times of a call tree are sums over


def flame_job(path, folder, name):
    """The file of `tpusight flame`, and what its graph must say: the heaviest call, the heaviest below it, and a word's frames."""
    weight = "device" if doors.report(path)["flame"]["device_time_ps"] else "cpu"  # what the page opens by
    command = [doors.PROGRAM, "flame", "-q", "--json", f"--weight={weight}", path]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    first = max(report["children"], key=lambda f: f["value"])
    below = max(first["children"], key=lambda f: f["value"], default=first)
    with open(doors.html(path, os.path.join(folder, f"{name}.html"), "flame"), encoding="utf-8") as f:
        page = json.loads(re.search(r'id="tpusight-report">(.*?)</script>', f.read(), re.S)[1])
    found = sum(FRAME in row["name"].lower() for row in page["flame"]["stacks"])
    url = "file://" + os.path.join(folder, f"{name}.html")
    return {"name": f"file {name}", "url": url, "inside": [url], "tasks": ["flame"],
            "flame": {"first": {"name": first["name"], "value": expect.core_time(first["value"], SUMMED[weight])},
                      "below": {"name": below["name"]}, "word": FRAME, "found": found, "least": 10}}


def by_file(folder, found, shots):
    jobs, wrong, reports = [], [], {}
    for name, profile in found.items():
        path = doors.html(profile, os.path.join(folder, f"{name}.html"))
        wrong += check_file(path)
        reports[name] = doors.report(profile)
        views = hostile_views(reports[name]) if name == "hostile" else expect.views(reports[name])
        usual = ["views", "words", "axe"]
        tasks = {"sample": usual + ["use", "link"], "big": ["big"], "hostile": ["views"]}.get(name, usual)
        jobs.append({"name": f"file {name}", "url": "file://" + path, "inside": ["file://" + path], "views": views,
                     "tasks": tasks, "shots": shots, "filter": filter_job(reports[name])})
    jobs.append(flame_job(found["trace"], folder, "flame"))
    with open(os.path.join(folder, "many.json"), "w", encoding="utf-8") as f:
        f.write(profiles.many_calls())
    jobs.append(flame_job(f.name, folder, "flame-of-many"))
    told, bad = doors.drive(jobs, folder)
    copied = told.get("file sample", {}).pop("copied", None)
    if copied:
        wrong += check_copy(copied, reports["sample"], found["sample"])
    return wrong + bad, told


def made_before(folder, profile):
    """A folder with the report of an annotated session, and without its profiles, as a pod leaves it."""
    logdir = doors.logdir(folder, {"pod": profile})
    subprocess.run([doors.PROGRAM, "annotate", "-q", "--perfetto=none", logdir], check=True)
    for at, _, names in os.walk(logdir):
        for name in names:
            if name.endswith(".xplane.pb"):
                os.unlink(os.path.join(at, name))
    return logdir


def several_job(url, runs, shots):
    """Two runs, of which the second is slower: what a server says of them."""
    made = subprocess.run([doors.PROGRAM, "compare", "-q", "--json", doors.SAMPLE, doors.SAMPLE], capture_output=True, check=True)
    answer = json.loads(made.stdout)
    for part, change in zip(answer["compare"]["difference"][1:], (2 * 10**9, -10**9)):
        part["run_1_change_ps"] = change
    answer["compare"]["ops"][0]["run_1_change_ps"] = 10**9
    known = [r for r in runs if r["run"] in ("sample", "compiled")]
    for i, run in enumerate(known):
        run.update(program="jit_train_step", chip="TPU v6e", chips=4, steps=20, when_unix_ms=1767225600000 + i * 86400000,
                   step_median_ps=(17 + i) * 10**9, health_score=57, verdict="compute", spark=[17 * 10**9, 18 * 10**9, 17 * 10**9])
    gates = (None, {"state": "failed", "value": 18, "limit": 17.85})
    trend = {"runs": [dict(run, gate=gate) for run, gate in zip(known, gates)]}
    return {"name": "serve several", "url": url, "inside": [url], "tasks": ["several"], "shots": shots,
            "faked": {"runs": {"runs": known, "is_known": True}, "compare": answer, "trend": trend}}


def part_job(url, run, shots):
    """A device for a while, and what the server says of that."""
    chosen = {"from_ps": 100 * 10**9, "to_ps": 150 * 10**9, "device": 2}
    report = json.load(doors.get(f"{url}api/report?run={run['id']}&{urllib.parse.urlencode(chosen)}"))
    whole = json.load(doors.get(f"{url}api/report?run={run['id']}"))
    return {"name": "serve part", "url": url, "inside": [url], "run": run["id"], "run_text": "sample", "tasks": ["part"], "shots": shots,
            "part": {"link": urllib.parse.urlencode({"run": run["id"], **chosen}), "steps": "Steps",
                     "count": str(report["overview"]["step_count"]), "verdict": report["time"]["bottleneck"],
                     "other": whole["run"]["devices"][0]["name"]}}


def by_server(folder, found, shots):
    logdir = doors.logdir(os.path.join(folder, "logs"), {k: v for k, v in found.items() if k != "big"})
    with doors.serving(logdir, made_before(os.path.join(folder, "made"), found["sample"])) as (url, server):
        runs = json.load(doors.get(url + "api/runs"))["runs"]
        jobs = []
        for run in runs:
            report = json.load(doors.get(f"{url}api/report?run={run['id']}"))
            views = hostile_views(report) if run["run"] == "hostile" else expect.views(report)
            name = report["run"]["run"]
            jobs.append({"name": f"serve {name}", "url": url, "inside": [url], "run": run["id"], "run_text": name,
                         "views": views, "tasks": ["views", "link"] if name == "sample" else ["views"], "shots": shots})
        jobs.append(part_job(url, next(r for r in runs if r["run"] == "sample"), shots))
        jobs.append(several_job(url, [dict(r) for r in runs], shots))
        told, wrong = doors.drive(jobs, folder)
        if len(runs) != len(found) - ("big" in found) + 1:
            wrong.append(f"serve lists {len(runs)} runs")
        server.terminate()
        if server.wait(doors.PATIENCE_S) != 0:
            wrong.append(f"serve ended with status {server.returncode}")
    return wrong, told


DOORS = {"file": by_file, "serve": by_server}


def main():
    doors.need_tools()
    wrong, figures = [], {}
    with tempfile.TemporaryDirectory() as folder:
        found = doors.profiles()
        for name, make in (("hostile", profiles.hostile), ("big", profiles.big)):
            found[name] = os.path.join(folder, f"{name}.xplane.pb")
            with open(found[name], "wb") as f:
                f.write(make())
        for door in sys.argv[1:] or DOORS:
            bad, told = DOORS[door](folder, found, os.environ.get("TS_SHOTS"))
            wrong += bad
            figures.update({k: v for k, v in told.items() if "paint_ms" in v or "find_ms" in v})
    print(json.dumps(figures))
    return doors.ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
