#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles in Riegeli's records give the report of the same profile as an xplane, in however many pieces they come.

The files are written by tests/fixtures/riegeli.py, by the document of the format; those named found-crate-* by the crate riegeli
0.2.1 (crates.io), an implementation that knows nothing of ours. $TPUSIGHT names the program (default: bin/tpusight).
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
SEEDS = os.path.join(TOP, "tests", "fuzz", "seeds", "riegeli")
sys.path.insert(0, os.path.join(TOP, "tests", "fixtures"))
import riegeli
from helpers import DATA, PROGRAM

SAMPLE = os.path.join(DATA, "sample/train_step_simulated/plugins/profile/2026_01_01_00_00_00/simulated-host.xplane.pb")
SOME = 4  # of the profile was read


def run(*args):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=300)


class Records(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tpusight-riegeli.")
        self.addCleanup(shutil.rmtree, self.dir)

    def session(self, name, data):
        """A log directory with one session that has one file."""
        top = tempfile.mkdtemp(dir=self.dir)
        path = os.path.join(top, "run", "plugins", "profile", "s", name)
        os.makedirs(os.path.dirname(path))
        with open(path, "wb") as f:
            f.write(data)
        return top, path

    def report(self, name, data, status=0):
        top, _ = self.session(name, data)
        done = run("report", "--format", "json", "-q", top)
        self.assertEqual(done.returncode, status, done.stderr)
        report = json.loads(done.stdout.replace(top, "TOP"))
        for host in report["run"]["hosts"]:
            del host["bytes"], host["file"]
        return report

    def test_pieces_are_the_profile(self):
        profiles = [SAMPLE] + [os.path.join(DATA, n) for n in ("cpu_steps.xplane.pb", "cpu_scopes.xplane.pb")]
        for profile in profiles:
            with open(profile, "rb") as f:
                data = f.read()
            expected = self.report("h.xplane.pb", data)
            halves = riegeli.pieces(data)
            for what, file in (("one", riegeli.file_of(riegeli.records(data))),
                               ("two records", riegeli.file_of(riegeli.records(*halves))),
                               ("two chunks", riegeli.file_of(*(riegeli.records(h) for h in halves))),
                               ("two files", riegeli.file_of(riegeli.records(halves[0])) + riegeli.file_of(riegeli.records(halves[1])))):
                with self.subTest(profile=os.path.basename(profile), what=what):
                    self.assertEqual(self.report("h.xplane.riegeli", file), expected)

    def test_an_independent_writer(self):
        def of(name):
            with open(os.path.join(SEEDS, name), "rb") as f:
                return self.report("h.xplane.riegeli", f.read())

        expected = of("one")
        self.assertTrue(expected["ops"])
        for packing in ("none", "brotli", "zstd"):
            self.assertEqual(of(f"found-crate-{packing}"), expected, packing)

    def test_a_file_that_is_cut_has_what_stands_before(self):
        with open(SAMPLE, "rb") as f:
            halves = riegeli.pieces(f.read())
        whole = riegeli.file_of(*(riegeli.records(h) for h in halves))
        for n in (len(whole) // 2, len(whole) - 200000):
            report = self.report("h.xplane.riegeli", whole[:n], SOME)
            self.assertIn("cut off", json.dumps(report["doctor"]))
            self.assertTrue(report["ops"])

    def test_a_damaged_chunk_is_left_out(self):
        with open(SAMPLE, "rb") as f:
            data = f.read()
        chunks = [riegeli.records(data)] * 2
        chunks[0] = chunks[0][:1000] + bytes((chunks[0][1000] ^ 1,)) + chunks[0][1001:]
        report = self.report("h.xplane.riegeli", riegeli.file_of(*chunks), SOME)
        self.assertIn("the data of a chunk is damaged", json.dumps(report["doctor"]))
        self.assertEqual(report["ops"], self.report("h.xplane.pb", data)["ops"])

    def test_what_is_not_read_is_said(self):
        rows = [("found-crate-transposed", "transposed chunk"), ("snappy", "Brotli or Zstd"), ("empty", "no records"),
                ("long_sizes", "damaged"), ("wrong_sum", "is it a profile")]
        for name, words in rows:
            with open(os.path.join(SEEDS, name), "rb") as f:
                top, path = self.session("h.xplane.riegeli", f.read())
            done = run("report", top)
            self.assertEqual(done.returncode, 3, name)
            self.assertRegex(done.stderr, words, name)
            self.assertIn("h.xplane.riegeli", done.stderr)

    def test_what_unpacks_to_too_much_is_refused(self):
        block = (1 << 1 | 131072 << 3).to_bytes(3, "little") + b"\0"  # RFC 8878: a block that repeats one byte
        bomb = b"\x28\xb5\x2f\xfd\x00\x50" + block * 600
        top, _ = self.session("h.xplane.riegeli", riegeli.file_of(riegeli.records(b"x", packing=ord("z"), pack=lambda raw: bomb)))
        done = run("report", top)
        self.assertEqual(done.returncode, 3)
        self.assertIn("TS_LIMIT_PACKED_RATIO", done.stderr)


if __name__ == "__main__":
    unittest.main()
