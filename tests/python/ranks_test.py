#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ranks of one job are one run, whatever their files are called: for TensorBoard's tab as for the program. ranks_test.py"""
import json
import os
import subprocess
import tempfile
import unittest

import package
from tensorboard_plugin_tpusight import runs

NAMES = ("alpha.json", "weights.json", "zz_final.json")


def trace(rank, size, device="NVIDIA H100 80GB HBM3"):
    events = [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 50, "tid": 7, "ts": 10, "dur": 4,
               "args": {"correlation": 1}},
              {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 100 + rank,
               "args": {"correlation": 1, "device": 0, "stream": 7}}]
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": device}],
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": size}, "traceEvents": events}


class Ranks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, *at):
        folder = os.path.join(self.folder.name, *at)
        os.makedirs(folder, exist_ok=True)
        for rank, name in enumerate(NAMES):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                json.dump(trace(rank, len(NAMES)), file)

    def in_tensorboard(self):
        return [(session.run, [os.path.basename(entry.path) for entry in session.files]) for session in runs.find(self.folder.name)]

    def of_the_program(self):
        said = subprocess.run([package.PROGRAM, "hta", "--json", self.folder.name], check=True, capture_output=True).stdout
        return [rank["rank"] for rank in json.loads(said)["ranks"]]

    def test_no_finding_leads_to_xprof_which_opens_no_trace(self):
        self.write()
        said = subprocess.run([package.PROGRAM, "report", "--json", self.folder.name], check=True, capture_output=True).stdout
        found = json.loads(said)["doctor"]["findings"]
        self.assertTrue(any(finding["time_ranges"] for finding in found))
        self.assertEqual({(finding["links"]["xprof"], finding["links"]["xprof_trace"]) for finding in found}, {(None, None)})

    def test_in_the_folder_that_is_named(self):
        self.write()
        self.assertEqual(self.in_tensorboard(), [("", list(NAMES))])
        self.assertEqual(self.of_the_program(), [0, 1, 2])

    def test_in_a_run_of_a_log_directory(self):
        self.write("my_run")
        self.assertEqual(self.in_tensorboard(), [("my_run", list(NAMES))])
        self.assertEqual(self.of_the_program(), [0, 1, 2])

    def test_deeper_only_names_with_a_rank_are_looked_into(self):
        self.write("my_run", "checkpoints")
        self.assertEqual(self.in_tensorboard(), [])
        self.assertNotEqual(subprocess.run([package.PROGRAM, "hta", self.folder.name], capture_output=True).returncode, 0)

    def test_other_devices_are_of_other_jobs(self):
        for rank, (name, device) in enumerate(zip(NAMES, ("NVIDIA A100", "AMD Instinct MI300X", "NVIDIA A100"))):
            with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as file:
                json.dump(trace(rank, len(NAMES), device), file)
        self.assertEqual([files for _, files in self.in_tensorboard()], [[NAMES[0], NAMES[2]], [NAMES[1]]])


if __name__ == "__main__":
    package.main()
