#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exit statuses, and that no command is silent: statuses_test.py

Every command is run over every kind of input: good, absent, empty, closed to the user, damaged, not a profile, and profiles with
next to nothing in them. The status is that of `tpusight --help`; status 0 has an output, any other a message. Where the
output cannot be written, or nobody reads it, the status says that too.
$TPUSIGHT names the program (default: bin/tpusight).
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import DATA, PROGRAM

TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
SAMPLE = os.path.join(DATA, "sample/train_step_simulated/plugins/profile/2026_01_01_00_00_00/simulated-host.xplane.pb")
MODULE = os.path.join(DATA, "pallas_v5e.hlo.pb")
PATIENCE = 300
DONE, GATE, USAGE, NOTHING, SOME = range(5)
NOBODY = 65534

# Each command; OUT is a file to be written, a path follows. What reads several gets the path twice.
COMMANDS = [
    ["report"], ["report", "--all"], ["report", "--format=json"], ["report", "--format=csv", "--view=ops"],
    ["report", "--budget=1000"], ["report", "--budget=10"], ["report", "-o", "OUT.html"], ["check"], ["check", "--json"],
    ["compare", "PATH"], ["compare", "--json", "PATH"], ["hta"], ["hta", "--format=csv"], ["kernels"], ["kernels", "--json"],
    ["timeline"], ["timeline", "--format=chrome", "-o", "OUT.json"], ["flame"], ["flame", "--format=folded"],
    ["flame", "--format=folded", "--weight=device"], ["flame", "--format=folded", "--weight=count"],
    ["flame", "--format=folded", "--min-duration-us=1e6"], ["flame", "--format=folded", "--kind=scopes"],
    ["flame", "--format=speedscope"], ["memory"], ["memory", "--format=csv"], ["compile"], ["compile", "PATH"], ["hlo"],
    ["trim", "--from-ms=0.5", "-o", "OUT"], ["trim", "--to-ms=1", "-o", "OUT"], ["trim", "--steps=0-1", "-o", "OUT"],
    ["trim", "--steps=999", "-o", "OUT"], ["trim", "--from-ms=-9", "--to-ms=-8", "-o", "OUT"], ["trim", "--host=*", "-o", "OUT"],
    ["trim", "--plane=*", "-o", "OUT"], ["trim", "--plane=none", "-o", "OUT"], ["redact", "-o", "OUT"],
    ["annotate", "--dry-run"], ["annotate", "--json", "--dry-run"],
]
OF_MODULES = {"hlo"}


def event(**more):
    return {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "name": "aten::mm", **more}


LITTLE = {  # next to nothing in them
    "none.json": [],
    "meta.json": [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}],
    "zero.json": [event(ts=1, dur=0), event(ts=2, dur=0)],
    "short.json": [event(ts=1000, dur=0.0001)],
    "one.json": [event(ts=1000, dur=0.5)],
    "moment.json": [{"ph": "i", "s": "g", "name": "x", "ts": 5, "pid": 1, "tid": 1}],
    "pair.json": [{"ph": ph, "id": 1, "cat": "a", "name": "x", "ts": ts, "pid": 1, "tid": 1} for ph, ts in (("b", 5), ("e", 8))],
    "counter.json": [{"ph": "C", "name": "x", "ts": 5, "pid": 1, "args": {"v": 1}}],
}
BROKEN = {  # with the status of each command
    "absent.json": (None, {NOTHING}),
    "empty.xplane.pb": (b"", {NOTHING}),
    "empty.json": (b"", {NOTHING}),
    "empty.prof": (b"", {NOTHING}),
    "text.txt": (b"hello\n", {NOTHING}),
    "junk.xplane.pb": (bytes(range(255, 0, -1)) * 9, {NOTHING}),
    "junk.json.gz": (b"\x1f\x8b\x08\0" + bytes(200), {NOTHING}),
}


def without_rights():
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


