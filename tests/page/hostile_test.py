#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every string of every profile is an attack, and every view is looked at in real Chromium: hostile_test.py [DOOR...]

  file    report -o FILE.html, opened from disk: a TPU job with its modules, and traces of PyTorch
  serve   the same behind tpusight serve, in folders whose names are attacks too, with a run whose error is one
  plugin  the same in TensorBoard, with the plugin as it is installed (hostile_plugin_test.py)
The page is the same in all of them: by file tables are sorted by four columns, elsewhere by one.
What is made of the profiles is in hostile.py, what must not happen in hostile.mjs. Besides: no text of a CSV begins a formula.
$TPUSIGHT names the program, $TS_VIEWERS_PYTHON a Python with TensorBoard. Exit 77: a tool is missing.
"""
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile

import doors
import hostile
import plugin_test

DATA = os.path.join(doors.HERE, "..", "data")
TRACES = {"trace": doors.TRACE, "compiled": doors.COMPILED, "memory": doors.MEMORY,
          "operators": os.path.join(DATA, "torch_operators.pt.trace.json.gz")}
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
SESSION = "2026_01_01_00_00_00"


def made(folder):
    """{name: path} of all hostile profiles."""
    found = {}
    for salt in (0, 1):
        found[f"sample{salt}"] = os.path.join(folder, f"sample{salt}.xplane.pb")
        with open(found[f"sample{salt}"], "wb") as f:
            f.write(hostile.xplane(doors.SAMPLE, salt))
    for salt, (name, path) in enumerate(TRACES.items()):
        found[name] = os.path.join(folder, f"{name}.pt.trace.json")
        with open(found[name], "wb") as f:
            f.write(hostile.trace(path, salt))
    return found


def drive(jobs, folder):
    path = os.path.join(folder, "hostile.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(jobs, f)
    done = doors.node("hostile.mjs", path)
    if done.returncode == doors.SKIP:
        doors.skip(done.stderr.strip().removesuffix(": skipped"))
    if done.returncode not in (0, 1) or not done.stdout:
        return {}, [f"hostile.mjs ended with status {done.returncode}", done.stderr]
    return json.loads(done.stdout), done.stderr.splitlines()


def logdir(folder, found):
    """Runs and hosts with hostile names, one of them damaged."""
    names = hostile.names(len(found) + 1)
    for name, path in zip(names, found.values()):
        session = os.path.join(folder, name, "plugins", "profile", SESSION)
        os.makedirs(session)
        end = ".xplane.pb" if path.endswith(".xplane.pb") else ".pt.trace.json"
        shutil.copyfile(path, os.path.join(session, names[-1].lstrip("-") + end))
    session = os.path.join(folder, "damaged" + hostile.MARKUP[1].replace("/", ""), "plugins", "profile", SESSION)
    os.makedirs(session)
    with open(os.path.join(session, names[2] + ".xplane.pb"), "wb") as f:
        f.write(b"\x0a\xff\xff")
    os.makedirs(os.path.join(folder, "empty" + hostile.MARKUP[1], "plugins", "profile", names[4]))
    return folder


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_csv(found):
    """A text that begins as a formula does is kept a text (docs/serving.md)."""
    def bad(cell):
        return cell.startswith(FORMULA) and not is_number(cell)
    wrong = []
    for name, path in found.items():
        for view in ("ops", "steps", "kernels", "operators", "doctor"):
            done = subprocess.run([doors.PROGRAM, "report", "-q", "--format=csv", f"--view={view}", path], capture_output=True, text=True,
                                  encoding="utf-8", errors="strict", check=False)
            cells = [cell for row in csv.reader(io.StringIO(done.stdout, newline="")) for cell in row]
            wrong += [f"{name}, {view}: a cell is the formula {cell[:60]!r}" for cell in filter(bad, cells)]
    return wrong


def by_file(folder, found):
    jobs = []
    for name, path in found.items():
        url = "file://" + doors.html(path, os.path.join(folder, f"{name}.html"))
        jobs.append({"name": f"file {name}", "url": url, "inside": [url], "columns": 4})
    told, wrong = drive(jobs, folder)
    return told, wrong + check_csv(found)


def by_server(folder, found):
    with doors.serving(logdir(os.path.join(folder, "served"), found)) as (url, _):
        runs = [r["id"] for r in json.load(doors.get(url + "api/runs"))["runs"]]
        told, wrong = drive([{"name": "serve", "url": url, "inside": [url], "runs": runs, "has": "details.problems", "columns": 1}], folder)
    return told, wrong + ([] if len(runs) == len(found) + 1 else [f"serve lists {len(runs)} runs"])


def by_plugin(folder, found):
    python = plugin_test.installed(folder)
    with plugin_test.tensorboard(python, logdir(os.path.join(folder, "plugged"), found), folder) as url:
        runs = [r["id"] for r in json.loads(plugin_test.answer(url + "data/plugin/tpusight/runs")[2])["runs"]]
        job = {"name": "plugin", "url": url + "#tpusight", "inside": [url], "ours": ["/tpusight", "name=tpusight"], "runs": runs,
               "columns": 1}
        told, wrong = drive([job], folder)
    return told, wrong + ([] if len(runs) == len(found) + 1 else [f"the plugin lists {len(runs)} runs"])


DOORS = {"file": by_file, "serve": by_server, "plugin": by_plugin}


def main(wanted):
    doors.need_tools()
    wrong, views = [], {}
    with tempfile.TemporaryDirectory() as folder:
        found = made(folder)
        for door in wanted:
            told, bad = DOORS[door](folder, found)
            wrong += bad
            views.update(told)
    print(json.dumps(views))
    wrong += [f"{name}: only {nr} views" for name, nr in views.items() if nr < 8]
    return doors.ended(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["file", "serve"]))
