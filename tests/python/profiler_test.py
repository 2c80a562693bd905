#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TPUsight against real JAX on the CPU: profiler_test.py

What it captures is what ran, and what it says is what the program says. Needs JAX: $TS_JAX_PYTHON names a Python with
it, else this skips."""
import asyncio
import contextlib
import csv
import gc
import io
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from unittest import mock

import package

package.under("TS_JAX_PYTHON")
os.environ["JAX_PLATFORMS"] = "cpu"
import unittest

import jax
import jax.numpy as jnp
import tpusight
from tpusight import _capture
from tpusight.session import View

SIZE = 96


@jax.jit
def product(x):
    return jnp.tanh(x @ x).sum()


ONES = jnp.ones((SIZE, SIZE))
product(ONES).block_until_ready()


def hits(results, function):
    """How often a jitted function was called, as the program counts it in the profile."""
    return {row["function"]: row["calls"] for row in results.cache.functions}.get(function, 0)


def reported(session, *options):
    command = [package.PROGRAM, "report", "--color=never", *options, session.path]
    return subprocess.run(command, capture_output=True, check=True).stdout


class Capturing(unittest.TestCase):
    def test_a_block_has_the_calls_that_were_made_in_it(self):
        profiler = tpusight.TPUsight()
        product(ONES)
        with profiler:
            for _ in range(7):
                product(ONES)
        product(ONES)
        self.assertEqual(hits(profiler, "product"), 7)
        self.assertEqual(len(profiler.captures), 1)

    def test_each_traced_call_is_a_capture_and_returns_what_it_computed(self):
        profiler = tpusight.TPUsight()
        traced = profiler.trace(product)
        self.assertEqual([float(traced(ONES)) for _ in range(3)], [float(product(ONES))] * 3)
        self.assertEqual([hits(session, "product") for session in profiler.captures], [1, 1, 1])
        self.assertEqual(len({session.path for session in profiler.captures}), 3)

    def test_traced_with_parentheses_in_classes_and_of_coroutines(self):
        profiler = tpusight.TPUsight()

        class Model:
            @profiler.trace()
            def method(self, x):
                return product(x)

            @profiler.trace
            @staticmethod
            def static(x):
                return product(x)

            @profiler.trace
            async def later(self, x):
                await asyncio.sleep(0)
                return product(x)

        model = Model()
        model.method(ONES)
        Model.static(ONES)
        asyncio.run(model.later(ONES))
        self.assertEqual([hits(session, "product") for session in profiler.captures], [1, 1, 1])
        self.assertEqual(Model.method.__name__, "method")

    def test_a_generator_is_refused(self):
        profiler = tpusight.TPUsight()
        with self.assertRaisesRegex(tpusight.TpusightError, "generator"):
            @profiler.trace
            def items():
                yield 1

    def test_the_device_work_begun_inside_is_in_it(self):
        profiler = tpusight.TPUsight()
        large = jnp.ones((1200, 1200))
        chain = jax.jit(lambda x: jax.lax.fori_loop(0, 8, lambda _, y: jnp.tanh(y @ x), x))
        chain(large).block_until_ready()
        with profiler:
            result = chain(large)
        self.assertTrue(result.is_ready())

    def test_compilation_inside_is_seen_with_its_function(self):
        profiler = tpusight.TPUsight()
        with profiler:
            jax.jit(lambda x: x * 3 + 1)(ONES)
        self.assertEqual(profiler.summary().compilation_count, 1)

    def test_the_share_of_calls_is_exact_and_begins_with_the_first(self):
        for rate, calls, expected in ((0.25, 9, [0, 4, 8]), (0.5, 4, [0, 2]), (0, 3, []), (1, 2, [0, 1]),
                                      (0.1, 12, [0, 10])):
            profiler = tpusight.TPUsight(sample_rate=rate)
            traced = profiler.trace(product)
            taken = []
            for n in range(calls):
                before = len(profiler.captures)
                traced(ONES)
                taken += [n] * (len(profiler.captures) - before)
            self.assertEqual(taken, expected, rate)

    def test_of_many_calls_the_share_is_kept_for_any_rate(self):
        for rate in (0.3, 1 / 3, 0.07, 0.999):
            profiler = tpusight.TPUsight(sample_rate=rate)
            due = sum(profiler._is_due(n) for n in range(100000))
            self.assertAlmostEqual(due / 100000, rate, delta=2e-5)

    def test_a_call_that_jax_traces_is_left_alone(self):
        profiler = tpusight.TPUsight()
        inner = profiler.trace(lambda x: x * 2)
        self.assertEqual(float(jax.jit(lambda x: inner(x).sum())(ONES)), 2 * SIZE * SIZE)
        self.assertEqual(profiler.captures, [])

    def test_start_and_stop_in_two_threads(self):
        profiler = tpusight.TPUsight()
        profiler.start()
        self.assertTrue(profiler.is_capturing)
        product(ONES)
        stopper = threading.Thread(target=profiler.stop)
        stopper.start()
        stopper.join()
        self.assertEqual(hits(profiler, "product"), 1)
        with self.assertRaisesRegex(tpusight.TpusightError, "not started"):
            profiler.stop()

    def test_sessions_are_named_and_kept_in_the_log_directory(self):
        with tempfile.TemporaryDirectory() as logdir:
            profiler = tpusight.TPUsight(logdir=logdir, session_name="run")
            for _ in range(2):
                with profiler.trace_context("first"):
                    product(ONES)
            self.assertEqual(sorted(os.listdir(os.path.join(logdir, "plugins", "profile"))), ["run", "run_2"])
            del profiler
            gc.collect()
            self.assertEqual(hits(tpusight.Session(os.path.join(logdir, "plugins", "profile", "run_2")), "product"), 1)

    def test_a_temporary_folder_lives_as_long_as_its_sessions(self):
        profiler = tpusight.TPUsight()
        with profiler:
            product(ONES)
        folder, session = profiler.logdir, profiler.captures[0]
        del profiler
        gc.collect()
        self.assertTrue(session.report())
        del session
        gc.collect()
        self.assertFalse(os.path.exists(folder))

    def test_a_temporary_folder_is_gone_when_python_ends_and_a_fork_does_not_take_it(self):
        code = ("import os, sys, tpusight\np = tpusight.TPUsight()\n"
                "if os.fork() == 0:\n    sys.exit(0)\nos.wait()\nprint(p.logdir, os.path.isdir(p.logdir))")
        said = run_python(code).split()
        self.assertEqual(said[1], "True")
        self.assertFalse(os.path.exists(said[0]))

    def test_a_fork_does_not_have_the_capture(self):
        code = ("import os, sys, tpusight, warnings\nfrom tpusight import _capture\nwarnings.simplefilter('ignore')\n"
                "p = tpusight.TPUsight()\np.start()\n"
                "if os.fork() == 0:\n    os._exit(_capture.running() is not None)\n"
                "print(os.waitstatus_to_exitcode(os.wait()[1]))\np.stop()\nprint(p.summary().captures)")
        self.assertEqual(run_python(code).split(), ["0", "1"])

    def test_old_captures_of_a_temporary_folder_are_removed(self):
        profiler = tpusight.TPUsight(max_captures=2)
        for _ in range(4):
            with profiler:
                product(ONES)
        root = os.path.join(profiler.logdir, "plugins", "profile")
        kept = [os.path.basename(session.path) for session in profiler.captures]
        self.assertEqual(sorted(os.listdir(root)), sorted(kept))
        profiler.reset()
        self.assertEqual(os.listdir(root), [])
        with self.assertRaisesRegex(tpusight.TpusightError, "nothing was captured"):
            profiler.summary()


def run_python(code, *, python=sys.executable, check=True, **env):
    environment = dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin"), PYTHONDONTWRITEBYTECODE="1", **env)
    done = subprocess.run([python, "-c", code], env=environment, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout if check else done.stderr


class Beside(unittest.TestCase):
    """Nested, failing, in threads, beside others."""

    def test_inside_its_own_capture_nothing_new_begins(self):
        profiler = tpusight.TPUsight()
        inner = profiler.trace(product)
        outer = profiler.trace(lambda x: inner(x) + inner(x))
        with profiler, profiler.trace_context():
            outer(ONES)
        self.assertEqual(len(profiler.captures), 1)
        self.assertEqual(hits(profiler, "product"), 2)

    def test_an_exception_goes_on_and_what_was_captured_is_kept(self):
        profiler = tpusight.TPUsight()

        @profiler.trace
        def fails(x):
            product(x)
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            fails(ONES)
        with self.assertRaisesRegex(KeyError, "mine"), profiler:
            product(ONES)
            raise KeyError("mine")
        self.assertEqual([hits(session, "product") for session in profiler.captures], [1, 1])
        self.assertFalse(profiler.is_capturing)

    def test_two_profilers_at_once_are_one_clear_error_and_the_first_goes_on(self):
        first, second = tpusight.TPUsight(), tpusight.TPUsight()
        with first:
            with self.assertRaisesRegex(tpusight.TpusightError, "one at a time"), second:
                self.fail("not reached")
            product(ONES)
        self.assertEqual(hits(first, "product"), 1)
        with second:
            product(ONES)
        self.assertEqual(hits(second, "product"), 1)

    def test_a_traced_function_runs_while_another_profiler_is_at_work_and_one_warning_says_so(self):
        profiler, ran = tpusight.TPUsight(), []
        traced = profiler.trace(lambda: ran.append(1) or 7)
        late = tpusight.profile_function(profiler.logdir, warmup_steps=0)(lambda: 8)
        with tempfile.TemporaryDirectory() as folder, jax.profiler.trace(folder):
            with self.assertWarnsRegex(RuntimeWarning, "<lambda> was not captured, and the job goes on"):
                self.assertEqual(traced(), 7)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                self.assertEqual([traced(), traced()], [7, 7])
            self.assertEqual(told, [])
            with self.assertWarnsRegex(RuntimeWarning, "a call was not captured"):
                self.assertEqual(late(), 8)
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # python -W error
                self.assertEqual(tpusight.TPUsight().trace(lambda: 9)(), 9)
        self.assertEqual((len(ran), profiler.not_captured, profiler.captures), (3, 3, []))
        self.assertIn("3 not captured", repr(profiler))
        self.assertEqual(traced(), 7)
        self.assertEqual((len(profiler.captures), profiler.not_captured), (1, 3))

    def test_a_capture_that_cannot_be_kept_ends_neither_call_nor_block(self):
        profiler = tpusight.TPUsight()
        full = OSError(28, "No space left on device")
        with mock.patch.object(_capture, "new_file", side_effect=full):  # the memory's profile
            with self.assertWarnsRegex(RuntimeWarning, "No space left"):
                self.assertEqual(float(profiler.trace(product)(ONES)), float(product(ONES)))
        with mock.patch.object(jax.profiler, "stop_trace", side_effect=full), profiler:
            ran = True
        self.assertTrue(ran)
        self.assertEqual(profiler.not_captured, 2)
        with self.assertRaisesRegex(tpusight.TpusightError, "nothing was captured: .*No space left"):
            profiler.report()
        self.assertTrue(captures_at_last(profiler))
        self.assertEqual(hits(profiler, "product"), 1)

    def test_an_interrupt_while_a_capture_ends_leaves_the_profiler_usable(self):
        profiler = tpusight.TPUsight()
        stop = jax.profiler.stop_trace

        def interrupted():
            stop()
            raise KeyboardInterrupt
        with mock.patch.object(jax.profiler, "stop_trace", interrupted), self.assertRaises(KeyboardInterrupt):
            profiler.trace(product)(ONES)
        with profiler:
            product(ONES)
        self.assertEqual(hits(profiler, "product"), 1)

    def test_the_child_of_a_fork_inside_a_capture_leaves_it_to_the_parent(self):
        lines = ("import os, sys, tpusight", "p = tpusight.TPUsight(collect_memory=False)", "@p.trace", "def step():",
                 "    child = os.fork()", "    if child:", "        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))",
                 "    return child", "if step() == 0:", "    os._exit(7 if p.captures or p.not_captured else 0)",
                 "print(len(p.captures), p.not_captured)")
        self.assertEqual(run_python("\n".join(lines)).split(), ["0", "1", "0"])

    def test_jax_capturing_on_its_own_is_one_clear_error(self):
        with tempfile.TemporaryDirectory() as folder:
            with jax.profiler.trace(folder), self.assertRaisesRegex(tpusight.TpusightError, "one profile may be run"):
                tpusight.TPUsight().start()
        self.assertIsNone(_capture.running())

    def test_while_somebody_samples_the_process_the_result_is_kept_and_the_next_capture_works(self):
        profiler = tpusight.TPUsight()
        traced = profiler.trace(lambda: product(ONES) + 1)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        jax.profiler.start_server(port)
        options = ["--json", "--sample-ms=1000", "--interval=0", f"--service=127.0.0.1:{port}"]
        sampler = subprocess.Popen([package.PROGRAM, "live", *options], stdout=subprocess.PIPE)
        try:
            sampler.stdout.readline()  # the first sample is over, the second has begun
            time.sleep(0.3)
            with self.assertWarnsRegex(RuntimeWarning, "one profiler at a time"):
                self.assertEqual(traced(), product(ONES) + 1)
            with self.assertRaisesRegex(tpusight.TpusightError, "nothing was captured: .*one profiler at a time"):
                profiler.summary()
        finally:
            sampler.kill()
            sampler.communicate()
        self.assertTrue(captures_at_last(profiler))  # the sample goes on without the sampler for a while
        self.assertEqual(hits(profiler, "product"), 1)

    def test_threads_run_inside_the_one_capture(self):
        profiler = tpusight.TPUsight()
        traced = profiler.trace(product)
        with profiler:
            threads = [threading.Thread(target=traced, args=(ONES,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(len(profiler.captures), 1)
        self.assertEqual(hits(profiler, "product"), 4)


def captures_at_last(profiler):
    """Whether a block is captured, within half a minute."""
    for _ in range(60):
        with contextlib.suppress(tpusight.TpusightError), profiler:
            product(ONES)
        if profiler.captures:
            return True
        time.sleep(0.5)
    return False


class Saying(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.kept = [jnp.ones((64, 32)), jnp.ones((128,), jnp.bfloat16)]
        cls.profiler = tpusight.TPUsight()
        with cls.profiler:
            product(ONES)
        cls.session = cls.profiler.captures[-1]

    def test_the_report_is_the_programs(self):
        printed = json.loads(reported(self.session, "--format=json"))
        self.assertEqual(self.profiler.report(), printed)
        self.assertEqual(self.profiler.report("text"), reported(self.session, "--all").decode())
        self.assertNotIn("--", repr(self.profiler.report()).split("More:")[-1])  # calls of Python, not options
        self.assertEqual(str(self.profiler.report()), self.profiler.report("text"))
        for name in ("overview", "systolic", "padding", "fusion", "cache", "memory", "time", "doctor"):
            self.assertEqual(getattr(self.profiler, name), printed[name], name)
            self.assertEqual(str(getattr(self.profiler, name)), reported(self.session, f"--view={name}").decode(), name)
        self.assertEqual(self.profiler.time_breakdown, printed["time"])
        self.assertEqual(self.profiler.view("capacity").analyze(), printed["capacity"])
        with self.assertRaisesRegex(tpusight.TpusightError, "no such"):
            self.profiler.view("no such")

    def test_the_summary_has_the_reports_figures_and_says_why_they_are_unknown(self):
        summary, report = self.profiler.summary(), self.profiler.report()
        for name, value in report["overview"].items():
            self.assertEqual(summary[name], value, name)
        self.assertIsNone(summary.mxu_utilization_pct)  # not 0: there is no matrix unit here
        self.assertEqual(summary.why, [cause["what"] for cause in report["capture"]["causes"]])
        self.assertIn("no tpu or gpu is in this profile", summary.why[0].lower())
        self.assertEqual(summary.captures, 1)

    def test_the_memory_profile_is_what_jax_holds(self):
        self.assertEqual(self.profiler.summary().held_bytes, sum(array.nbytes for array in jax.live_arrays()))
        self.assertIn("memory_profile.prof", os.listdir(self.session.path))

    def test_what_is_not_collected_is_unknown(self):
        profiler = tpusight.TPUsight(collect_hlo=False, collect_memory=False, cache_analysis=False)
        with profiler:
            product(ONES)
        self.assertNotIn("memory_profile.prof", os.listdir(profiler.captures[-1].path))
        for module in profiler.report()["modules"]:  # each op has its module's name, and nothing says what that had to do
            self.assertEqual([module[name] for name in ("flops", "bytes_accessed", "parameter_bytes")], [None] * 3)
        self.assertNotIn("cache", profiler.report())
        self.assertNotIn("cache_hits", profiler.summary())
        with self.assertRaisesRegex(tpusight.TpusightError, "left out"):
            _ = profiler.cache.functions

    def test_the_breakdown_of_a_cpu_is_printed(self):
        printed, out = io.StringIO(), sys.stdout
        sys.stdout = printed
        try:
            self.profiler.time_breakdown.print_breakdown()
        finally:
            sys.stdout = out
        self.assertRegex(printed.getvalue(), r"Time Breakdown\n.*\n  Total Time: [\d.]+ [µm]s\n(.*\n)*  Compute +[\d.]+ [µm]s ")

    def test_the_breakdown_of_a_device_sums_to_its_time(self):
        session = tpusight.Session(os.path.join(package.DATA, "planted", "clean.tar.gz"))
        self.assertGreater(session.time.total_ps, 0)
        self.assertEqual(sum(session.time.buckets.values()), session.time.total_ps)
        self.assertEqual(session.summary().why, [])

    def test_thresholds_reach_the_doctor(self):
        path = os.path.join(package.DATA, "planted", "clean.tar.gz")
        rules = [{f["rule"] for f in tpusight.Session(path, thresholds).doctor.get_recommendations()}
                 for thresholds in (None, {"idle_high": 0, "finding_min": 0, "memory_wait_high": 0})]
        self.assertTrue(rules[1] - rules[0], rules)
        with self.assertRaisesRegex(tpusight.TpusightError, "no_such"):
            tpusight.Session(path, {"no_such": 1}).report()

    def test_files_are_the_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            def path(name):
                return os.path.join(folder, name)
            self.profiler.export(path("a.html"))
            self.profiler.export(path("b.data"), format="json")
            self.profiler.export(path("c.csv"), view="cache.functions")
            self.profiler.export(path("d.csv"))
            self.assertIn("<html", read(path("a.html")))
            self.assertEqual(json.loads(read(path("b.data"))), self.profiler.report())
            rows = list(csv.DictReader(io.StringIO(read(path("c.csv")))))
            told = self.profiler.cache.functions
            self.assertEqual([row["function"] for row in rows], [row["function"] for row in told])
            self.assertEqual(read(path("c.csv")), self.profiler.cache.csv("functions"))
            self.assertTrue(read(path("d.csv")).startswith("program_id,module,name"))
            with self.assertRaisesRegex(ValueError, "html, json, text, csv"):
                self.profiler.export(path("e.xml"))
            with self.assertRaises(tpusight.TpusightError):
                self.profiler.export(path("a.html/in a file.json"))

    def test_in_a_terminal_the_dashboard_is_a_file(self):
        out, sys.stdout = sys.stdout, io.StringIO()
        try:
            path = self.profiler.dashboard()
            self.assertIn(path, sys.stdout.getvalue())
        finally:
            sys.stdout = out
        self.assertEqual(read(path), self.session.page())
        os.unlink(path)

    def test_in_a_notebook_it_shows_its_headline_and_says_where_the_page_is(self):
        markup = self.profiler._repr_html_()
        self.assertLess(len(markup), 5000)
        self.assertIn(".dashboard()", markup)
        self.assertNotIn("<iframe", markup)

    def test_displaying_never_raises(self):
        self.assertIn("nothing was captured yet", tpusight.TPUsight()._repr_html_())
        with mock.patch.dict(os.environ, {"TPUSIGHT": "/nowhere/tpusight"}):
            session = tpusight.Session(self.session.path)
            self.assertIn("/nowhere/tpusight", session._repr_html_())
            self.assertIn("/nowhere/tpusight", View(session, "time", {})._repr_html_())

    def test_nonsense_is_refused(self):
        for wrong in ({"sample_rate": 1.5}, {"sample_rate": -0.1}, {"max_captures": 0}):
            with self.assertRaises(ValueError):
                tpusight.TPUsight(**wrong)
        for wrong in ({"collect_hlo": 3}, {"collect_memory": None}, {"session_name": 3}):
            with self.assertRaises(TypeError):
                tpusight.TPUsight(**wrong)
        with self.assertRaisesRegex(TypeError, r"tpusight\.Session\('profiles'\)"):
            tpusight.TPUsight("profiles")
        with self.assertRaisesRegex(TypeError, r"LiveProfiler\(service='localhost:9012'\)"):
            tpusight.LiveProfiler("localhost:9012")
        with self.assertRaisesRegex(tpusight.TpusightError, "/nowhere: no such file or folder"):
            tpusight.Session("/nowhere")
        with self.assertRaises(TypeError):
            tpusight.TPUsight().trace(3)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


if __name__ == "__main__":
    package.main()
