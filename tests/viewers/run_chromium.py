#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at an annotated log directory in the real TensorBoard: run_chromium.py LOGDIR SHOTS [--expect T] [--suggest T] [--op A] [--time A]

Starts TensorBoard with XProf (of the Python this runs under) on 127.0.0.1, has chromium.mjs open the first run's pages, and
stops it again. Without --expect the group "/device:CUSTOM:TPUsight" must be shown. Exit 0 good, 1 not shown, 77 a tool is
missing. LOGDIR is served as it is: give a copy, XProf leaves files behind.
"""
import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
from helpers import free_port, skip

SKIP, OVERLAY = 77, "/device:CUSTOM:TPUsight"


def find_run(logdir):
    """(run as TensorBoard names it, first host) of the first session found."""
    for folder, _, files in sorted(os.walk(logdir)):
        hosts = sorted(f[:-len(".xplane.pb")] for f in files if f.endswith(".xplane.pb"))
        parts = os.path.relpath(folder, logdir).split(os.sep)
        if hosts and parts[-3:-1] == ["plugins", "profile"]:
            return "/".join(parts[:-3] + [parts[-1]]), hosts[0]
    raise SystemExit(f"{logdir}: no session with a profile")


def wait_until_up(url, server):
    for _ in range(240):
        if server.poll() is not None:
            raise SystemExit(f"tensorboard ended with status {server.returncode}")
        try:
            # XProf lists the runs only when it has seen the log directory.
            with urllib.request.urlopen(url + "/data/plugin/profile/runs", timeout=5) as r:
                if len(r.read()) > 4:
                    return
        except OSError:
            pass
        time.sleep(0.5)
    raise SystemExit("tensorboard did not come up in two minutes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logdir")
    parser.add_argument("shots")
    parser.add_argument("--expect", action="append")
    parser.add_argument("--suggest", action="append", default=[])
    parser.add_argument("--op", action="append", default=[])
    parser.add_argument("--time", action="append", default=[])
    args = parser.parse_args()
    for module in ("tensorboard", "xprof"):
        if not importlib.util.find_spec(module):
            skip(f"{module} is not installed (pip install -r tests/requirements.txt)")
    if not shutil.which("node"):
        skip("node is not installed (apt-get install nodejs npm)")
    run, host = find_run(args.logdir)
    url = f"http://127.0.0.1:{free_port()}"
    server = subprocess.Popen([sys.executable, "-m", "tensorboard.main", "--logdir", args.logdir, "--host", "127.0.0.1",
                               "--port", url.rsplit(":", 1)[1]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until_up(url, server)
        words = [w for t in args.expect or [OVERLAY] for w in ("--expect", t)]
        words += [w for t in args.suggest for w in ("--suggest", t)]
        words += [w for t in args.op for w in ("--op", t)] + [w for t in args.time for w in ("--time", t)]
        return subprocess.call(["node", os.path.join(HERE, "chromium.mjs"), "--url", url, "--run", run, "--host", host,
                                "--shots", args.shots, *words])
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    sys.exit(main())
