#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""LiveProfiler against JAX jobs on the CPU, this process's own and others: live_test.py

Needs JAX: $TS_JAX_PYTHON names a Python with it, else this skips."""
import contextlib
import io
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import types
import unittest
import unittest.mock
import warnings

import package

package.under("TS_JAX_PYTHON")
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
import tpusight
from tpusight import _capture, _server, _telling, dashboard

PATIENCE_S = 60


def until(what):
    """Whether WHAT() comes true in time."""
    end = time.time() + PATIENCE_S
    while time.time() < end:
        if what():
            return True
        time.sleep(0.02)
    return False


@jax.jit
def train_step(x):
    return jnp.tanh(x @ x.T).sum()


def busy(live, of):
    """Steps of one shape until OF(live) holds."""
    step = live.trace(lambda: train_step(jnp.ones((32, 32))).block_until_ready())
    return until(lambda: step() is not None and of(live))


def stat_of(pid):
    """The state and the parent of a process; None when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            state, parent = f.read().rsplit(")", 1)[1].split()[:2]
            return state, int(parent)
    except OSError:
        return None


def child_of(process):
    """The pid of the `tpusight` that a process has started."""
    found = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and (stat_of(pid) or ("", 0))[1] == process.pid]
    program = os.path.realpath(package.PROGRAM)
    return next((pid for pid in found if os.path.realpath(f"/proc/{pid}/exe") == program), None)


def is_alive(pid):
    return (stat_of(pid) or "Z")[0] != "Z"


class Watching(unittest.TestCase):
    def test_this_process_is_watched_and_its_steps_are_seen(self):
        live = tpusight.LiveProfiler(update_interval=0.1)
        told = []
        live.on_metrics(told.append)
        with live:
            self.assertTrue(live.is_running)
            self.assertTrue(busy(live, lambda live: live.metrics.step_time_ps and live.metrics.sample > 3))
        self.assertFalse(live.is_running)
        self.assertEqual([m.sample for m in live.history], list(range(1, len(told) + 1)))
        self.assertEqual(told, live.history)
        self.assertIsNone(live.metrics.mxu_utilization_pct)  # a CPU: unknown, not 0
        self.assertEqual(live.services[0].state, "up")

    def test_the_figures_are_those_that_the_program_names(self):
        live = tpusight.LiveProfiler()
        raw = []
        live._told = lambda event: raw.append(event)
        with live:
            pass
        self.assertEqual(tuple(raw[0]["metrics"]), tpusight.Metrics.NAMES)
        self.assertEqual(set(tpusight.Metrics()), set(tpusight.Metrics(raw[0])))

    def test_a_compilation_longer_than_samples_is_known_while_it_goes_on_and_as_a_whole(self):
        true_s = []
        jax.monitoring.register_event_duration_secs_listener(
            lambda event, seconds, **_: true_s.append(seconds) if event.endswith("backend_compile_duration") else None)
        live = tpusight.LiveProfiler(update_interval=0.05, alert_thresholds={"compilation_time_high": 300}, options=["--hold=0"])

        def long(x):
            for i in range(60):
                x = jnp.sin(x) @ jnp.cos(x) + i
            return x
        with live:
            self.assertTrue(busy(live, lambda live: live.metrics.sample > 2))
            before = sum(true_s)
            jax.jit(long)(jnp.ones((64, 64))).block_until_ready()
            true_ms = (sum(true_s) - before) * 1000
            self.assertTrue(busy(live, lambda live: (live.metrics.compilation_ms_per_min or 0) >= 0.99 * true_ms - 2))
        self.assertLess(live.metrics.compilation_ms_per_min, sum(true_s) * 1000 + 2)
        self.assertTrue(any(m.compiling_pct == 100 for m in live.history), [m.compiling_pct for m in live.history])
        self.assertIn("compilation_time_high", live.get_alert_counts())

    def test_memory_in_use_is_what_the_devices_say(self):
        stats = [{"bytes_in_use": 1 << 30}, {"bytes_in_use": 5}, None, {}]
        devices = [types.SimpleNamespace(memory_stats=lambda one=one: one) for one in stats]
        with unittest.mock.patch.object(jax, "local_devices", lambda: devices), tpusight.LiveProfiler(update_interval=0.05) as live:
            self.assertTrue(until(lambda: live.metrics.memory_used_bytes == (1 << 30) + 5))
        self.assertIsNone(_telling._bytes_in_use())  # a CPU does not say

    def test_shapes_that_change_raise_an_alert_with_all_it_says(self):
        live = tpusight.LiveProfiler(update_interval=0.1)
        told = []

        @live.on_alert
        def on_alert(alert):
            told.append(alert)
        self.assertTrue(callable(on_alert))
        shapes = iter(range(8, 4000))

        @jax.jit
        def grows(x):
            return jnp.tanh(x).sum()

        with live:
            self.assertTrue(until(lambda: grows(np.ones((next(shapes), 16), "float32")) is not None and told))
        alert = told[0]
        self.assertEqual((alert.severity, alert.state, alert.category), ("warning", "raised", "recompilation"))
        self.assertIn("grows", alert.message)
        self.assertIn("programs", alert.evidence)
        self.assertLess(abs(alert.timestamp - time.time()), PATIENCE_S)
        self.assertEqual(live.get_recent_alerts(), told)
        self.assertEqual(live.get_alert_counts()["recompilation"], 1)
        live.clear_alerts()
        self.assertEqual(live.alerts, [])

    def test_thresholds_raise_and_clear(self):
        live = tpusight.LiveProfiler(alert_thresholds={"compilation_time_high": 0.5}, update_interval=0.05,
                                     options=["--hold=0", "--clear-after=0"])
        told, shapes = [], iter(range(8, 4000))
        live.on_alert(told.append)
        with live:
            of = until(lambda: train_step(jnp.ones((next(shapes), 24))) is not None and
                       any(a.rule == "compilation_time_high" for a in told))
        self.assertTrue(of)
        alert = next(a for a in told if a.rule == "compilation_time_high")
        self.assertEqual(alert.threshold, 0.5)
        self.assertGreater(alert.value, 0.5)

    def test_an_alert_that_is_over_is_told_apart(self):
        live = tpusight.LiveProfiler()
        raised, cleared = [], []
        live.on_alert(raised.append)
        live.on_clear(cleared.append)
        for state in ("raised", "cleared"):
            live._told({"type": "alert", "state": state, "rule": "idle", "severity": "warning", "message": "m"})
        self.assertEqual([a.state for a in raised + cleared], ["raised", "cleared"])
        self.assertEqual(len(live.alerts), 1)

    def test_a_callback_that_fails_does_not_stop_the_watching(self):
        live, seen = tpusight.LiveProfiler(update_interval=0.05), []
        live.on_metrics(lambda metrics: sys.exit(1))
        live.on_metrics(lambda metrics: 1 / 0)
        live.on_metrics(seen.append)
        with self.assertLogs("tpusight", logging.ERROR) as logged, live:
            self.assertTrue(until(lambda: len(seen) >= 4))
        self.assertIn("ZeroDivisionError", "".join(logged.output))

    def test_a_callback_may_end_it(self):
        live = tpusight.LiveProfiler(update_interval=0.05)
        live.on_metrics(lambda metrics: live.stop())
        live.start()
        self.assertTrue(until(lambda: not live.is_running and not threads()))

    def test_memory_is_bounded(self):
        live = tpusight.LiveProfiler(window_size=3, update_interval=0.01, sample_ms=10)
        with live:
            self.assertTrue(until(lambda: live.metrics.sample > 8))
        self.assertEqual(len(live.history), 3)

    def test_it_starts_again_and_two_share_the_server(self):
        live, other = tpusight.LiveProfiler(update_interval=0.05), tpusight.LiveProfiler(update_interval=0.05)
        for _ in range(2):
            with live, other:
                self.assertTrue(until(lambda: live.services[0].state == "up" and live.metrics.sample > 1))
                with self.assertRaisesRegex(tpusight.TpusightError, "running"):
                    live.start()
        live.stop()  # once more does nothing

    def test_while_it_samples_this_process_nothing_else_captures_it(self):
        with tpusight.LiveProfiler():
            with self.assertRaisesRegex(tpusight.TpusightError, "LiveProfiler"):
                tpusight.TPUsight().start()
        with tpusight.TPUsight() as profiler:
            train_step(jnp.ones((32, 32)))
        self.assertEqual(len(profiler.captures), 1)


