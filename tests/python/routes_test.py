#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The routes of the TensorBoard plugin, asked as TensorBoard asks them and worse: routes_test.py

TensorBoard itself is not needed: two of its classes stand here, without what is not used. What the page makes of the answers is in
tests/page/plugin_test.py.
"""
import concurrent.futures
import gzip
import json
import logging
import os
import shutil
import stat
import sys
import tempfile
import threading
import time
import types
import unittest
from unittest import mock

import package

base_plugin = types.SimpleNamespace(TBPlugin=object, TBLoader=object, FrontendMetadata=dict)
plugins = types.ModuleType("tensorboard.plugins")
plugins.base_plugin = base_plugin
sys.modules.update({"tensorboard": types.ModuleType("tensorboard"), "tensorboard.plugins": plugins})

from tensorboard_plugin_tpusight import plugin, reports, runs
from tpusight import TpusightError, _program

SESSION = "2026_01_01_00_00_00"
SAMPLE = os.path.join(package.DATA, "sample", "train_step_simulated", "plugins", "profile", SESSION, "simulated-host.xplane.pb")
NAMES = ("-rf", "--help", "=1+1", "<img src=x onerror=hacked()>", "a b", "$(touch hacked)", ";touch hacked;", "`touch hacked`", "%2e%2e",
         "a\nb", "\u202egnp")
MORE = 8  # requests than may wait
FIXED = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
         "Cache-Control": "no-cache"}


class Routes(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.logdir = os.path.join(self.folder.name, "logs")
        self.add("own")
        self.plugin = plugin.TpusightPlugin(types.SimpleNamespace(logdir=self.logdir))
        self.addCleanup(self.plugin.close)

    def add(self, run, data=None, logdir=None):
        session = os.path.join(logdir or self.logdir, run, "plugins", "profile", SESSION)
        os.makedirs(session)
        path = os.path.join(session, "host.xplane.pb")
        if data is None:
            shutil.copyfile(SAMPLE, path)
        else:
            with open(path, "wb") as f:
                f.write(data)
        return path

    def ask(self, route, query="", method="GET", **more):
        """(status, headers, body)"""
        told = []
        app = self.plugin.get_plugin_apps()[route]
        body = b"".join(app({"REQUEST_METHOD": method, "PATH_INFO": "/data/plugin/tpusight" + route, "QUERY_STRING": query, **more},
                            lambda status, headers, exc_info=None: told.append((int(status[:3]), dict(headers)))))
        (status, headers), = told
        return status, headers, gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body

    def error(self, *asked, **more):
        status, _, body = self.ask(*asked, **more)
        message = json.loads(body)["error"]["message"]
        self.assertNotIn(self.folder.name, message)
        self.assertNotIn("Traceback", message)
        return status

    def program(self, script):
        """A program that does as the script says, in place of tpusight."""
        path = os.path.join(self.folder.name, "program")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\n{script}\n")
        os.chmod(path, stat.S_IRWXU)
        return mock.patch.dict(os.environ, {"TPUSIGHT": path})

    def test_every_answer_has_the_headers_and_its_own_type(self):
        for route, kind in (("/index.js", "text/javascript"), ("/runs", "application/json"), ("/report", "application/json")):
            _, headers, _ = self.ask(route)
            self.assertEqual(headers["Content-Type"], f"{kind}; charset=utf-8")
            self.assertEqual({name: headers.get(name) for name in FIXED}, FIXED)
            self.assertNotIn("Access-Control-Allow-Origin", headers)

    def test_only_get_and_head_are_answered(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"):
            status, headers, _ = self.ask("/report", f"run=own/{SESSION}", method)
            self.assertEqual((status, headers["Allow"]), (405, "GET, HEAD"))
        self.assertEqual(self.ask("/runs", method="HEAD")[2], b"")

    def test_what_is_no_run_of_the_list_is_nothing(self):
        outside = self.add("outside", logdir=self.folder.name)
        for run in ("", "nothing", "..", "../outside", f"../outside/{SESSION}", outside, os.path.dirname(outside),
                    f"own/../own/{SESSION}", f"own/{SESSION}/", f"own//{SESSION}", f"%6fwn/%2e%2e/own/{SESSION}", "own%00",
                    "%ff%fe", "a" * 100000, "/etc/passwd", "--help"):
            self.assertEqual(self.error("/report", f"run={run}"), 404, run[:40])
        self.assertEqual(self.error("/report", "&".join(f"a{i}=1" for i in range(1000))), 400)
        self.assertEqual(self.ask("/report", f"run=own/{SESSION}&run=nothing&path=/etc/passwd")[0], 200)
        self.assertEqual(self.error("/report", f"run=own/{SESSION}&host=/etc/passwd"), 404)

    def test_links_that_lead_out_are_not_followed(self):
        outside = self.add("outside", logdir=self.folder.name)
        with open(os.path.join(os.path.dirname(outside), reports.REPORT), "w", encoding="utf-8") as f:
            f.write('{"schema": "tpusight/1", "secret": 1}')
        os.symlink(os.path.join(self.folder.name, "outside"), os.path.join(self.logdir, "run"))
        for name, link in (("session", os.path.dirname(outside)), ("file", None)):
            profile = os.path.join(self.logdir, name, "plugins", "profile")
            os.makedirs(profile)
            if link:
                os.symlink(link, os.path.join(profile, SESSION))
            else:
                os.mkdir(os.path.join(profile, SESSION))
                os.symlink(outside, os.path.join(profile, SESSION, "host.xplane.pb"))
        own = os.path.join(self.logdir, "own", "plugins", "profile", SESSION)
        os.symlink(os.path.join(os.path.dirname(outside), reports.REPORT), os.path.join(own, reports.REPORT))
        self.assertEqual([s.id for s in runs.find(self.logdir)], [f"own/{SESSION}"])
        self.assertNotIn(b"secret", self.ask("/report", f"run=own/{SESSION}")[2])
        for run in ("run", "session", "file"):
            self.assertEqual(self.error("/report", f"run={run}/{SESSION}"), 404)

    def test_names_are_names_and_never_options_or_commands(self):
        for name in NAMES:
            self.add(name)
        for found in json.loads(self.ask("/runs")[2])["runs"]:
            with self.subTest(found["id"]):
                query = "run=" + "".join(f"%{byte:02x}" for byte in found["id"].encode())
                self.assertEqual(self.ask("/report", query)[0], 200)
        self.assertFalse(os.path.exists("hacked"))

    def test_the_tab_is_there_when_the_first_page_asks(self):
        self.assertTrue(plugin.TpusightPlugin(types.SimpleNamespace(logdir=self.logdir)).is_active())

    def test_a_search_that_takes_long_holds_up_the_first_page_alone(self):
        go = threading.Event()
        self.addCleanup(go.set)
        with mock.patch.object(runs, "find", side_effect=lambda logdir: iter([go.wait()])):
            slow = plugin.TpusightPlugin(types.SimpleNamespace(logdir=self.logdir))
            self.assertFalse(slow.is_active())
            with mock.patch.object(slow._has_looked, "wait", wraps=slow._has_looked.wait) as wait:
                self.assertFalse(slow.is_active())
                wait.assert_called_once_with(0)
            go.set()
            slow._has_looked.wait()
            self.assertTrue(slow.is_active())

    def test_a_profile_that_comes_later_brings_the_tab(self):
        empty = os.path.join(self.folder.name, "later")
        os.mkdir(empty)
        later = plugin.TpusightPlugin(types.SimpleNamespace(logdir=empty))
        self.assertFalse(later.is_active())
        self.add("run", logdir=empty)
        with mock.patch.object(plugin, "LOOK_AGAIN_S", 0):
            until = time.monotonic() + 60
            while not later.is_active() and time.monotonic() < until:
                time.sleep(0.01)
        self.assertTrue(later.is_active())

    def test_damaged_and_empty_sessions_are_listed_as_such(self):
        self.add("damaged", b"")
        os.makedirs(os.path.join(self.logdir, "none", "plugins", "profile", SESSION))
        until = time.monotonic() + 60
        while True:
            answer = json.loads(self.ask("/runs")[2])
            if answer["is_known"] or time.monotonic() > until:
                break
            time.sleep(0.05)
        self.assertEqual({run["run"]: bool(run["problem"]) for run in answer["runs"]}, {"own": False, "damaged": True})
        problem, = answer["problems"]
        self.assertRegex(problem, f"^none/plugins/profile/{SESSION}: a session without profiles")

    def test_errors_have_no_paths_and_no_traces(self):
        self.add("damaged", b"\x0a\xff\xff")
        self.assertEqual(self.error("/report", f"run=damaged/{SESSION}"), 422)
        with mock.patch.object(runs, "find", side_effect=RuntimeError(self.folder.name)), self.assertLogs("tpusight", logging.ERROR):
            self.assertEqual(self.error("/runs"), 500)
        with mock.patch.dict(os.environ, {"TPUSIGHT": os.path.join(self.folder.name, "nowhere")}):
            self.assertEqual(self.error("/report", f"run=own/{SESSION}"), 422)

    def test_a_program_that_hangs_is_ended(self):
        with self.program("sleep 1000 & sleep 1000"), mock.patch.object(reports, "PATIENCE_S", 0.2):
            begin = time.monotonic()
            self.assertEqual(self.error("/report", f"run=own/{SESSION}"), 422)
            self.assertLess(time.monotonic() - begin, 60)

    def test_a_program_that_floods_is_ended(self):
        for out in ("", " >&2"):
            with self.program(f"exec yes{out}"), mock.patch.object(_program, "MOST_BYTES", 1 << 20):
                with self.assertRaisesRegex(TpusightError, "wrote more than|did not end"):
                    _program.run("report", timeout_s=60 if not out else 0.5)

    def test_of_what_a_program_says_last_the_end_is_kept(self):
        with self.program("yes | head -c 10000000 >&2; echo the end >&2; exit 3"):
            with self.assertRaisesRegex(TpusightError, "^the end$"):
                _program.run("report", timeout_s=60)

    def test_more_requests_than_may_wait_are_sent_away(self):
        go = os.path.join(self.folder.name, "go")
        with self.program(f"while [ ! -e {go} ]; do sleep 0.1; done; echo '{{\"schema\": \"tpusight/1\"}}'"), \
                concurrent.futures.ThreadPoolExecutor(reports.WAITING + MORE) as pool:
            asked = [pool.submit(self.ask, "/report", f"run=own/{SESSION}") for _ in range(reports.WAITING + MORE)]
            while sum(a.done() for a in asked) < MORE:
                time.sleep(0.05)
            open(go, "wb").close()
            found = [a.result() for a in asked]
        statuses = [status for status, _, _ in found]
        self.assertEqual(sorted(set(statuses)), [200, 503])
        self.assertEqual(statuses.count(200), reports.WAITING)
        self.assertTrue(all(headers.get("Retry-After") == "1" for status, headers, _ in found if status == 503))


if __name__ == "__main__":
    package.main()