class Statuses(unittest.TestCase):
    """In a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tpusight-statuses-")
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        os.chmod(".", 0o777)
        self.runs = 0

    def write(self, name, data):
        with open(name, "wb") as file:
            file.write(data)
        return name

    def run_it(self, command, path, **more):
        """(status, bytes of output, words on stderr)"""
        shutil.rmtree("out", ignore_errors=True)
        os.mkdir("out")
        os.chmod("out", 0o777)
        ending = os.path.basename(path).partition(".")[2]
        words = [path if word == "PATH" else word.replace("OUT", "out/o" if "OUT." in word else f"out/o.{ending}")
                 for word in command]
        done = subprocess.run([PROGRAM, *words, path], capture_output=True, check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL,
                              **more)
        self.runs += 1
        size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk("out") for name in names)
        return done.returncode, size if "-o" in command else len(done.stdout), done.stderr.decode()

    def look_at(self, command, path, expected, **more):
        """The status is one of EXPECTED, and what was done is seen."""
        with self.subTest(" ".join(command), path=path):
            status, size, said = self.run_it(command, path, **more)
            self.assertIn(status, expected, said)
            if status in (DONE, GATE):
                self.assertGreater(size, 0, "status 0 without an output")
            else:
                self.assertRegex(said, "^tpusight: ")
            if status in (USAGE, NOTHING) and command[:2] != ["check", "--json"]:  # that one is the verdict, in JSON
                self.assertEqual(size, 0, "an output of a command that did nothing")
            if status == SOME:
                self.assertGreater(size, 0)
            self.assertNotIn("Traceback", said)

    def test_good_inputs(self):
        for path in (os.path.join(DATA, name) for name in
                     ("cpu_steps.xplane.pb", "hand_made.pt.trace.json", "torch_operators.pt.trace.json.gz",
                      "memory_profile.prof", "planted/clean.tar.gz")):
            for command in COMMANDS:
                if command[0] not in OF_MODULES:
                    self.look_at(command, path, {DONE, GATE, USAGE, NOTHING})
        self.look_at(["hlo"], MODULE, {DONE})
        self.assertGreater(self.runs, 150)

    def test_what_every_command_makes_of_the_sample(self):
        refused = [["report", "--budget=10"], ["flame", "--format=folded", "--weight=device"], ["hlo"],
                   *(["trim", *cut, "-o", "OUT"] for cut in (["--steps=999"], ["--steps=0-1"], ["--plane=none"], ["--to-ms=1"],
                                                             ["--from-ms=-9", "--to-ms=-8"]))]
        for command in COMMANDS:
            if command not in refused:
                self.look_at(command, SAMPLE, {DONE})

    def test_next_to_nothing(self):
        for name, events in LITTLE.items():
            self.write(name, json.dumps({"schemaVersion": 1, "traceEvents": events}).encode())
            for command in COMMANDS:
                self.look_at(command, name, {DONE, GATE, USAGE, NOTHING})
        for name, data in (("host.xplane.pb", b"\x0a\x00"), ("name.xplane.pb", b"\x22\x01h"), ("list.json", b"[]")):
            self.write(name, data)
            for command in COMMANDS:
                self.look_at(command, name, {DONE, GATE, USAGE, NOTHING})

    def test_nothing_that_can_be_read(self):
        for name, (data, expected) in BROKEN.items():
            if data is not None:
                self.write(name, data)
            for command in COMMANDS:
                self.look_at(command, name, expected)

    def test_a_file_that_is_closed_to_the_user(self):
        self.write("closed.xplane.pb", b"\x0a\x00")
        os.chmod("closed.xplane.pb", 0)
        if os.geteuid() == 0 and not shutil.which("true", path="/bin:/usr/bin"):
            self.skipTest("no other user")
        if subprocess.run([PROGRAM, "--version"], preexec_fn=without_rights, check=False, capture_output=True).returncode:
            self.skipTest("the program cannot be reached without root's rights")
        for command in COMMANDS:
            if "-o" not in command:
                self.look_at(command, "closed.xplane.pb", {NOTHING}, preexec_fn=without_rights)

    def test_a_damaged_file(self):
        with open(SAMPLE, "rb") as file:
            data = file.read()
        self.write("cut.xplane.pb", data[:len(data) // 2])
        for command in COMMANDS:
            expected = {SOME, USAGE} if command[0] not in ("annotate", "hlo") else {NOTHING}
            if command[0] == "check":
                expected = {GATE}  # its verdict: it is misleading
            if "--format=csv" in command or "--kind=scopes" in command:
                expected = expected | {NOTHING}
            self.look_at(command, "cut.xplane.pb", expected)
        shutil.copyfile(SAMPLE, "good.xplane.pb")
        for command in (["report"], ["check"], ["annotate", "--dry-run"]):
            self.assertEqual(self.run_it([*command, "good.xplane.pb"], "none.xplane.pb")[0], SOME, command)

    def test_one_host_without_events_in_the_cut(self):
        os.makedirs("log/plugins/profile/s")
        shutil.copyfile(SAMPLE, "log/plugins/profile/s/b.xplane.pb")
        for host in "ac":
            self.write(f"log/plugins/profile/s/{host}.xplane.pb", b"\x0a\x00")
        status, _, said = self.run_it(["trim", "--from-ms=0"], "log")
        self.assertEqual(status, SOME)
        self.assertEqual(len(re.findall("nothing lies in this cut", said)), 2)
        self.assertEqual(os.listdir("log/plugins/profile/s.trimmed"), ["b.xplane.pb"])
        shutil.rmtree("log/plugins/profile/s.trimmed")
        status, _, said = self.run_it(["trim", "--from-ms=1e6"], "log")
        self.assertEqual(status, USAGE)
        self.assertEqual(os.listdir("log/plugins/profile"), ["s"])  # no empty session, which viewers would list

    def sessions(self, *names):
        """A log directory with a session of each NAME."""
        for name in names:
            os.makedirs(f"log/plugins/profile/{name}")
            shutil.copyfile(SAMPLE, f"log/plugins/profile/{name}/h.xplane.pb")

    def test_each_output_of_annotate_that_fails(self):
        """In the place of each of its outputs in turn is a folder, which no file replaces; the others are written."""
        self.sessions("good")
        command = [PROGRAM, "annotate", "--perfetto=both", "log"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
        outputs = sorted(set(os.listdir("log/plugins/profile/good")) - {"h.xplane.pb"})
        self.assertGreater(len(outputs), 4)
        failed = 0
        for output in outputs:
            with self.subTest(output):
                shutil.rmtree("log")
                self.sessions("good")
                os.makedirs(f"log/plugins/profile/good/{output}/in")
                done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
                if output not in done.stderr:
                    continue  # a folder is what it makes there
                failed += 1
                self.assertEqual(done.returncode, SOME, done.stderr)
                self.assertNotIn("nothing was changed", done.stderr)
                self.assertTrue(set(outputs) - {output} & set(os.listdir("log/plugins/profile/good")))
        self.assertGreater(failed, 2)

    def test_a_command_that_could_read_and_not_write_has_not_read_nothing(self):
        self.sessions("s")
        shutil.copyfile(SAMPLE, "h.xplane.pb")
        os.mkdir("folder")
        outputs = {"h.xplane.pb/x": {USAGE, SOME}, "folder": {DONE, USAGE, SOME}, "/dev/full": {USAGE, SOME}}
        commands = [["report", "--format=json"], ["check"], ["compare", SAMPLE], ["hta"], ["kernels"], ["timeline"], ["flame"], ["memory"],
                    ["trim", "--from-ms=0"], ["redact"], ["export", "--format=parquet"], ["map", "overlay"]]
        for command in commands:
            for output, expected in outputs.items():
                with self.subTest(" ".join(command), output=output):
                    done = subprocess.run([PROGRAM, *command, "-o", output, "h.xplane.pb"], capture_output=True, text=True, check=False,
                                          timeout=PATIENCE)
                    self.assertIn(done.returncode, expected, done.stderr)

    def console(self, *words, stdout):
        done = subprocess.run([PROGRAM, *words], stdout=stdout, stderr=subprocess.PIPE, check=False, timeout=PATIENCE)
        return done.returncode, done.stderr.decode()

    def test_an_output_that_cannot_be_written(self):
        shutil.copyfile(SAMPLE, "h.xplane.pb")
        words = [[*command, "h.xplane.pb"] for command in
                 (["report"], ["check"], ["compare", SAMPLE], ["hta"], ["kernels"], ["timeline"], ["flame"], ["memory"], ["compile"],
                  ["annotate", "--dry-run"], ["annotate", "--json", "--dry-run"], ["annotate", "--strip"],
                  ["trim", "--from-ms=0", "-o", "t.xplane.pb"], ["redact", "-o", "r.xplane.pb"], ["redact", "--json", "-o", "r.xplane.pb"])]
        words += [["hlo", MODULE], ["thresholds"], ["explain", "mxu_utilization"], ["--help"], ["--version"], ["report", "--help"]]
        for command in words:
            with self.subTest(" ".join(command)), open("/dev/full", "wb") as full:
                status, said = self.console(*command, stdout=full)
                self.assertEqual(status, SOME, said)
                self.assertEqual(said.count("cannot write it"), 1, said)
            with self.subTest(" ".join(command), closed=True):
                done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", PROGRAM, *command], stderr=subprocess.PIPE, check=False,
                                      timeout=PATIENCE)
                self.assertEqual(done.returncode, SOME, done.stderr)
            with self.subTest(" ".join(command), unread=True):
                reader, writer = os.pipe()
                os.close(reader)
                with os.fdopen(writer, "wb") as pipe:  # `| head`: it has seen enough
                    self.assertEqual(self.console(*command, stdout=pipe), (DONE, ""))
        for command in words[:9] + words[15:18]:
            with self.subTest(" ".join(command), file=True):
                self.assertEqual(self.console(*command, "-o", "/dev/full", stdout=subprocess.DEVNULL)[0], SOME)
        self.assertEqual(self.console("timeline", "--format=chrome", "-o", "/dev/full", SAMPLE, stdout=subprocess.DEVNULL)[0], SOME)


if __name__ == "__main__":
    unittest.main()
