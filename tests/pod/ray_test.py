#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A pod on a real cluster of Ray, whose nodes are all on this machine: ray_test.py

Each node has a folder of its own, $TS_NODE, for its profiles, its scratch folders and its program; the program first does what the file
$TS_NODE/before says. $TS_RAY_PYTHON names a Python with Ray (default: this one); where there is no Ray, the test is skipped."""
import contextlib
import functools
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import given
import package
from tpusight import pod

if os.environ.get("TS_RAY_PYTHON"):
    package.under("TS_RAY_PYTHON")
if not importlib.util.find_spec("ray"):
    package.skip("Ray is not installed")

os.environ.update(RAY_DEDUP_LOGS="0", RAY_USAGE_STATS_ENABLED="0")
import ray
from ray.cluster_utils import Cluster

PATIENCE_S = 300
NODES = ("a", "b", "c", "full")
WITHOUT_PROGRAM = "c"
BEFORE = """[ ! -e "$TS_NODE/before" ] || . "$TS_NODE/before"
echo "$2" >>"$TS_NODE/worked\""""


def wait_for(condition):
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > PATIENCE_S:
            raise AssertionError("it did not come about")
        time.sleep(0.05)


def is_clean(folder):
    return not [name for name in os.listdir(folder) if "tpusight" in name]


