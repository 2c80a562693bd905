#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a run of very many ops has of each lies in files: a report of 200,000 fits into what 50,000 take in memory."""

import os
import resource
import subprocess
import sys
import tempfile

TOP = os.environ.get("srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
PROGRAM = os.path.abspath("bin/tpusight")
FEW, MANY = 10, 200_000
ROOM = 60 << 20
SKIP = 77


def hold_back():
    resource.setrlimit(resource.RLIMIT_DATA, (ROOM, ROOM))


def report(folder, nr_ops):
    """Whether the report of a step of so many ops could be made with ROOM, and what was said."""
    profile = os.path.join(folder, "many.xplane.pb")
    maker = os.path.join(TOP, "bench/make_shapes.py")
    subprocess.run([sys.executable, maker, profile, "1", str(nr_ops)], check=True, stdout=subprocess.DEVNULL)
    command = [PROGRAM, "report", "-q", "-j1", "--json", profile]
    return subprocess.run(command, preexec_fn=hold_back, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        if report(folder, FEW).returncode != 0:
            print("skipped: this build needs more room than that for any profile (a sanitizer's)")
            return SKIP
        done = report(folder, MANY)
        print(f"{MANY} ops in {ROOM >> 20} MiB: {'fits' if done.returncode == 0 else done.stderr.strip()}")
        return 1 if done.returncode else 0


sys.exit(main())
