#!/usr/bin/env python3
"""Takes the pictures of the README, one of each view: readme.py FOLDER (make pictures)

All are of profiles in tests/data. $TPUSIGHT names the program. Exit 77: a tool is missing.
"""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

import doors
import views_test

sys.path.insert(0, os.path.join(doors.HERE, "..", "fixtures"))

TPU = ["overview", "systolic", "roofline", "padding", "fusion", "cache", "memory", "time", "slices", "doctor", "flame", "compile"]
GPU = ["hta", "kernels", "operators", "timeline"]
AT = {"memory": 'section[aria-label="what a program holds"]', "systolic": 'section[aria-label="an op on the array"]', "pod": "#view"}
ACTS = {"doctor": [".finding summary"]}
OP = "fusion.337"
RUNS = ["clean", "slow_once", "slow_every_fifth", "waits", "padding", "recompiles"]  # of tests/data/planted


def address(page, view, **more):
    return f"file://{page}#view={view}" + "".join(f"&{key}={value}" for key, value in more.items())


def job(name, url):
    return {"name": name, "url": url, "at": AT.get(name), "acts": ACTS.get(name, [])}


def file_jobs(folder):
    pages = {name: doors.html(path, os.path.join(folder, f"{name}.html")) for name, path in {
        "sample": doors.SAMPLE, "trace": doors.TRACE, "pod": pod(folder)}.items()}
    for view in TPU:
        yield job(view, address(pages["sample"], view))
    module = next(op["module"] for op in views_test.page_of(pages["sample"])[1]["ops"] if op["name"] == OP)
    yield job("op", address(pages["sample"], "overview", op=f"{module}/{OP}"))
    for view in GPU:
        yield job(view, address(pages["trace"], view))
    yield job("pod", address(pages["pod"], "pod"))


def pod(folder):
    """64 hosts, or two where the fixture of many is not there."""
    script = os.path.join(doors.HERE, "..", "fixtures", "pod.py")
    if not os.path.exists(script):
        return views_test.planted("two_hosts", folder)
    out = os.path.join(folder, "many")
    subprocess.run([sys.executable, script, out, "64"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(out, "pod")


@contextlib.contextmanager
def served_jobs(folder):
    """The list of runs, two of them side by side, and a program over time."""
    logdir = os.path.join(folder, "logdir")
    os.makedirs(logdir)
    for name in RUNS:
        views_test.planted(name, logdir)
    profile = os.path.join(logdir, "train", "plugins", "profile", "2026_01_02_00_00_00")
    os.makedirs(profile)
    shutil.copy(doors.SAMPLE, profile)
    with doors.serving(logdir) as (at, _):
        boxes = [f'#view tr[data-row="{row}"] input[type="checkbox"]' for row in range(4)]
        yield [{"name": "runs", "url": f"{at}#view=runs"},
               {"name": "compare", "url": f"{at}#view=runs", "acts": [*boxes[1:3], "#view button >> text=/^Compare/"]},
               {"name": "trend", "url": f"{at}#view=runs", "acts": [*boxes, "#view button >> text=/^Trend/"]}]


def main():
    out = os.path.abspath(sys.argv[1])
    doors.need_tools()
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, served_jobs(folder) as served:
        path = os.path.join(folder, "jobs.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump([*file_jobs(folder), *served], file)
        return subprocess.call(["node", os.path.join(doors.HERE, "readme.mjs"), path, out])


if __name__ == "__main__":
    sys.exit(main())
