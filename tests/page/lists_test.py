#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What serve says of many runs: /api/runs, /api/trend and /api/compare: lists_test.py

  - figures come from the report that annotate left, as long as it is of the files as they are, and nothing is analysed for that
  - what is not known is null, and comes in the background; what cannot be analysed says why
  - a report beside profiles that is of others, or leads out of what is served, is not believed
  - a comparison is what `tpusight compare --json` prints; a trend is in the order of time, and says where a gate fails
Run in the build folder; $TPUSIGHT names the program (default bin/tpusight).
"""
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse

import doors

SESSION = os.path.join("plugins", "profile", "2026_01_01_00_00_00")
REPORT = "ALL_HOSTS.tpusight.json"
MANY = 300


def runs_of(url):
    return {run["run"]: run for run in doors.ask(url, "/api/runs")["runs"]}


def known_runs(url):
    """The list when nothing is missing any more."""
    end = time.monotonic() + doors.PATIENCE_S
    while not doors.ask(url, "/api/runs")["is_known"] and time.monotonic() < end:
        time.sleep(0.05)
    return runs_of(url)


def annotate(*paths):
    subprocess.run([os.path.join(os.path.dirname(doors.PROGRAM), "tpusight"), "annotate", "-q", "--perfetto=none", *paths], check=True)


def refused(case, url, path, status, **fields):
    with case.assertRaises(urllib.error.HTTPError) as e:
        doors.ask(url, path, **fields)
    case.assertEqual(status, e.exception.code, fields)
    e.exception.close()


class Folder(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.logdir = os.path.join(self.folder.name, "logs")
        os.makedirs(self.logdir)

    def add(self, *names, profile=doors.SAMPLE):
        doors.logdir(self.logdir, dict.fromkeys(names, profile))

    def session(self, name):
        return os.path.join(self.logdir, name, SESSION)


class Runs(Folder):
    def test_an_annotated_run_is_known_at_once(self):
        self.add("a")
        annotate(self.logdir)
        with open(os.path.join(self.session("a"), REPORT)) as f:
            report = json.load(f)
        with doors.serving(self.logdir) as (url, _):
            run = runs_of(url)["a"]
        self.assertTrue(run["is_known"])
        steps = report["overview"]["step_time_ps"]
        self.assertEqual((run["step_median_ps"], run["step_p90_ps"], run["steps"]), (steps["median"], steps["p90"], len(report["steps"])))
        self.assertEqual((run["wall_ps"], run["health_score"]), (report["run"]["duration_ps"], report["overview"]["health_score"]))
        self.assertEqual((run["chip"], run["chips"], run["program"]), ("TPU v6e", 4, "jit_train_step"))
        self.assertEqual(run["verdict"], report["time"]["bottleneck"])
        self.assertEqual(run["spark"], [step["duration_ps"] for step in report["steps"]])
        self.assertEqual(run["when_unix_ms"], int(report["run"]["hosts"][0]["start_unix_ns"]) // 10**6)
        self.assertAlmostEqual(run["buckets_pct"]["compute"], 100 * report["time"]["buckets"]["compute_ps"] / report["time"]["total_ps"])

    def test_what_is_missing_comes_in_the_background(self):
        self.add("a", "b")
        self.add("broken", profile=b"\x0a\xff\xff\xff\xff")
        with doors.serving(self.logdir) as (url, _):
            first = doors.ask(url, "/api/runs")
            known = known_runs(url)
        self.assertFalse(first["is_known"])
        self.assertIsNone(next(run for run in first["runs"] if run["run"] == "broken")["problem"])
        self.assertEqual(known["a"]["step_median_ps"], doors.report(doors.SAMPLE)["overview"]["step_time_ps"]["median"])
        self.assertIsNone(known["broken"]["step_median_ps"])
        self.assertIn("host.xplane.pb", known["broken"]["problem"])

    def test_a_report_that_was_asked_for_is_known(self):
        self.add("a")
        with doors.serving(self.logdir) as (url, _):
            with doors.get(f"{url}api/runs") as answer:
                run = json.loads(answer.read())["runs"][0]["id"]
            doors.ask(url, "/api/report", run=run)
            self.assertTrue(runs_of(url)["a"]["is_known"])

    def test_a_report_of_other_files_is_not_believed(self):
        self.add("changed", "older", "hostile", "linked")
        annotate(self.logdir)
        with open(os.path.join(self.session("changed"), "host.xplane.pb"), "ab") as f:
            f.write(b"\x12\x00")
        os.utime(os.path.join(self.session("older"), "host.xplane.pb"))
        for name in ("hostile", "linked"):
            path = os.path.join(self.session(name), REPORT)
            with open(path) as f:
                report = json.load(f)
            report["run"]["hosts"][0]["bytes"] -= name == "hostile"
            report["overview"]["health_score"] = -1
            with open(path, "w") as f:
                json.dump(report, f)
        elsewhere = os.path.join(self.folder.name, REPORT)
        shutil.move(os.path.join(self.session("linked"), REPORT), elsewhere)
        os.symlink(elsewhere, os.path.join(self.session("linked"), REPORT))
        with doors.serving(self.logdir) as (url, _):
            self.assertEqual([False] * 4, [run["is_known"] for run in doors.ask(url, "/api/runs")["runs"]])
            health = doors.report(doors.SAMPLE)["overview"]["health_score"]
            self.assertEqual([health] * 4, [run["health_score"] for run in known_runs(url).values()])

    def test_hundreds_of_runs_are_listed_without_an_analysis(self):
        self.add("run0")
        annotate(self.logdir)
        for i in range(1, MANY):
            shutil.copytree(os.path.join(self.logdir, "run0"), os.path.join(self.logdir, f"run{i}"), copy_function=os.link)
        with doors.serving(self.logdir) as (url, _):
            listed = doors.ask(url, "/api/runs")
        self.assertEqual((MANY, True), (len(listed["runs"]), listed["is_known"]))

    def test_the_newest_stands_first(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, at in (("old", 1_600_000_000), ("new", 1_600_000_002), ("middle", 1_600_000_001)):
                path = os.path.join(folder, name)
                os.makedirs(path)
                with open(doors.TRACE) as f:
                    trace = json.load(f)
                trace["baseTimeNanoseconds"] = at * 10**9
                with open(os.path.join(path, "host.pt.trace.json"), "w") as f:
                    json.dump(trace, f)
                os.utime(os.path.join(path, "host.pt.trace.json"), (at, at))
            with doors.serving(folder) as (url, _):
                self.assertEqual(["new", "middle", "old"], [run["path"].split("/")[-2] for run in doors.ask(url, "/api/runs")["runs"]])


class Trend(Folder):
    def setUp(self):
        super().setUp()
        self.add("first", "second")
        for name, factor in (("first", 1), ("second", 2)):
            annotate(os.path.join(self.logdir, name))
            path = os.path.join(self.session(name), REPORT)
            with open(path) as f:
                report = json.load(f)
            host = report["run"]["hosts"][0]
            host["start_unix_ns"] = str(int(host["start_unix_ns"]) + factor * 10**9)
            report["overview"]["step_time_ps"]["median"] *= factor
            with open(path, "w") as f:
                json.dump(report, f)

    def test_a_program_over_time(self):
        with doors.serving(self.logdir) as (url, _):
            trend = doors.ask(url, "/api/trend", program="jit_train_step")
            self.assertEqual(["first", "second"], [run["run"] for run in trend["runs"]])
            self.assertEqual([None, "failed"], [run["gate"] and run["gate"]["state"] for run in trend["runs"]])
            self.assertEqual([], doors.ask(url, "/api/trend", program="another")["runs"])

    def test_runs_that_are_named_and_a_gate_of_ones_own(self):
        with doors.serving(self.logdir) as (url, _):
            ids = ",".join(run["id"] for run in runs_of(url).values())
            trend = doors.ask(url, "/api/trend", runs=ids, gate="health_score < 50")
            self.assertEqual(["passed", "passed"], [run["gate"]["state"] for run in trend["runs"]])
            for status, fields in ((400, {}), (400, {"runs": ids, "program": "x"}), (400, {"runs": ids, "gate": "health_score <"}),
                                   (400, {"runs": ids, "gate": "ops.x > 1"}), (404, {"runs": ids + ",0"})):
                refused(self, url, "/api/trend", status, **fields)


class Compare(Folder):
    def test_it_is_what_compare_prints(self):
        self.add("a")
        self.add("b", profile=doors.MEMORY)
        with doors.serving(self.logdir) as (url, _):
            runs = runs_of(url)
            ids = runs["a"]["id"], runs["b"]["id"]
            made = doors.ask(url, "/api/compare", runs=",".join(ids))
            for status, names in ((400, ids[0]), (400, ""), (404, f"{ids[0]},0"), (404, f"{ids[0]},{'0' * 99}"),
                                  (400, ",".join([ids[0]] * 17))):
                refused(self, url, "/api/compare", status, runs=names)
        command = [doors.PROGRAM, "compare", "--json", runs["a"]["path"], runs["b"]["path"]]
        printed = subprocess.run(command, capture_output=True, check=True)
        self.assertEqual(json.loads(printed.stdout)["compare"], made["compare"])


if __name__ == "__main__":
    unittest.main()
