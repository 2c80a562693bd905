#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of a report, as lists, text, HTML and, where the packages are, DataFrames and pictures: table_test.py"""
import contextlib
import datetime
import html
import importlib.util
import io
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import package
import tpusight
from tpusight import _show

CLEAN = os.path.join(package.DATA, "planted", "clean.tar.gz")
INPUT = os.path.join(package.DATA, "planted", "input.tar.gz")
MEMORY = os.path.join(package.DATA, "torch_memory.pt.trace.json.gz")
MOST_HTML = 20000
VIEWS = ("overview", "systolic", "padding", "fusion", "cache", "memory", "time", "scopes", "doctor")
ROWS = [{"name": "a", "time_ps": 2500, "share_pct": 0, "is_new": True, "bytes": 1, "where": [{"op": "x"}]},
        {"name": "b", "time_ps": None, "share_pct": 12.5, "is_new": None, "bytes": 2**60 + 1, "where": []},
        {"name": None, "time_ps": 7001, "share_pct": None, "is_new": False, "bytes": None, "where": None}]


def needs(*modules):
    there = all(importlib.util.find_spec(name) for name in modules)
    return unittest.skipUnless(there, f"{' and '.join(modules)} not installed")


class OfRows(unittest.TestCase):
    def setUp(self):
        self.table = tpusight.Table(ROWS, "made")

    def test_it_reads_like_a_list(self):
        self.assertEqual((len(self.table), self.table[0].name, self.table[-1]["time_ps"]), (3, "a", 7001))
        self.assertEqual(self.table, ROWS)
        self.assertNotEqual(self.table, ROWS[:2])
        self.assertEqual([row["name"] for row in self.table], self.table["name"])
        self.assertIsInstance(self.table[:2], tpusight.Table)
        self.assertEqual(self.table.to_dicts(), ROWS)
        self.assertEqual(json.loads(json.dumps(self.table.to_dicts())), ROWS)
        self.assertEqual(pickle.loads(pickle.dumps(self.table)), self.table)

    def test_it_filters(self):
        self.assertEqual(self.table.filter(name="b")["name"], ["b"])
        self.assertEqual(self.table.filter(name=re.compile("^[ab]$"))["name"], ["a", "b"])
        self.assertEqual(self.table.filter(lambda row: (row.time_ps or 0) > 3000)["time_ps"], [7001])
        self.assertEqual(len(self.table.filter(lambda row: row.is_new, name="b")), 0)
        self.assertEqual(len(self.table), 3)

    def test_it_sorts_the_largest_first_and_the_unknown_last(self):
        self.assertEqual(self.table.sort_by("time_ps")["time_ps"], [7001, 2500, None])
        self.assertEqual(self.table.sort_by("time_ps", ascending=True)["time_ps"], [2500, 7001, None])
        self.assertEqual(self.table["time_ps"], [2500, None, 7001])

    def test_a_column_that_is_not_there_is_named_with_those_that_are(self):
        for action in (lambda: self.table["nmae"], lambda: self.table.sort_by("nmae"), lambda: self.table.filter(nmae=1)):
            with self.assertRaisesRegex(KeyError, "no column nmae .*name, time_ps"):
                action()

    def test_a_table_of_which_nothing_is_known_stays_empty(self):
        table = tpusight.Table((), "kernels")
        self.assertEqual((table.sort_by("time_us"), table.filter(name="a"), table["name"], table.columns), ([], [], [], []))

    def test_times_in_another_unit_say_it_in_their_names(self):
        ns = self.table.with_times("ns")
        self.assertEqual(ns["time_ns"], [2.5, None, 7.001])
        self.assertNotIn("time_ps", ns.columns)
        self.assertEqual(ns["bytes"], [1, 2**60 + 1, None])
        self.assertEqual(tpusight.Table([{"mean_us": 1500.0, "bytes_per_s": 3}]).with_times("s").to_dicts(),
                         [{"mean_s": 0.0015, "bytes_per_s": 3}])
        self.assertEqual(tpusight.Table([{"t_ps": 5 * 10**6}]).with_times("timedelta")["t"], [datetime.timedelta(microseconds=5)])
        with self.assertRaisesRegex(ValueError, "times is 'h'; it is one of ps, ns, us, ms, s, timedelta"):
            self.table.with_times("h")

    def test_text_and_html_are_short(self):
        name = "void at::native::" + "x<y>" * 3000 + "::end"
        table = tpusight.Table([{"name": name, "time_ps": 1500000}] * 5000, "kernels")
        self.assertRegex(str(table), r"\Akernels: 5000 rows \(the first 10\)\nname +time_ps\nvoid at::native:….*::end +1\.50 µs\n")
        self.assertEqual(len(str(table).splitlines()), 12)
        self.assertLess(len(table._repr_html_()), MOST_HTML)
        self.assertNotIn("x<y>", table._repr_html_())
        self.assertIn("…", table._repr_html_())

    def test_figures_have_their_units(self):
        for name, value, shown in (("a_ps", 1, "1 ps"), ("a_ps", 2.85e9, "2.85 ms"), ("a_us", 12.5, "12.5 µs"), ("a_pct", 8, "8.0 %"),
                                   ("bytes", 2**30, "1.00 GiB"), ("hbm_bytes_per_s", 26.1e9, "26.1 GB/s"), ("flops", 5e12, "5.00 T"),
                                   ("flops_per_s", 5e12, "5.00 TFLOP/s"), ("time_ps", None, "unknown"), ("n", 1009, "1009"),
                                   ("a_ps", 0, "0 s")):
            self.assertEqual(_show.cell(name, value), shown)


class OfAReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.session, cls.slow = tpusight.Session(CLEAN), tpusight.Session(INPUT)

    def test_the_tables_are_those_of_the_json(self):
        report = self.session.report()
        self.assertEqual(self.session.ops, report["ops"])
        self.assertEqual(self.session.steps, report["steps"])
        self.assertEqual(self.session.table("time.idle_gaps"), report["time"]["idle_gaps"])
        self.assertEqual(self.session.padding.arrays, report["padding"]["arrays"])
        self.assertEqual(self.slow.findings, self.slow.report()["doctor"]["findings"])
        self.assertIsInstance(report["ops"], list)
        self.assertEqual(json.loads(json.dumps(report))["ops"], report["ops"])
        self.assertLessEqual({"ops", "steps", "time.per_step", "run.devices"}, set(self.session.tables()))

    def test_a_table_without_rows_has_its_columns(self):
        self.assertEqual(len(self.session.collectives), 0)
        self.assertIn("bus_bytes_per_s", self.session.collectives.columns)
        self.assertEqual(self.session.collectives.sort_by("total_time_ps"), [])

    def test_a_table_that_is_not_there(self):
        self.assertEqual(self.session.kernels, [])
        with self.assertRaisesRegex(tpusight.TpusightError, r"no table nonsense \(it has: .*ops"):
            self.session.table("nonsense")

    def test_a_finding_begins_with_its_headline(self):
        finding = self.slow.findings[0]
        self.assertRegex(str(finding), r"\Awarning: Devices wait for input 13 % of the time\n  evidence: For 12\.1 core-ms .*\n")
        self.assertRegex(finding._repr_html_(), r"\A<b>warning: Devices wait for input 13 % of the time</b>")
        self.assertRegex(str(self.slow.findings), r"\Afindings: 1\n  warning: Devices wait for input 13 %")
        self.assertEqual(str(self.session.findings), "no findings")

    def test_nothing_that_a_cell_shows_is_long(self):
        for session in (self.session, self.slow, tpusight.Session(MEMORY)):
            shown = [session, session.report(), session.summary(), session.findings, *session.findings,
                     *map(session.table, session.tables()), *(getattr(session, name) for name in VIEWS)]
            for thing in shown:
                self.assertLess(len(thing._repr_html_()), MOST_HTML)
                self.assertLess(len(repr(thing)), 12000)
        self.assertIn("health 92/100", self.session._repr_html_())

    def test_nor_is_what_a_console_shows_of_thousands_of_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "many.xplane.pb")
            subprocess.run([sys.executable, os.path.join(package.ROOT, "bench", "make_shapes.py"), path, "3000", "40"], check=True,
                           stdout=subprocess.DEVNULL)
            many = tpusight.Session(path)
            self.assertGreater(len(json.dumps(many.time)), 250000)
            for thing in (many.time, many.steps, many.report(), *many.findings):
                self.assertLess(len(repr(thing)), 12000)


