#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which files of a session are handed out as its traces for Perfetto, by tpusight serve and by the TensorBoard plugin: traces_test.py

Both have rules of their own for the same thing, and must say the same. Names alone do not make a file one of TPUsight's, nor do its
first bytes alone; a link that leads out of the log directory, a pipe, a folder and a damaged file are not handed out. The shift of a
trace's clock is read from heads that are written here byte by byte.
"""
import gzip
import http.client
import json
import os
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.parse

import doors

sys.path.insert(0, os.path.join(doors.HERE, "..", "..", "plugin"))
from tensorboard_plugin_tpusight import runs, traces

JSON, PFTRACE, ZIP = "perfetto_trace.json.gz", "perfetto_trace.pftrace", "ALL_RANKS.perfetto.zip"
MARK = b"\x0a\x1e\x50\x01\x68\x01\xf2\x07\x17\x0a\x15\x0a\x09generator\x1a\x08tpusight"  # of ours, as pftrace
KEY = b"\x0a\x11tpusight.shift_ns\x10"
COPY = b'{"tpusight_annotation":{"generator":"tpusight","version":"1"%s,"note":"x"},\n"traceEvents":[]}'
LARGE = 1767225600000000001  # more than a double holds


def in_json(shift):
    return gzip.compress(b'{"otherData":{"generator":"tpusight"},"metadata":{"native_file":"\\"shift_ns\\":7"%s,"note":"x"},'
                         b'"traceEvents":[]}' % shift)


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes([*out, value])


SHIFTS = [(JSON, in_json(b',"shift_ns":0'), "0"), (JSON, in_json(b',"shift_ns":-5'), "-5"),
          (JSON, in_json(b',"shift_ns":%d' % LARGE), str(LARGE)), (JSON, in_json(b""), None),
          (JSON, in_json(b',"shift_ns":' + b"9" * 30), None), (JSON, in_json(b',"shift_ns":x'), None),
          (PFTRACE, gzip.compress(MARK + KEY + varint(300) + b"\x0a\x00"), "300"),
          (PFTRACE, MARK + KEY + varint(LARGE) + b"\x0a\x00", str(LARGE)),
          (PFTRACE, MARK + KEY + varint(-5) + b"\x0a\x00", "-5"), (PFTRACE, MARK + KEY + b"\xff", None), (PFTRACE, MARK, None)]
NOT_OURS = {"another's": gzip.compress(b'{"traceEvents":[{"name":"tpusight"}]}'), "empty": b"", "damaged": in_json(b"")[:9],
            "of another kind": gzip.compress(COPY % b""), "not packed as it says": b"\x1f\x8bx"}


def write(path, text):
    with open(path, "wb") as f:
        f.write(text)


class Traces(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.logdir = doors.logdir(os.path.join(self.folder, "logs"), {"run": doors.SAMPLE})
        self.session = os.path.join(self.logdir, "run", "plugins", "profile", "2026_01_01_00_00_00")

    def serve(self, *paths):
        server = doors.serving(*paths)
        self.url = server.__enter__()[0]
        self.addCleanup(server.__exit__, None, None, None)

    def ask(self, path):
        try:
            with doors.get(self.url + path) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as e:
            return e.code, json.loads(e.read())["error"]["message"]

    def served(self):
        return json.loads(self.ask("api/traces")[1])["traces"]

    def both(self):
        """What both say, without the path, which the plugin gives within the log directory."""
        mine = self.served()
        plugins = [t for session in runs.find(self.logdir) for t in traces.find(self.logdir, session)]
        self.assertEqual([t["path"] for t in mine], [os.path.join(self.logdir, t["path"]) for t in plugins])
        for t in mine + plugins:
            del t["path"]
        self.assertEqual(mine, plugins)
        return mine

    def test_those_of_a_session_stand_in_order_and_are_sent_as_they_are(self):
        subprocess.run([doors.PROGRAM, "annotate", "-q", "--perfetto=both", self.session], check=True)
        self.serve(self.logdir)
        found = self.both()
        self.assertEqual([(t["file"], t["host"], t["shift_ns"]) for t in found], [(PFTRACE, None, "0"), (JSON, None, "0")])
        for t in found:
            with open(os.path.join(self.session, t["file"]), "rb") as f:
                text = f.read()
            self.assertEqual(t["bytes"], len(text))
            self.assertEqual(self.ask(f"api/trace?file={t['file']}"), (200, text))
            self.assertEqual(b"".join(traces.pieces(f.name, len(text))), text)

    def test_those_of_a_job_go_by_its_hosts(self):
        folder = os.path.join(self.folder, "torch")
        os.makedirs(folder)
        self.logdir = folder
        with open(doors.TRACE, "rb") as f:
            write(os.path.join(folder, "rank0.1700000000.pt.trace.json"), f.read())
        subprocess.run([doors.PROGRAM, "annotate", "-q", folder], check=True)
        write(os.path.join(folder, "rank0.1700000000.pt.trace.tpusight.pftrace"), MARK + KEY + varint(1) + b"\x0a\x00")
        self.serve(folder)
        self.assertEqual([(t["file"], t["host"], t["shift_ns"]) for t in self.both()],
                         [("rank0.1700000000.pt.trace.tpusight.pftrace", "rank0.1700000000", "1"),
                          ("rank0.1700000000.pt.trace.tpusight.json.gz", "rank0.1700000000", "1000000")])

    def test_ranks_that_were_put_together_are_opened_together(self):
        self.logdir = os.path.join(self.folder, "job")
        os.makedirs(self.logdir)
        with open(doors.TRACE, encoding="utf-8") as f:
            trace = json.load(f)
        for rank in range(2):
            trace["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
            write(os.path.join(self.logdir, f"w{rank}.170000000{rank}.pt.trace.json"), json.dumps(trace).encode())
        subprocess.run([doors.PROGRAM, "annotate", "-q", "--perfetto-zip", self.logdir], check=True)
        self.serve(self.logdir)
        copies = [(f"w{rank}.170000000{rank}.pt.trace.tpusight.json.gz", f"w{rank}.170000000{rank}") for rank in range(2)]
        self.assertEqual([(t["file"], t["host"]) for t in self.both()], [(ZIP, None), *copies])
        self.assertIsNone(self.both()[0]["shift_ns"])
        with open(os.path.join(self.logdir, ZIP), "rb") as f:
            ours = f.read()
        for other in (ours.replace(b"PK", b"QK"), ours[:60], b"PK\x03\x04"):
            write(os.path.join(self.logdir, ZIP), other)
            self.assertEqual([t["file"] for t in self.both()], [name for name, _ in copies], other[:60])
        for rank in range(2):  # the zip is now that of another job in the folder
            os.remove(os.path.join(self.logdir, f"w{rank}.170000000{rank}.pt.trace.json"))
            write(os.path.join(self.logdir, f"v{rank}.170000000{rank}.pt.trace.json"), json.dumps(trace).encode().replace(
                b'"rank": 1', b'"rank": %d' % rank))
        write(os.path.join(self.logdir, ZIP), ours)
        self.assertEqual(self.both(), [])

    def test_a_shift_is_read_to_the_ns_or_unknown(self):
        self.serve(self.logdir)
        for name, text, shift in SHIFTS:
            write(os.path.join(self.session, name), text)
            self.assertEqual([t["shift_ns"] for t in self.both()], [shift], text[:80])
            os.remove(os.path.join(self.session, name))

    def test_what_tpusight_did_not_make_is_not_handed_out(self):
        self.serve(self.logdir)
        for what, text in NOT_OURS.items():
            for name in (JSON, PFTRACE):
                write(os.path.join(self.session, name), text)
                self.assertEqual(self.both(), [], f"{name}, {what}")
                self.assertEqual(self.ask(f"api/trace?file={name}")[0], 404)
                os.remove(os.path.join(self.session, name))
        os.mkfifo(os.path.join(self.session, JSON))
        os.mkdir(os.path.join(self.session, PFTRACE))
        self.assertEqual(self.both(), [])

    def test_a_link_is_followed_only_within_what_is_served(self):
        self.serve(self.logdir)
        for target, nr in ((os.path.join(self.folder, "outside.gz"), 0), (os.path.join(self.logdir, "inside.gz"), 1)):
            write(target, in_json(b',"shift_ns":0'))
            os.symlink(target, os.path.join(self.session, JSON))
            self.assertEqual(len(self.both()), nr, target)
            os.remove(os.path.join(self.session, JSON))

    def test_a_profile_that_is_served_alone_has_the_traces_beside_it(self):
        write(os.path.join(self.session, JSON), in_json(b',"shift_ns":0'))
        write(os.path.join(self.folder, "outside.gz"), in_json(b',"shift_ns":0'))
        self.serve(os.path.join(self.session, "host.xplane.pb"))
        self.assertEqual([t["file"] for t in self.served()], [JSON])
        os.remove(os.path.join(self.session, JSON))
        os.symlink(os.path.join(self.folder, "outside.gz"), os.path.join(self.session, JSON))
        self.assertEqual(self.served(), [])

    def test_names_lead_nowhere_else(self):
        write(os.path.join(self.session, JSON), in_json(b',"shift_ns":0'))
        self.serve(self.logdir)
        for name in ("", "nothing", "host.xplane.pb", f"../2026_01_01_00_00_00/{JSON}", os.path.join(self.session, JSON),
                     "../../../../../etc/passwd"):
            self.assertEqual(self.ask(f"api/trace?file={urllib.parse.quote(name)}")[0], 404, name)
        self.assertEqual(self.ask(f"api/trace?run=nothing&file={JSON}")[0], 404)
        self.assertEqual(self.ask("api/traces?run=../run")[0], 404)

    def test_other_pages_may_not_have_it(self):
        write(os.path.join(self.session, JSON), in_json(b',"shift_ns":0'))
        self.serve(self.logdir)
        for path in ("/api/traces", f"/api/trace?file={JSON}"):
            client = http.client.HTTPConnection(self.url.split("/")[2], timeout=doors.PATIENCE_S)
            client.request("GET", path, headers={"Origin": "https://ui.perfetto.dev"})
            answer = client.getresponse()
            self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (403, None))
            client.close()

    def test_the_address_of_perfettos_page_is_checked(self):
        for ui in ("https://perfetto.example", "http://127.0.0.1:8080/ui/", "https://[::1]:1"):
            self.assertTrue(traces.IS_UI.fullmatch(ui), ui)
            self.serve(f"--perfetto-ui={ui}", self.logdir)
            self.assertEqual(json.loads(self.ask("api/traces")[1]), {"ui": ui, "traces": []})
        for ui in ("perfetto.example", "javascript:alert(1)", "https://", "https:///x", "https://a b", "https://a?x", "https://a#x",
                   "https://u@a", "https://a\""):
            self.assertFalse(traces.IS_UI.fullmatch(ui), ui)
            asked = [doors.PROGRAM, "serve", "--port=0", f"--perfetto-ui={ui}", self.logdir]
            done = subprocess.run(asked, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, ui)
            self.assertIn("is not the address of a page", done.stderr)


if __name__ == "__main__":
    if not os.access(doors.PROGRAM, os.X_OK):
        doors.skip(f"{doors.PROGRAM} is not built")
    unittest.main()
