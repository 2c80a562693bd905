#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How the files that the program writes come to lie: outputs_test.py

Links, pipes and folders in a file's place; modes, ACLs, attributes, owners; outputs that are inputs: docs/files.md, asked of
every command that writes. Each test has a folder of its own. No command may take longer than PATIENCE, so nothing waits for ever.
$TPUSIGHT names the program (default: bin/tpusight).
"""
import fcntl
import filecmp
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures"))
from helpers import DATA, PROGRAM, content

TOP = os.path.abspath(os.environ.get("srcdir", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")))
PROFILE = os.path.join(DATA, "sample/train_step_simulated/plugins/profile/2026_01_01_00_00_00/simulated-host.xplane.pb")
TRACE = os.path.join(DATA, "hand_made.pt.trace.json")
MODULE = os.path.join(DATA, "pallas_v5e.hlo.pb")
PATIENCE = 300  # seconds: only a command that waits for ever takes so long
SESSION = "log/plugins/profile/s"
OURS = ["ALL_HOSTS.tpusight.json", "ALL_HOSTS.smart_suggestion.pb", "perfetto_trace.json.gz", "cache_version.txt"]
# Each command that has -o: its arguments, with IN for the file that it reads. --format lets a report have any name.
WRITERS = {
    "report": [PROFILE, "report", "--format=text", "IN"],
    "check": [PROFILE, "check", "--format=text", "IN"],
    "compare": [PROFILE, "compare", "--format=text", "IN", PROFILE],
    "hta": [TRACE, "hta", "IN"],
    "kernels": [TRACE, "kernels", "IN"],
    "timeline": [TRACE, "timeline", "IN"],
    "timeline chrome": [TRACE, "timeline", "--format=chrome", "IN"],
    "flame": [TRACE, "flame", "IN"],
    "flame folded": [TRACE, "flame", "--format=folded", "IN"],
    "memory": [TRACE, "memory", "--format=json", "IN"],
    "compile": [PROFILE, "compile", "--format=text", "IN"],
    "compile of modes": [PROFILE, "compile", "--format=text", "IN", PROFILE],
    "hlo": [MODULE, "hlo", "--format=text", "IN"],
    "trim": [TRACE, "trim", "--from-ms=0", "IN"],
    "trim of an xplane": [PROFILE, "trim", "--plane=/device:*", "IN"],
    "redact": [TRACE, "redact", "IN"],
    "redact of an xplane": [PROFILE, "redact", "IN"],
    "export": [PROFILE, "export", "--format=arrow", "IN"],
    "map outline": [PROFILE, "map", "outline", "IN"],
}
WITHOUT_INPUT = {"thresholds", "explain", "manual", "schema"}


def run(*arguments, umask=0o022, **more):
    """The command, ended."""
    return subprocess.run([PROGRAM, *arguments], capture_output=True, check=False, timeout=PATIENCE, umask=umask,
                          stdin=subprocess.DEVNULL, **more)


def setUpModule():
    """The steps of map and reduce need files of those before them. The profile is called in.xplane.pb, as the tests call it."""
    folder = tempfile.mkdtemp(prefix="tpusight-outputs-")
    unittest.addModuleCleanup(shutil.rmtree, folder)
    profile, outline, whole, states, results, tail, trace = (
        os.path.join(folder, name)
        for name in ("in.xplane.pb", "h.outline", "run.outline", "h.states", "run.results", "h.tail", "h.trace"))
    shutil.copyfile(PROFILE, profile)
    for step in (["map", "outline", profile, "-o", outline], ["reduce", "outline", outline, "-o", whole],
                 ["map", "pass", profile, f"--outline={whole}", "-o", states],
                 ["reduce", "report", states, f"--outline={whole}", f"--results={results}", "--format=text", "-o", tail],
                 ["map", "overlay", profile, f"--results={results}", f"--trace={trace}", "-o", tail]):
        done = run(*step)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
    WRITERS["map pass"] = [PROFILE, "map", "pass", f"--outline={whole}", "IN"]
    WRITERS["reduce outline"] = [outline, "reduce", "outline", "IN"]
    WRITERS["reduce report"] = [states, "reduce", "report", "--format=text", f"--outline={whole}", "IN"]
    WRITERS["map overlay"] = [PROFILE, "map", "overlay", f"--results={results}", "IN"]
    WRITERS["map tracks"] = [PROFILE, "map", "tracks", f"--results={results}", "IN"]
    WRITERS["reduce trace"] = [trace, "reduce", "trace", f"--results={results}", "IN"]


def mode_of(path):
    return oct(stat.S_IMODE(os.stat(path).st_mode))


def ending(source):
    """What a copy's name has to end in: other commands take any name."""
    return os.path.basename(source).split(".", 1)[1]


