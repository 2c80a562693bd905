#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs on CPUs against what the jobs themselves say: clocks, counts and FLOPs of JAX and PyTorch jobs that were run for this.

$TS_PEOPLE names the folder of the captures (default: ../shared/review/people/inputs beside the sources); without it this skips.
expect.json has the figures, each with its tolerance and its reason.
"""

import functools
import json
import os
import pathlib
import subprocess
import sys
import unittest

TOP = pathlib.Path(os.environ.get("srcdir", pathlib.Path(__file__).parents[2])).resolve()
PEOPLE = pathlib.Path(os.environ.get("TS_PEOPLE", TOP / "../shared/review/people/inputs"))
PROGRAM = os.environ.get("TPUSIGHT", "bin/tpusight")


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@functools.cache
def report(name):
    status, text = run("report", "--json", str(PEOPLE / name))
    assert status == 0, text
    return json.loads(text)


def named(rows, name):
    found = [row for row in rows if row["name"] == name]
    return max(found, key=lambda row: row.get("total_time_ps") or 0)


def layer(name, part):
    rows = report(name)["scopes"]["step_layers"]
    return next(row["share_pct"] for row in rows if row["layer"] == "host" and row["name"] == part)


def working_pct(name):
    """Of the steps, with an op at work."""
    steps = report(name)["time"]["per_step"]
    pauses = ("idle_ps", "launch_ps", "input_ps", "compilation_ps")
    whole = sum(step["duration_ps"] for step in steps)
    idle = sum(step[pause] for step in steps for pause in pauses)
    return 100 * (whole - idle) / whole


class Expected(unittest.TestCase):
    """The rows of expect.json that are of CPU runs."""

    def near(self, row, value):
        allowed = row["expected"] * row["tolerance"] if row["tolerance"] < 1 else row["tolerance"]
        self.assertAlmostEqual(value, row["expected"], delta=allowed, msg=f"{row['id']} {row['input']} {row['where']}")

    def test_ops_and_modules(self):
        for row in EXPECT:
            kind, _, rest = row["where"].partition("[name=")
            if row["id"] != "C1" or kind not in ("ops", "modules"):
                continue
            name, _, figure = rest.partition("].")
            found = named(report(row["input"])[kind], name)
            with self.subTest(row["input"], where=row["where"]):
                self.near(row, found[figure])

    def test_busy(self):
        for row in EXPECT:
            if row["where"].startswith("busy share"):
                with self.subTest(row["input"]):
                    self.near(row, working_pct(row["input"]))

    def test_a_run_is_not_empty(self):
        self.assertEqual(report("cpu_mlp")["capture"]["verdict"], "good")
        causes = report("cpu_mlp")["capture"]["causes"]
        self.assertEqual([(cause["id"], cause["severity"]) for cause in causes], [("ran_on_cpu", "info")])

    def test_python_is_not_blamed(self):
        self.assertLess(layer("cpu_mlp", "Python and other"), 10)
        self.assertAlmostEqual(layer("cpu_mlp", "XLA on the CPU"), 95.9, delta=1)

    def test_not_blocked(self):
        causes = {cause["id"]: cause["verdict"] for cause in report("cpu_not_blocked")["capture"]["causes"]}
        self.assertEqual(causes.get("not_blocked"), "misleading")
        for other in ("cpu_mlp", "cpu_slow", "cpu_fast", "cpu_input", "cpu_grain"):
            self.assertNotIn("not_blocked", [cause["id"] for cause in report(other)["capture"]["causes"]], other)

    def test_input(self):
        for row in EXPECT:
            if row["id"] == "C9":
                with self.subTest(row["input"]):
                    self.near(row, layer(row["input"], "input"))

    def test_compare(self):
        status, text = run("compare", "--json", str(PEOPLE / "cpu_slow"), str(PEOPLE / "cpu_fast"))
        self.assertEqual(status, 0)
        compared = json.loads(text)["compare"]
        self.assertIn(compared["comparable"], ("yes", "with care"))
        of_ops = ("faster", "slower", "new", "gone")
        ops = sum(part["run_1_change_pct"] for part in compared["difference"] if part["part"] in of_ops)
        self.assertGreater(ops, 90)

    def test_clocks(self):
        for name in ("cpu_mlp", "cpu_slow", "cpu_fast"):
            truth = json.loads((PEOPLE / name / "truth.json").read_text())
            clock = sorted(truth["step_ms_clock"])
            median = (clock[len(clock) // 2] + clock[(len(clock) - 1) // 2]) / 2
            self.assertAlmostEqual(report(name)["overview"]["step_time_ps"]["median"] / 1e9, median, delta=0.02 * median)

    def test_torch(self):
        trace = "torch_cpu_mlp.pt.trace.json"
        truth = json.loads((PEOPLE / "torch_cpu_mlp.truth.json").read_text())
        rows = report(trace)["operators"]["by_name"]
        products = [row for row in rows if row["name"] in ("aten::mm", "aten::addmm")]
        self.assertEqual(sum(row["calls"] for row in products), truth["mm_calls"])
        self.assertAlmostEqual(sum(row["cpu_ps"] for row in products) / 1e6, truth["mm_us"], delta=1)
        self.assertEqual(report(trace)["overview"]["step_count"], truth["steps"])
        self.assertNotEqual(report(trace)["capture"]["verdict"], "empty")
        status, text = run("report", str(PEOPLE / trace))
        self.assertEqual(status, 0)
        self.assertRegex(text, r"aten::(add)?mm")


if __name__ == "__main__":
    if not (PEOPLE / "expect.json").is_file():
        print(f"{PEOPLE}: no captures of CPU runs (skipped)")
        sys.exit(77)
    EXPECT = json.loads((PEOPLE / "expect.json").read_text())
    unittest.main()
