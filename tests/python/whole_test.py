# SPDX-License-Identifier: MIT
"""Files that the package writes are there whole or not at all: whole_test.py"""
import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import package
import tpusight
from tpusight._answer import write_json
from tpusight._whole import new_file

KILLED = """
import sys
from tpusight._whole import new_file
with new_file(sys.argv[1]) as file:
    file.write("half")
    file.flush()
    print("ready", flush=True)
    sys.stdin.read()
"""


def content(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class WholeTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "b.json")

    def put(self, text):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)

    def must_be_alone(self, text):
        self.assertEqual(os.listdir(self.folder.name), ["b.json"])
        self.assertEqual(content(self.path), text)

    def test_a_new_file_and_one_that_is_replaced(self):
        for text in ("one", "other"):
            with new_file(self.path) as file:
                file.write(text)
            self.must_be_alone(text)

    def test_the_old_file_stands_when_a_step_fails(self):
        self.put("old")
        for step in ("fsync", "replace", "chmod"):
            with mock.patch.object(os, step, side_effect=OSError(errno.ENOSPC, "no space")), self.assertRaises(OSError):
                write_json(self.path, {"new": 1})
            self.must_be_alone("old")

    def test_the_old_file_stands_when_a_benchmark_is_saved_on_a_full_disk(self):
        self.put("old")
        with mock.patch.object(os, "fsync", side_effect=OSError(errno.ENOSPC, "no space")), self.assertRaises(OSError):
            tpusight.Benchmark.of("f", [1.0], 0).save(self.path)
        self.must_be_alone("old")

    def test_an_answer_that_json_cannot_write_leaves_the_old_file(self):
        self.put("old")
        with self.assertRaises(TypeError):
            write_json(self.path, {"new": object()})
        self.must_be_alone("old")

    def test_rights_and_links_stay(self):
        self.put("old")
        os.chmod(self.path, 0o640)
        link = os.path.join(self.folder.name, "link")
        os.symlink("b.json", link)
        with new_file(link, "wb") as file:
            file.write(b"new")
        self.assertTrue(os.path.islink(link))
        self.assertEqual(content(self.path), "new")
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o640)

    def test_what_is_not_a_plain_file_is_written_as_it_is(self):
        write_json(os.devnull, {"a": 1})
        self.assertTrue(stat.S_ISCHR(os.stat(os.devnull).st_mode))

    def test_the_program_sweeps_what_a_kill_left_and_not_what_is_being_written(self):
        self.put("old")
        child = subprocess.Popen([sys.executable, "-c", KILLED, self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 env={**os.environ, "PYTHONPATH": os.path.join(package.ROOT, "plugin")})
        with child:
            child.stdout.readline()
            self.thresholds()
            self.assertEqual(len(os.listdir(self.folder.name)), 2)
            child.send_signal(signal.SIGKILL)
            child.wait()
        self.thresholds()
        self.assertEqual(os.listdir(self.folder.name), ["b.json"])

    def thresholds(self):
        """Something of the program's, to the same file."""
        subprocess.run([package.PROGRAM, "thresholds", "-o", self.path], check=True)


if __name__ == "__main__":
    unittest.main()
