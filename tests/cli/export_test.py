#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tpusight export as a command: what it writes where, what it refuses, and how much memory it needs. What is in the files,
tests/python/export_test.py asks pyarrow and DuckDB."""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import PROGRAM

TOP = os.path.abspath(os.environ.get("srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
SAMPLE = os.path.join(TOP, "tests", "data", "sample")
TRACE = os.path.join(TOP, "tests", "data", "torch_operators.pt.trace.json.gz")
STEPS = os.path.join(TOP, "tests", "data", "cpu_steps.xplane.pb")
TABLES = ["events", "ops", "steps", "findings"]
MAGIC = {".parquet": (b"PAR1", b"PAR1"), ".arrow": (b"ARROW1\0\0", b"ARROW1")}
ROOM = 64 << 20
STEPS_MADE, OPS_MADE = "80", "5000"  # 400,000 ops and more: seven batches


def export(*words, **more):
    return subprocess.run([PROGRAM, "export", *words], capture_output=True, text=True, **more)


def hold_back():
    resource.setrlimit(resource.RLIMIT_DATA, (ROOM, ROOM))


class Export(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def place(self, *names):
        return os.path.join(self.folder, *names)

    def assert_whole(self, path):
        first, last = MAGIC[os.path.splitext(path)[1]]
        with open(path, "rb") as file:
            content = file.read()
        self.assertTrue(content.startswith(first) and content.endswith(last), path)

    def assert_refused(self, words, *says):
        done = export(*words, cwd=self.folder)
        self.assertEqual(done.returncode, 2, done.stderr)
        for part in says:
            self.assertIn(part, done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_folder_has_all_tables(self):
        for form in ("parquet", "arrow"):
            done = export("--format", form, "-o", self.place("new", "tables"), SAMPLE)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for table in TABLES:
                self.assert_whole(self.place("new", "tables", f"{table}.{form}"))
        self.assertEqual(len(os.listdir(self.place("new", "tables"))), 2 * len(TABLES))

    def test_the_name_of_a_file_says_the_format_and_json_says_what_was_written(self):
        for name in ("x.parquet", "x.arrow"):
            done = export("--json", "--table", "ops", "-o", self.place(name), SAMPLE)
            said = json.loads(done.stdout)
            self.assertEqual(said, {"table": "ops", "path": self.place(name), "rows": 158, "bytes": os.path.getsize(said["path"])})
            self.assert_whole(self.place(name))

    def test_a_file_has_the_events_where_no_table_is_named(self):
        self.assertIn("events", export("-o", self.place("x.parquet"), SAMPLE).stdout)

    def test_standard_output_has_the_table_alone(self):
        done = subprocess.run([PROGRAM, "export", "--table", "steps", "-o", "-", SAMPLE], capture_output=True)
        self.assertEqual((done.stdout[:4], done.stdout[-4:], done.stderr), (b"PAR1", b"PAR1", b""))

    def test_without_a_place_tables_lie_beside_the_profile(self):
        shutil.copy(STEPS, self.place("h.xplane.pb"))
        self.assertEqual(export(self.place("h.xplane.pb")).returncode, 0)
        self.assertEqual(sorted(os.listdir(self.place("h.xplane.pb.export"))), sorted(f"{table}.parquet" for table in TABLES))

    def test_each_of_several_sessions_has_a_folder(self):
        sessions = self.place("logs", "plugins", "profile")
        for name in ("first", "second"):
            os.makedirs(os.path.join(sessions, name))
            shutil.copy(STEPS, os.path.join(sessions, name, "h.xplane.pb"))
        done = export("-o", self.place("out"), self.place("logs"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(os.listdir(self.place("out"))), ["first", "second"])
        done = export("-o", self.place("x.parquet"), self.place("logs"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("2 sessions were found", done.stderr)

    def test_what_is_asked_for_in_a_wrong_way_is_refused(self):
        self.assert_refused(["-o", "x.csv", SAMPLE], "export writes .parquet and .arrow")
        self.assert_refused(["-o", "x.parquet", "--format", "arrow", SAMPLE], "the name says parquet and the format is arrow")
        self.assert_refused(["-o", "x.parquet", "--table", "ops", "--table", "steps", SAMPLE], "a file has one table")
        self.assert_refused(["--table", "kernels", SAMPLE], "--table kernels: not a table (events, ops, steps or findings)")
        self.assert_refused(["--format", "orc", SAMPLE], "parquet")

    def test_threads_do_not_change_a_byte(self):
        for profile in (SAMPLE, TRACE):
            for form in ("parquet", "arrow"):
                for threads in ("1", "4"):
                    export("-j", threads, "--format", form, "-o", self.place(threads), profile)
                for table in TABLES:
                    paths = [self.place(threads, f"{table}.{form}") for threads in ("1", "4")]
                    with open(paths[0], "rb") as first, open(paths[1], "rb") as second:
                        self.assertEqual(first.read(), second.read(), paths)

    def test_what_stands_before_damage_is_in_the_tables(self):
        source = next(os.path.join(where, name) for where, _, names in os.walk(SAMPLE) for name in names if name.endswith(".xplane.pb"))
        with open(source, "rb") as file:
            content = bytearray(file.read())
        middle = content.index(b"XLA Ops") + 4000
        content[middle : middle + 3] = b"\xff\xff\xff"
        with open(self.place("h.xplane.pb"), "wb") as file:
            file.write(content)
        done = export("--json", "--table", "events", "-o", self.place("out"), self.place("h.xplane.pb"))
        self.assertIn(done.returncode, (3, 4), done.stderr)
        self.assertIn("h.xplane.pb", done.stderr)
        if done.returncode == 4:
            self.assertLess(json.loads(done.stdout)["rows"], 22328)
            self.assert_whole(self.place("out", "events.parquet"))

    def test_memory_does_not_grow_with_the_events(self):
        def fits(profile, form):
            words = ["-q", "-j1", "--format", form, "-o", self.place("out"), profile]
            return export(*words, preexec_fn=hold_back)

        if fits(STEPS, "parquet").returncode != 0:
            self.skipTest("this build needs more room than that for any profile (a sanitizer's)")
        maker = os.path.join(TOP, "bench", "make_shapes.py")
        profile = self.place("many.xplane.pb")
        subprocess.run([sys.executable, maker, profile, STEPS_MADE, OPS_MADE], check=True, stdout=subprocess.DEVNULL)
        for form in ("parquet", "arrow"):
            done = fits(profile, form)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    if not os.access(PROGRAM, os.X_OK):
        print(f"{PROGRAM} is not built: skipped", file=sys.stderr)
        sys.exit(77)
    unittest.main(verbosity=1)
