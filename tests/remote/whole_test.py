#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program on buckets, by the helper and fake stores: whole_test.py

What annotate, report and strip do to gs://, s3:// and az:// is what they do to a folder, byte for byte, and a profile is never uploaded.
$TPUSIGHT names the program (default: bin/tpusight); what else is needed stands in given.py.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import given

given.under_remote_python()
sys.path.insert(0, os.path.join(given.ROOT, "tests", "fixtures"))
import az_test
import gs_test
import s3_test
from battery import MIB
from helpers import PROGRAM
from proxy import too_busy
from wire import blob

SAMPLE = os.path.join(given.ROOT, "tests", "data", "sample")
PATIENCE_S = 300
STATE = re.compile(rb'"state": "[0-9a-f]{32}"')  # of the times and generations of a session's files


def of_folder(folder):
    """{name: bytes}"""
    found = {}
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = f.read()
    return found


def enlarged(profile):
    """A profile that is larger than the least part of S3: with a plane that has nothing but its name."""
    return profile + blob(1, blob(2, b"x" * (6 * MIB)))


class Whole:
    """`kind` is the test of the store."""

    @classmethod
    def setUpClass(cls):
        cls.kind.setUpClass()
        cls.addClassCleanup(cls.kind.doClassCleanups)
        cls.store = cls.kind("url")  # for its methods alone
        cls.proxy = cls.kind.proxy

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tpusight-whole-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.local, self.scratch, helpers = (os.path.join(self.folder, name) for name in ("local", "scratch", "helpers"))
        shutil.copytree(SAMPLE, self.local)
        for at, _, names in os.walk(self.local):
            os.chmod(at, 0o755)
            for name in names:
                os.chmod(os.path.join(at, name), 0o644)
        os.mkdir(self.scratch)
        os.mkdir(helpers)
        self.env = {**os.environ, **self.kind.env, "TMPDIR": self.scratch, "TPUSIGHT_REMOTE_DIR": helpers}
        for scheme in ("gs", "s3", "az"):
            path = os.path.join(helpers, f"tpusight-remote-{scheme}")
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"#!/bin/sh\nPYTHONPATH='{given.ROOT}/plugin' exec '{sys.executable}' -B -m tpusight.remote \"$@\"\n")
            os.chmod(path, 0o755)
        self.profile = next(name for name in of_folder(self.local) if name.endswith(".xplane.pb"))
        path = os.path.join(self.local, self.profile)
        with open(path, "rb") as f:
            profile = f.read()
        with open(path, "wb") as f:
            f.write(enlarged(profile))
        self.under = self.id().rsplit(".", 1)[-1]
        self.before = of_folder(self.local)
        for name, data in self.before.items():
            self.store.put_raw(f"{self.under}/{name}", data)
        self.url = self.store.url(self.under)
        self.proxy.forget()

    def run_it(self, *args, status=0):
        done = subprocess.run([PROGRAM, *args], env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        self.assertEqual(os.listdir(self.scratch), [])
        return done.stdout

    def bucket(self):
        names = [name for name in self.store.names() if name.startswith(self.under + "/")]
        return {name[len(self.under) + 1:]: self.store.raw(name) for name in names}

    def same(self, found, wanted):
        self.assertEqual(set(found), set(wanted))
        for name, data in wanted.items():
            data = STATE.sub(b"", data.replace(self.local.encode(), self.url.encode()))  # the report says what was annotated
            there = STATE.sub(b"", found[name])
            at = len(os.path.commonprefix([there, data]))
            self.assertTrue(there == data, f"{name} differs: {there[at - 40:at + 40]} {data[at - 40:at + 40]}")

    def test_annotate_report_and_strip_as_in_a_folder(self):
        self.run_it("annotate", self.url)
        uploaded = self.proxy.uploaded()
        self.run_it("annotate", self.local)
        annotated = of_folder(self.local)
        self.same(self.bucket(), annotated)
        grown = sum(map(len, annotated.values())) - sum(map(len, self.before.values()))
        self.assertLess(uploaded, grown + MIB)  # what was added, and what requests say; never the profile
        self.proxy.forget()
        self.run_it("annotate", self.url)
        self.assertLess(self.proxy.uploaded(), MIB // 16)
        self.same(self.bucket(), annotated)
        found, wanted = (json.loads(self.run_it("report", "--format", "json", path)) for path in (self.url, self.local))
        self.assertEqual(found["doctor"], wanted["doctor"])
        self.run_it("annotate", "--strip", self.url)
        self.same(self.bucket(), self.before)

    def test_bad_days(self):
        self.proxy.rule(self.kind.stat_of, answer=too_busy())
        self.proxy.rule(self.kind.fetch, short=True)
        self.proxy.rule(self.kind.write, reset=True)
        self.run_it("annotate", self.url)
        self.run_it("annotate", self.local)
        self.same(self.bucket(), of_folder(self.local))
        self.assertTrue(all(rule.met.is_set() for rule in self.proxy.rules))

    def test_a_profile_that_is_written_meanwhile_is_kept_whole(self):
        changed = enlarged(self.before[self.profile])
        name = f"{self.under}/{self.profile}"
        rule = self.proxy.rule(self.kind.write, before=lambda: self.store.put_raw(name, changed))
        subprocess.run([PROGRAM, "annotate", self.url], env=self.env, capture_output=True, timeout=PATIENCE_S, check=False)
        self.assertTrue(rule.met.is_set())
        self.assertEqual(self.store.raw(name)[:len(changed)], changed)
        self.run_it("annotate", self.url)
        self.run_it("annotate", "--strip", self.url)
        self.assertEqual(self.store.raw(name), changed)


class WholeGs(Whole, unittest.TestCase):
    kind = gs_test.FakeGcsServer


class WholeS3(Whole, unittest.TestCase):
    kind = s3_test.Moto


class WholeAz(Whole, unittest.TestCase):
    kind = az_test.Azurite


if __name__ == "__main__":
    if not os.access(PROGRAM, os.X_OK):
        given.skip(f"{PROGRAM} is not built")
    unittest.main(verbosity=1)
