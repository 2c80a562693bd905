#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What TensorBoard's tab calls the runs of a log directory: by their folders, never by a session's time alone."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "plugin"))
from tensorboard_plugin_tpusight import runs

SESSION = "plugins/profile/2026_11_22_09_06_03"


class Titles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for run in ("adam_lr0.1", "muon_lr0.1"):
            path = os.path.join(self.folder.name, run, SESSION)
            os.makedirs(path)
            with open(os.path.join(path, "h.xplane.pb"), "wb") as f:
                f.write(b"x")

    def titles(self, logdir):
        return sorted(s.describe()["title"] for s in runs.find(logdir))

    def test_a_run_below_the_log_directory(self):
        self.assertEqual(self.titles(self.folder.name), ["adam_lr0.1/2026_11_22_09_06_03", "muon_lr0.1/2026_11_22_09_06_03"])

    def test_a_log_directory_that_is_a_run_itself(self):
        self.assertEqual(self.titles(os.path.join(self.folder.name, "adam_lr0.1")), ["adam_lr0.1/2026_11_22_09_06_03"])


if __name__ == "__main__":
    unittest.main()
