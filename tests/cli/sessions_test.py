#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many sessions on many threads say and write what one thread does: sessions_test.py

Small and large sessions, damaged ones, sessions that share a folder: what is printed, complained of and written, and the status, must be
those of one thread, in the same order. $TPUSIGHT names the program (default: bin/tpusight).
"""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import DATA, PROGRAM

TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
SEEDS = os.path.join(TOP, "tests", "fuzz", "seeds", "xplane")
SAMPLE = os.path.join(DATA, "sample/train_step_simulated/plugins/profile/2026_01_01_00_00_00/simulated-host.xplane.pb")
TRACE = os.path.join(DATA, "hand_made.pt.trace.json")
LOOKS = re.compile(rb',\n  "annotation": \{[^\n]*\}\n\}\n$')  # how files looked: never the same twice
PATIENCE = 300
THREADS = ("-j1", "-j2", "-j8")


def put(source, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copyfile(source, path)


def make(logdir):
    """Sessions of all kinds, in an order that mixes them."""
    for i in range(12):
        kind = ("steps_marked", "plain", "not_a_profile", "cut_inside_event")[i % 4]
        source = os.path.join(SEEDS, kind)
        put(source if os.path.exists(source) else os.path.join(SEEDS, "capture_good"),
            f"{logdir}/run{i % 3}/plugins/profile/s{i:02}/h.xplane.pb")
    for i in range(6):  # more files than a small session has
        put(os.path.join(SEEDS, "steps_marked"), f"{logdir}/run1/plugins/profile/s05b/host{i}.xplane.pb")
    put(SAMPLE, f"{logdir}/run0/plugins/profile/s03b/h.xplane.pb")
    for i in range(3):  # runs of their own in one folder
        put(TRACE, f"{logdir}/torch/w.{1000 + i * 1000000}.pt.trace.json")
    with open(f"{logdir}/run2/plugins/profile/s02/empty.xplane.pb", "wb"):
        pass


def tree(folder):
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "**", "*"), recursive=True)):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                found[path] = LOOKS.sub(b"\n}\n", file.read())
    return found


class Sessions(unittest.TestCase):
    def setUp(self):
        self.before = os.getcwd()
        self.folder = tempfile.mkdtemp(prefix="tpusight-sessions-")
        os.chdir(self.folder)

    def tearDown(self):
        os.chdir(self.before)
        shutil.rmtree(self.folder)

    def all_say(self, *commands):
        """What the commands, one after the other on the same sessions, print and leave, by threads."""
        said = []
        for threads in THREADS:
            shutil.rmtree("log", ignore_errors=True)
            make("log")
            said.append([])
            for command in commands:
                ran = subprocess.run([PROGRAM, *command, threads, "log"], capture_output=True, check=False, timeout=PATIENCE)
                said[-1].append((ran.returncode, ran.stdout, ran.stderr, tree("log")))
        return said

    def assert_all_the_same(self, *commands):
        first, *others = self.all_say(*commands)
        for other in others:
            for command, one, two in zip(commands, first, other):
                for what, a, b in zip(("status", "output", "complaints"), one, two):
                    self.assertEqual(a, b, (command, what))
                self.assertEqual([path for path in sorted(set(one[3]) | set(two[3])) if one[3].get(path) != two[3].get(path)], [], command)
        return first

    def test_annotations_are_those_of_one_thread(self):
        annotated, again, stripped = self.assert_all_the_same(["annotate"], ["annotate"], ["annotate", "--strip", "-v"])
        self.assertEqual(annotated[0], 4)  # some are damaged
        self.assertIn(b"annotated already", again[1])
        make("fresh")
        self.assertEqual({path[4:]: data for path, data in stripped[3].items()},
                         {path[6:]: data for path, data in tree("fresh").items()})

    def test_both_forms_and_json(self):
        self.assert_all_the_same(["annotate", "--json", "--perfetto=both"], ["annotate", "--json"], ["annotate", "--strip", "--json"])

    def test_reports_and_checks_are_those_of_one_thread(self):
        self.assert_all_the_same(["report"], ["report", "--view", "time"], ["check"], ["check", "--json"], ["report", "--budget", "9000"])

    def test_devices_of_a_host_that_was_left_behind_are_missed(self):
        with tarfile.open(os.path.join(DATA, "planted", "two_hosts.tar.gz")) as both:
            both.extractall(self.folder, filter="data")
        for told in ([], ["2 of the job's 4 devices are in this profile"]):
            ran = subprocess.run([PROGRAM, "check", "--json", "two_hosts"], capture_output=True, check=True, timeout=PATIENCE)
            (check,) = json.loads(ran.stdout)["checks"]
            self.assertEqual([cause["what"] for cause in check["causes"] if cause["id"] == "devices_missing"], told)
            for path in glob.glob("two_hosts/**/planted-host-1.xplane.pb", recursive=True):
                os.remove(path)

    def test_a_run_that_is_ended_leaves_no_temporary(self):
        for round_nr in range(6):
            shutil.rmtree("log", ignore_errors=True)
            make("log")
            with subprocess.Popen([PROGRAM, "annotate", "-q", "-j8", "log"], stderr=subprocess.DEVNULL) as process:
                time.sleep(0.01 * round_nr)
                process.send_signal(signal.SIGINT)
                process.wait(PATIENCE)
            self.assertEqual(glob.glob("log/**/.*", recursive=True), [])
            subprocess.run([PROGRAM, "annotate", "--strip", "-q", "-j8", "log"], stderr=subprocess.DEVNULL, check=False, timeout=PATIENCE)
        make("fresh")
        self.assertEqual({path[4:]: data for path, data in tree("log").items()}, {path[6:]: data for path, data in tree("fresh").items()})


if __name__ == "__main__":
    unittest.main()