class OfTraces(unittest.TestCase):
    def test_lists_of_answers_are_tables(self):
        session = tpusight.UnifiedProfiler(enable_flame_graph=False).from_chrome_trace(MEMORY)
        table = session.table("operators").sort_by("cpu_time_us")
        self.assertEqual(table[0]["cpu_time_us"], max(one.cpu_time_us for one in session.operators))
        self.assertIn("operators", session.tables())
        with self.assertRaisesRegex(tpusight.TpusightError, "ProfileSession has no table nonsense .*operators"):
            session.table("nonsense")
        self.assertLess(len(repr(session)), 10000)
        self.assertLess(len(session._repr_html_()), MOST_HTML)


class Frames(unittest.TestCase):
    def setUp(self):
        self.table = tpusight.Table(ROWS, "made")
        self.session = tpusight.Session(CLEAN)

    @needs("pandas")
    def test_pandas(self):
        import pandas
        frame = self.table.to_pandas()
        self.assertEqual({name: str(kind) for name, kind in frame.dtypes.items()},
                         {"name": "object", "time_ps": "Int64", "share_pct": "float64", "is_new": "boolean", "bytes": "Int64",
                          "where": "object"})
        self.assertEqual(frame["bytes"][1], 2**60 + 1)  # which a float cannot hold
        self.assertTrue(pandas.isna(frame["time_ps"][1]))
        self.assertEqual(json.loads(frame["where"][0]), [{"op": "x"}])
        times = self.table.to_pandas("timedelta")["time"]
        self.assertEqual((times[0], times[2]), (pandas.Timedelta(3, "ns"), pandas.Timedelta(7, "ns")))
        self.assertTrue(pandas.isna(times[1]))
        seconds = self.session.ops.to_pandas(times="s")["self_time_s"].sum()
        self.assertAlmostEqual(seconds, sum(self.session.ops["self_time_ps"]) / 1e12, places=15)
        self.assertIn("bus_bytes_per_s", self.session.collectives.to_pandas().columns)

    @needs("polars")
    def test_polars(self):
        import polars
        frame = self.table.to_polars("timedelta")
        self.assertEqual(frame.schema["time"], polars.Duration("ns"))
        self.assertEqual(frame["bytes"].to_list(), [1, 2**60 + 1, None])
        self.assertEqual(self.table.to_polars("ns")["time_ns"].to_list(), [2.5, None, 7.001])
        self.assertEqual(polars.DataFrame(self.session.ops)["self_time_ps"].to_list(), self.session.ops["self_time_ps"])

    @needs("pyarrow")
    def test_arrow(self):
        import pyarrow
        schema = self.table.to_arrow("timedelta").schema
        self.assertEqual([str(kind) for kind in schema.types], ["string", "duration[ns]", "double", "bool", "int64", "string"])
        self.assertEqual(pyarrow.table(self.session.steps)["duration_ps"].to_pylist(), self.session.steps["duration_ps"])
        self.assertEqual(self.session.collectives.to_arrow().num_rows, 0)

    @needs("duckdb", "pyarrow")
    def test_duckdb_takes_the_table_itself(self):
        import duckdb
        ops = self.session.ops  # its name stands in the query
        self.assertEqual(duckdb.sql("select sum(self_time_ps) from ops").fetchall()[0][0], sum(ops["self_time_ps"]))

    def test_none_of_them_is_needed(self):
        hidden = {"pandas": None, "polars": None, "pyarrow": None, "matplotlib": None, "matplotlib.pyplot": None}
        with mock.patch.dict(sys.modules, hidden):
            for action, name in ((self.table.to_pandas, "pandas"), (self.table.to_polars, "polars"), (self.table.to_arrow, "pyarrow"),
                                 (self.table.__arrow_c_stream__, "pyarrow or polars"), (self.session.steps.plot, "matplotlib")):
                with self.assertRaisesRegex(tpusight.TpusightError, rf"needs {name}.*pip install"):
                    action()
            self.assertTrue(str(self.table) and self.table._repr_html_())


