#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An annotation that stands is left alone, and what is in doubt is done again: standing_test.py

The program looks at sizes and times only. So each way in which a session can have changed since it was annotated is tried here, in a
folder of its own: what was annotated must be as if it was annotated anew. $TPUSIGHT names the program (default: bin/tpusight).
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import PROGRAM, content

TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
SEEDS = os.path.join(TOP, "tests", "fuzz", "seeds", "xplane")
TRACE = os.path.join(TOP, "tests", "data", "hand_made.pt.trace.json")
SESSION = "log/plugins/profile/now"
PROFILE = SESSION + "/h.xplane.pb"
REPORT = SESSION + "/ALL_HOSTS.tpusight.json"
OUTPUTS = ["ALL_HOSTS.tpusight.json", "ALL_HOSTS.smart_suggestion.pb", "perfetto_trace.json.gz", "cache_version.txt", "tpusight.sql"]
PATIENCE = 300
ROUNDS = 20


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def looks(folder):
    """Everything about a folder's files that a program could have changed."""
    found = {}
    for name in sorted(os.listdir(folder)):
        now = os.stat(os.path.join(folder, name))
        found[name] = (now.st_size, now.st_ino, now.st_mtime_ns, now.st_ctime_ns)
    return found


class Standing(unittest.TestCase):
    def setUp(self):
        self.before = os.getcwd()
        self.folder = tempfile.mkdtemp(prefix="tpusight-stand-")
        os.chdir(self.folder)
        os.makedirs(SESSION)
        shutil.copyfile(os.path.join(SEEDS, "steps_marked"), PROFILE)

    def tearDown(self):
        os.chdir(self.before)
        shutil.rmtree(self.folder)

    @staticmethod
    def try_to_annotate(*options, path="log"):
        """What became of each file, of one session, and what was complained of."""
        ran = subprocess.run([PROGRAM, "annotate", "--json", *options, path], capture_output=True, check=False, timeout=PATIENCE)
        files = json.loads(ran.stdout)["files"] if ran.stdout else []
        return {file["name"]: file["is"] for file in files}, ran.stderr

    def annotate(self, *options, path="log"):
        deeds, why = self.try_to_annotate(*options, path=path)
        self.assertEqual(why, b"")
        return deeds

    def is_noted(self, report=REPORT):
        return b'\n  "annotation": ' in content(report)

    def assert_stands(self, *options, path="log", folder=SESSION):
        before = looks(folder)
        deeds = self.annotate(*options, path=path)
        self.assertEqual(set(deeds.values()), {"unchanged"})
        self.assertEqual(looks(folder), before)

    def assert_is_done(self, *options):
        """Done again: the report, which says how the files look, is new."""
        before = content(REPORT) if os.path.exists(REPORT) else None
        deeds = self.annotate(*options)
        self.assertEqual(deeds["ALL_HOSTS.tpusight.json"], "wrote")
        self.assertNotEqual(content(REPORT), before)
        return deeds

    def test_the_second_time_nothing_is_done_and_the_third(self):
        self.annotate()
        self.assertTrue(self.is_noted())
        self.assert_stands()
        self.assert_stands("-j", "3")

    def test_every_file_is_told_as_the_work_itself_tells_it(self):
        first = self.annotate()
        self.assertEqual(list(self.annotate()), list(first))
        report = json.loads(content(REPORT))
        self.assertEqual([file["name"] for file in report["annotation"]["files"]] + ["ALL_HOSTS.tpusight.json"], list(first))
        self.assertEqual(report["annotation"]["health_score"], report["doctor"]["health_score"])

    def test_a_profile_that_changed_is_read_again(self):
        self.annotate()
        shutil.copyfile(os.path.join(SEEDS, "plain"), PROFILE)
        self.assertEqual(self.assert_is_done()["h.xplane.pb"], "wrote")
        self.assert_stands()

    def test_the_same_size_and_an_old_time_hide_nothing(self):
        self.annotate()
        before = os.stat(PROFILE)
        data = bytearray(content(PROFILE))
        data[-1] ^= 1
        write(PROFILE, data)
        os.utime(PROFILE, ns=(before.st_atime_ns, before.st_mtime_ns))
        deeds, why = self.try_to_annotate()
        self.assertTrue(why or set(deeds.values()) != {"unchanged"})

    def test_a_change_in_the_tick_of_the_clock_is_seen(self):
        """Right behind the annotation, in place, without a change of size."""
        for round_nr in range(ROUNDS):
            self.annotate()
            path = os.path.join(SESSION, OUTPUTS[round_nr % len(OUTPUTS)])
            with open(path, "r+b") as file:
                first = file.read(1)
                file.seek(0)
                file.write(bytes([first[0] ^ 0x20]))
            deeds, why = self.try_to_annotate()
            self.assertTrue(why or set(deeds.values()) != {"unchanged"}, path)
            shutil.rmtree(SESSION)
            os.makedirs(SESSION)
            shutil.copyfile(os.path.join(SEEDS, "steps_marked"), PROFILE)

    def test_a_profile_changed_in_the_tick_before_is_not_passed_over(self):
        """One profile is put in the place of another, the annotation follows at once, and again."""
        for seed in ("steps_marked", "plain") * (ROUNDS // 2):
            shutil.copyfile(os.path.join(SEEDS, seed), PROFILE)
            self.annotate("--perfetto=none")
            native = content(os.path.join(SEEDS, seed))
            self.assertTrue(content(PROFILE).startswith(native))
            self.assert_stands("--perfetto=none")

    def test_outputs_that_are_gone_come_back(self):
        self.annotate()
        for name in OUTPUTS:
            path = os.path.join(SESSION, name)
            was = content(path)
            os.remove(path)
            self.assert_is_done()
            if name != "ALL_HOSTS.tpusight.json":
                self.assertEqual(content(path), was)
            self.assert_stands()

    def test_a_report_that_was_changed_is_written_again(self):
        self.annotate()
        for change in (lambda data: data[:-40], lambda data: data.replace(b'"health_score": ', b'"health_score":1'),
                       lambda data: b" " + data, lambda data: b""):
            write(REPORT, change(content(REPORT)))
            if os.path.getsize(REPORT) == 0:
                os.remove(REPORT)
            why = self.try_to_annotate()[1]
            if why:  # it is not taken for ours any more, and stays
                self.assertIn(b"not made by TPUsight", why)
                os.remove(REPORT)
                self.annotate()
            json.loads(content(REPORT))
            self.assert_stands()

    def test_other_options_are_another_annotation(self):
        self.annotate()
        for options in (["--perfetto=none"], ["--perfetto=both"], ["--max-overlay-events=10"], ["--max-trace-events=3"],
                        ["--threshold", "mxu_fill_low=3"], []):
            with self.subTest(options=options):
                self.assert_is_done(*options)
                self.assert_stands(*options)

    def test_another_name_of_the_session_is_another_report(self):
        self.annotate()
        deeds = self.annotate(path=os.path.join(self.folder, "log"))
        self.assertEqual(deeds["ALL_HOSTS.tpusight.json"], "wrote")

    def test_another_xprof_is_another_annotation(self):
        self.annotate()
        site = os.path.join(self.folder, "venv/lib/python3.11/site-packages/xprof-9.9.9.dist-info")
        os.makedirs(site)
        os.makedirs("venv/bin")
        path = os.environ["PATH"]
        os.environ["PATH"] = os.path.join(self.folder, "venv/bin") + ":" + path
        try:
            self.assert_is_done()
            self.assertTrue(content(SESSION + "/cache_version.txt").startswith(b"9.9.9"))
            self.assert_stands()
        finally:
            os.environ["PATH"] = path

    def test_a_copy_is_annotated_anew(self):
        self.annotate()
        for name, keep in (("copy", False), ("exact", True)):
            shutil.copytree("log", name, copy_function=shutil.copy2 if keep else shutil.copy)
            shutil.rmtree("log")
            os.rename(name, "log")
            self.assert_is_done()
            self.assert_stands()

    def test_a_file_that_comes_beside_it_counts(self):
        self.annotate()
        shutil.copyfile(os.path.join(SEEDS, "plain"), SESSION + "/i.xplane.pb")
        self.assert_is_done()
        self.assert_stands()
        write(SESSION + "/memory.prof", b"not a memory profile")
        self.assert_is_done()
        self.assert_stands()
        os.remove(SESSION + "/i.xplane.pb")
        self.assert_is_done()

    def test_what_was_stripped_is_annotated_again(self):
        self.annotate()
        subprocess.run([PROGRAM, "annotate", "--strip", "-q", "log"], check=True, timeout=PATIENCE)
        self.assert_is_done()

    def test_what_was_complained_of_is_complained_of_again(self):
        shutil.copyfile(os.path.join(SEEDS, "not_a_profile"), SESSION + "/bad.xplane.pb")
        for _ in range(2):
            self.assertIn(b"bad.xplane.pb", self.try_to_annotate()[1])
            self.assertFalse(self.is_noted())

    def test_what_a_killed_run_left_is_swept(self):
        self.annotate()
        temporary = SESSION + "/.h.xplane.pb.tpusight-abc" + self.check_of(".h.xplane.pb.tpusight-abc")
        write(temporary, b"left")
        self.assert_is_done()
        self.assertFalse(os.path.exists(temporary))

    @staticmethod
    def check_of(name):
        """The last letters of a temporary's name (src/io/newfile.c)."""
        import zlib  # pylint: disable=import-outside-toplevel
        letters, number = "abcdefghijklmnopqrstuvwxyz0123456789", zlib.crc32(name.encode())
        return "".join(letters[number // len(letters) ** i % len(letters)] for i in range(3))

    def test_a_trace_and_its_copy_stand(self):
        os.makedirs("traces")
        shutil.copyfile(TRACE, "traces/w.1.pt.trace.json")
        self.annotate(path="traces")
        self.assert_stands(path="traces", folder="traces")
        copy = "traces/w.1.pt.trace.tpusight.json.gz"
        was = content(copy)
        os.remove(copy)
        self.annotate(path="traces")
        self.assertEqual(content(copy), was)
        write("traces/w.1.pt.trace.json", content(TRACE) + b"\n")
        self.assertEqual(self.annotate(path="traces")["w.1.pt.trace.tpusight.json.gz"], "wrote")


if __name__ == "__main__":
    unittest.main()
