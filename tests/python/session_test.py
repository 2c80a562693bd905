#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a Session prints for people, which needs no JAX: session_test.py"""
import contextlib
import io
import json
import os
import re
import subprocess
import unittest

import package
import tpusight
from tpusight import _program

CLEAN = os.path.join(package.DATA, "planted", "clean.tar.gz")


def printed(action):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        action()
    return out.getvalue()


class Printed(unittest.TestCase):
    def setUp(self):
        self.session = tpusight.Session(CLEAN)

    def test_a_summary_that_nobody_takes_is_printed(self):
        def statement():
            self.session.summary()

        def of_a_module():
            exec(compile("session.summary()", "script", "exec"), {"session": self.session})

        text = printed(statement)
        self.assertRegex(text, r"\AOverview\n(.*\n)*  MXU utilization: +\d+\.\d %\n")
        self.assertEqual(printed(of_a_module), text)
        self.assertEqual(printed(lambda: print(self.session.summary())), text)

    def test_a_summary_that_is_used_is_not_printed(self):
        def used():
            found = self.session.summary()
            self.assertGreater(found.step_count, 0)
            self.assertGreater(self.session.summary().step_count, 0)
            return found

        self.assertEqual(printed(used), "")

    def test_a_console_shows_its_text_once(self):
        def typed():
            exec(compile("session.summary()", "console", "single"), {"session": self.session})

        text = printed(typed)
        self.assertEqual(text, str(self.session.summary()) + "\n")
        self.assertEqual(repr(self.session.summary()), str(self.session.summary()))

    def test_the_difference_of_two_profiles_is_their_comparison(self):
        other = tpusight.Session(os.path.join(package.DATA, "planted", "padding.tar.gz"))
        change = other - self.session
        command = [package.PROGRAM, "compare", "--color=never", self.session.path, other.path]
        wanted = json.loads(subprocess.run([*command, "--format=json"], capture_output=True, check=True).stdout)["compare"]
        self.assertEqual(change, wanted)
        self.assertEqual(change.runs[1]["verdict"], wanted["runs"][1]["verdict"])
        self.assertEqual(str(change), subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        self.assertEqual((self.session - self.session).runs[1]["verdict"], "no clear difference")
        with self.assertRaises(TypeError):
            self.session - 3

    def test_a_report_shows_its_text_not_all_of_its_figures(self):
        report = self.session.report()
        self.assertEqual(str(report), self.session.report("text"))
        self.assertIn("\nPadding", str(report))
        self.assertLess(len(repr(report)), 3000)
        self.assertIn("device busy", repr(report))
        self.assertIn("<pre>", report._repr_html_())
        self.assertGreater(len(report.ops), 0)

    def test_the_breakdown_is_the_box_and_nothing_else(self):
        lines = printed(self.session.time_breakdown.print_breakdown).splitlines()
        rule, thin = "=" * 60, "-" * 60
        self.assertEqual([lines[0], lines[1], lines[2], lines[4], lines[-3], lines[-1]],
                         [rule, "  TPUsight Time Breakdown", rule, thin, thin, rule])
        self.assertRegex(lines[-2], r"\A  Bottleneck: ")
        total = float(re.fullmatch(r"  Total Time: (\d+\.\d\d) ms", lines[3]).group(1))
        rows = [re.fullmatch(r"  (\D+?) +(\d+\.\d\d) ms +(\d+\.\d)%", line).groups() for line in lines[5:-3]]
        self.assertAlmostEqual(sum(float(ms) for _, ms, _ in rows), total, places=6)
        self.assertAlmostEqual(sum(float(share) for _, _, share in rows), 100, places=6)
        self.assertAlmostEqual(total, self.session.time.wall_ps / 1e9, delta=0.01)  # of the run, not of two cores

    def test_the_command_that_tries_is_the_same_at_each_door_and_missing_where_nothing_can_be_tried(self):
        command = "tpusight before SCRIPT.py:FUNCTION --topology v6e:2x2 --try"
        torch = os.path.join(package.DATA, "torch_operators.pt.trace.json.gz")
        for path, said in ((os.path.join(package.DATA, "planted", "padding.tar.gz"), command), (CLEAN, None), (torch, None)):
            session = tpusight.Session(path)
            self.assertEqual(session.view("doctor").what_if, said)
            self.assertEqual(_program.ask("report", "--json", path)["doctor"]["what_if"], said)
            self.assertEqual(command in " ".join(session.text("doctor").split()), bool(said))


if __name__ == "__main__":
    package.main()
