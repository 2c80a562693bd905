#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each command takes HOST.xplane.riegeli as it takes HOST.xplane.pb, or says that it does not, and what to do.

$TPUSIGHT names the program (default: bin/tpusight).
"""
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import urllib.request
import zipfile

TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
PROFILE = os.path.join(TOP, "tests", "fuzz", "seeds", "xplane", "steps_marked")
sys.path.insert(0, os.path.join(TOP, "tests", "fixtures"))
import children
import riegeli
from helpers import PROGRAM, content

PLANES, RECORDS = "h.xplane.pb", "h.xplane.riegeli"
LOG, SESSION = "log", "log/run/plugins/profile/s"
PATIENCE_S = 300
DONE, GATE, NOTHING = 0, 1, 3
# Words of a command; FILE and LOG stand for what it is about.
SAME = ["report FILE", "report LOG", "report --all --format json FILE", "check FILE", "check LOG", "compare FILE FILE", "timeline FILE",
        "flame FILE", "memory FILE", "kernels FILE", "compile FILE", "hta LOG", "annotate --dry-run LOG", "report ARCHIVE.tar",
        "report ARCHIVE.zip", "check ARCHIVE.tar", "annotate ARCHIVE.tar", "redact ARCHIVE.zip", "trim --steps 3 ARCHIVE.zip"]
REFUSED = {"trim --from-ms 1 FILE": "is not trimmed", "trim --from-ms 1 LOG": "is not trimmed", "redact FILE": "is not redacted",
           "redact LOG": "is not redacted"}


class Commands(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tpusight-records.")
        self.addCleanup(shutil.rmtree, self.dir)
        planes = content(PROFILE)
        self.forms = {PLANES: planes, RECORDS: riegeli.file_of(riegeli.records(planes), padded=False)}
        for name, data in self.forms.items():
            self.session(name, {name: data})

    def session(self, top, files):
        """A folder TOP, in which a log directory has one session with FILES; beside it an archive of each form."""
        folder = os.path.join(self.dir, top, SESSION)
        os.makedirs(folder)
        for name, data in files.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)
        above = os.path.join(self.dir, top)
        with tarfile.open(os.path.join(above, "a.tar"), "w") as tar, zipfile.ZipFile(os.path.join(above, "a.zip"), "w") as packed:
            for name, data in files.items():
                info = tarfile.TarInfo("plugins/profile/s/" + name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
                packed.writestr("plugins/profile/s/" + name, data)
        return above

    def run_it(self, top, words, **more):
        names = {"FILE": os.path.join(SESSION, top), "LOG": LOG, "ARCHIVE.tar": "a.tar", "ARCHIVE.zip": "a.zip"}
        return subprocess.run([PROGRAM, *(names.get(word, word) for word in words.split())], cwd=os.path.join(self.dir, top),
                              capture_output=True, timeout=PATIENCE_S, check=False, **more)

    def files(self, top):
        return {os.path.relpath(os.path.join(at, name), self.dir): content(os.path.join(at, name))
                for at, _, names in os.walk(os.path.join(self.dir, top)) for name in names}

    def test_what_it_says_is_the_same(self):
        for words in SAME:
            with self.subTest(words):
                planes, records = (self.run_it(name, words) for name in (PLANES, RECORDS))
                self.assertEqual(records.returncode, planes.returncode)
                self.assertEqual(self.plain(records.stdout), self.plain(planes.stdout))
                self.assertEqual(self.plain(records.stderr), self.plain(planes.stderr))

    @staticmethod
    def plain(text):
        """The words, without what differs: the file's name and size, and the overlay's, which is padded."""
        lines = text.decode().replace(RECORDS, PLANES).splitlines()
        return [word for line in lines if '"bytes": ' not in line and "would write" not in line and not line.strip().startswith('["h"')
                for word in line.split()]

    def test_what_it_does_not_take_it_names(self):
        for words, why in REFUSED.items():
            with self.subTest(words):
                before = self.files(RECORDS)
                done = self.run_it(RECORDS, words)
                self.assertEqual(done.returncode, NOTHING)
                self.assertRegex(done.stderr.decode(), rf"^tpusight: .*{RECORDS}: .*{why}.*\(.+\)")
                self.assertEqual(self.files(RECORDS), before)

    def test_a_session_of_both_is_not_trimmed_by_half(self):
        top = self.session("both", {"a.xplane.pb": self.forms[PLANES], RECORDS: self.forms[RECORDS]})
        before = self.files("both")
        done = self.run_it("both", "trim --to-ms 1 -o out " + LOG)
        self.assertEqual(done.returncode, NOTHING)
        self.assertIn(f"{RECORDS}: a profile in records is not trimmed", done.stderr.decode())
        self.assertEqual(self.files("both"), before)
        done = self.run_it("both", "trim --to-ms 1 --host a -o out " + LOG)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertTrue(any(name == "a.xplane.pb" for _, _, names in os.walk(os.path.join(top, "out")) for name in names))

    def test_standard_input(self):
        planes, records = (self.run_it(name, "report --format json -", input=self.forms[name]) for name in (PLANES, RECORDS))
        self.assertEqual(records.returncode, DONE, records.stderr)
        self.assertEqual(self.plain(records.stdout), self.plain(planes.stdout))

    def test_maps_and_reduces(self):
        top = os.path.join(self.dir, RECORDS)
        for words in ("map outline FILE -o outline", "reduce outline outline -o all.outline",
                      "map pass FILE --outline all.outline -o state",
                      "reduce report state --outline all.outline -o report.json --results results",
                      "map overlay FILE --results results -o tail"):
            done = self.run_it(RECORDS, words)
            self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(self.run_it(RECORDS, f"report --format json -o one.json {SESSION}").returncode, DONE)
        self.assertEqual(content(os.path.join(top, "report.json")), content(os.path.join(top, "one.json")))
        self.assertEqual(self.run_it(RECORDS, "annotate -q LOG").returncode, DONE)
        annotated = content(os.path.join(top, SESSION, RECORDS))
        self.assertEqual(annotated, self.forms[RECORDS] + content(os.path.join(top, "tail")))

    def test_a_server_shows_it(self):
        process = children.start([PROGRAM, "serve", "--port=0", LOG], cwd=os.path.join(self.dir, RECORDS), stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.terminate)
        url = next(word for line in process.stdout for word in line.split() if word.startswith("http://"))
        with urllib.request.urlopen(url.rstrip("/") + "/api/report", timeout=PATIENCE_S) as answer:
            report = json.loads(answer.read())
        self.assertEqual([host["name"] for host in report["run"]["hosts"]], ["h"])
        self.assertTrue(report["ops"])

    def test_a_watch_of_its_folder_annotates_it_when_it_is_whole(self):
        path = os.path.join(self.dir, RECORDS, SESSION, RECORDS)
        with open(path, "wb") as f:
            f.write(self.forms[RECORDS][:-1000])
        words = ["live", "--json", "--settle=0.3", "--interval=0.2", "--fail-on=warning", "--for=60s", LOG]
        process = subprocess.Popen([PROGRAM, *words], cwd=os.path.join(self.dir, RECORDS), stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.terminate)
        with open(path, "ab") as f:
            f.write(self.forms[RECORDS][-1000:])
        self.assertIn(LOG, process.stdout.readline())
        self.assertEqual(process.wait(PATIENCE_S), GATE)
        self.assertTrue(content(path).startswith(self.forms[RECORDS]))
        self.assertIn("ALL_HOSTS.tpusight.json", os.listdir(os.path.dirname(path)))
        self.assertEqual(self.run_it(RECORDS, "annotate --strip -q LOG").returncode, DONE)
        self.assertEqual(content(path), self.forms[RECORDS])


if __name__ == "__main__":
    unittest.main()
