#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Our rows in both frontends of XProf's trace viewer, in Chromium of 1280 x 800: frontend_test.py

The sample is annotated and shown by the real TensorBoard. In the frontend that opens first "Time classes" and "Findings" stand in
sight without scrolling, above the counters. In the new one ("Switch to the new frontend") the search finds each slice of Findings, and
what it goes to says its own figure, its op and its module, with a link to the graph of that op. A browser without WebGPU, also not a
slow one in software, cannot draw the new one: that part is left out then, with a word.
$TPUSIGHT names the program (default bin/tpusight), $TS_VIEWERS_PYTHON a Python that has tests/requirements.txt, $TS_SHOTS a
folder for the pictures. Exit 77: XProf, node or Chromium is not there.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import run_chromium

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import PROGRAM

SAMPLE = os.path.join(HERE, "..", "data", "sample", "train_step_simulated", "plugins", "profile", "2026_01_01_00_00_00")
PYTHON = os.environ.get("TS_VIEWERS_PYTHON", sys.executable)


def has(module):
    return subprocess.call([PYTHON, "-c", f"import {module}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def main():
    if os.environ.get("TS_NO_BROWSER"):
        run_chromium.skip("no browser is wanted (TS_NO_BROWSER)")
    if not os.access(PROGRAM, os.X_OK):
        run_chromium.skip(f"{PROGRAM} is not built")
    for module in ("tensorboard", "xprof"):
        if not has(module):
            run_chromium.skip(f"{module} is not installed (pip install -r tests/requirements.txt)")
    if not shutil.which("node"):
        run_chromium.skip("node is not installed (apt-get install nodejs npm)")
    with tempfile.TemporaryDirectory() as scratch:
        logdir = os.path.join(scratch, "logs")
        session = os.path.join(logdir, "run", "plugins", "profile", "2026_01_01_00_00_00")
        shutil.copytree(SAMPLE, session)
        subprocess.run(["chmod", "-R", "u+w", logdir], check=True)
        subprocess.run([PROGRAM, "annotate", "-q", logdir], check=True)
        run, host = run_chromium.find_run(logdir)
        url = f"http://127.0.0.1:{run_chromium.free_port()}"
        setup = os.path.join(scratch, "setup.json")
        with open(setup, "w", encoding="utf-8") as f:
            json.dump({"url": url, "run": run, "host": host, "shots": os.environ.get("TS_SHOTS")}, f)
        server = subprocess.Popen([PYTHON, "-m", "tensorboard.main", "--logdir", logdir, "--host", "127.0.0.1", "--port",
                                   url.rsplit(":", 1)[1]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            run_chromium.wait_until_up(url, server)
            return subprocess.call(["node", os.path.join(HERE, "frontend.mjs"), setup])
        finally:
            server.terminate()
            server.wait(30)


if __name__ == "__main__":
    sys.exit(main())
