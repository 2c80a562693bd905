#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What TensorBoard's tab answers of events and of many runs, by the program that it starts: served_test.py

Run in the build folder; $TPUSIGHT names the program (default bin/tpusight).
"""
import gzip
import io
import json
import os
import sys
import tempfile
import time
import types
import unittest
import urllib.parse

import doors
from helpers import need_viewer

need_viewer("tensorboard")
os.environ["TPUSIGHT"] = doors.PROGRAM
sys.path.insert(0, os.path.join(doors.HERE, "..", "..", "plugin"))
from tensorboard_plugin_tpusight import plugin

MS = 10**9


class Tab(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.logdir = doors.logdir(folder.name, {"a": doors.SAMPLE, "b": doors.MEMORY})
        self.tab = plugin.TpusightPlugin(types.SimpleNamespace(logdir=self.logdir))
        self.addCleanup(self.tab.close)
        self.apps = self.tab.get_plugin_apps()

    def ask(self, route, **fields):
        """(status, answer)"""
        said = []
        environ = {"REQUEST_METHOD": "GET", "QUERY_STRING": urllib.parse.urlencode(fields), "PATH_INFO": route,
                   "HTTP_ACCEPT_ENCODING": "gzip",
                   "wsgi.input": io.BytesIO()}
        body = b"".join(self.apps[route](environ, lambda status, headers: said.append(status)))
        text = gzip.decompress(body).decode()
        self.assertNotIn(self.logdir, text if route != "/report" else "")
        return int(said[0][:3]), json.loads(text)

    def runs(self):
        return {run["run"]: run for run in self.ask("/runs")[1]["runs"]}

    def test_runs_have_figures(self):
        end = time.monotonic() + doors.PATIENCE_S
        while not self.ask("/runs")[1]["is_known"] and time.monotonic() < end:
            time.sleep(0.05)
        health = doors.report(doors.SAMPLE)["overview"]["health_score"]
        self.assertEqual(("TPU v6e", health, 20, False), tuple(self.runs()["a"][name] for name in (
            "chip", "health_score", "steps", "is_predicted")))
        self.assertNotIn("path", self.runs()["a"])

    def test_a_part_of_a_run(self):
        status, part = self.ask("/report", run=self.runs()["a"]["id"], from_ps=100 * MS, to_ps=200 * MS)
        self.assertEqual((200, 100 * MS), (status, part["part"]["from_ps"]))
        self.assertEqual(400, self.ask("/report", run=self.runs()["a"]["id"], from_ps=5, to_ps=4)[0])

    def test_slices(self):
        status, answer = self.ask("/slices", run=self.runs()["a"]["id"], from_ps=0, to_ps=100 * MS, width=50)
        self.assertEqual(200, status)
        numbers = 6  # of a slice
        self.assertEqual([lane["name"] for lane in answer["lanes"] if not 0 < len(lane["slices"]) / numbers <= 50], [])

    def test_two_runs_compared_and_over_time(self):
        ids = ",".join(run["id"] for run in self.runs().values())
        status, made = self.ask("/compare", runs=ids)
        self.assertEqual((200, 2), (status, len(made["compare"]["runs"])))
        status, trend = self.ask("/trend", runs=ids)
        self.assertEqual((200, {"a", "b"}), (status, {run["run"] for run in trend["runs"]}))
        self.assertEqual(set(ids.split(",")), {run["id"] for run in trend["runs"]})

    def test_no_such_run(self):
        for route, fields in (("/slices", {"run": "nothing"}), ("/report", {"run": "../a", "from_ps": 1}), ("/compare", {"runs": "a,b"}),
                              ("/trend", {"runs": "nothing"})):
            self.assertEqual(404, self.ask(route, **fields)[0], route)


if __name__ == "__main__":
    unittest.main()
