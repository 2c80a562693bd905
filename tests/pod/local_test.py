#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A pod without Ray, by processes of this machine: local_test.py"""
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from unittest import mock

import given
import package
import riegeli
from tpusight import pod

PATIENCE_S = 300
# In place of Ray: a library that asks for ever, and says so over and over.
MUTE_RAY = '''import os, time
def is_initialized():
    return False
def init(**_):
    while True:
        os.write(2, b"W rpc_client.h: Failed to connect to GCS\\n")
        time.sleep(0.1)
'''
IMPATIENT = "import sys; from tpusight.pod import engine, main; engine.CONNECT_S = 1; sys.exit(main.main(sys.argv[1:]))"


class Local(given.Given):
    def setUp(self):
        super().setUp()
        patch = mock.patch.dict(os.environ, TMPDIR=self.scratch)
        patch.start()
        self.addCleanup(patch.stop)

    def command(self, *args, **environment):
        environment = dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin"), PYTHONDONTWRITEBYTECODE="1", **environment)
        return subprocess.Popen([sys.executable, "-m", "tpusight.pod.main", *args], env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_names_of_input_are_those_of_the_config_file(self):
        session, config = os.path.join(self.session(given.hosts(2)), given.SESSION), self.path("config.json")
        with open(config, "w", encoding="utf-8") as f:
            json.dump({"thresholds": {"input_high": 2}, "input_names": ["np.asarray*"]}, f)
        for options in (["--config", config], [f"--config={config}"]):
            done = pod.report(session, self.output, outline_options=options)
            self.assertEqual((done.status, done.words, done.sessions[0].words), (0, [], []))
            self.assert_same(self.of_one_machine(session, options=options), self.output)

    def test_the_report_is_that_of_one_machine(self):
        session = os.path.join(self.session(given.hosts(4)), given.SESSION)
        seen = []
        done = pod.report(session, self.output, jobs=3, progress=seen.append)
        self.assertEqual((done.status, done.words, done.sessions[0].words), (0, [], []))
        self.assert_same(self.of_one_machine(session), self.output)
        self.assert_no_scratch()
        self.assertLessEqual({progress.step for progress in seen}, {"outline", "pass"})
        self.assertTrue(all(0 <= progress.hosts_done <= progress.hosts == 4 for progress in seen))

    def test_records_are_hosts_and_empty_files_beside_them_are_not(self):
        session = os.path.join(self.session(given.hosts(2), source=given.SMALL), given.SESSION)
        first = os.path.join(session, "host0001.xplane.pb")
        with open(first, "rb") as f:
            records = riegeli.file_of(riegeli.records(f.read()))
        with open(os.path.join(session, "host0001.xplane.riegeli"), "wb") as f:
            f.write(records)
        os.truncate(first, 0)
        done = pod.report(session, self.output)
        self.assertEqual((done.status, done.words, done.sessions[0].words), (0, [], []))
        self.assert_same(self.of_one_machine(session), self.output)

    def test_a_log_directory_has_a_report_for_each_session(self):
        logs = self.session(given.hosts(2))
        self.session(["other"], source=given.SMALL, below="logs/second")
        done = pod.report(logs, self.path("out"))
        self.assertEqual(done.status, 0)
        self.assertEqual([one.session for one in done.sessions], [given.SESSION, os.path.join("second", given.SESSION)])
        for one in done.sessions:
            self.assertEqual(one.path, self.path("out", one.session + ".json"))
            self.assert_same(self.of_one_machine(os.path.join(logs, one.session), options=["--logdir", logs]), one.path)
        with self.assertRaisesRegex(pod.TpusightError, "there are 2 sessions"):
            pod.report(logs, self.output)

    def test_a_log_directory_names_its_runs(self):
        logs = self.session(given.hosts(2))
        for place in (logs, logs + "/", os.path.relpath(logs), os.path.join(logs, "run"), os.path.join(logs, "run", "plugins", "profile")):
            done = pod.report(place, self.output)
            self.assertEqual((done.status, done.words), (0, []))
            self.assert_same(self.of_one_machine(place), self.output)
        pod.report(logs, self.output)
        with open(self.output, encoding="utf-8") as f:
            self.assertEqual(json.load(f)["run"]["run"], "run")

    def test_a_log_directory_is_annotated_as_on_one_machine(self):
        logs = self.session(given.hosts(2))
        folder = os.path.join(logs, given.SESSION)
        native = given.files_of(folder)
        self.assertEqual(pod.annotate(logs).status, 0)
        made = given.files_of(folder)
        self.assertTrue(any(b"run=run%2F2026_01_01_00_00_00" in content for content in made.values()))
        self.assert_annotated(folder, native, place=logs)

    def test_a_cluster_that_does_not_answer_is_told_in_one_line(self):
        with open(self.path("ray.py"), "w", encoding="utf-8") as f:
            f.write(MUTE_RAY)
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join((self.folder, os.path.join(package.ROOT, "plugin"))),
                           PYTHONDONTWRITEBYTECODE="1")
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            for address, why in ((f"127.0.0.1:{port}", "no answer within 1 s"), (f"ray://localhost:{port}", "no answer within 1 s"),
                                 ("auto", "no answer within 1 s"), ("127.0.0.1:1", "Connection refused")):
                done = subprocess.run([sys.executable, "-c", IMPATIENT, "--address", address, "/logs"], env=environment, text=True,
                                      capture_output=True, check=False, timeout=PATIENCE_S)
                self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (given.NOTHING, "", 1), done.stderr)
                self.assertIn(f"tpusight: {address}: no Ray cluster answers there (", done.stderr)
                self.assertIn(why, done.stderr)

    def test_a_damaged_file_is_named_and_the_report_stands(self):
        session = os.path.join(self.session(given.hosts(3)), given.SESSION)
        with open(os.path.join(session, "host0001.xplane.pb"), "r+b") as f:
            f.truncate(700000)
        for name in "host0002.xplane.pb", "host0003.xplane.pb":
            with open(os.path.join(session, name), "wb") as f:
                f.write(b"not a profile at all")
        done = pod.report(session, self.output)
        self.assertEqual(done.status, given.SOME)
        self.assert_same(self.of_one_machine(session, status=given.SOME), self.output)
        self.assertIn("host0002.xplane.pb", " ".join(done.sessions[0].words))

    def test_a_file_that_is_lost_between_the_rounds_is_left_out(self):
        logs = self.session(given.hosts(3))
        session = os.path.join(logs, given.SESSION)
        gone = os.path.join(session, "host0001.xplane.pb")
        program = given.wrapper(self.path("tpusight"), f'if [ "$2" = pass ]; then rm -f {gone}; fi')
        with mock.patch.dict(os.environ, TPUSIGHT=program):
            done = pod.report(session, self.output)
        self.assertEqual(done.status, given.SOME)
        self.assertRegex(" ".join(done.sessions[0].words), "host0001.xplane.pb: left out, the report is of the other hosts: ")
        self.assertFalse(os.path.exists(gone))
        self.assert_same(self.of_one_machine(session), self.output)

    def test_nothing_can_be_read(self):
        session = os.path.join(self.session(given.hosts(2)), given.SESSION)
        program = given.wrapper(self.path("tpusight"), "echo 'tpusight: it is cursed' >&2; exit 3")
        with mock.patch.dict(os.environ, TPUSIGHT=program):
            done = pod.report(session, self.output)
        self.assertEqual((done.status, done.sessions[0].path), (given.NOTHING, None))
        self.assertIn("it is cursed", " ".join(done.sessions[0].words))
        self.assertFalse(os.path.exists(self.output))
        with self.assertRaisesRegex(pod.TpusightError, "no node sees a session"):
            pod.report(self.path("nowhere"), self.output)

    def test_a_file_that_is_replaced_while_it_is_annotated_is_read_again(self):
        """So ends what a worker had begun that was killed."""
        session = os.path.join(self.session(given.hosts(2)), given.SESSION)
        native = given.files_of(session)
        replaced = f"""if [ "$2" = overlay ] && mkdir {self.path("once")} 2>/dev/null; then
	cp "$3" "$3.new" && mv "$3.new" "$3"; echo "$3: replaced while it was read" >&2; exit {given.SOME}
fi"""
        with mock.patch.dict(os.environ, TPUSIGHT=given.wrapper(self.path("tpusight"), replaced)):
            done = pod.annotate(session, jobs=1)
        self.assertEqual((done.status, done.sessions[0].words), (0, []), done)
        self.assertTrue(os.path.isdir(self.path("once")))
        self.assert_annotated(session, native)

    def test_a_bucket_is_read_once_and_the_report_names_it(self):
        self.session(given.hosts(4), below="store/bucket/logs")
        self.store()
        url = f"test://bucket/logs/{given.SESSION}"
        self.assertEqual(pod.report(url, self.output).status, 0)
        self.assertEqual(len(self.requests("read")), 4)
        self.assert_same(self.of_one_machine(url), self.output)
        self.assert_no_scratch()

    def store(self):
        """A bucket that is a folder, and its helper."""
        os.mkdir(self.path("helpers"))
        helper = self.path("helpers", "tpusight-remote-test")
        with open(helper, "w") as f:
            f.write(f'#!/bin/sh\nexec "{sys.executable}" "{package.ROOT}/tests/remote/store.py" "$@"\n')
        os.chmod(helper, stat.S_IRWXU)
        patch = mock.patch.dict(os.environ, TS_STORE=self.path("store"), TPUSIGHT_REMOTE_DIR=self.path("helpers"))
        patch.start()
        self.addCleanup(patch.stop)

    def requests(self, *ops):
        with open(self.path("store.log")) as f:
            asked = [json.loads(line) for line in f]
        os.unlink(self.path("store.log"))
        return [(one["op"], os.path.basename(one["url"])) for one in asked if one["op"] in ops]

    def test_a_session_is_annotated_as_on_one_machine(self):
        session = os.path.join(self.session(given.hosts(3)), given.SESSION)
        with open(os.path.join(session, "ALL_HOSTS.op_stats.pb"), "w") as f:
            f.write("what XProf kept")
        with open(os.path.join(session, "empty.xplane.pb"), "wb"):
            pass
        native = given.files_of(session)
        del native["ALL_HOSTS.op_stats.pb"]
        for _ in range(2):
            done = pod.annotate(session, jobs=2)
            self.assertEqual((done.status, done.sessions[0].path), (given.SOME, os.path.join(session, "ALL_HOSTS.tpusight.json")), done)
            self.assertIn("empty.xplane.pb", " ".join(done.sessions[0].words))
        self.assert_annotated(session, native, status=given.NOTHING)
        self.assert_no_scratch()

    def test_a_log_directory_is_annotated_and_another_disk_is_not_reached(self):
        logs = self.session(given.hosts(2))
        self.session(["other"], source=given.SMALL, below="logs/second")
        first, second = os.path.join(logs, given.SESSION), os.path.join(logs, "second", given.SESSION)
        elsewhere = self.path("elsewhere.xplane.pb")
        os.rename(os.path.join(first, "host0001.xplane.pb"), elsewhere)
        os.symlink(elsewhere, os.path.join(first, "host0001.xplane.pb"))
        native = [given.files_of(folder) for folder in (first, second)]
        process = self.command("--local", "--annotate", logs)
        text, words = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, given.SOME, words)
        self.assertIn("a symbolic link, and what it leads to is not changed", words)
        self.assertEqual(len(re.findall("annotated, the report is .*ALL_HOSTS.tpusight.json\n", text)), 2, text)
        with open(elsewhere, "rb") as f:
            self.assertTrue(f.read() == native[0]["host0001.xplane.pb"])
        os.unlink(os.path.join(first, "host0001.xplane.pb"))
        os.rename(elsewhere, os.path.join(first, "host0001.xplane.pb"))
        self.assertEqual(pod.annotate(logs).status, 0)
        made = [given.files_of(folder) for folder in (first, second)]
        self.assert_annotated(first, native[0], logs, made=made[0])
        self.assert_annotated(second, native[1], logs, made=made[1])

    def test_nothing_of_a_run_with_damage_is_annotated(self):
        session = os.path.join(self.session(given.hosts(3)), given.SESSION)
        with open(os.path.join(session, "host0001.xplane.pb"), "r+b") as f:
            f.truncate(700000)
        native = given.files_of(session)
        done = pod.annotate(session)
        self.assertEqual((done.status, done.sessions[0].path), (given.SOME, None))
        self.assertIn("nothing was written", " ".join(done.sessions[0].words))
        self.assertEqual(given.files_of(session), native)

    def test_a_profile_that_may_not_be_changed_is_named(self):
        session = os.path.join(self.session(given.hosts(2)), given.SESSION)
        native = given.files_of(session)
        os.chmod(os.path.join(session, "host0001.xplane.pb"), 0o444)
        done = pod.annotate(session)
        self.assertEqual(done.status, given.SOME, done)
        self.assertIn("host0001.xplane.pb: a read-only file", " ".join(done.sessions[0].words))
        self.assertTrue(given.files_of(session)["host0001.xplane.pb"] == native["host0001.xplane.pb"])

    def test_a_profile_that_changes_between_the_rounds_is_left_as_it_is(self):
        session = os.path.join(self.session(given.hosts(3)), given.SESSION)
        changed = os.path.join(session, "host0001.xplane.pb")
        native = given.files_of(session)
        with open(given.SMALL, "rb") as f:
            native["host0001.xplane.pb"] = f.read()
        program = given.wrapper(self.path("tpusight"), f'if [ "$2" = overlay ]; then cp {given.SMALL} {changed}; fi')
        with mock.patch.dict(os.environ, TPUSIGHT=program):
            done = pod.annotate(session, jobs=1)
        self.assertEqual(done.status, given.SOME, done)
        self.assertRegex(" ".join(done.sessions[0].words), "host0001.xplane.pb: left out, .*it has changed since")
        self.assertTrue(given.files_of(session)["host0001.xplane.pb"] == native["host0001.xplane.pb"])
        self.run_program("annotate", "--strip", "-q", session)
        self.assertEqual(given.files_of(session), native)

    def test_an_overlay_that_the_store_did_not_take_is_tried_again(self):
        self.session(given.hosts(2), below="store/bucket/logs")
        folder, url = self.path("store", "bucket", "logs", given.SESSION), f"test://bucket/logs/{given.SESSION}"
        native = given.files_of(folder)
        self.store()
        with mock.patch.dict(os.environ, TS_FAULTS="once=append"):
            self.assertEqual(pod.annotate(url).status, 0)
        self.assertEqual(len(self.requests("append")), 3)
        self.assert_annotated(folder, native, url)
        self.assert_no_scratch()

    def test_a_helper_that_dies_in_the_middle_is_done_without(self):
        """What it was asked for was done, and nobody heard of it."""
        self.session(given.hosts(2), below="store/bucket/logs")
        folder, url = self.path("store", "bucket", "logs", given.SESSION), f"test://bucket/logs/{given.SESSION}"
        native = given.files_of(folder)
        self.store()
        for op in "append", "list", "read", "stat":
            with mock.patch.dict(os.environ, TS_FAULTS=f"crash={op}:1"):
                done = pod.annotate(url)
            self.assertEqual((done.status, done.words, done.sessions[0].words), (0, [], []), op)
            os.unlink(self.path("store.crashed"))
        self.assert_annotated(folder, native, url)
        with mock.patch.dict(os.environ, TS_FAULTS="die=list"):
            with self.assertRaisesRegex(pod.TpusightError, r"test://.*: the helper of the store ended early \(run it again\)"):
                pod.report(url, self.output)
        self.assert_no_scratch()

    def test_a_bucket_is_annotated_by_the_store(self):
        self.session(given.hosts(3), below="store/bucket/logs")
        folder, url = self.path("store", "bucket", "logs", given.SESSION), f"test://bucket/logs/{given.SESSION}"
        native = given.files_of(folder)
        self.store()
        self.assertEqual(pod.annotate(url).status, 0)
        asked = self.requests("read", "append", "put")
        self.assertEqual(sorted(name for op, name in asked if op == "read"), sorted(native))
        self.assertEqual(sorted(name for op, name in asked if op == "append"), sorted(native))
        self.assertEqual([name for op, name in asked if op == "put" and name in native], [])
        self.assertEqual(pod.annotate(url).status, 0)
        self.assertEqual([name for op, name in self.requests("append", "cut", "put") if name in native], [])
        self.assert_annotated(folder, native, url)
        self.assert_no_scratch()

    def test_it_is_cancelled_at_once_and_leaves_nothing(self):
        session = os.path.join(self.session(given.hosts(3)), given.SESSION)
        program = given.wrapper(self.path("tpusight"), f"echo $$ >{self.scratch}/began; sleep {2 * PATIENCE_S}")
        for number in signal.SIGINT, signal.SIGTERM:
            process = self.command("--local", session, "-o", self.output, TPUSIGHT=program)
            begin = time.monotonic()
            while not os.path.exists(self.path("scratch", "began")) and time.monotonic() - begin < PATIENCE_S:
                time.sleep(0.05)
            process.send_signal(number)
            _, words = process.communicate(timeout=PATIENCE_S)
            self.assertEqual(process.returncode, 128 + number, words)
            self.assertNotIn("Traceback", words)
            self.assertFalse(os.path.exists(self.output))
            os.unlink(self.path("scratch", "began"))
            self.assert_no_scratch()

    def test_what_a_killed_one_leaves_the_next_one_removes(self):
        session = os.path.join(self.session(given.hosts(1)), given.SESSION)
        program = given.wrapper(self.path("tpusight"), "kill -9 $PPID")
        process = self.command("--local", session, "-o", self.output, TPUSIGHT=program)
        process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertNotEqual([name for name in os.listdir(self.scratch) if name.startswith("tpusight-pod-")], [])
        pod.report(session, self.output)
        self.assertEqual([name for name in os.listdir(self.scratch) if name.startswith("tpusight-pod-")], [])

    def test_the_command_prints_the_report_and_says_what_is_wrong(self):
        session = os.path.join(self.session(given.hosts(2)), given.SESSION)
        process = self.command("--local", session, "--view=time", "--format=csv")
        text, words = process.communicate(timeout=PATIENCE_S)
        one = subprocess.run([package.PROGRAM, "report", session, "--view=time", "--format=csv"], capture_output=True, text=True,
                             check=True)
        self.assertEqual((process.returncode, words, text), (0, "", one.stdout))
        process = self.command("--local", self.path("nowhere"))
        _, words = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, given.NOTHING)
        self.assertRegex(words, "^tpusight: .*no node sees a session")
        process = self.command("--local")
        process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 2)

    def test_the_program_starts_it(self):
        session = os.path.join(self.session(given.hosts(2)), given.SESSION)
        os.mkdir(self.path("bin"))
        environment = dict(os.environ, PATH=self.path("bin"), PYTHONPATH=os.path.join(package.ROOT, "plugin"))
        command = [package.PROGRAM, "pod", "--local", session, "-o", self.output]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, given.NOTHING)
        self.assertEqual(done.stderr, "tpusight: the program tpusight-pod is not there (it comes with the Python package: "
                                      "pip install 'tpusight[ray]')\n")
        with open(self.path("bin", "tpusight-pod"), "w") as f:
            f.write(f'#!/bin/sh\nexec "{sys.executable}" -m tpusight.pod.main "$@"\n')
        os.chmod(self.path("bin", "tpusight-pod"), 0o755)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_same(self.of_one_machine(session), self.output)


if __name__ == "__main__":
    package.main()