def threads():
    return [t for t in threading.enumerate() if t.name == "tpusight live"]


class Failing(unittest.TestCase):
    def test_a_threshold_that_is_not_known_is_one_error(self):
        with self.assertRaisesRegex(tpusight.TpusightError, "nonsense"):
            tpusight.LiveProfiler(alert_thresholds={"nonsense": 1}).start()
        self.assertEqual(threads(), [])

    def test_the_names_of_old_are_taken(self):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            live = tpusight.LiveProfiler(alert_thresholds={"mxu_utilization_low": 20, "mxu_utilization_warning": 40,
                                                           "padding_waste_high": 25, "memory_bound_threshold": 60,
                                                           "compilation_time_high": 1000, "cache_miss_rate_high": 50})
        self.assertEqual([("cache_miss_rate_high" in str(w.message)) for w in told], [True])
        with live:
            pass

    def test_a_server_of_the_users_own_is_watched_by_its_address(self):
        with tpusight.LiveProfiler():
            pass
        address = _server.address()
        with unittest.mock.patch.object(_server, "_address", None):  # as if somebody else had started it
            with self.assertRaisesRegex(tpusight.TpusightError, "service="):
                tpusight.LiveProfiler().start()
            with tpusight.LiveProfiler(service=address) as live:
                self.assertTrue(until(lambda: live.services and live.services[0].state == "up"))

    def test_a_job_that_does_not_answer_is_no_error_but_told(self):
        with tpusight.LiveProfiler(service="127.0.0.1:9") as live:
            self.assertTrue(until(lambda: live.problem))
            self.assertEqual(live.services[0].state, "down")

    def test_an_end_of_its_own_is_told_once(self):
        live = tpusight.LiveProfiler(options=["--for=300ms"], service="127.0.0.1:9").start()
        self.assertTrue(until(lambda: not live.is_running))
        with self.assertRaisesRegex(tpusight.TpusightError, "no host sent a sample"):
            live.stop()
        live.stop()

    def test_a_watcher_that_is_killed_is_told(self):
        live = tpusight.LiveProfiler(service="127.0.0.1:9").start()
        live._watch._process.kill()
        self.assertTrue(until(lambda: not live.is_running))
        with self.assertRaisesRegex(tpusight.TpusightError, "-9"):
            live.stop()

    def test_without_the_program_nothing_is_left_behind(self):
        with unittest.mock.patch.dict(os.environ, {"TPUSIGHT": "/nowhere/tpusight"}):
            with self.assertRaisesRegex(tpusight.TpusightError, "/nowhere/tpusight"):
                tpusight.LiveProfiler().start()
        self.assertEqual(_capture.watchers, set())
        with tpusight.LiveProfiler():
            pass


