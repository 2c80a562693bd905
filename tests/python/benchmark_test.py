#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What needs no JAX: benchmark_function's arithmetic, and what is said where JAX is missing: benchmark_test.py"""
import os
import random
import statistics
import sys
import tempfile
import unittest
from unittest import mock

import package
import tpusight

for name in tpusight.__all__:  # loaded before sys.modules is patched, or there would be two of each
    getattr(tpusight, name)


class Figures(unittest.TestCase):
    def test_by_hand(self):
        result = tpusight.Benchmark.of("f", [4.0, 1.0, 3.0, 2.0, 10.0], 7)
        self.assertEqual((result.mean_ms, result.median_ms, result.min_ms, result.max_ms), (4, 3, 1, 10))
        self.assertAlmostEqual(result.std_ms, 12.5 ** 0.5)  # of the sample: 50 / 4
        self.assertAlmostEqual(result.p90_ms, 7.6)          # 0.9 x 4 = 3.6: 4 + 0.6 x (10 - 4)
        self.assertAlmostEqual(result.p99_ms, 9.76)
        self.assertEqual((result.iterations, result.warmup, result["name"]), (5, 7, "f"))

    def test_percentiles_are_those_of_the_standard_library(self):
        values = [random.Random(4).expovariate(1) for _ in range(1001)]
        cuts = statistics.quantiles(values, n=100, method="inclusive")
        result = tpusight.Benchmark.of("f", values, 0)
        self.assertAlmostEqual(result.p90_ms, cuts[89])
        self.assertAlmostEqual(result.p99_ms, cuts[98])

    def test_of_one_call_the_deviation_is_unknown(self):
        result = tpusight.Benchmark.of("f", [2.0], 0)
        self.assertIsNone(result.std_ms)
        self.assertEqual(result.p99_ms, 2)
        self.assertIn("median 2.000", str(result))

    def test_against_a_baseline(self):
        before, after = tpusight.Benchmark.of("f", [10.0], 0), tpusight.Benchmark.of("f", [11.0], 0)
        self.assertAlmostEqual(after.change_pct(before), 10)
        self.assertAlmostEqual(before.change_pct(after), -100 / 11)
        after.assert_not_slower(before, within_pct=11)
        after.assert_not_slower(12)
        with self.assertRaisesRegex(AssertionError, r"11\.000, \+10\.0 % against 10\.000 \(allowed: \+5\.0 %\)"):
            after.assert_not_slower(before)

    def test_saved_and_loaded(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "b.json")
            result = tpusight.Benchmark.of("f", [1.5, 2.5], 0)
            result.save(path)
            loaded = tpusight.Benchmark.load(path)
        self.assertEqual(loaded, result)
        self.assertEqual(loaded.mean_ms, 2)

    def test_a_plain_function_is_called_as_often_as_asked(self):
        called = []
        result = tpusight.benchmark_function(lambda x, y: called.append((x, y)), 1, iterations=3, warmup=2, y=2)
        self.assertEqual(called, [(1, 2)] * 5)
        self.assertEqual(result.iterations, 3)
        for wrong in ({"iterations": 0}, {"warmup": -1}):
            with self.assertRaises(ValueError):
                tpusight.benchmark_function(print, **wrong)


    def test_the_snippet_of_a_regression_test_works_as_it_stands(self):
        called = []
        stats = tpusight.benchmark_function(called.append, 1, num_iterations=4, warmup=3)
        self.assertEqual((len(called), stats.iterations, stats.warmup), (7, 4, 3))
        self.assertRegex(f"Mean: {stats['mean']:.2f}ms ± {stats['std']:.2f}ms", r"Mean: \d+\.\d\dms ± \d+\.\d\dms")
        self.assertEqual([stats[name] for name in ("mean", "std", "min", "max", "median", "p99")],
                         [stats[name + "_ms"] for name in ("mean", "std", "min", "max", "median", "p99")])
        self.assertEqual(tpusight.benchmark_function(called.append, 1, num_iterations=2, num_warmup=0).warmup, 0)
        with self.assertRaises(KeyError):
            stats["no_such"]


class WithoutJax(unittest.TestCase):
    """Each thing that needs JAX says so, in the same words."""

    def setUp(self):
        patch = mock.patch.dict(sys.modules, {"jax": None, "jax.profiler": None})
        patch.start()
        self.addCleanup(patch.stop)

    def test_one_clear_error(self):
        def inside(manager):
            with manager:
                self.fail("not reached")

        def enabled():
            with mock.patch.dict(os.environ, {"PROFILE_ENABLED": "1"}):
                tpusight.maybe_profile(100)

        for action in (lambda: inside(tpusight.TPUsight()), lambda: tpusight.TPUsight().trace(print)(),
                       lambda: inside(tpusight.TPUsight().trace_context("x")), lambda: tpusight.TPUsight().start(),
                       lambda: tpusight.LiveProfiler().start(), lambda: tpusight.LiveProfiler().trace(print),
                       lambda: inside(tpusight.profile_trace("x")), lambda: tpusight.profile_function("x", 0)(print)(),
                       enabled):
            with self.assertRaisesRegex(tpusight.TpusightError, "JAX cannot be imported .*pip install jax"):
                action()
        self.assertFalse(os.path.exists("x"))

    def test_profiles_are_read_all_the_same(self):
        session = tpusight.Session(os.path.join(package.DATA, "planted", "clean.tar.gz"))
        self.assertGreater(session.summary().step_count, 0)

    def test_another_job_is_watched_all_the_same(self):
        with tpusight.LiveProfiler(service="127.0.0.1:9") as live:
            self.assertEqual(live.services[0].state, "down")


if __name__ == "__main__":
    package.main()