class Nodes:
    """The cluster, and the folders of its nodes."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tpusight-test-ray-")
        self.is_small = False
        self.cluster = Cluster(initialize_head=True, head_node_args=dict(self._arguments("head"), num_cpus=1))
        self.nodes = {name: self.add(name) for name in NODES}
        ray.init(address=self.cluster.address, log_to_driver=False, logging_level="ERROR")

    def path(self, node, *names):
        return os.path.join(self.folder, node, *names)

    def _arguments(self, node):
        for folder in self.path(node), self.path(node, "scratch"):
            os.mkdir(folder)
        program = given.wrapper(self.path(node, "tpusight"), BEFORE)
        if node == "full":  # 16 KiB: less than a run's outline. Where nothing can be mounted, the program says what a full disk says
            self.is_small = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", self.path(node, "scratch")],
                                           capture_output=True, check=False).returncode == 0
            if not self.is_small:
                self.before("full", "echo 'tpusight: No space left on device' >&2; exit 4")
        program = self.path(node, "nowhere") if node == WITHOUT_PROGRAM else program
        variables = {"TS_NODE": self.path(node), "TMPDIR": self.path(node, "scratch"), "TPUSIGHT": program, "PATH": "/usr/bin:/bin"}
        return {"env_vars": variables, "include_dashboard": False, "object_store_memory": 100 << 20}

    def add(self, node):
        return self.cluster.add_node(num_cpus=2, **self._arguments(node))

    def before(self, node, text):
        with open(self.path(node, "before"), "w") as f:
            f.write(text + "\n")

    def worked(self, node):
        return os.path.exists(self.path(node, "worked"))

    def forget(self):
        for node in os.listdir(self.folder):
            for name in ("worked", "before") if node != "full" or self.is_small else ("worked",):
                if os.path.exists(self.path(node, name)):
                    os.unlink(self.path(node, name))
            shutil.rmtree(self.path(node, "logs"), ignore_errors=True)

    def close(self):
        ray.shutdown()
        self.cluster.shutdown()
        if self.is_small:
            subprocess.run(["umount", "-l", self.path("full", "scratch")], check=False)
        shutil.rmtree(self.folder)


class OnRay(given.Given):
    @classmethod
    def setUpClass(cls):
        cls.nodes = Nodes()
        cls.addClassCleanup(cls.nodes.close)

    def setUp(self):
        super().setUp()
        self.nodes.forget()

    def shared(self, count, **more):
        return os.path.join(self.session(given.hosts(count), **more), given.SESSION)

    def lay(self, node, names, source=given.SAMPLE):
        """Profiles on a node's own disk."""
        folder = self.nodes.path(node, "logs", given.SESSION)
        os.makedirs(folder, exist_ok=True)
        for name in names:
            shutil.copy(source, os.path.join(folder, name + ".xplane.pb"))

    def report(self, session, **more):
        return pod.report(session, self.output, address="auto", **more)

    def assert_as_one_machine(self, session, done, status=given.DONE):
        self.assertEqual(done.status, status, done)
        self.assert_same(self.of_one_machine(session, status), self.output)
        self.assert_no_scratch_of_nodes()

    def assert_no_scratch_of_nodes(self):
        for node in os.listdir(self.nodes.folder):
            wait_for(functools.partial(is_clean, self.nodes.path(node, "scratch")))

    def test_files_of_a_shared_disk_are_read_by_all_nodes(self):
        session = self.shared(256, source=given.SMALL)
        self.assert_as_one_machine(session, self.report(session))
        self.assertTrue(self.nodes.worked("a") and self.nodes.worked("b"))

    def test_many_hosts_of_a_shared_disk_are_annotated_by_all_nodes(self):
        names = given.hosts(48)
        for ms, of_length in (10, names[::2]), (20, names[1::2]):
            source = self.path(f"{ms}.xplane.pb")
            self.run_program("trim", f"--to-ms={ms}", "-q", "-o", source, given.SAMPLE)
            session = os.path.join(self.session(of_length, source=source), given.SESSION)
        native = given.files_of(session)
        done = pod.annotate(session, address="auto")
        self.assertEqual((done.status, done.words, done.sessions[0].words), (0, [], []), done)
        self.assertTrue(self.nodes.worked("a") and self.nodes.worked("b"))
        self.assertTrue(all(len(content) > len(native[name]) for name, content in given.files_of(session).items() if name in native))
        self.assert_annotated(session, native)
        self.assert_no_scratch_of_nodes()

    def test_files_are_read_where_they_lie(self):
        """The nodes have the session under different paths: these alone differ."""
        names = given.hosts(8)
        for node, of_node in ("a", names[:3]), ("b", names[3:6]), ("c", names[6:]):
            self.lay(node, of_node)
        done = self.report(f"$TS_NODE/logs/{given.SESSION}")
        self.assertEqual((done.status, done.words, done.sessions[0].words), (0, [], []))
        session = self.shared(8)
        with open(self.output) as theirs, open(self.of_one_machine(session)) as one:
            text = re.sub(re.escape(self.nodes.folder) + "/[abc]/logs", self.path("logs"), theirs.read())
            self.assertTrue(text == one.read())
        self.assert_no_scratch_of_nodes()

    def test_files_of_one_name_that_differ_are_refused(self):
        self.lay("a", ["host0", "host1"])
        self.lay("b", ["host1"], source=given.SMALL)
        done = self.report(f"$TS_NODE/logs/{given.SESSION}")
        self.assertEqual(done.status, given.SOME, done)
        self.assertRegex(done.sessions[0].words[0], r"host1.xplane.pb: it is another file on \S+ \(\w+\) than on ")

    def test_a_killed_worker_is_replaced(self):
        for node in "a", "b":
            self.nodes.before(node, 'if mkdir "$TS_NODE/scratch/once" 2>/dev/null; then kill -9 $PPID; exit 1; fi')
        session = self.shared(8)
        self.assert_as_one_machine(session, self.report(session))
        self.assertTrue(any(os.path.isdir(self.nodes.path(node, "scratch", "once")) for node in "ab"))

    def test_no_other_file_pays_for_one_that_kills_its_worker(self):
        self.lay("a", ["host0"])
        self.lay("b", ["host1", "host2", "host3", "host4"])
        self.nodes.before("b", 'case "$3" in *host1.*) kill -9 $PPID; exit 1 ;; esac')
        done = self.report(f"$TS_NODE/logs/{given.SESSION}")
        self.assertEqual((done.status, len(done.sessions[0].words)), (given.SOME, 1), done)
        self.assertRegex(done.sessions[0].words[0], "host1.xplane.pb: left out, the report is of the other hosts: .*lost")
        with open(self.output) as f:
            self.assertEqual([host["name"] for host in json.load(f)["run"]["hosts"]], ["host0", "host2", "host3", "host4"])

    def test_a_node_that_dies_is_done_without(self):
        dying = self.nodes.add("dying")
        for node in "a", "dying":
            self.lay(node, ["both"])
        self.lay("dying", ["alone"])
        self.nodes.before("dying", f'echo $$ >"$TS_NODE/began"; exec sleep {2 * PATIENCE_S}')
        killer = threading.Thread(target=lambda: (wait_for(lambda: os.path.exists(self.nodes.path("dying", "began"))),
                                                  self.nodes.cluster.remove_node(dying, allow_graceful=False)))
        killer.start()
        done = self.report(f"$TS_NODE/logs/{given.SESSION}")
        killer.join()
        self.assertEqual(done.status, given.SOME, done)
        self.assertRegex(done.sessions[0].words[0], r"alone.xplane.pb: left out, the report is of the other hosts: ")
        self.assertEqual(len(done.sessions[0].words), 1, done)
        with open(self.nodes.path("dying", "began")) as f, contextlib.suppress(ProcessLookupError):
            os.kill(int(f.read()), signal.SIGKILL)  # what a worker has begun does not end when it is killed itself
        shutil.rmtree(self.nodes.path("dying"))

    def test_a_node_whose_disk_is_full_does_nothing(self):
        session = self.shared(8)
        self.assert_as_one_machine(session, self.report(session))
        self.lay("full", ["host0000"])
        done = self.report(f"$TS_NODE/logs/{given.SESSION}")
        self.assertEqual(done.status, given.NOTHING, done)
        self.assertIn("No space left on device", " ".join(done.sessions[0].words))

    def test_a_slow_node_is_not_waited_for(self):
        self.nodes.before("b", f'[ "$2" != pass ] || sleep {2 * PATIENCE_S}')
        session = self.shared(8)
        self.assert_as_one_machine(session, self.report(session))

    def test_a_damaged_file_is_named_and_the_report_stands(self):
        session = self.shared(3)
        with open(os.path.join(session, "host0001.xplane.pb"), "wb") as f:
            f.write(b"not a profile at all")
        done = self.report(session)
        self.assert_as_one_machine(session, done, given.SOME)
        self.assertIn("host0001.xplane.pb", " ".join(done.sessions[0].words))

    def test_a_killed_worker_does_not_keep_a_session_from_being_annotated(self):
        """Each node's worker dies once when it has put an overlay, and once before."""
        for node in "a", "b":
            self.nodes.before(node, f"""if [ "$2" = overlay ]; then
	if mkdir "$TS_NODE/scratch/once" 2>/dev/null; then {package.PROGRAM} "$@" >/dev/null; kill -9 $PPID; exit 1; fi
	if mkdir "$TS_NODE/scratch/twice" 2>/dev/null; then kill -9 $PPID; exit 1; fi
fi""")
        session = self.shared(8)
        native = given.files_of(session)
        done = pod.annotate(session, address="auto")
        self.assertEqual((done.status, done.sessions[0].words), (0, []), done)
        self.assertTrue(any(os.path.isdir(self.nodes.path(node, "scratch", "twice")) for node in "ab"))
        self.assert_annotated(session, native)
        self.assert_no_scratch_of_nodes()

    def test_profiles_are_annotated_where_they_lie(self):
        names = given.hosts(5)
        for node, of_node in ("a", names[:3]), ("b", names[2:]):  # both have a copy of one
            self.lay(node, of_node)
        folder = {node: self.nodes.path(node, "logs", given.SESSION) for node in "ab"}
        native = {node: given.files_of(folder[node]) for node in "ab"}
        done = pod.annotate(f"$TS_NODE/logs/{given.SESSION}", address="auto")
        self.assertEqual((done.status, done.sessions[0].words), (0, []), done)
        made = {node: given.files_of(folder[node]) for node in "ab"}
        self.assertTrue(made["a"]["ALL_HOSTS.tpusight.json"] == made["b"]["ALL_HOSTS.tpusight.json"])
        of_both = {node: made[node][names[2] + ".xplane.pb"] for node in "ab"}
        self.assertEqual(sorted(of_both[node] == native[node][names[2] + ".xplane.pb"] for node in "ab"), [False, True])
        session = self.shared(5)
        self.run_program("annotate", "--perfetto=none", "-q", session)
        for name, content in given.files_of(session).items():
            if name.endswith(".xplane.pb"):
                self.assertTrue(content in [made[node].get(name) for node in "ab"], name)
        for node in "ab":
            self.run_program("annotate", "--strip", "-q", folder[node])
            self.assertEqual(given.files_of(folder[node]), native[node])

    def test_sessions_and_hosts_at_once(self):
        logs = self.session(given.hosts(4))
        self.session(given.hosts(3), source=given.SMALL, below="logs/second")
        done = pod.report(logs, self.path("out"), address="auto")
        self.assertEqual((done.status, len(done.sessions)), (0, 2))
        for one in done.sessions:
            self.assert_same(self.of_one_machine(os.path.join(logs, one.session), options=["--logdir", logs]), one.path)

    def test_it_is_cancelled_and_leaves_nothing(self):
        for node in NODES:
            self.nodes.before(node, f'touch "$TS_NODE/scratch/began"; sleep {2 * PATIENCE_S}')
        process = subprocess.Popen([sys.executable, "-m", "tpusight.pod.main", "--address", self.nodes.cluster.address, self.shared(4)],
                                   env=dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin"), TMPDIR=self.scratch),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        began = [self.nodes.path(node, "scratch", "began") for node in "ab"]
        wait_for(lambda: process.poll() is not None or any(map(os.path.exists, began)))
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=PATIENCE_S)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, words)
        self.assert_no_scratch_of_nodes()
        self.assert_no_scratch()


if __name__ == "__main__":
    package.main()
