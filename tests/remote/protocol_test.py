#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the helper does with requests, whatever their store: protocol_test.py

The store is memory, or none. Needs $TS_REMOTE_PYTHON, else this skips."""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import given

given.under_remote_python()

URL = "memory://x"


class Requests(unittest.TestCase):
    def setUp(self):
        self.helper = given.Helper(URL)
        self.addCleanup(self.helper.kill)

    def refused(self, line, number=None, code="unsupported"):
        self.helper.raw(line)
        reply = self.helper.reply(number)
        self.assertEqual((reply["ok"], reply["code"]), (False, code), reply)
        return reply["text"]

    def assert_lives(self):
        self.assertTrue(self.helper.do("hello", version=1)["ok"])

    def test_hello_says_what_the_store_can(self):
        reply = self.helper.do("hello", version=1)
        self.assertEqual((reply["version"], reply["store"], reply["can"]), (1, "memory", ["append", "cut"]))
        self.assertIn(reply["jobs"], range(1, 65))

    def test_an_older_program_is_refused(self):
        self.assertIn("one release", self.refused(b'{"id":1,"op":"hello","version":0}\n', 1))

    def test_hostile_lines_are_refused_and_the_helper_goes_on(self):
        rows = [(b"\n", None), (b"null\n", None), (b"[1,2]\n", None),
                (b'"text"\n', None), (b"{\n", None), (b"\xff\xfe\n", None), (b"\0\n", None),
                (b"[" * 60000 + b"\n", None),
                (b'{"id":1e999,"op":"hello"}\n', None),
                (b'{"id":-1,"op":"hello"}\n', None),
                (b'{"id":true,"op":"hello"}\n', None),
                (b'{"id":' + b"9" * 5000 + b',"op":"hello"}\n', None),
                (b'{"id":9007199254740993,"op":"hello"}\n', None),
                (b'{"op":"hello","version":1}\n', None),
                (b'{"id":5}\n', 5),
                (b'{"id":6,"op":7}\n', 6),
                (b'{"id":7,"op":"__init__","url":"memory://x"}\n', 7),
                (b'{"id":8,"op":"held","url":"memory://x"}\n', 8),
                (b'{"id":9,"op":"stat"}\n', 9),
                (b'{"id":10,"op":"stat","url":7}\n', 10),
                (b'{"id":11,"op":"stat","url":"/etc/passwd"}\n', 11),
                (b'{"id":12,"op":"read","url":"memory://x/y","file":"relative"}\n', 12),
                (b'{"id":13,"op":"read","url":"memory://x/y","file":"/tmp/\\u0000x"}\n', 13),
                (b'{"id":14,"op":"append","url":"memory://x/y","file":"/tmp/x"}\n', 14),
                (b'{"id":15,"op":"read","url":"memory://x/y","file":"/tmp/x","offset":-5}\n', 15),
                (b'{"id":16,"op":"cut","url":"memory://x/y","size":1.5}\n', 16),
                (b'{"id":17,"op":"list","url":"memory://x","recursive":1}\n', 17),
                (b'{"id":18,"op":"stat","url":"memory://' + b"x" * 9000 + b'"}\n', 18)]
        for line, number in rows:
            with self.subTest(line=line[:60]):
                self.refused(line, number)
        self.assert_lives()

    def test_a_line_that_is_too_long_is_passed_over(self):
        self.assertIn("longer", self.refused(b'{"id":1,"op":"stat","url":"memory://' + b"x" * 500_000 + b'"}\n'))
        self.assert_lives()

    def test_noise_never_ends_it(self):
        chance = random.Random(7)
        good = b'{"id":3,"op":"stat","url":"memory://x/none"}'
        for _ in range(300):
            line = bytearray(good)
            for _ in range(chance.randrange(1, 6)):
                line[chance.randrange(len(line))] = chance.randrange(256)
            self.helper.raw(bytes(line).replace(b"\n", b" ") + b"\n")
        self.assert_lives()
        self.assertTrue(all(json.loads(line) is not None and len(line) <= 64 << 10 for line in self.helper.lines))

    def test_a_cut_off_line_at_the_end_is_not_a_request(self):
        self.helper.process.stdin.write(b'{"id":1,"op":"hello","version":1}')
        self.assertEqual(self.helper.close(), 0)
        self.assertEqual(self.helper.lines, [])

    def test_another_scheme_than_that_of_the_helper_is_refused(self):
        self.refused(b'{"id":1,"op":"stat","url":"file:///etc/passwd"}\n', 1)

    def test_an_unknown_key_is_passed_over(self):
        self.assertTrue(self.helper.do("hello", version=1, colour="green")["ok"])

    def test_a_size_that_nothing_has_costs_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "f")
            with open(file, "wb") as f:
                f.write(b"abc")
            self.helper.do("put", url="memory://x/y", file=file)
            with self.assertRaises(given.Failed) as caught:
                self.helper.do("read", url="memory://x/y", file=file, size=1 << 53)
            self.assertEqual(caught.exception.code, "changed")
            self.assertEqual(os.path.getsize(file), 3)

    def test_cancelling_what_is_not_there_is_well(self):
        self.assertTrue(self.helper.do("cancel", of=999)["ok"])

    def test_the_end_of_the_input_and_sigterm_end_it_quietly(self):
        self.helper.do("hello", version=1)
        self.assertEqual(self.helper.close(), 0)
        self.assertEqual(bytes(self.helper.words), b"")
        other = given.Helper(URL)
        self.addCleanup(other.kill)
        other.do("hello", version=1)
        os.kill(other.process.pid, signal.SIGTERM)
        self.assertEqual(other.process.wait(given.LONG_S), 0)


class Local(unittest.TestCase):
    """What can go wrong on this machine."""

    def test_a_disk_that_is_full_is_told_as_that(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        with tempfile.TemporaryDirectory() as folder:
            helper = given.Helper(f"file://{folder}")
            self.addCleanup(helper.kill)
            with open(os.path.join(folder, "f"), "wb") as f:
                f.write(b"abc")
            with self.assertRaises(given.Failed) as caught:
                helper.do("read", url=f"file://{folder}/f", file="/dev/full")
            self.assertEqual(caught.exception.code, "no_space")

    def test_what_a_package_prints_is_not_a_reply(self):
        code = "import tpusight.remote.main as m, tpusight.remote.plain as p; old = p.store\n" \
               "def store(url):\n    print('hello from a package'); return old(url)\n" \
               "p.store = store; m.main()"
        helper = given.Helper(URL, command=[sys.executable, "-c", code, URL])
        self.addCleanup(helper.kill)
        self.assertTrue(helper.do("hello", version=1)["ok"])
        helper.close()
        self.assertEqual(len(helper.lines), 1)
        self.assertIn(b"hello from a package", bytes(helper.words))

    def test_a_package_that_is_missing_is_named_with_its_extra(self):
        code = "import sys; sys.modules['gcsfs'] = None; import tpusight.remote.main as m; m.main()"
        helper = given.Helper("gs://b", command=[sys.executable, "-c", code, "gs://b"])
        self.addCleanup(helper.kill)
        with self.assertRaises(given.Failed) as caught:
            helper.do("hello", version=1)
        self.assertEqual(caught.exception.code, "unsupported")
        self.assertIn("pip install 'tpusight[gs]'", caught.exception.text)

    def test_a_scheme_that_fsspec_does_not_know(self):
        helper = given.Helper("floppy://a")
        self.addCleanup(helper.kill)
        with self.assertRaises(given.Failed) as caught:
            helper.do("hello", version=1)
        self.assertEqual(caught.exception.code, "unsupported")

    def test_without_a_url_it_says_how_it_is_used(self):
        env = {**os.environ, "PYTHONPATH": os.path.join(given.ROOT, "plugin")}
        for args in ([], ["x"], ["gs://a", "gs://b"]):
            done = subprocess.run([sys.executable, "-m", "tpusight.remote", *args], env=env, capture_output=True, timeout=given.LONG_S)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertIn(b"usage", done.stderr)

    def test_an_open_request_is_heard_of_again_and_again(self):
        code = "import asyncio, tpusight.remote.main as m, tpusight.remote.protocol as protocol, tpusight.remote.plain as p\n" \
               "protocol.BEAT_S = 0.2\n" \
               "async def look(self, url):\n    await asyncio.sleep(1000)\n" \
               "p.Plain.look = look; m.main()"
        helper = given.Helper(URL, command=[sys.executable, "-c", code, URL])
        self.addCleanup(helper.kill)
        number = helper.ask("stat", url="memory://x/y")
        for _ in range(3):
            self.assertEqual(helper.reply(number), {"id": number, "done": 0})
        begin = time.monotonic()
        helper.do("cancel", of=number)
        while "ok" not in (reply := helper.reply(number)):
            pass
        self.assertEqual(reply["code"], "cancelled")
        self.assertLess(time.monotonic() - begin, given.LONG_S)


if __name__ == "__main__":
    unittest.main(verbosity=1)
