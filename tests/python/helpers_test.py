#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""profile_trace, profile_function, maybe_profile and benchmark_function on JAX's CPU: helpers_test.py

Needs JAX: $TS_JAX_PYTHON names a Python with it, else this skips."""
import asyncio
import contextlib
import glob
import io
import os
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import package

package.under("TS_JAX_PYTHON")
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import tpusight
from tpusight import _capture, helpers

ONES = jnp.ones((48, 48))


@jax.jit
def train(x):
    return jnp.tanh(x @ x).sum()


train(ONES).block_until_ready()


def calls(session):
    """How often train() ran in a profile, as the program counts it."""
    return {row["function"]: row["calls"] for row in session.cache.functions}.get("train", 0)


def sessions(logdir):
    """Of the log directory and its runs, by their places."""
    found = glob.glob(os.path.join(logdir, "**", "plugins", "profile", "*"), recursive=True)
    return [tpusight.Session(path) for path in sorted(found)]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.logdir = folder.name


class Blocks(Folder):
    def test_a_block_is_captured_and_told(self):
        with tpusight.profile_trace(self.logdir, "epoch") as captured:
            self.assertIsNone(captured.session)
            for _ in range(3):
                train(ONES)
        self.assertEqual(calls(captured.session), 3)
        self.assertEqual([s.path for s in sessions(self.logdir)], [captured.session.path])

    def test_its_name_is_the_runs(self):
        for name in ("optimizer_adamw", "optimizer_muon"):
            with tpusight.profile_trace(self.logdir, name=name) as captured:
                train(ONES)
            self.assertEqual(os.path.relpath(captured.session.path, self.logdir).split(os.sep)[:3],
                             [name, "plugins", "profile"])
        found = subprocess.run([package.PROGRAM, "compare", self.logdir], capture_output=True, text=True, check=True)
        self.assertRegex(found.stdout, r"baseline: +optimizer_adamw\n  optimizer_muon:")

    def test_a_folder_of_that_name_is_not_made_twice_and_none_without_one(self):
        for dir, name, run in (("step_7", "step_7", "step_7"), ("", None, "."), ("", "a/b c", "a_b_c")):
            with tpusight.profile_trace(os.path.join(self.logdir, dir), name) as captured:
                train(ONES)
            self.assertEqual(os.path.relpath(captured.session.path, self.logdir), os.path.normpath(os.path.join(
                run, "plugins", "profile", os.path.basename(captured.session.path))))

    def test_a_scope_is_an_event_of_the_host_and_in_the_names_of_ops(self):
        @jax.jit
        def scoped(x):
            with tpusight.profile_scope("forward_pass"):
                return jnp.tanh(x) @ x

        with tpusight.profile_trace(self.logdir) as captured:
            with tpusight.profile_scope("data_loading"):
                scoped(ONES).block_until_ready()
        with open(glob.glob(os.path.join(captured.session.path, "*.xplane.pb"))[0], "rb") as f:
            profile = f.read()
        self.assertTrue(b"data_loading" in profile and b"jit(scoped)/forward_pass/" in profile)

    def test_an_exception_goes_on_and_the_profile_is_kept(self):
        with self.assertRaises(KeyError), tpusight.profile_trace(self.logdir) as captured:
            train(ONES)
            raise KeyError
        self.assertEqual(calls(captured.session), 1)

    def test_one_inside_another_is_one_clear_error(self):
        with tpusight.profile_trace(self.logdir, "outer"):
            with self.assertRaisesRegex(tpusight.TpusightError, "profile_trace.'outer'. is capturing"):
                with tpusight.profile_trace(self.logdir, "inner"):
                    pass


class Functions(Folder):
    def test_the_call_after_the_warm_up_is_captured_and_no_other(self):
        step = tpusight.profile_function(self.logdir, warmup_steps=3)(train)
        counts = []
        for _ in range(6):
            step(ONES)
            counts.append(len(step.captured))
        self.assertEqual(counts, [0, 0, 0, 1, 1, 1])
        self.assertEqual([calls(session) for session in step.captured], [1])

    def test_several_and_without_a_warm_up(self):
        @tpusight.profile_function(self.logdir, 0, profile_steps=2)
        async def step(x):
            return train(x)
        for _ in range(3):
            asyncio.run(step(ONES))
        self.assertEqual([calls(session) for session in step.captured], [1, 1])

    def test_without_a_directory_it_says_so(self):
        with self.assertRaisesRegex(TypeError, "directory"):
            tpusight.profile_function(train)
        with self.assertRaises(ValueError):
            tpusight.profile_function(self.logdir, warmup_steps=-1)


class Steps(Folder):
    def setUp(self):
        super().setUp()
        self.plan = helpers._Plan()
        patch = unittest.mock.patch.object(helpers, "_plan", self.plan)
        patch.start()
        self.addCleanup(patch.stop)

    def run_steps(self, steps, block=True, **variables):
        with unittest.mock.patch.dict(os.environ, {"PROFILE_" + name: str(value) for name, value in variables.items()}):
            for n in steps:
                if block:
                    with tpusight.maybe_profile(n, self.logdir):
                        train(ONES)
                else:
                    tpusight.maybe_profile(n, self.logdir)
                    train(ONES)
        return [calls(session) for session in sessions(self.logdir)]

    def test_nothing_happens_unless_it_is_enabled(self):
        self.assertEqual(self.run_steps(range(20)), [])
        self.assertEqual(self.run_steps(range(20), ENABLED=0, START_STEP=1), [])

    def test_by_default_the_hundredth_step_alone(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(self.run_steps(range(130), ENABLED=1), [1])
        self.assertEqual([os.path.relpath(s.path, self.logdir).split(os.sep)[0] for s in sessions(self.logdir)],
                         ["step_00000100"])
        rule = "=" * 60
        self.assertEqual(said.getvalue(), f"""{rule}
