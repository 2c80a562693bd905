#!/usr/bin/env python3
"""profile_trace, profile_function, maybe_profile and benchmark_function on JAX's CPU: helpers_test.py

Needs JAX: $TS_JAX_PYTHON names a Python with it, else this skips."""
import asyncio
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
    root = os.path.join(logdir, "plugins", "profile")
    names = sorted(os.listdir(root)) if os.path.isdir(root) else []
    return [tpusight.Session(os.path.join(root, name)) for name in names]


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

    def test_by_default_five_steps_from_the_tenth(self):
        self.assertEqual(self.run_steps(range(30), ENABLED=1), [5])

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
                self.run_steps([20], **{"ENABLED": 1, name: value})
            helpers._plan.next_step = None

    def test_a_profiler_that_is_at_work_is_warned_of_and_the_job_goes_on(self):
        with tpusight.TPUsight(), self.assertWarnsRegex(RuntimeWarning, "step 10 is not profiled"):
            self.assertEqual(self.run_steps(range(12), ENABLED=1), [])

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
