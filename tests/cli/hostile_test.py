#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What steers a terminal never reaches it: hostile_test.py

Names of folders, files, hosts, ops, threads, modules, scopes and labels hold escape codes, carriage returns, bells, C1 controls,
marks that turn the reading direction, and bytes that are not UTF-8. Every command is run over them, also as it fails and on a
terminal; what it prints, on either stream, is UTF-8 without any of these.
$TPUSIGHT names the program (default: bin/tpusight).
"""
import codecs
import gzip
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import DATA, PROGRAM

TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
SAMPLE = os.path.join(DATA, "sample/train_step_simulated/plugins/profile/2026_01_01_00_00_00/simulated-host.xplane.pb")
PATIENCE = 300

# ESC, CR, BEL, DEL, C1's CSI as UTF-8 and as a bare byte, right-to-left override, an isolate
CODES = [b"\x1b[31m", b"\rX\x07\x7f", b"\xc2\x9b1m", b"\xe2\x80\xaeY", b"\xe2\x81\xa6\x08", b"\x9b31m", b"\x1b]0;t\x07", b"\xff\xfe\x0b"]
NAME = b"n" + b"".join(CODES)
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
PROGRESS = b"   \r"

# Text of the wire that means something to the program: it must stay, or there is less to print.
METADATA_OF_STATS = 5
BINARY = re.compile(rb"[^\x20-\x7e]")
OF_PEOPLE = re.compile(rb"[a-z].*[._/(0-9]")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError


def fields(data):
    """(number, wire type, start of the value, its end, start of the field) of a message; ValueError: it is not one."""
    at = 0
    while at < len(data):
        start = at
        key, at = varint(data, at)
        kind, end = key & 7, at
        if kind == 0:
            _, end = varint(data, at)
        elif kind == 2:
            n, at = varint(data, at)
            end = at + n
        elif kind in (1, 5):
            end = at + (8 if kind == 1 else 4)
        else:
            raise ValueError
        if end > len(data) or key >> 3 == 0:
            raise ValueError
        yield key >> 3, kind, at, end, start
        at = end


def spoil_text(text):
    """The same length, the same front; the end is a code, the same one for the same text."""
    code = CODES[sum(text) % len(CODES)]
    return text[:-len(code)] + code


def spoil(data, depth=0):
    """A message of protobuf with the names in it spoiled; all lengths stay."""
    out = bytearray(data)
    try:
        parts = list(fields(data))
    except (ValueError, IndexError):
        return data
    for number, kind, start, end, _ in parts:
        value = bytes(data[start:end])
        if kind != 2 or (depth == 1 and number == METADATA_OF_STATS):
            continue
        if len(value) >= 8 and depth >= 2 and not BINARY.search(value) and OF_PEOPLE.search(value):
            out[start:end] = spoil_text(value)
        elif BINARY.search(value) and depth < 12:
            out[start:end] = spoil(value, depth + 1)
    return bytes(out)


def spoil_json(value, key=None):
    """A trace with its names and arguments spoiled, by escapes and as they are."""
    if isinstance(value, dict):
        return {name: spoil_json(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [spoil_json(inner, key) for inner in value]
    if isinstance(value, str) and key not in ("ph", "cat", "schemaVersion") and OF_PEOPLE.search(value.encode()):
        return value + "\x1b[31m\r\x07\x9b1m\u202e\x7f"
    return value


def trace_text():
    with open(os.path.join(DATA, "hand_made.pt.trace.json"), encoding="utf-8") as file:
        escaped = json.dumps(spoil_json(json.load(file)))
    return escaped.replace("\\u009b", "\u009b").replace("\\u202e", "\u202e").encode().replace(b"\\u007f", b"\x7f\xff")


def replace_bare(error):
    """A byte that is not UTF-8 is as bad as a code; U+FFFD itself is what the program writes for one."""
    return "\x9b", error.end


codecs.register_error("replace_bare", replace_bare)


class Hostile(unittest.TestCase):
    """In a folder with hostile names."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tpusight-hostile-")
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        with open(SAMPLE, "rb") as file:
            self.bytes = spoil(file.read())
        self.sessions = [self.session(run) for run in (b"a", b"b")]
        self.trace = NAME + b".pt.trace.json"
        self.write(self.trace, trace_text())
        self.module = NAME + b".hlo_proto.pb"
        with open(os.path.join(DATA, "pallas_v5e.hlo.pb"), "rb") as file:
            self.write(self.module, spoil(file.read(), 2))
        with open(os.path.join(DATA, "torch_operators.pt.trace.json.gz"), "rb") as file:
            torch = json.loads(gzip.decompress(file.read()))
        self.torch = b"t" + NAME + b".pt.trace.json"
        self.write(self.torch, json.dumps(spoil_json(torch)).encode())

    def write(self, path, data):
        with open(path, "wb") as file:
            file.write(data)

    def session(self, run):
        folder = b"log" + NAME + b"/" + run + NAME + b"/plugins/profile/s" + NAME
        os.makedirs(folder)
        self.write(folder + b"/h" + NAME + b".xplane.pb", self.bytes)
        return folder

    def look_at(self, printed, what):
        text = printed.decode("utf-8", "replace_bare")
        found = STEERS.search(text)
        if found:
            self.fail(f"{what}: {text[max(found.start() - 60, 0):found.end() + 20]!r}")

    def run_it(self, *arguments, statuses=(0, 1, 2, 3, 4)):
        """What it printed, looked at."""
        done = subprocess.run([PROGRAM.encode(), *arguments], capture_output=True, check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        what = " ".join(repr(word) for word in arguments)
        self.assertIn(done.returncode, statuses, f"{what}: {done.stderr!r}")
        self.look_at(done.stdout, what)
        self.look_at(done.stderr, what + " (stderr)")
        return done

    def test_the_names_are_hostile_indeed(self):
        """What is not spoiled tests nothing: each code stands in the JSON report of a session."""
        report = json.loads(self.run_it(b"report", b"--format=json", self.sessions[0], statuses=(0,)).stdout)
        text = json.dumps(report, ensure_ascii=False)
        for code in ("\x1b[31m", "\u202e", "\x7f", "\ufffd"):
            self.assertIn(json.dumps(code, ensure_ascii=False)[1:-1].replace("\\u007f", "\x7f"), text)
        self.assertGreater(sum("\x1b" in op["name"] or "\r" in op["name"] for op in report["ops"]), 3)

    def test_every_view_of_a_session(self):
        self.run_it(b"report", b"--all", b"--color=never", self.sessions[0], statuses=(0,))
        self.run_it(b"report", self.sessions[0], statuses=(0,))
        self.run_it(b"report", b"-v", b"--view=ops", b"--all", self.sessions[0], statuses=(0,))
        self.run_it(b"report", b"--budget=100000", self.sessions[0], statuses=(0,))
        self.run_it(b"report", b"--all", b"log" + NAME, statuses=(0,))
        for trace in (self.trace, self.torch):
            self.run_it(b"report", b"--all", trace, statuses=(0, 4))

    def test_every_command(self):
        first, second = self.sessions
        for command in (b"hta", b"kernels", b"timeline", b"flame", b"memory", b"compile", b"check"):
            for path in (first, self.trace, self.torch):
                self.run_it(command, b"--color=never", path)
        for how in (b"--format=folded", b"--format=text"):
            for path in (first, self.trace, self.torch):
                self.run_it(b"flame", how, path)
        self.run_it(b"hlo", b"--all", self.module, statuses=(0,))
        self.run_it(b"hlo", self.module, self.module, statuses=(0,))
        self.run_it(b"compare", b"--all", b"--view=ops", first, second)
        self.run_it(b"compare", first, second, statuses=(0,))
        self.run_it(b"compare", b"--label=" + NAME, b"--label=x" + NAME, first, second, statuses=(0,))
        self.run_it(b"compare", b"--fail-if", b"wall_ms > 0", first, second, statuses=(1,))
        self.run_it(b"compile", first, second, statuses=(0,))
        self.run_it(b"compare", self.trace, self.torch)

    def test_what_is_written_is_named_safely(self):
        for arguments in ((b"annotate", b"-v"), (b"annotate", b"--dry-run"), (b"annotate",), (b"annotate", b"--json"),
                          (b"annotate", b"--strip", b"-v"), (b"annotate", b"--strip")):
            for path in (b"log" + NAME, self.sessions[0], self.trace):
                self.run_it(*arguments, path)
        for command in ((b"trim", b"--from-ms=0"), (b"redact",)):
            for more in ((), (b"-o", b"out" + NAME), (b"-o", b"out" + NAME + b"/"), (b"--json",)):
                for path in (self.sessions[0], self.trace):
                    self.run_it(*command, *more, path)
        self.run_it(b"report", b"-o", b"o" + NAME + b"/none.html", self.sessions[0], statuses=(4,))
        self.run_it(b"timeline", b"--format=chrome", b"-o", b"o" + NAME, self.trace, statuses=(0,))

    def test_what_fails_is_named_safely(self):
        self.write(b"e" + NAME + b".xplane.pb", b"")
        self.write(b"d" + NAME + b".xplane.pb", self.bytes[:40000])
        self.write(b"c" + NAME + b".json", b'{"traceEvents": [{"ph": "X", "name": "\x1b[31m", "ts": 1, \x1b[31m')
        self.write(b"config" + NAME, b'{"thresholds": {"\\u001b[31m\x9b": 5}}')
        for path in (b"e" + NAME + b".xplane.pb", b"d" + NAME + b".xplane.pb", b"c" + NAME + b".json", b"none" + NAME, self.module):
            for command in ((b"report",), (b"annotate",), (b"annotate", b"--strip"), (b"check",), (b"compare", path), (b"hlo",),
                            (b"trim", b"--from-ms=0"), (b"redact",), (b"flame",), (b"compile", path), (b"serve", b"--port=0", path)):
                if command[0] != b"serve" or path.startswith(b"none"):
                    self.run_it(*command, path)
        for options in ((b"report", b"--" + NAME), (b"report", b"--view=" + NAME), (b"report", b"--format=" + NAME), (NAME,),
                        (b"report", b"--threshold=" + NAME), (b"report", b"--threshold=" + NAME + b"=1"), (b"explain", NAME),
                        (b"report", b"--config=config" + NAME), (b"report", b"-o", NAME + b".csv.gz"),
                        (b"report", b"-o", NAME + b".csv"), (b"report", b"--sort=" + NAME, b"--view=ops"),
                        (b"compare", b"--fail-if", b"a > " + NAME), (b"compare", b"--fail-if", NAME),
                        (b"compile", b"--torch-trace", NAME), (b"redact", b"--key=" + NAME), (b"live", NAME + b"://"),
                        (b"live", b"--service", NAME),
                        (b"trim", b"--steps=" + NAME), (b"hlo", b"--chip=" + NAME), (b"annotate", b"--perfetto=" + NAME), (b"-" + NAME,)):
            self.run_it(*options, self.sessions[0], statuses=(0, 2, 3, 4))

    def test_a_watched_folder(self):
        self.run_it(b"live", b"--settle=0.1", b"--for=8s", b"--interval=0.2", b"log" + NAME)

    def test_progress_on_a_terminal(self):
        main, side = pty.openpty()
        with subprocess.Popen([PROGRAM.encode(), b"annotate", b"--color=never", b"log" + NAME], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=side) as process:
            os.close(side)
            written = b""
            while True:
                try:
                    piece = os.read(main, 65536)
                except OSError:
                    break
                if not piece:
                    break
                written += piece
            os.close(main)
        self.assertEqual(process.returncode, 0)
        self.assertIn(PROGRESS, written)
        self.look_at(written.replace(b"\r\n", b"\n").replace(b"\r", b""), "progress")


if __name__ == "__main__":
    unittest.main()
