#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What /api/report says of a part of a run is what `tpusight trim` of that part has: part_test.py

Run in the build folder; $TPUSIGHT names the program (default bin/tpusight).
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.parse

import doors

MS = 10**9
OWN = ("run", "part", "tracks")  # the files that were read; slices have numbers of their own
OF_MODULES = ("cache", "capacity", "compile", "modules", "prediction")  # a copy has not what was compiled and did not run in it


def trimmed(folder, profile, *options):
    out = os.path.join(folder, os.path.basename(profile).removesuffix(".gz"))
    subprocess.run([doors.PROGRAM, "trim", "-q", "-o", out, *options, profile], check=True)
    return doors.report(out)


def differences(a, b, path=""):
    """Where two reports differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for key in sorted({*a, *b}) for d in differences(a.get(key), b.get(key), f"{path}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f"{path}[{i}]")]
    return [] if a == b or path.endswith(".op_index") else [f"{path}: {str(a)[:200]} != {str(b)[:200]}"]


class Parts(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def same(self, profile, fields, *options, but=(), of_several=""):
        """OF_SEVERAL: the host whose part it is; of several hosts devices have its name before theirs, in a copy of one they have not."""
        copy = trimmed(self.folder.name, profile, *options)
        with doors.serving(profile) as (url, _):
            run = doors.ask(url, "/api/runs")["runs"][0]["id"]
            whole = doors.ask(url, "/api/report", run=run)
            part = doors.ask(url, "/api/report", run=run, **fields)
        if of_several:
            part = json.loads(json.dumps(part).replace(f"{of_several} /device", "/device"))
        self.assertNotIn("part", whole)
        self.assertNotEqual(whole["overview"], part["overview"])
        for key in (*OWN, *but):
            copy.pop(key, None)
            part.pop(key, None)
        self.assertEqual('', '\n'.join(differences(part, copy)))

    def test_a_stretch_of_time(self):
        self.same(doors.SAMPLE, {"from_ps": 100 * MS, "to_ps": 200 * MS}, "--from-ms=100", "--to-ms=200", but=OF_MODULES)

    def test_a_time_with_all_that_was_compiled(self):
        self.same(doors.SAMPLE, {"from_ps": 70 * MS}, "--from-ms=70")

    def test_a_trace(self):
        self.same(doors.MEMORY, {"from_ps": 3 * MS, "to_ps": 5 * MS}, "--from-ms=3", "--to-ms=5", but=("capture", "doctor"))

    def test_a_device_with_its_host(self):
        self.same(doors.SAMPLE, {"device": "/device:TPU:1"}, "--plane=/[hd]*[:CP]*[!023]")

    def test_a_host(self):
        session = os.path.join(self.folder.name, "job", "plugins", "profile", "one")
        os.makedirs(session)
        for name in ("first", "second"):
            shutil.copy(doors.SAMPLE, os.path.join(session, f"{name}.xplane.pb"))
        self.same(session, {"host": "second", "from_ps": 70 * MS}, "--host=second", "--from-ms=70", of_several="second")

    def test_what_the_part_is_stands_in_the_report(self):
        with doors.serving(doors.SAMPLE) as (url, _):
            run = doors.ask(url, "/api/runs")["runs"][0]["id"]
            part = doors.ask(url, "/api/report", run=run, from_ps=5, device="1", host="simulated-host")
        self.assertEqual({"from_ps": 5, "to_ps": None, "device": "1", "host": "simulated-host"}, part["part"])
        self.assertEqual(["/device:TPU:1"], [d["name"] for d in part["run"]["devices"]])

    def test_what_is_not_a_part(self):
        with doors.serving(doors.SAMPLE) as (url, _):
            run = doors.ask(url, "/api/runs")["runs"][0]["id"]
            for status, fields in ((400, {"from_ps": "1.5"}), (400, {"from_ps": 9, "to_ps": 9}), (400, {"to_ps": 2**63}),
                                   (400, {"to_ps": "9" * 99}), (400, {"host": "h" * 1025}),
                                   (404, {"host": "nobody"}), (404, {"device": "/device:TPU:9"}), (404, {"device": 4})):
                with self.assertRaises(urllib.error.HTTPError) as e:
                    doors.ask(url, "/api/report", run=run, **fields)
                self.assertEqual(status, e.exception.code, fields)
                e.exception.close()


if __name__ == "__main__":
    unittest.main()
