#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The TensorBoard plugin under --logdir test://bucket/logs: plugin_test.py

TensorBoard itself is not needed: two of its classes stand here (tests/python/routes_test.py). The bucket is a folder, read by store.py.
$TPUSIGHT names the program (default: bin/tpusight).
"""
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "python"))
import package

base_plugin = types.SimpleNamespace(TBPlugin=object, TBLoader=object, FrontendMetadata=dict)
plugins = types.ModuleType("tensorboard.plugins")
plugins.base_plugin = base_plugin
sys.modules.update({"tensorboard": types.ModuleType("tensorboard"), "tensorboard.plugins": plugins})

from tensorboard_plugin_tpusight import plugin

URL = "test://bucket/logs"
PATIENCE_S = 120
OTHER = """
import sys, types
sys.path[:0] = {path!r}
from tensorboard_plugin_tpusight import remote
asked = remote.Remote({url!r})
print(asked.get("/runs", {{}})[0], asked._child.pid, flush=True)
sys.stdin.read()
"""


class Plugin(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tpusight-plugin-")
        self.addCleanup(shutil.rmtree, self.folder)
        store = os.path.join(self.folder, "store")
        shutil.copytree(os.path.join(package.DATA, "sample"), os.path.join(store, "bucket", "logs"))
        helper = os.path.join(self.folder, "tpusight-remote-test")
        with open(helper, "w", encoding="utf-8") as f:
            f.write(f'#!/bin/sh\nexec "{sys.executable}" "{os.path.join(HERE, "store.py")}" "$@"\n')
        os.chmod(helper, 0o755)
        self.scratch = os.path.join(self.folder, "scratch")
        os.mkdir(self.scratch)
        for name, value in {"TS_STORE": store, "TPUSIGHT_REMOTE_DIR": self.folder, "TMPDIR": self.scratch}.items():
            before = os.environ.get(name)
            self.addCleanup(os.environ.update, {name: before}) if before else self.addCleanup(os.environ.pop, name)
            os.environ[name] = value

    def ask(self, route, query="", method="GET"):
        told = []
        app = self.plugin.get_plugin_apps()[route]
        body = b"".join(app({"REQUEST_METHOD": method, "PATH_INFO": "/data/plugin/tpusight" + route, "QUERY_STRING": query},
                            lambda status, headers, exc_info=None: told.append((int(status[:3]), dict(headers)))))
        (status, headers), = told
        return status, gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body

    def wait_for(self, condition, words):
        until = time.monotonic() + PATIENCE_S
        while not condition():
            self.assertLess(time.monotonic(), until, words)
            time.sleep(0.05)

    def test_the_tab_has_the_runs_of_a_bucket(self):
        self.plugin = plugin.TpusightPlugin(types.SimpleNamespace(logdir=URL))
        self.addCleanup(self.plugin._remote.close)
        self.wait_for(self.plugin.is_active, "the tab does not become active")
        status, body = self.ask("/runs")
        self.assertEqual(status, 200)
        run, = json.loads(body)["runs"]
        self.assertIn("train_step_simulated", run["title"])
        status, body = self.ask("/report", f"run={run['id']}")
        self.assertEqual((status, json.loads(body)["run"]["logdir"]), (200, URL))
        self.assertEqual(self.ask("/report", "run=none")[0], 404)
        self.assertEqual(json.loads(self.ask("/traces", f"run={run['id']}")[1])["traces"], [])
        subprocess.run([package.PROGRAM, "annotate", "-q", URL], check=True, timeout=PATIENCE_S)
        self.wait_for(lambda: json.loads(self.ask("/traces", f"run={run['id']}")[1])["traces"], "the trace is not listed")
        status, trace = self.ask("/trace", f"run={run['id']}&file=perfetto_trace.json.gz")
        self.assertEqual((status, gzip.decompress(trace)[:12]), (200, b'{"otherData"'))
        self.assertEqual(self.ask("/trace", f"run={run['id']}&file=../up")[0], 404)

    def test_a_bucket_that_cannot_be_read_is_told(self):
        self.plugin = plugin.TpusightPlugin(types.SimpleNamespace(logdir="test://bucket/none"))
        status, body = self.ask("/runs")
        self.assertEqual(status, 422)
        self.assertIn("there is no object", json.loads(body)["error"]["message"])

    def test_the_server_ends_with_tensorboard(self):
        text = OTHER.format(path=[p for p in sys.path if p], url=URL)
        other = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertIn(b"200", other.stdout.readline())
        self.assertTrue(os.listdir(self.scratch))
        other.send_signal(signal.SIGKILL)
        other.wait()
        other.stdin.close()
        other.stdout.close()
        self.wait_for(lambda: not os.listdir(self.scratch), "the server goes on")


if __name__ == "__main__":
    unittest.main()
