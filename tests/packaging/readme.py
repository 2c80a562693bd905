#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands of README, typed where TPUsight is installed and its sources are not: readme.py [--tensorboard]

Unlike commands_test.py, which runs them with the program of the build folder, this takes what PATH has. A command that says what
it needs is named with it and does not run. With --tensorboard only TensorBoard's command runs, with a free port: TensorBoard has to
name our tab, and the tab the run. packaging/installed.sh runs this on a fresh system; the status is 1 when a command fails.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import TOP

os.environ["TPUSIGHT"] = shutil.which("tpusight") or sys.exit("tpusight is not installed: it is not on PATH")
sys.path.insert(0, os.path.join(TOP, "tests", "python"))
import commands_test
import package

sys.path.remove(os.path.join(package.ROOT, "plugin"))  # the package that is installed is meant
PATIENCE_S = 300
TAB = "/data/plugin/tpusight"


def rows():
    """[(command, what it needs or None)] of README.md and docs/use.md."""
    found = []
    for name in ("README.md", os.path.join("docs", "use.md")):
        with open(os.path.join(TOP, name), encoding="utf-8") as f:
            found += [row for block, _ in commands_test.blocks(f.read()) for row in block]
    return found


def try_all(folder):
    """How many commands failed."""
    nr_failed = 0
    for command, what in rows():
        if what:
            print(f"needs {what}: {command}")
            continue
        begin = time.monotonic()
        try_one = commands_test.run_until_it_speaks if commands_test.is_endless(command) else commands_test.run
        status, said = try_one(command, folder, dict(os.environ))
        print(f"ran {time.monotonic() - begin:.2f} s, status {status}: {command}")
        if status:
            nr_failed += 1
            print(said)
    return nr_failed


def answer(address):
    """What the server says there as JSON, or None as long as it does not answer."""
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE_S) as said:
            return json.load(said)
    except (urllib.error.URLError, ConnectionError, ValueError):
        return None


def wait_for(what, process, ask):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        found = ask()
        if found:
            return found
        time.sleep(0.2)
    raise SystemExit(f"TensorBoard did not say {what}")


def try_tensorboard(folder):
    """0, or 1 when TensorBoard has no tab of ours."""
    command = next(command for command, what in rows() if what == "TensorBoard")
    begin = time.monotonic()
    with open(os.path.join(folder, "said"), "w+", encoding="utf-8") as said, \
            subprocess.Popen(f"exec {command} --port=0", shell=True, cwd=folder, stdout=said, stderr=said) as process:
        try:
            def address():
                with open(said.name, encoding="utf-8") as f:
                    found = re.search(r"http://\S+?:\d+", f.read())
                return found and found.group()

            top = wait_for("where it serves", process, address)
            listing = wait_for("that the tab TPUsight has something to show", process, lambda: (
                lambda plugins: plugins and plugins.get("tpusight", {}).get("enabled") and plugins)(answer(f"{top}/data/plugins_listing")))
            runs = wait_for("which runs the tab shows", process, lambda: answer(f"{top}{TAB}/runs"))
            shown = "with" if "profile" in listing else "without"
            print(f"ran {time.monotonic() - begin:.2f} s, {shown} XProf's tab: {command}: {json.dumps(runs)[:200]}")
        except SystemExit as e:
            with open(said.name, encoding="utf-8") as f:
                print(f.read()[-4000:], e, sep="\n")
            return 1
        finally:
            process.send_signal(signal.SIGTERM)
    return 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        commands_test.prepared(folder, "docs/use.md")
        return (try_tensorboard if sys.argv[1:] == ["--tensorboard"] else try_all)(folder)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
