#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Of the tab of TensorBoard, without TensorBoard: which runs it lists, and what it asks the program for: runs_test.py"""
import gzip
import json
import os
import tempfile
import unittest

import package
from tensorboard_plugin_tpusight import reports, runs


def write_rank(path, rank, size):
    trace = {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": size}, "traceEvents": [
        {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0, "tid": 7, "ts": 100 + 200 * i,
         "dur": 80 if rank == 1 else 100, "args": {"stream": 7, "correlation": i}} for i in range(4)]}
    with (gzip.open if path.endswith(".gz") else open)(path, "wt", encoding="utf-8") as file:
        json.dump(trace, file)


class Runs(unittest.TestCase):
    def setUp(self):
        self.assertTrue(os.access(package.PROGRAM, os.X_OK))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.logdir = folder.name
        os.mkdir(self.path("job"))

    def path(self, name):
        return os.path.join(self.logdir, name)

    def hosts(self):
        return sorted(session.describe()["hosts"] for session in runs.find(self.logdir))

    def test_the_ranks_of_a_job_are_one_run_with_stragglers(self):
        for rank, name in enumerate(("rank-0.json.gz", "rank1.json", "trace_rank2_step5.json.gz")):
            write_rank(self.path(f"job/{name}"), rank, 3)
        (session,) = runs.find(self.logdir)
        self.assertEqual(session.describe()["hosts"], ["rank-0.json.gz", "rank1.json", "trace_rank2_step5.json.gz"])
        report = json.loads(gzip.decompress(reports.Reports(self.logdir).get(session)))
        self.assertEqual(report["hta"]["rank_count"], 3)
        self.assertEqual([row["last_count"] for row in report["hta"]["stragglers"] if row["rank"] == 1], [4])

    def test_traces_of_pytorchs_handler_are_joined_too(self):
        for rank in range(2):
            write_rank(self.path(f"job/w{rank}.1700000000{rank}00.pt.trace.json"), rank, 2)
        write_rank(self.path("job/w9.1700000900000.pt.trace.json"), 1, 2)  # a quarter of an hour later
        self.assertEqual(self.hosts(), [["w0.1700000000000", "w1.1700000000100"], ["w9.1700000900000"]])

    def test_other_jobs_and_other_files_stay_apart(self):
        write_rank(self.path("job/rank_0.json"), 0, 2)
        write_rank(self.path("job/rank_1.json"), 1, 4)
        write_rank(self.path("job/rank_0.tpusight.report.json"), 0, 2)
        with open(self.path("job/rank_7.json"), "w", encoding="utf-8") as file:
            json.dump({"loss": [1, 2]}, file)
        self.assertEqual(self.hosts(), [["rank_0.json"], ["rank_1.json"]])

    def test_events_of_kineto_make_a_trace_of_any_file(self):
        for name, kind in (("anew.json", "cpu_op"), ("browser.json", "toplevel"), ("kinds.json.gz", "gpu_user_annotation")):
            event = {"ph": "X", "cat": kind, "name": "aten::empty", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
            with (gzip.open if name.endswith(".gz") else open)(self.path(name), "wt", encoding="utf-8") as file:
                json.dump({"metadata": {"notes": "x" * 20000}, "traceEvents": [event]}, file)
        self.assertEqual(self.hosts(), [["anew.json"], ["kinds.json.gz"]])


if __name__ == "__main__":
    unittest.main()