def output(name, source):
    """What the command's output is called: most take any name."""
    endings = {"trim": ending(source), "redact": ending(source), "export": "arrow"}
    return f"out.{endings[name.split()[0]]}" if name.split()[0] in endings else "out"


class Outputs(unittest.TestCase):
    """In a folder of its own."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tpusight-outputs-")
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)

    def session(self, *hosts, mode=0o644):
        """A session of a log directory, with a profile for each host."""
        os.makedirs(SESSION, exist_ok=True)
        for host in hosts or ("h",):
            shutil.copyfile(PROFILE, f"{SESSION}/{host}.xplane.pb")
            os.chmod(f"{SESSION}/{host}.xplane.pb", mode)
        return SESSION

    def good(self, done, status=0):
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return done

    def test_every_command_that_writes_is_in_the_table(self):
        listed = {name.split()[0] for name in WRITERS} | WITHOUT_INPUT
        commands = re.findall(r"^  (\w+) ", self.good(run("--help")).stdout.decode(), re.M)
        self.assertGreater(len(commands), 10)
        for command in commands:
            if b"--output" in run(command, "--help").stdout:
                self.assertIn(command, listed)

    # A session

    def test_links_in_the_place_of_our_files_are_not_followed(self):
        for name in OURS:
            for target, there in (("victim", True), ("made", False)):
                with self.subTest(name, target=target):
                    shutil.rmtree("log", ignore_errors=True)
                    session = self.session()
                    with open("victim", "w", encoding="utf-8") as file:
                        file.write("precious")
                    os.symlink(os.path.abspath(target), f"{session}/{name}")
                    done = run("annotate", "log")
                    self.assertEqual(content("victim"), b"precious")
                    self.assertFalse(os.path.lexists("made"))
                    if name in OURS[:2]:
                        self.assertIn(name, done.stderr.decode())
                        self.assertNotEqual(done.returncode, 0)
                    run("annotate", "--strip", "log")
                    self.assertEqual(sorted(os.listdir(session)), sorted([name, "h.xplane.pb"]))
                    self.assertEqual(os.readlink(f"{session}/{name}"), os.path.abspath(target))
                    self.assertEqual(content("victim") == b"precious", True)
                    self.assertTrue(filecmp.cmp(f"{session}/h.xplane.pb", PROFILE, shallow=False))
                    self.assertEqual(there, os.path.exists(f"{session}/{name}"))

    def test_a_link_to_a_report_of_ours_is_the_users(self):
        session = self.session()
        self.good(run("annotate", "log"))
        for name in OURS[:3]:
            os.rename(f"{session}/{name}", name)
            os.symlink(os.path.abspath(name), f"{session}/{name}")
        before = {name: content(name) for name in OURS[:3]}
        run("annotate", "--threshold=idle_high=1", "log")
        run("annotate", "--strip", "log")
        self.assertEqual(before, {name: content(name) for name in OURS[:3]})
        self.assertEqual(sorted(os.listdir(session)), sorted(OURS[:3] + ["h.xplane.pb"]))

    def test_what_is_not_a_plain_file_is_refused_by_its_kind(self):
        def folder(path):
            os.mkdir(path)

        def place_socket(path):
            with socket.socket(socket.AF_UNIX) as one:
                one.bind(os.path.relpath(path))

        for make, words in ((os.mkfifo, "pipe"), (folder, "folder"), (place_socket, "socket")):
            for name in OURS[:3]:
                with self.subTest(name, kind=words):
                    shutil.rmtree("log", ignore_errors=True)
                    session = self.session()
                    make(f"{session}/{name}")
                    done = run("annotate", "log")
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(name, done.stderr.decode())
                    done = run("annotate", "--strip", "log")
                    self.assertIn(done.returncode, (0, 4), done.stderr.decode())  # 4: it is in a trace's place, too
                    self.assertEqual(sorted(os.listdir(session)), sorted([name, "h.xplane.pb"]))
                    self.assertTrue(filecmp.cmp(f"{session}/h.xplane.pb", PROFILE, shallow=False))

    def test_pipes_in_the_place_of_inputs_are_not_waited_for(self):
        session = self.session()
        for name in ("a.xplane.pb", "memory_profile.prof", "dedicated_log_torch_trace_rank_0_x.log"):
            os.mkfifo(f"{session}/{name}")
        done = run("report", "log")
        self.assertIn("a.xplane.pb", done.stderr.decode())
        self.assertEqual(run("compile", "--torch-trace", session, f"{session}/h.xplane.pb").returncode, 3)
        self.assertEqual(run("annotate", f"{session}/a.xplane.pb").returncode, 3)

    def test_a_profile_that_a_file_server_has_leased_is_read(self):
        session = self.session()
        with open(f"{session}/h.xplane.pb", "r+b") as leased:
            before = signal.signal(signal.SIGIO, lambda *_: fcntl.fcntl(leased, fcntl.F_SETLEASE, fcntl.F_UNLCK))
            self.addCleanup(signal.signal, signal.SIGIO, before)
            try:
                fcntl.fcntl(leased, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            except (OSError, AttributeError) as error:
                self.skipTest(f"no leases here: {error}")
            self.good(run("report", "log"))

    def test_what_a_linked_profile_leads_to_is_changed_only_by_its_name(self):
        session = self.session()
        os.makedirs("store")
        os.rename(f"{session}/h.xplane.pb", "store/object")
        os.symlink("../../../../store/object", f"{session}/h.xplane.pb")
        link = f"{session}/h.xplane.pb"
        for arguments in (("--dry-run",), ()):
            done = self.good(run("annotate", *arguments, "log"))
            self.assertIn("a symbolic link, and what it leads to is not changed", done.stderr.decode())
            self.assertTrue(filecmp.cmp("store/object", PROFILE, shallow=False))
        self.assertTrue(os.path.exists(f"{session}/{OURS[0]}"))
        self.good(run("annotate", "--strip", "log"))
        self.assertEqual(os.listdir(session), ["h.xplane.pb"])
        self.good(run("annotate", link))
        self.assertTrue(os.path.islink(link))
        self.assertGreater(os.path.getsize("store/object"), os.path.getsize(PROFILE))
        done = run("annotate", "--strip", "log")  # the session's other files are out, and no false word is said
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("name the link itself", done.stderr.decode())
        self.assertNotIn("every file is as it was", done.stdout.decode())
        self.good(run("annotate", "--strip", link))
        self.assertTrue(filecmp.cmp("store/object", PROFILE, shallow=False))
        self.assertTrue(os.path.islink(link))

    def test_a_session_behind_a_linked_folder_is_annotated(self):
        session = self.session()
        os.symlink(os.path.abspath(session), "linked")
        self.good(run("annotate", "linked"))
        self.assertTrue(os.path.exists(f"{session}/{OURS[0]}"))
        self.good(run("annotate", "--strip", "linked"))
        self.assertEqual(os.listdir(session), ["h.xplane.pb"])

    def test_other_hard_links_of_a_profile_keep_its_bytes_and_that_is_said(self):
        session = self.session()
        os.link(f"{session}/h.xplane.pb", "snapshot")
        done = self.good(run("annotate", "log"))
        self.assertIn("has other names (hard links)", done.stderr.decode())
        self.assertTrue(filecmp.cmp("snapshot", PROFILE, shallow=False))
        done = self.good(run("annotate", "--strip", "log"))
        self.assertNotIn("hard links", done.stderr.decode())
        self.assertTrue(filecmp.cmp(f"{session}/h.xplane.pb", PROFILE, shallow=False))

    def test_no_file_of_a_session_is_more_open_than_its_profiles(self):
        for modes, expected in (((0o600,), "0o600"), ((0o644, 0o600), "0o600"), ((0o644, 0o640), "0o640"),
                                ((0o664, 0o664), "0o644")):
            with self.subTest(modes):
                shutil.rmtree("log", ignore_errors=True)
                session = self.session(*[f"h{i}" for i in range(len(modes))])
                for i, mode in enumerate(modes):
                    os.chmod(f"{session}/h{i}.xplane.pb", mode)
                self.good(run("annotate", "--perfetto=both", "log"))
                for name in os.listdir(session):
                    want = oct(modes[int(name[1])]) if name.startswith("h") else expected
                    self.assertEqual(mode_of(f"{session}/{name}"), want, name)
                    if not name.startswith("h"):
                        os.chmod(f"{session}/{name}", 0o666)  # by somebody, or an older version
                self.good(run("annotate", "--perfetto=both", "--threshold=idle_high=1", "--max-trace-events=7", "log"))
                for name in OURS[:1] + OURS[2:3]:
                    self.assertIn(mode_of(f"{session}/{name}"), (oct(int(expected, 8)), oct(0o666 & modes[0] & modes[-1])), name)

    def test_no_file_beside_a_trace_is_more_open_than_it(self):
        shutil.copyfile(TRACE, "rank0.pt.trace.json")
        os.chmod("rank0.pt.trace.json", 0o600)
        self.good(run("annotate", "rank0.pt.trace.json"))
        self.assertGreater(len(os.listdir(".")), 2)
        self.assertEqual({mode_of(name) for name in os.listdir(".")}, {"0o600"})

    def test_attributes_of_a_profile_are_kept(self):
        profile = f"{self.session(mode=0o640)}/h.xplane.pb"
        acl = bytes.fromhex("02000000" "01000600ffffffff" "02000600d2040000" "04000000ffffffff" "10000600ffffffff"
                            "20000000ffffffff")  # u::rw- u:1234:rw- g::--- m::rw- o::---
        try:
            os.setxattr(profile, "user.checksum", b"0123")
            os.setxattr(profile, "system.posix_acl_access", acl)
        except (OSError, AttributeError) as error:
            self.skipTest(f"no attributes here: {error}")
        for arguments in ((), ("--strip",)):
            self.good(run("annotate", *arguments, "log"))
            self.assertEqual(os.getxattr(profile, "user.checksum"), b"0123")
            self.assertEqual(os.getxattr(profile, "system.posix_acl_access"), acl)
            self.assertEqual(mode_of(profile), "0o660")
        self.assertTrue(filecmp.cmp(profile, PROFILE, shallow=False))

    # -o, and copies

    def arguments(self, name, source):
        """The command, with SOURCE for its input."""
        return [source if word == "IN" else word for word in WRITERS[name][1:]]

    def test_no_output_is_more_open_than_its_input(self):
        for name, row in WRITERS.items():
            with self.subTest(name):
                source, target = f"in.{ending(row[0])}", output(name, row[0])
                shutil.copyfile(row[0], source)
                os.chmod(source, 0o600)
                done = run(*self.arguments(name, source), "-o", target)
                self.assertIn(done.returncode, (0, 1), done.stderr.decode())
                self.assertEqual(mode_of(target), "0o600")
                self.assertGreater(os.path.getsize(target), 0)
                os.chmod(target, 0o644)
                done = run(*self.arguments(name, source), "-o", target)
                self.assertEqual(mode_of(target), "0o600")
                os.remove(target)
                os.chmod(source, 0o644)
                done = run(*self.arguments(name, source), "-o", target, umask=0o027)
                self.assertEqual(mode_of(target), "0o640")
                os.remove(target)

    def test_copies_without_a_name_are_as_open_as_their_input(self):
        session = self.session(mode=0o600)
        os.chmod(session, 0o700)
        for command, word in ((("trim", "--plane=/device:*"), "trimmed"), (("redact",), "redacted")):
            self.good(run(*command, session))
            self.assertEqual(mode_of(f"{session}.{word}"), "0o700")
            names = os.listdir(f"{session}.{word}")
            self.assertEqual(len(names), 1)
            self.assertEqual(mode_of(f"{session}.{word}/{names[0]}"), "0o600")
            self.good(run(*command, "-o", f"below/{word}", session))
            self.assertEqual(mode_of(f"below/{word}"), "0o700")

    def test_an_output_is_never_an_input(self):
        for name, row in WRITERS.items():
            source = f"in.{ending(row[0])}"
            shutil.copyfile(row[0], source)
            os.symlink(source, f"link.{ending(row[0])}")
            os.link(source, f"second.{ending(row[0])}")
            for target in (source, f"./{source}", f"link.{ending(row[0])}", f"second.{ending(row[0])}"):
                with self.subTest(name, target=target):
                    done = run(*self.arguments(name, source), "-o", target)
                    self.assertEqual(done.returncode, 2, done.stderr.decode())
                    self.assertRegex(done.stderr.decode(), "reads that file|does not write|name says")
                    self.assertTrue(filecmp.cmp(source, row[0], shallow=False))
            os.remove(f"link.{ending(row[0])}")
            os.remove(f"second.{ending(row[0])}")

    def test_standard_output_is_never_an_input(self):
        for name, row in WRITERS.items():
            if name in ("timeline chrome",):
                continue  # it needs a file
            with self.subTest(name):
                source = f"in.{ending(row[0])}"
                shutil.copyfile(row[0], source)
                with open(source, "ab") as out:
                    done = subprocess.run([PROGRAM, *self.arguments(name, source)], stdout=out, stderr=subprocess.PIPE,
                                          check=False, timeout=PATIENCE)
                self.assertEqual(done.returncode, 2, done.stderr.decode())
                self.assertTrue(filecmp.cmp(source, row[0], shallow=False))

    def test_files_of_options_are_inputs(self):
        key, config = os.urandom(32), b'{"thresholds": {"idle_high": 5}}'
        shutil.copyfile(TRACE, "a.pt.trace.json")
        for given, option, command in ((key, "--key=b.json", ["redact"]), (config, "--config=b.json", ["report"])):
            with open("b.json", "wb") as file:
                file.write(given)
            done = run(*command, option, "-o", "b.json", "a.pt.trace.json")
            self.assertEqual(done.returncode, 2, done.stderr.decode())
            self.assertEqual(content("b.json"), given)

    def test_logs_beside_a_trace_are_inputs(self):
        os.mkdir("logs")
        log = "logs/dedicated_log_torch_trace_rank_0_x.log"
        shutil.copyfile(TRACE, "a.pt.trace.json")
        with open(log, "w", encoding="utf-8") as file:
            file.write("V0101 00:00:00.000000 1 torch/_logging/structured.py:22] {}\n")
        os.chmod(log, 0o600)
        for given in (log, "logs"):
            done = run("compile", "--torch-trace", given, "--format=text", "-o", log, "a.pt.trace.json")
            self.assertEqual(done.returncode, 2, done.stderr.decode())
            run("compile", "--torch-trace", given, "-o", "out", "a.pt.trace.json")
            self.assertEqual(mode_of("out"), "0o600")

    def test_a_folder_of_the_input_is_no_place_for_a_copy(self):
        session = self.session("a", "b")
        for command in (["trim", "--plane=/device:*"], ["redact", "--keep=*"]):
            for target in (session, "log"):
                done = run(*command, "-o", target, session)
                if command[0] == "trim":
                    self.assertEqual(done.returncode, 2, done.stderr.decode())
                for host in "ab":
                    self.assertTrue(filecmp.cmp(f"{session}/{host}.xplane.pb", PROFILE, shallow=False))
        self.assertEqual(run("report", "-o", session, session).returncode, 4)

    def test_two_copies_do_not_come_into_one_place(self):
        for run_name in "ab":
            os.makedirs(f"{run_name}/plugins/profile/s")
            shutil.copyfile(PROFILE, f"{run_name}/plugins/profile/s/h.xplane.pb")
        done = run("trim", "--plane=/device:*", "-o", "out", "a/plugins/profile/s", "b/plugins/profile/s")
        self.assertEqual(done.returncode, 4)
        self.assertIn("has just written it", done.stderr.decode())

    def test_what_is_not_a_plain_file_is_written_to_or_refused(self):
        session = self.session()
        os.mkfifo("unread")
        os.mkdir("folder")
        for target, status in (("unread", 4), ("folder", 4), ("/dev/null", 0), ("-", 0), ("/dev/stdout", 0),
                               ("/dev/fd/1", 0), ("/dev/full", 4), ("missing/folder", 4)):
            with self.subTest(target):
                done = self.good(run("report", "--format=json", "-o", target, session), status)
                self.assertEqual(done.stdout[:1], b"{" if status == 0 and target != "/dev/null" else b"")
                self.assertEqual(status != 0, b"tpusight: " in done.stderr)

    def test_a_process_substitution_and_a_log_that_grows(self):
        session = self.session()
        done = subprocess.run(["bash", "-c", '"$0" report --format=json -o >(wc -c >count) "$1"; wait $!', PROGRAM, session],
                              check=False, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0)
        self.assertGreater(int(content("count")), 1000)
        with open("grows", "wb") as file:
            file.write(b"before\n")
        done = subprocess.run(["bash", "-c", '"$0" report --format=json -o /dev/stdout "$1" >>grows', PROGRAM, session],
                              check=False, timeout=PATIENCE)
        self.assertEqual(content("grows")[:8], b"before\n{")


if __name__ == "__main__":
    unittest.main()