\U0001F4CA PROFILING ENABLED
{rule}
  Profile Dir:    {self.logdir}
  Start Step:     100
  Interval:       once
  Duration:       1 step(s)
  Mode:           tensorboard
{rule}
\U0001F4CA Profiling step 100...
\u2713 Profile saved: {self.logdir}/step_00000100
""")

    def test_the_environment_names_the_folder_where_the_caller_does_not(self):
        code = "from tpusight import maybe_profile\nfor n in range(3):\n    with maybe_profile(n):\n        pass\n"
        environment = dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin"), PYTHONDONTWRITEBYTECODE="1",
                           PROFILE_ENABLED="1", PROFILE_START_STEP="1", PROFILE_INTERVAL="1", PYTHONIOENCODING="ascii")
        for named, place in ({"PROFILE_DIR": "elsewhere"}, "elsewhere"), ({}, "./profiles"):
            done = subprocess.run([sys.executable, "-c", code], env={**environment, **named}, cwd=self.logdir,
                                  check=True, capture_output=True, text=True)
            self.assertIn(f"  Profile Dir:    {place}\n", done.stdout)
            self.assertIn(f"Profile saved: {place}/step_00000002\n", done.stdout)
            self.assertEqual(sorted(os.listdir(os.path.join(self.logdir, place))), ["step_00000001", "step_00000002"])

    def test_the_steps_that_are_asked_for(self):
        taken = self.run_steps(range(30), ENABLED="true", START_STEP=4, INTERVAL=10, DURATION=3)
        self.assertEqual(taken, [3, 3, 3])

    def test_steps_are_marked_with_their_numbers(self):
        kind = jax.profiler.StepTraceAnnotation
        with unittest.mock.patch("jax.profiler.StepTraceAnnotation", wraps=kind) as mark:
            self.run_steps(range(12), ENABLED=1, START_STEP=7, DURATION=2)
        self.assertEqual([call.kwargs["step_num"] for call in mark.call_args_list], [7, 8])

    def test_as_a_call_at_the_head_of_the_loop(self):
        self.assertEqual(self.run_steps(range(12), block=False, ENABLED=1, START_STEP=2, INTERVAL=5, DURATION=2), [2, 2])

    def test_a_job_past_its_first_step_begins_at_once(self):
        self.assertEqual(self.run_steps(range(5000, 5010), ENABLED=1, DURATION=4), [4])

    def test_a_step_that_fails_leaves_nothing_open_behind_the_last_one(self):
        variables = {"PROFILE_ENABLED": "1", "PROFILE_START_STEP": "0", "PROFILE_DURATION": "1"}
        with unittest.mock.patch.dict(os.environ, variables):
            with self.assertRaises(KeyError), tpusight.maybe_profile(0, self.logdir):
                raise KeyError
        self.assertIsNone(_capture.running())
        self.assertEqual(len(sessions(self.logdir)), 1)

    def test_what_is_no_number_is_told(self):
        for name, value in (("START_STEP", "soon"), ("DURATION", "0"), ("INTERVAL", "-1"), ("ENABLED", "perhaps")):
            with self.assertRaisesRegex(tpusight.TpusightError, f"PROFILE_{name}={value}"):
                self.run_steps([120], **{"ENABLED": 1, name: value})
            helpers._plan.next_step = None

    def test_a_profiler_that_is_at_work_is_warned_of_and_the_job_goes_on(self):
        with tpusight.TPUsight(), self.assertWarnsRegex(RuntimeWarning, "step 10 is not profiled"):
            self.assertEqual(self.run_steps(range(12), ENABLED=1, START_STEP=10), [])

    def test_a_capture_that_is_open_when_python_ends_is_closed(self):
        code = ("import jax.numpy as jnp, sys\nfrom tpusight import maybe_profile\n"
                "for n in range(3):\n    maybe_profile(n, sys.argv[1])\n    jnp.ones(n + 1).block_until_ready()\n")
        environment = dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin"), PYTHONDONTWRITEBYTECODE="1",
                           PROFILE_ENABLED="1", PROFILE_START_STEP="1", PROFILE_DURATION="100")
        subprocess.run([sys.executable, "-c", code, self.logdir], env=environment, check=True)
        self.assertEqual([session.summary().verdict is not None for session in sessions(self.logdir)], [True])


class Timing(Folder):
    def test_each_call_is_waited_for(self):
        large = jnp.ones((900, 900))
        slow = jax.jit(lambda x: jax.lax.fori_loop(0, 6, lambda _, y: jnp.tanh(y @ x), x))
        start = time.perf_counter()
        result = tpusight.benchmark_function(slow, large, iterations=5, warmup=1)
        total_ms = (time.perf_counter() - start) * 1e3
        start = time.perf_counter()
        slow(large).block_until_ready()
        once_ms = (time.perf_counter() - start) * 1e3
        self.assertEqual((result.iterations, result.warmup, len(result.times_ms)), (5, 1, 5))
        self.assertLess(sum(result.times_ms), total_ms)
        self.assertGreater(result.min_ms, once_ms / 10)  # dispatch alone takes microseconds


if __name__ == "__main__":
    package.main()