class Ending(unittest.TestCase):
    CODE = ("import sys, tpusight\nlive = tpusight.LiveProfiler(update_interval=0.05, service='127.0.0.1:9').start()\n"
            "print('up', flush=True)\nsys.stdin.readline()\n")

    def job(self, code=CODE):
        environment = dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin"), PYTHONDONTWRITEBYTECODE="1")
        process = subprocess.Popen([sys.executable, "-c", code], env=environment, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "up\n")
        child = child_of(process)
        self.assertTrue(child)
        return process, child

    def test_python_that_ends_takes_the_watcher_with_it(self):
        process, child = self.job()
        process.stdin.write("\n")
        process.stdin.flush()
        self.assertEqual(process.wait(PATIENCE_S), 0)
        self.assertFalse(is_alive(child))

    def test_python_that_is_killed_takes_it_too(self):
        process, child = self.job()
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertTrue(until(lambda: not is_alive(child)))

    def test_a_fork_that_lives_on_does_not_keep_the_watcher(self):
        fork = "import os\nif os.fork() == 0:\n    os.close(1)\n    sys.stdin.read()\n    os._exit(0)\n"
        code = self.CODE.replace("print(", fork + "print(")
        process, child = self.job(code)
        process.kill()
        process.wait()
        self.assertTrue(until(lambda: not is_alive(child)))

    def test_its_own_server_is_no_matter_at_the_end(self):
        code = "import tpusight\nlive = tpusight.LiveProfiler(update_interval=0.05).start()\nprint(live.metrics.sample)"
        environment = dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin"), PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"), done.stderr)


class Showing(unittest.TestCase):
    def setUp(self):
        self.live = tpusight.LiveProfiler()
        metrics = dict.fromkeys(tpusight.Metrics.NAMES)
        for sample, mxu in ((1, 10.0), (2, None), (3, 40.0), (4, 37.25)):
            self.live._told({"type": "sample", "sample": sample, "elapsed_ms": 5, "time_unix_ms": 1700000000000,
                             "services": [], "problem": None, "alerts": ["idle"],
                             "metrics": dict(metrics, mxu_utilization_pct=mxu, step_time_ps=3500000000)})
        self.live._told({"type": "alert", "state": "raised", "rule": "idle", "severity": "warning", "time_unix_ms": 0,
                         "message": "<script>\x1b[2J"})
        self.board = tpusight.SimpleLiveDashboard(self.live)

    def test_as_text_unknown_is_a_dash_and_nothing_reaches_the_terminal(self):
        text = self.board.text()
        self.assertRegex(text, r"MXU utilization +37\.2 %|MXU utilization +37\.3 %")
        self.assertRegex(text, r"step time +3\.500 ms")
        self.assertRegex(text, r"HBM bandwidth +-\n")
        self.assertNotIn("\x1b", text)

    def test_as_html_it_is_escaped_and_gaps_are_not_drawn_over(self):
        markup = self.board._repr_html_()
        self.assertNotIn("<script>", markup)
        self.assertEqual(markup.count("<polyline"), 2)
        self.assertIn("1 active alerts", self.board.text())

    def test_outside_of_a_terminal_it_is_a_line_a_sample(self):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            self.board.start(0.01)
            self.assertTrue(until(out.getvalue))
            time.sleep(0.1)
            self.board.stop()
        self.assertEqual(out.getvalue().count("\n"), 1)
        self.assertIn("sample 4  MXU utilization 37.2", out.getvalue())

    def test_in_a_notebook_the_cell_is_updated(self):
        shown = []

        class Handle:
            update = shown.append
        fake = unittest.mock.MagicMock()
        with unittest.mock.patch.dict(sys.modules, {"IPython": fake, "IPython.display": fake}), \
                unittest.mock.patch.object(dashboard._notebook, "show", lambda markup: shown.append(markup) or Handle):
            self.board.start(0.01)
            self.assertTrue(until(lambda: len(shown) > 3))
            self.board.stop()


if __name__ == "__main__":
    package.main()
