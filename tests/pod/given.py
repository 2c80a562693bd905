# SPDX-License-Identifier: MIT
"""Sessions for the tests of pods, and programs that fail on a node."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "python"))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "fixtures"))

import package

SAMPLE = os.path.join(package.DATA, "sample", "train_step_simulated", "plugins", "profile", "2026_01_01_00_00_00",
                      "simulated-host.xplane.pb")
SMALL = os.path.join(package.DATA, "cpu_cache_warm.xplane.pb")
SESSION = os.path.join("run", "plugins", "profile", "2026_01_01_00_00_00")
DONE, NOTHING, SOME = 0, 3, 4
# A program like ours that, before it does what it is asked, does what BEFORE says in words of the shell. $2 is the step.
WRAPPER = """#!/bin/sh
if [ "$1" = map ]; then
{before}
fi
exec "{program}" "$@"
"""


# By this a second annotate on the machine sees that there is nothing to do. A pod does not write it.
NOTE = re.compile(rb',\n  "annotation": [^\n]*\n}\n\Z')


def files_of(folder):
    """The content of each file, the report's without the note."""
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as f:
            found[name] = NOTE.sub(b"\n}\n", f.read())
    return found


def wrapper(path, before):
    with open(path, "w") as f:
        f.write(WRAPPER.format(before=before, program=package.PROGRAM))
    os.chmod(path, 0o755)
    return path


class Given(unittest.TestCase):
    """A folder that goes, with scratch folders below it: none of a pod may be left."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tpusight-test-pod-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.scratch = self.path("scratch")
        os.mkdir(self.scratch)
        self.output = self.path("pod.json")

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def session(self, hosts, source=SAMPLE, below="logs"):
        """A session of HOSTS files with the content of SOURCE; the log directory."""
        folder = self.path(below, SESSION)
        os.makedirs(folder, exist_ok=True)
        for host in hosts:
            shutil.copy(source, os.path.join(folder, host + ".xplane.pb"))
        return self.path(below)

    def of_one_machine(self, session, status=DONE, options=()):
        """The report as `tpusight report` writes it."""
        path = self.path("one.json")
        done = subprocess.run([package.PROGRAM, "report", session, "-o", path, *options], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return path

    def run_program(self, *args, status=DONE):
        done = subprocess.run([package.PROGRAM, *args], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)

    def assert_annotated(self, folder, native, place=None, status=DONE, made=None):
        """The folder, whose files were NATIVE and then MADE (None: as they are), has what one machine writes into it (PLACE: as that calls
        it), and stripped it is NATIVE."""
        place, made = place or folder, made or files_of(folder)
        self.run_program("annotate", "--strip", "-q", place)
        self.assertEqual(files_of(folder), native)
        self.run_program("annotate", "--perfetto=none", "-q", place, status=status)
        one = files_of(folder)
        self.assertEqual(sorted(made), sorted(one))
        self.assertEqual([name for name in made if made[name] != one[name]], [])
        self.run_program("annotate", "--strip", "-q", place)
        self.assertEqual(files_of(folder), native)

    def assert_same(self, one, other):
        with open(one, "rb") as a, open(other, "rb") as b:
            self.assertTrue(a.read() == b.read(), f"{one} and {other} differ")

    def assert_no_scratch(self):
        self.assertEqual([name for name in os.listdir(self.scratch) if "tpusight" in name], [])


def hosts(count):
    return [f"host{i:04d}" for i in range(count)]
