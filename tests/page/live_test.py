#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The live page of tpusight live --serve in real Chromium: live_test.py

live.mjs does it: the page updates by itself, alerts, pause, other views, axe in both themes, a job and a watch that go and come.
$TPUSIGHT names the program, $FAKE_SERVER what answers as a job does (tests/live/fake_server.c), $TS_JAX_PYTHON a
Python with JAX for a real job, $TS_SHOTS a folder for screenshots.
"""
import glob
import json
import os
import sys
import tarfile
import tempfile

import doors
from live_stream_test import FAKE

PLANTED = os.path.join(doors.HERE, "..", "data", "planted", "clean.tar.gz")
JOB = os.path.join(doors.HERE, "..", "live", "job.py")


def real_job():
    """{command, address of its server}, or None where there is no JAX."""
    python, port = os.environ.get("TS_JAX_PYTHON", ""), doors.free_port()
    if not os.access(python, os.X_OK):
        print("TS_JAX_PYTHON names no Python with JAX: no real job", file=sys.stderr)
        return None
    return {"command": [python, JOB, str(port), "shapes", "600"], "address": f"127.0.0.1:{port}"}


def quiet(folder):
    """A profile of which nothing is found."""
    with tarfile.open(PLANTED) as tar:
        tar.extractall(folder, filter="data")
    return glob.glob(os.path.join(folder, "clean", "**", "*.xplane.pb"), recursive=True)[0]


def main():
    doors.need_tools()
    if not os.access(FAKE, os.X_OK):
        doors.skip(f"{FAKE} is not built")
    setup = {"program": doors.PROGRAM, "fake": FAKE, "loud": doors.SAMPLE, "port": doors.free_port(),
             "shots": os.environ.get("TS_SHOTS"), "job": real_job()}
    with tempfile.TemporaryDirectory() as folder:
        setup["quiet"] = quiet(folder)
        path, setup["logdir"] = os.path.join(folder, "setup.json"), os.path.join(folder, "logs")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(setup, f)
        done = doors.node("live.mjs", path, stdout=None)
    if done.returncode == doors.SKIP:
        doors.skip(done.stderr.strip().removesuffix(": skipped"))
    wrong = done.stderr.splitlines() if done.returncode else []
    return doors.ended(wrong + ([] if done.returncode in (0, 1) else [f"live.mjs ended with status {done.returncode}"]))


if __name__ == "__main__":
    sys.exit(main())
