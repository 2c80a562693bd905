#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page's third door: the wheel of plugin/, in a real TensorBoard next to XProf, in real Chromium: plugin_test.py

The wheel is built with the programs of this build folder and installed in a virtual environment of its own, which sees
TensorBoard and XProf of $TS_VIEWERS_PYTHON. Every view of the sample, of the corpus' v6e and MI300X profiles and of the
hostile one is looked at as by the other doors (page_test.py); besides: a run that is damaged, changes, is unknown or lies
outside. Exit 77: a tool is missing. $TS_SHOTS is a folder for screenshots.
"""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error

import doors
import expect
import profiles
from page_test import hostile_views

ROOT = os.path.join(doors.HERE, "..", "..")
PYTHON = os.environ.get("TS_VIEWERS_PYTHON", sys.executable)
PYTORCH = "pytorch/rank0.1700000000"  # as torch.profiler.tensorboard_trace_handler writes a trace
SESSION = "plugins/profile/2026_01_01_00_00_00"


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


ABOVE = ("configure.ac", "LICENSE", "notices")  # what the wheel takes from above plugin/


def sources(folder):
    """A copy of what the wheel is made of, so that the source folder stays clean: its plugin folder."""
    top = os.path.join(folder, "source")
    parts = [os.path.join("plugin", name) for name in
             ("pyproject.toml", "setup.py", "README.md", "tensorboard_plugin_tpusight", "tpusight", "page/dist")]
    for part in (*ABOVE, "manual", *parts):
        path, target = os.path.join(ROOT, part), os.path.join(top, part)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(path):
            shutil.copytree(path, target)
        elif os.path.exists(path) or part in ABOVE:  # manual and page/dist are there in a tarball alone
            shutil.copy(path, target)
    return os.path.join(top, "plugin")


def wheel(folder):
    plugin, build = sources(folder), os.path.dirname(os.path.dirname(doors.PROGRAM))
    pip = [PYTHON, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", "-w", folder, plugin]
    has_setuptools = run(PYTHON, "-c", "import setuptools, wheel").returncode == 0
    made = run(*pip, *(["--no-build-isolation"] if has_setuptools else []), env=dict(os.environ, TPUSIGHT_BUILD=build))
    found = [n for n in os.listdir(folder) if n.endswith(".whl")]
    if found:
        return os.path.join(folder, found[0])
    if not has_setuptools:  # pip wanted to fetch it
        doors.skip(f"pip made no wheel ({made.stderr.strip().splitlines()[-1:]})")
    sys.exit(f"pip made no wheel: {made.stderr.strip()[-2000:]}")


def installed(folder):
    """Python of an environment that has the wheel; TensorBoard and XProf are seen in the one that was given."""
    asked = run(PYTHON, "-c", "import sysconfig, tensorboard, xprof; print(sysconfig.get_paths()['purelib'])")
    if asked.returncode:
        doors.skip("tensorboard and xprof are not installed (pip install -r tests/requirements.txt)")
    venv = os.path.join(folder, "venv")
    if run(PYTHON, "-m", "venv", venv).returncode:
        doors.skip("python3 -m venv does not work here")
    python = os.path.join(venv, "bin", "python")
    pip = run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps", wheel(folder))
    if pip.returncode:
        doors.skip(f"pip could not install the wheel ({pip.stderr.strip().splitlines()[-1:]})")
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])").stdout.strip()
    with open(os.path.join(site, "viewers.pth"), "w", encoding="utf-8") as f:
        f.write(asked.stdout.strip() + "\n")
    return python


def answer(url, **headers):
    try:
        with doors.get(url, **headers) as r:
            return r.status, r.headers, r.read()
    except urllib.error.HTTPError as e:
        return e.code, e.headers, e.read()


def wait_until(what, test):
    end = time.monotonic() + 240
    while time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError, KeyError):
            if test():
                return
        time.sleep(0.5)
    raise SystemExit(f"gave up waiting until {what}")


@contextlib.contextmanager
def tensorboard(python, logdir, folder, *more):
    url = f"http://127.0.0.1:{doors.free_port()}/"
    env = dict(os.environ, PATH="/usr/bin:/bin")  # the programs must be found beside Python, not on PATH
    with open(os.path.join(folder, "tensorboard.log"), "wb") as log:
        server = subprocess.Popen([python, "-m", "tensorboard.main", "--logdir", logdir, "--host", "127.0.0.1", "--port",
                                   url.rsplit(":", 1)[1].strip("/"), *more], stdout=log, stderr=log, env=env)
    try:
        wait_until("both plugins are active", lambda: all(
            json.loads(answer(url + "data/plugins_listing")[2])[name]["enabled"] for name in ("tpusight", "profile")))
        yield url
    finally:
        server.terminate()
        server.wait(60)


def check_api(url, logdir, outside):
    api, wrong = url + "data/plugin/tpusight/", []

    def must(good, text):
        wrong.extend([] if good else [text])

    runs = {r["id"]: r for r in json.loads(answer(api + "runs")[2])["runs"]}
    expected = {f"{n}/2026_01_01_00_00_00" for n in os.listdir(logdir) if n not in ("outside", "pytorch")} | {PYTORCH}
    must(set(runs) == expected,
         f"runs are {sorted(runs)}: one outside of the log directory, or one is missing")
    good = api + "report?run=sample/2026_01_01_00_00_00"
    status, headers, first = answer(good)
    must(status == 200 and json.loads(first)["schema"] == "tpusight/1", f"the report's status is {status}")
    must(answer(good, **{"If-None-Match": headers["ETag"]})[0] == 304, "a browser that has the report gets it again")
    packed = answer(good, **{"Accept-Encoding": "gzip"})
    must(packed[1]["Content-Encoding"] == "gzip" and len(packed[2]) < len(first) // 3, "the report is not packed")
    for run_id in ("nothing", "../outside", "sample/../../outside", outside, "%2e%2e%2foutside", ""):
        status, _, body = answer(api + "report?run=" + run_id)
        must(status == 404 and json.loads(body)["error"]["message"], f"run {run_id!r} gives {status}")
    status, _, body = answer(api + "report?run=damaged/2026_01_01_00_00_00")
    must(status == 422 and json.loads(body)["error"]["message"], f"a damaged run gives {status}")
    shutil.copyfile(os.path.join(logdir, "hostile", SESSION, "host.xplane.pb"), os.path.join(logdir, "sample", SESSION, "host.xplane.pb"))
    changed = json.loads(answer(good)[2])
    must(changed["ops"] != json.loads(first)["ops"], "a run that changed shows its old report")
    must(not any("tpusight" in n for _, _, names in os.walk(logdir) for n in names), "looking at a run wrote into it")
    return wrong


def jobs(url, names, shots):
    for name in [*names, "pytorch"]:
        run_id = PYTORCH if name == "pytorch" else f"{name}/2026_01_01_00_00_00"
        report = json.loads(answer(f"{url}data/plugin/tpusight/report?run={run_id}")[2])
        yield {"name": f"plugin {name}", "url": url + "#tpusight", "inside": [url], "ours": ["/tpusight", "name=tpusight"], "run": run_id,
               "run_text": "rank0" if name == "pytorch" else name,
               "views": hostile_views(report) if name == "hostile" else expect.views(report),
               "tasks": ["views", "axe", "link"] if name == "sample" else ["views"], "shots": shots}


def main():
    doors.need_tools()
    with tempfile.TemporaryDirectory() as folder:
        python = installed(folder)
        found = dict(doors.profiles(), hostile=profiles.hostile())
        logdir = doors.logdir(os.path.join(folder, "logs"), dict(found, damaged=b"\x0a\xff\xff"))
        outside = doors.logdir(os.path.join(folder, "elsewhere"), {"outside": profiles.hostile()})
        os.makedirs(os.path.join(logdir, "outside", "plugins", "profile"))
        os.makedirs(os.path.join(logdir, "pytorch"))
        shutil.copyfile(doors.TRACE, os.path.join(logdir, PYTORCH + ".pt.trace.json"))
        os.symlink(os.path.join(outside, "outside", SESSION), os.path.join(logdir, "outside", SESSION))
        with tensorboard(python, logdir, folder) as url:
            told, wrong = doors.drive(list(jobs(url, found, os.environ.get("TS_SHOTS"))), folder)
            links = told.get("plugin sample", {}).get("xprof", [])
            wrong += [] if len(links) == 2 else ["the page has no links to XProf"]
            wrong += [f"{link} gives {answer(link)[0]}" for link in links if answer(link)[0] != 200]
            wrong += check_api(url, logdir, outside)
    return doors.ended(wrong)


if __name__ == "__main__":
    sys.exit(main())
