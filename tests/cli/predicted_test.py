#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A profile that was predicted says so in each file that is made of it, and one that was measured does not: predicted_test.py

Tables that are made of it are read by themselves: each row says it. What reports print is in the case hlo-predict; what the page
shows, tests/page/predicted_test.py. Run in the build folder; $TPUSIGHT names the program (default bin/tpusight).
"""
import csv
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import PROGRAM

TOP = os.path.abspath(os.environ.get("srcdir") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
MODULE = os.path.join(TOP, "tests", "data", "pallas_v5e.hlo.pb")
SAMPLE = os.path.join(TOP, "tests", "data", "sample")
VIEWS = ["ops", "steps", "doctor", "overview", "capture", "prediction", "time.per_step"]
TABLES = ["events", "ops", "steps", "findings"]
CORE, SAID = "/device:TPU:0", "is_predicted"


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, check=True).stdout


def content(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


class Predicted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.predicted, cls.measured = os.path.join(cls.folder, "predicted"), os.path.join(cls.folder, "measured")
        run("hlo", "-q", "--topology=v5e:2x4", f"--predict={cls.predicted}", MODULE)
        shutil.copytree(SAMPLE, cls.measured)
        for logdir in (cls.predicted, cls.measured):
            run("annotate", "-q", "--perfetto=both", logdir)

    def session(self, logdir):
        return next(folder for folder, _, names in os.walk(logdir) if "perfetto_trace.json.gz" in names)

    def processes(self, logdir):
        with gzip.open(os.path.join(self.session(logdir), "perfetto_trace.json.gz")) as file:
            return [e["args"]["name"] for e in json.load(file)["traceEvents"] if e.get("name") == "process_name"]

    def test_a_perfetto_trace_has_it_in_the_name_of_the_core(self):
        self.assertIn(f"{CORE} (predicted for v5e:2x4)", self.processes(self.predicted))
        self.assertNotIn(CORE, self.processes(self.predicted))
        self.assertIn(CORE, self.processes(self.measured))
        name = f"{CORE} (predicted for v5e:2x4)".encode()
        for logdir, is_said in ((self.predicted, True), (self.measured, False)):
            self.assertEqual(name in content(os.path.join(self.session(logdir), "perfetto_trace.pftrace")), is_said)

    def test_each_row_of_csv_has_it(self):
        for view in VIEWS:
            table = csv.DictReader(io.StringIO(run("report", "--format=csv", "--view", view, self.predicted).decode()))
            self.assertEqual({row[SAID] for row in table} - {"true"}, set(), view)
            self.assertEqual(table.fieldnames[-1], SAID, view)
            head = run("report", "--format=csv", "--view", view, self.measured).decode().splitlines()[0]
            self.assertNotIn(SAID, head.replace(f"run.{SAID}", "").split(","), view)

    def test_the_first_sheet_of_a_workbook_begins_with_it(self):
        path = os.path.join(self.folder, "report.xlsx")
        for logdir, is_said in ((self.predicted, True), (self.measured, False)):
            run("report", "-q", "-o", path, logdir)
            with zipfile.ZipFile(path) as book:
                sheet = book.read("xl/worksheets/sheet1.xml").decode()
            self.assertEqual("PREDICTED for v5e:2x4, not measured" in sheet.split("</row>")[1], is_said)

    def test_tables_of_columns_have_it(self):
        for form in ("parquet", "arrow"):
            for logdir, is_said in ((self.predicted, True), (self.measured, False)):
                out = os.path.join(self.folder, f"{form}-{is_said}")
                run("export", "-q", "--format", form, "-o", out, logdir)
                for table in TABLES:
                    data = content(os.path.join(out, f"{table}.{form}"))
                    self.assertEqual(SAID.encode() in data, is_said, (form, table))
                    self.assertEqual(b"v5e:2x4" in data, is_said, (form, table))

    def test_a_trace_that_was_made_of_it_says_so_when_it_is_opened(self):
        for logdir, is_said in ((self.predicted, True), (self.measured, False)):
            trace = os.path.join(self.session(logdir), "perfetto_trace.json.gz")
            report = json.loads(run("report", "--format=json", trace))
            self.assertEqual(report["run"]["is_predicted"], is_said)
            self.assertEqual(report["run"]["devices"][0]["id"], 0)
            self.assertEqual(run("report", trace).startswith(b"PREDICTED, not measured"), is_said)


if __name__ == "__main__":
    unittest.main()
