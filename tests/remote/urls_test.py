#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands on URLs: urls_test.py

The program speaks with a helper over a folder (store.py), which can fail in many ways. What the program writes into the store is
what it writes into a folder of this machine; a fault, a change between reading and writing and a kill at any write leave each object
as it was or as it is to be, and the next run finishes. No scratch folder and no process is left.
$TPUSIGHT names the program (default: bin/tpusight).
"""
import filecmp
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(HERE, "..", "..")))
SAMPLE = os.path.join(TOP, "tests", "data", "sample")
sys.path.insert(0, os.path.join(TOP, "tests", "fixtures"))
import children
import riegeli
from helpers import PROGRAM

SESSION = "train_step_simulated/plugins/profile/2026_01_01_00_00_00"
PROFILE = SESSION + "/simulated-host.xplane.pb"
URL = "test://bucket/logs"
STATE = re.compile(r'"state": "[0-9a-f]{32}"')  # of the files, by which a second annotate knows that nothing changed
PATIENCE = 300
DONE, GATE, USAGE, NOTHING, SOME = range(5)
WRITES = ("put", "append", "cut", "delete")


def files_of(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


class Urls(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tpusight-urls-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.store = os.path.join(self.folder, "store")
        self.logs = os.path.join(self.store, "bucket", "logs")
        self.scratch = os.path.join(self.folder, "scratch")
        self.nr_read = 0  # of the store's log
        self.helpers = os.path.join(self.folder, "helpers")
        os.makedirs(self.scratch)
        os.makedirs(self.helpers)
        shutil.copytree(SAMPLE, self.logs)
        helper, store = os.path.join(self.helpers, "tpusight-remote-test"), os.path.join(self.helpers, "store.py")
        os.symlink(os.path.join(os.path.abspath(HERE), "store.py"), store)
        with open(helper, "w") as f:
            f.write(f'#!/bin/sh\nexec "{sys.executable}" "{store}" "$@"\n')
        os.chmod(helper, 0o755)

    def environment(self, faults="", **more):
        return {**os.environ, "TS_STORE": self.store, "TS_FAULTS": faults, "TMPDIR": self.scratch,
                "TPUSIGHT_REMOTE_DIR": self.helpers, "TPUSIGHT_REMOTE_TIMEOUT": "60", **more}

    def run_it(self, *args, status=DONE, faults="", cwd=None, **more):
        """(its output, its messages)"""
        done = subprocess.run([PROGRAM, *args], env=self.environment(faults, **more), cwd=cwd or self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE, check=False)
        out, err = done.stdout.decode(), done.stderr.decode()
        self.assertEqual(done.returncode, status, err + out[-2000:])
        self.assertEqual(os.listdir(self.scratch), [], "a scratch folder is left")
        self.assertNotIn(self.scratch, out + err)
        return out, err

    def requests(self):
        """Those since the last call; a line that is still written belongs to the next."""
        path = self.store + ".log"
        if not os.path.exists(path):
            return []
        with open(path, "rb") as f:
            f.seek(self.nr_read)
            new = f.read()
        new = new[:new.rfind(b"\n") + 1]
        self.nr_read += len(new)
        return [json.loads(line) for line in new.splitlines()]

    def annotated(self):
        """A folder of this machine, annotated."""
        local = os.path.join(self.folder, "local")
        shutil.copytree(SAMPLE, local)
        self.run_it("annotate", "-q", local)
        return local

    def assert_same_files(self, one, other, but=()):
        self.assertEqual(files_of(one), files_of(other))
        for name in files_of(one):
            if os.path.basename(name) not in but:
                self.assertTrue(filecmp.cmp(os.path.join(one, name), os.path.join(other, name), shallow=False), name)

    def assert_native(self):
        self.assert_same_files(self.logs, SAMPLE)

    def test_a_session_is_annotated_and_stripped_as_on_this_machine(self):
        local = self.annotated()
        out, _ = self.run_it("annotate", URL)
        self.assertIn(f"Undo: tpusight-annotate --strip {URL}", out)
        self.assertIn("(compose)", out)
        self.assert_same_files(self.logs, local, but=("ALL_HOSTS.tpusight.json",))
        with open(os.path.join(local, SESSION, "ALL_HOSTS.tpusight.json")) as f:
            mine = f.read()
        with open(os.path.join(self.logs, SESSION, "ALL_HOSTS.tpusight.json")) as f:
            self.assertEqual(STATE.sub("", f.read().replace(URL, local)), STATE.sub("", mine))
        self.requests()
        out, _ = self.run_it("annotate", URL)
        self.assertIn("nothing has changed", out)
        again = self.requests()
        self.assertEqual([r["op"] for r in again if r["op"] in WRITES], [])
        self.assertEqual([os.path.basename(r["url"]) for r in again if r["op"] == "read"], ["ALL_HOSTS.tpusight.json"])
        self.assertLessEqual(sum(r["size"] for r in again if r["op"] == "read"), 1 << 18)
        os.utime(os.path.join(self.logs, PROFILE))  # times say nothing of an object
        self.assertIn("nothing has changed", self.run_it("annotate", URL)[0])
        with open(os.path.join(self.store + ".generations", "bucket", "logs", PROFILE), "w") as f:
            f.write("77")
        self.assertIn("unchanged: 1 xplane overlay", self.run_it("annotate", URL)[0])
        self.assertIn("nothing has changed", self.run_it("annotate", URL)[0])
        out, _ = self.run_it("annotate", "--strip", URL)
        self.assertIn("every file is as it was", out)
        self.assertIn("(copy-part)", out)
        self.assert_native()

    def test_records_get_their_overlay_and_lose_it_as_an_xplane_does(self):
        with open(os.path.join(SAMPLE, PROFILE), "rb") as f:
            native = riegeli.file_of(riegeli.records(f.read()), padded=False)
        os.unlink(os.path.join(self.logs, PROFILE))
        records = os.path.splitext(PROFILE)[0] + ".riegeli"
        with open(os.path.join(self.logs, records), "wb") as f:
            f.write(native)
        before = files_of(self.logs)
        self.assertIn("Wrote 1 xplane overlay", self.run_it("annotate", URL)[0])
        of_profile = [r for r in self.requests() if r.get("url") == f"{URL}/{records}"]
        self.assertEqual([r["op"] for r in of_profile], ["read", "append"])
        self.assertEqual(of_profile[1]["size"], len(native))
        self.run_it("annotate", "--strip", "-q", URL)
        self.assertEqual(files_of(self.logs), before)
        with open(os.path.join(self.logs, records), "rb") as f:
            self.assertEqual(f.read(), native)

    def test_a_profile_is_read_once_and_never_sent(self):
        self.run_it("annotate", URL)
        requests = self.requests()
        of_profile = [r for r in requests if r.get("url") == f"{URL}/{PROFILE}"]
        self.assertEqual([r["op"] for r in of_profile], ["read", "append"])
        self.assertEqual(of_profile[1]["size"], os.path.getsize(os.path.join(SAMPLE, PROFILE)))
        last = [r["url"] for r in requests if r["op"] in WRITES][-1]
        self.assertTrue(last.endswith("ALL_HOSTS.tpusight.json"), "the report comes last")
        self.assertTrue(all("if_generation" in r for r in requests if r["op"] in WRITES))

    def test_caches_go_before_a_profile_changes(self):
        cache = os.path.join(self.logs, SESSION, "simulated-host.SSTABLE")
        with open(cache, "w") as f:
            f.write("old")
        self.run_it("annotate", URL)
        writes = [(r["op"], os.path.basename(r["url"])) for r in self.requests() if r["op"] in WRITES]
        self.assertEqual(writes[:2], [("delete", "simulated-host.SSTABLE"), ("append", "simulated-host.xplane.pb")])
        self.assertFalse(os.path.exists(cache))

    def test_the_users_own_trace_comes_back(self):
        native = os.path.join(self.logs, SESSION, "perfetto_trace.json.gz")
        shutil.copy(os.path.join(TOP, "tests/cases/report-trace/cmd"), native)  # any bytes
        before = os.path.join(self.folder, "before")
        shutil.copytree(self.logs, before)
        self.run_it("annotate", URL)
        self.assertTrue(os.path.exists(native.replace(".json", ".native.json")))
        self.run_it("annotate", "--strip", URL)
        self.assert_same_files(self.logs, before)

    def test_all_views_take_a_url(self):
        session = f"{URL}/{SESSION}"
        for path in (URL, URL + "/", session, f"{URL}/{PROFILE}"):
            out, _ = self.run_it("report", path)
            self.assertIn("4 x TPU v6e", out)
        for args in (["check", URL], ["kernels", "--json", session], ["report", "--format=json", URL], ["compare", session, session],
                     ["hta", session], ["timeline", "--format=chrome", "-o", "t.json", session], ["flame", session]):
            out, err = self.run_it(*args)
            self.assertTrue(out, (args, err))
        self.assertEqual(files_of(self.logs), files_of(SAMPLE))
        self.assertTrue(os.path.getsize(os.path.join(self.folder, "t.json")), "beside where the program was started")
        self.run_it("trim", "--to-ms=50", session, status=USAGE)
        self.run_it("trim", "--to-ms=50", "-o", "part.xplane.pb", session)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "part.xplane.pb")))

    def test_paths_of_this_machine_stand_beside_urls(self):
        shutil.copytree(SAMPLE, os.path.join(self.folder, "here"))
        out, _ = self.run_it("compare", "here", URL)
        self.assertIn(URL, out)
        shutil.copytree(SAMPLE, os.path.join(self.folder, "test:", "bucket", "logs"))
        out, _ = self.run_it("report", "./test://bucket/logs", PATH="/nowhere", TPUSIGHT_REMOTE_DIR="/nowhere")
        self.assertIn("4 x TPU v6e", out)
        self.run_it("report", "-o", "test://bucket/report.html", URL, status=USAGE)

    def test_what_cannot_be_is_refused(self):
        for url in ("test://", "test://bucket/../up", "test://bucket//a", "test://bucket/./a", "test://bucket/a\nb"):
            self.run_it("report", url, status=USAGE)
        _, err = self.run_it("report", "gs://bucket/logs", status=NOTHING, PATH="/nowhere")
        self.assertIn("pip install 'tpusight[gs]'", err)
        _, err = self.run_it("report", "test://bucket/none", status=NOTHING)
        self.assertIn("test://bucket/none: there is no object", err)

    def test_hostile_names_are_passed_over(self):
        for name in ("../../up", "/etc/passwd", "a//b", "a/./b", "a\n", "x" * 300, "", "logs/\u0000"):
            out, err = self.run_it("report", URL, faults=f"extra={name}" if name not in ("a\n", "logs/\u0000") else "")
            self.assertIn("4 x TPU v6e", out)
            if name and name not in ("a\n", "logs/\u0000"):
                self.assertIn("passed over", err)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "up")))

    def test_faults_of_the_helper_are_told_and_change_nothing(self):
        for faults, words in (("die=read", "boom: it died"), ("fail=read", "the store said 503"), ("fail=list", "the store said 503"),
                              ("short=read", "bytes came where"), ("garbage=list", "not a reply"), ("die=hello", "boom: it died"),
                              ("version=2", "another version"), ("die=append", "boom: it died"), ("fail=append", "the store said 503")):
            _, err = self.run_it("annotate", URL, faults=faults, status=SOME if "append" in faults else NOTHING)
            self.assertIn(words, err, faults)
            self.assert_native()
        for op in ("read", "stat", "append"):
            _, err = self.run_it("annotate", URL, faults=f"hang={op}", status=SOME if op == "append" else NOTHING,
                                 TPUSIGHT_REMOTE_TIMEOUT="1")
            self.assertIn("does not answer", err)
            self.assert_native()

    def test_a_profile_that_changes_meanwhile_is_read_again(self):
        local = self.annotated()
        for op in ("read", "append", "put"):
            self.run_it("annotate", "-q", URL, faults=f"change={op}")
            os.unlink(self.store + ".changed")
            self.assert_same_files(self.logs, local, but=("ALL_HOSTS.tpusight.json",))
            self.run_it("annotate", "--strip", "-q", URL)
        self.run_it("annotate", "--strip", "-q", URL, faults="change=cut")
        self.assert_native()

    def test_a_kill_at_any_write_leaves_objects_whole(self):
        local = self.annotated()
        whole = {name: {self.bytes_of(SAMPLE, name), self.bytes_of(local, name)} for name in files_of(local)}
        for command, nr_puts in ((["annotate"], 5), (["annotate", "--strip"], 0)):
            points = ["append:1", *(f"put:{i + 1}" for i in range(nr_puts))] if nr_puts else ["cut:1", "delete:1", "delete:3", "delete:5"]
            for point in points:
                self.kill_at(point, *command)
                for name in files_of(self.logs):
                    if not name.endswith("ALL_HOSTS.tpusight.json"):
                        self.assertIn(self.bytes_of(self.logs, name), whole[name], (point, name))
                self.run_it(*command, "-q", URL)
                self.assert_same_files(self.logs, local if nr_puts else SAMPLE, but=("ALL_HOSTS.tpusight.json",))
                self.run_it("annotate", *([] if not nr_puts else ["--strip"]), "-q", URL)
            self.run_it("annotate", "-q", URL)

    def test_a_helper_that_dies_in_the_middle_leaves_objects_whole(self):
        """The store has done what it was asked for, and nobody hears of it; the same command again finishes."""
        local = self.annotated()
        whole = {name: {self.bytes_of(SAMPLE, name), self.bytes_of(local, name)} for name in files_of(local)}
        for command, after, points in ((["annotate"], local, ("append:1", "put:2")),
                                       (["annotate", "--strip"], SAMPLE, ("cut:1", "delete:2"))):
            for point in points:
                _, err = self.run_it(*command, "-q", URL, faults=f"crash={point}", status=SOME)
                self.assertRegex(err, r"test://bucket/.*: tpusight-remote-test has ended: boom: it died \(run it again\)\n", point)
                os.unlink(self.store + ".crashed")
                for name in files_of(self.logs):
                    if not name.endswith("ALL_HOSTS.tpusight.json"):
                        self.assertIn(self.bytes_of(self.logs, name), whole[name], (point, name))
                self.run_it(*command, "-q", URL)
                self.assert_same_files(self.logs, after, but=("ALL_HOSTS.tpusight.json",))
                self.run_it("annotate", *([] if after == SAMPLE else ["--strip"]), "-q", URL)
            self.run_it("annotate", "-q", URL)

    @staticmethod
    def bytes_of(folder, name):
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            return None
        with open(path, "rb") as f:
            return f.read()

    def kill_at(self, point, *command):
        """SIGKILL comes to the program when the helper is asked for it; $TS_KILL is the shell's, which becomes the program."""
        line = 'TS_KILL=$$ exec "$0" "$@"'
        done = subprocess.run(["sh", "-c", line, PROGRAM, *command, "-q", URL], env=self.environment(f"kill={point}"), cwd=self.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stdout)
        self.wait_for(lambda: not os.listdir(self.scratch), "the scratch folder is left after a kill")

    def wait_for(self, condition, words):
        until = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), until, words)
            time.sleep(0.02)

    def test_a_signal_ends_the_helper_too(self):
        signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in a shell's background have it ignored, and so would the program
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen([PROGRAM, "annotate", URL], env=self.environment("hang=read"), cwd=self.folder,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.wait_for(lambda: any(r["op"] == "read" for r in self.requests()), "nothing was read")
            process.send_signal(number)
            words, _ = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, -number, words)
            self.wait_for(lambda: not os.listdir(self.scratch), "the scratch folder is left")
            self.wait_for(lambda: not self.helpers_alive(), "the helper is left")
        self.assert_native()

    def helpers_alive(self):
        done = subprocess.run(["ps", "-eo", "args"], stdout=subprocess.PIPE, check=True)
        return [line for line in done.stdout.decode(errors="replace").splitlines() if self.helpers in line]

    def test_little_room_is_said_before_anything_is_read(self):
        big = os.path.join(self.logs, SESSION, "big.xplane.pb")
        with open(big, "wb") as f:
            f.truncate(1 << 43)
        _, err = self.run_it("report", URL, status=NOTHING)
        self.assertIn("set TMPDIR to a larger disk", err)
        self.assertNotIn("read", [r["op"] for r in self.requests()])

    def test_live_annotates_what_is_complete(self):
        out, _ = self.run_it("live", "--json", "--settle=0.2", "--interval=0.2", "--for=20s", "--fail-on=warning", URL, status=GATE)
        self.assertIn(f"{URL}/{SESSION}", out)
        self.assertIn("ALL_HOSTS.tpusight.json", files_of(os.path.join(self.logs, SESSION)))
        self.run_it("annotate", "--strip", "-q", URL)
        self.assert_native()

    def test_an_alert_runs_its_command_where_the_program_was_started(self):
        self.run_it("live", "-q", "--settle=0.2", "--interval=0.2", "--for=30s", "--fail-on=warning", "--on-alert=pwd >alerted", URL,
                    status=GATE)
        with open(os.path.join(self.folder, "alerted")) as f:
            self.assertEqual(os.path.realpath(f.read().strip()), os.path.realpath(self.folder))

    def test_a_watch_ends_while_a_session_is_on_its_way(self):
        process = subprocess.Popen([PROGRAM, "live", "-q", "--settle=0.1", "--interval=0.1", URL], env=self.environment("hang=read"),
                                   cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for(lambda: any(r["op"] == "read" for r in self.requests()), "nothing was read")
        process.send_signal(signal.SIGINT)
        self.assertIn(process.wait(PATIENCE), (DONE, SOME, NOTHING))
        self.assertEqual(os.listdir(self.scratch), [])

    def test_many_sessions_are_each_what_they_are_on_this_machine(self):
        local = os.path.join(self.folder, "local")
        for run in "abcde":
            shutil.copytree(os.path.join(SAMPLE, SESSION), os.path.join(self.logs, run, "plugins/profile/s"))
        before = os.path.join(self.folder, "before")
        shutil.copytree(self.logs, before)
        shutil.copytree(self.logs, local)
        self.run_it("annotate", "-q", local)
        for threads in ("-j1", "-j4"):
            self.run_it("annotate", "-q", threads, URL)
            self.assert_same_files(self.logs, local, but=("ALL_HOSTS.tpusight.json",))
            profiles = [r["url"] for r in self.requests() if r["op"] == "read" and r["url"].endswith(".xplane.pb")]
            self.assertEqual((len(profiles), len(set(profiles))), (6, 6), "each is read once")
            self.run_it("annotate", "--strip", "-q", URL)
            self.requests()
        self.run_it("annotate", "-q", URL)
        self.requests()
        self.assertEqual(self.run_it("annotate", URL)[0].count("nothing has changed"), 6)
        self.assertEqual({os.path.basename(r["url"]) for r in self.requests() if r["op"] == "read"}, {"ALL_HOSTS.tpusight.json"})
        out, _ = self.run_it("annotate", "--strip", "--jobs=1", URL)
        self.assertEqual(out.count("every file is as it was"), 6)
        self.assert_same_files(self.logs, before)

    def test_serve_shows_runs_of_a_bucket(self):
        process = children.start([PROGRAM, "serve", "--port=0", URL], env=self.environment(), cwd=self.folder,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            address = process.stdout.readline().decode().split(" at ")[1].split()[0]
            runs = json.load(urllib.request.urlopen(address + "api/runs", timeout=PATIENCE))["runs"]
            self.assertEqual([run["path"] for run in runs], [f"{URL}/{SESSION}"])
            report = json.load(urllib.request.urlopen(f"{address}api/report?run={runs[0]['id']}", timeout=PATIENCE))
            self.assertEqual(report["run"]["logdir"], URL)
            shutil.copytree(os.path.join(self.logs, SESSION), os.path.join(self.logs, "later/plugins/profile/2026_02_02_00_00_00"))
            self.wait_for(lambda: len(json.load(urllib.request.urlopen(address + "api/runs", timeout=PATIENCE))["runs"]) == 2,
                          "a new session is not listed")
        finally:
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(PATIENCE), 0)
            process.stdout.close()
        self.assertEqual(os.listdir(self.scratch), [])


if __name__ == "__main__":
    unittest.main()