class Pictures(unittest.TestCase):
    def setUp(self):
        self.session = tpusight.Session(INPUT)

    @needs("matplotlib")
    def test_each_is_drawn(self):
        import matplotlib
        matplotlib.use("agg")
        steps = self.session.steps.plot()
        self.assertEqual(len(steps.patches), len(self.session.steps))
        self.assertAlmostEqual(max(bar.get_height() for bar in steps.patches), max(self.session.steps["duration_ps"]) / 1e9)
        self.assertEqual(steps.get_ylim()[0], 0)
        self.assertIn("(ms)", steps.get_ylabel())
        shares = [bar.get_width() for bar in self.session.time.plot().patches]
        self.assertAlmostEqual(sum(shares), 100, places=6)
        roofline = self.session.roofline.plot()
        self.assertEqual((roofline.get_xscale(), len(roofline.collections)), ("log", 1))
        per_step = self.session.plot("step_classes")
        heights = sum(bar.get_height() for bar in per_step.patches)
        self.assertAlmostEqual(heights, sum(self.session.time.per_step["total_ps"]) / 1e9, places=3)
        many = tpusight.Table([{"step": n, "duration_ps": 10**10} for n in range(500)] + [{"step": 500, "duration_ps": 10**13}], "steps")
        self.assertIn("(ms)", many.plot().get_ylabel(), "of those that are shown")
        memory = tpusight.Session(MEMORY).plot("memory")
        self.assertIn("KiB", memory.get_ylabel())
        self.assertIs(self.session.plot("time", ax=memory), memory)

    @needs("matplotlib")
    def test_what_cannot_be_drawn_is_said(self):
        with self.assertRaisesRegex(tpusight.TpusightError, "memory over time is not in the profile .*no allocator"):
            self.session.plot("memory")
        with self.assertRaisesRegex(ValueError, "'pie' is not a picture of a report: time, steps"):
            self.session.plot("pie")
        with self.assertRaisesRegex(tpusight.TpusightError, "no picture of ops .*to_pandas"):
            self.session.ops.plot()


class Cells(unittest.TestCase):
    def test_the_page_is_framed_and_cannot_leave_its_frame(self):
        session = tpusight.Session(CLEAN)
        with mock.patch("tpusight._notebook.in_notebook", return_value=True), mock.patch("tpusight._notebook.show") as show, \
                tempfile.TemporaryDirectory(), contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertIsNone(session.dashboard(height=500))
        (markup,) = show.call_args.args
        self.assertIn('sandbox="allow-scripts allow-downloads allow-popups"', markup)
        self.assertIn('height="500"', markup)
        self.assertNotIn("<script", markup)
        self.assertEqual(markup.count("'"), 2)  # around the page
        self.assertLess(len(markup), 1.05 * len(session.page()))
        self.assertEqual(html.unescape(markup.split("'")[1]), session.page())
        self.assertEqual(out.getvalue(), "")


if __name__ == "__main__":
    package.rather("TS_TABLES_PYTHON")
    package.main()
