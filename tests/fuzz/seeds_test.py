#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The seeds of the fuzz targets that make_seeds.py writes are in the tree: seeds_test.py

Each is there, and is what is written today, but for those that another zlib packs otherwise.
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import content

TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
SEEDS = os.path.join(TOP, "tests", "fuzz", "seeds")
GZIP = b"\x1f\x8b"
ZIP = b"PK"


class Seeds(unittest.TestCase):
    def test_all_are_in_the_tree(self):
        with tempfile.TemporaryDirectory() as made:
            subprocess.run([sys.executable, "-B", os.path.join(TOP, "tests", "fuzz", "make_seeds.py"), made], check=True,
                           stdout=subprocess.DEVNULL)
            names = sorted(os.path.relpath(os.path.join(at, name), made) for at, _, files in os.walk(made) for name in files)
            self.assertGreater(len(names), 100)
            missing = [name for name in names if not os.path.exists(os.path.join(SEEDS, name))]
            self.assertEqual(missing, [], "run tests/fuzz/make_seeds.py")
            for name in names:
                new = content(os.path.join(made, name))
                if GZIP not in new[:512] and ZIP not in new[:512]:
                    self.assertEqual(new, content(os.path.join(SEEDS, name)), name)


if __name__ == "__main__":
    unittest.main()
