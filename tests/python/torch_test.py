#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""With torch on a CPU (TS_TORCH_PYTHON): captures against torch's own counts, clocks and sizes: torch_test.py"""
import gc
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import package

package.under("TS_TORCH_PYTHON")
try:
    import torch
except ImportError as e:
    package.skip(str(e))

import tpusight
from tpusight import _program, torch_compile

# Debian's torch is built without Kineto: its traces have operators and ranges, and nothing else.
needs_kineto = unittest.skipUnless(torch.autograd.kineto_available(), f"torch {torch.__version__} was built without Kineto")
needs_2 = unittest.skipUnless(hasattr(torch, "compile"), f"torch {torch.__version__} has no torch.compile")

MIB_OF_FLOATS = 1 << 18
CPU = [torch.profiler.ProfilerActivity.CPU]


def work(n=64):
    x = torch.ones(n, n)
    for _ in range(20):
        x = torch.relu(x @ x) * 1e-3
    return x


def ask(command, path):
    return tpusight._program.ask(command, "--json", path)


class InAFolder(unittest.TestCase):
    """Temporary folders are made in the test's own, but where Inductor remembers those of the test before."""
    own_temporary = True

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        if self.own_temporary:
            os.mkdir(self.path("tmp"))
            self.addCleanup(setattr, tempfile, "tempdir", tempfile.tempdir)
            tempfile.tempdir = self.path("tmp")

    def path(self, name):
        return os.path.join(self.folder, name)

    def profiler(self, **options):
        return tpusight.UnifiedProfiler(output_dir=self.path("profiles"), **options)

    def left(self):
        gc.collect()
        return os.listdir(tempfile.tempdir)


class Profile(InAFolder):
    def test_the_time_of_a_block_is_that_of_a_clock(self):
        work()
        outside = time.perf_counter()
        with self.profiler(enable_memory=False, enable_flame_graph=False).profile("block") as session:
            inside = time.perf_counter()
            work()
            time.sleep(0.2)
            inside = time.perf_counter() - inside
        outside = time.perf_counter() - outside
        self.assertGreaterEqual(session.total_time_ms, inside * 1e3 * 0.999)
        self.assertLessEqual(session.total_time_ms, outside * 1e3)

    def test_every_figure_is_the_programs_of_the_trace_that_was_kept(self):
        with self.profiler().profile("a block/of 50 %") as session:
            work()
        self.assertTrue(session.trace_path.endswith(".pt.trace.json.gz"))
        self.assertEqual(os.path.dirname(session.trace_path), self.path("profiles"))
        with gzip.open(session.trace_path) as file:
            trace = json.load(file)
        events = trace if isinstance(trace, list) else trace["traceEvents"]  # a list without Kineto
        self.assertIn("a block/of 50 %", {event.get("name") for event in events})
        timeline, memory = ask("timeline", session.trace_path), ask("memory", session.trace_path)
        said = session.to_dict()
        for name in ("total_time_ms", "cpu_time_ms", "cuda_time_ms", "bottlenecks", "recommendations"):
            self.assertEqual(said[name], timeline[name], name)
        for name in ("peak_memory_mb", "allocated_memory_mb", "reserved_memory_mb"):
            self.assertEqual(said[name], memory.get(name), name)
        if not torch.cuda.is_available():
            self.assertIs(session.cuda_time_ms, tpusight.UNKNOWN)
            self.assertIs(session.reserved_memory_mb, tpusight.UNKNOWN)
        json.dumps(session.to_dict())
        self.assertIn("unknown", session._repr_html_())

    def test_a_name_of_any_length_names_a_file(self):
        with self.profiler(enable_memory=False, enable_flame_graph=False).profile("x" * 400) as session:
            work()
        self.assertTrue(os.path.exists(session.trace_path))

    def test_a_trace_that_is_not_kept_goes_with_its_session(self):
        profiler = self.profiler(enable_trace=False)
        sessions = [profiler.profile_function(work, n, iterations=2) for n in (16, 32)]
        self.assertEqual([session.trace_path for session in sessions], [None, None])
        self.assertIsNotNone(profiler.compare_sessions(*sessions)["speedup"])
        self.assertEqual(len(self.left()), 2)
        del sessions
        self.assertEqual(self.left(), [])
        self.assertFalse(os.path.exists(self.path("profiles")))

    def test_each_iteration_is_a_step(self):
        calls = []

        def slow(seconds, *, more):
            calls.append(more)
            torch.ones(3)
            time.sleep(seconds)
        session = self.profiler().profile_function(slow, 0.05, more=1, name="slow", warmup=2, iterations=3)
        self.assertEqual((session.name, len(calls)), ("slow", 5))
        self.assertEqual(len(session.step_times_ms), 3)
        for step_ms in session.step_times_ms:
            self.assertGreaterEqual(step_ms, 50)
            self.assertLess(step_ms, 10000)
        self.assertLessEqual(sum(session.step_times_ms), session.total_time_ms)
        with self.assertRaises(ValueError):
            self.profiler().profile_function(slow, 0, more=1, iterations=0)

    def test_sessions_are_compared_by_the_median_step(self):
        profiler = self.profiler(enable_memory=False, enable_flame_graph=False)
        slow, fast = (profiler.profile_function(time.sleep, s, warmup=0, iterations=6) for s in (0.25, 0.02))
        said = profiler.compare_sessions(slow, fast)
        medians = [statistics.median(session.step_times_ms) for session in (slow, fast)]
        self.assertAlmostEqual(said["speedup"], medians[0] / medians[1], places=6)
        self.assertAlmostEqual(said["timing_diff"]["step_ms"], medians[0] - medians[1], places=6)
        self.assertEqual(said["basis"], "step")
        self.assertLess(said["p_value"], 0.05)

    def test_what_a_block_raises_is_raised(self):
        with self.assertRaises(ZeroDivisionError):
            with self.profiler().profile("broken") as session:
                _ = 1 / 0
        self.assertIs(session.total_time_ms, tpusight.UNKNOWN)
        with self.profiler().profile("after") as session:
            work()
        self.assertIsNotNone(session.total_time_ms)

    def test_a_second_profiler_is_refused_and_the_first_one_goes_on(self):
        with torch.profiler.profile(activities=CPU) as prof:
            with self.assertRaisesRegex(tpusight.TpusightError, "another profiler"):
                with self.profiler().profile("inner"):
                    pass
            work()
        self.assertTrue(prof.key_averages())

    @needs_2
    def test_one_in_another_thread_is_seen(self):
        refused = []

        def other():
            try:
                with self.profiler().profile("inner"):
                    pass
            except tpusight.TpusightError as e:
                refused.append(str(e))
        with torch.profiler.profile(activities=CPU) as prof:
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
            work()
        self.assertEqual(len(refused), 1)
        self.assertTrue(prof.key_averages())

    def test_a_folder_that_cannot_be_written_is_told(self):
        with open(self.path("file"), "w", encoding="utf-8"):
            pass
        with self.assertRaises((tpusight.TpusightError, OSError)):
            with tpusight.UnifiedProfiler(output_dir=self.path("file")).profile("block"):
                work()

    @needs_kineto
    def test_stacks_are_there_when_asked_for(self):
        with self.profiler(with_stack=True).profile("block") as session:
            work()
        self.assertIn("torch_test.py", json.dumps(session.flame_graph_data))


SCRIPT = """
import sys
import torch
assert __name__ == "__main__" and sys.argv[1:] == ["--size", "32"]
model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))
for _ in range(3):
    model(torch.ones(8, 32)).sum().backward()
"""


class OfScripts(InAFolder):
    def test_a_script_is_profiled_as_it_is(self):
        with open(self.path("train.py"), "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        done = subprocess.run([sys.executable, "-m", "tpusight", "profile", "-o", self.path("logs"), "--json", self.path("train.py"),
                               "--size", "32"], capture_output=True, text=True, check=False,
                              env=dict(os.environ, PYTHONPATH=os.path.join(package.ROOT, "plugin")))
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout[done.stdout.index("{"):])
        products = {row["name"]: row for row in report["operators"]["by_name"]}
        self.assertEqual(products["aten::addmm"]["calls"], 6)
        if torch.autograd.kineto_available():  # with shapes: 2 m n k of both layers, three times
            self.assertEqual(products["aten::addmm"]["flops"], 3 * 2 * 8 * (32 * 64 + 64 * 4))
        (trace,) = os.listdir(self.path("logs/train"))
        self.assertTrue(trace.endswith(".pt.trace.json.gz"))

    @needs_kineto
    def test_shapes_are_there_when_asked_for(self):
        for wanted, flops in (True, 2 * 64 ** 3), (False, tpusight.UNKNOWN):
            with self.profiler(record_shapes=wanted, enable_memory=False).profile("block") as session:
                torch.ones(64, 64) @ torch.ones(64, 64)
            (product,) = [row for row in session.operators if row.name == "aten::mm"]
            self.assertEqual(f"{product.flops:.0f}", f"{flops:.0f}")


class OfProfilers(InAFolder):
    def profile(self, **options):
        with torch.profiler.profile(activities=CPU, **options) as prof:
            work()
        return prof

    def test_self_times_sum_to_torchs_own(self):
        prof = self.profile()
        theirs_us = package.busy_us(prof)
        if torch.autograd.kineto_available():
            theirs_us = sum(row.self_cpu_time_total for row in prof.key_averages())
        timeline = tpusight.TimelineGenerator().from_profiler(prof)
        flame = tpusight.FlameGraphGenerator().from_profiler(prof)
        self.assertAlmostEqual(timeline.cpu_time_us, theirs_us, delta=0.01 * theirs_us)
        self.assertAlmostEqual(flame["cpu_time_ps"] / 1e6, theirs_us, delta=0.01 * theirs_us)

    def test_calls_are_torchs_own(self):
        prof = self.profile()
        flame = tpusight.FlameGraphGenerator(0, 0, False, weight="count").from_profiler(prof)
        theirs = {row.key: row.count for row in prof.key_averages()}
        ours = {}

        def walk(frames):
            for frame in frames:
                ours[frame["name"]] = ours.get(frame["name"], 0) + frame["count"]
                walk(frame["children"])
        walk(flame["children"])
        for name in ("aten::mm", "aten::relu", "aten::mul"):
            self.assertEqual(ours[name], theirs[name], name)

    def test_the_temporary_trace_goes_with_profiler_and_answers(self):
        prof = self.profile()
        generator = tpusight.FlameGraphGenerator()
        data, timeline = generator.from_profiler(prof), tpusight.TimelineGenerator().from_profiler(prof)
        self.assertEqual(len(self.left()), 1)  # torch writes it once, for all
        del prof, timeline
        generator.export(data, self.path("flame.txt"), format="folded")
        self.assertGreater(os.path.getsize(self.path("flame.txt")), 0)
        del data
        self.assertEqual(self.left(), [])

    def test_the_users_own_export_works_after_it(self):
        prof = self.profile()
        tpusight.TimelineGenerator().from_profiler(prof)
        session = tpusight.UnifiedProfiler(enable_flame_graph=False, enable_memory=False).from_profiler(prof, "own")
        self.assertEqual((session.name, session.trace_path), ("own", None))
        self.assertGreater(session.total_time_ms, 0)
        for name, opened in (("own.json", open), ("own.json.gz", gzip.open)):
            prof.export_chrome_trace(self.path(name))
            with opened(self.path(name), "rt", encoding="utf-8", errors="replace") as trace:
                self.assertIn("aten::mm", trace.read())

    @needs_kineto
    def test_one_that_was_exported_before_is_told(self):
        prof = self.profile()
        prof.export_chrome_trace(self.path("own.json"))
        with self.assertRaisesRegex(tpusight.TpusightError, "from_chrome_trace"):
            tpusight.HTAAnalyzer().from_profiler(prof)
        self.assertEqual(self.left(), [])
        self.assertEqual(tpusight.HTAAnalyzer().analyze_trace(self.path("own.json")).kernel_count, 0)

    def test_one_that_did_not_run_is_told(self):
        with self.assertRaisesRegex(tpusight.TpusightError, "after the profiler's end"):
            tpusight.TimelineGenerator().from_profiler(torch.profiler.profile(activities=CPU))


class Memory(InAFolder):
    @needs_kineto
    def test_levels_are_the_sizes_of_tensors(self):
        profiler = tpusight.MemoryProfiler(sample_interval_ms=0)
        with profiler.track("block"):
            first = torch.zeros(2 * MIB_OF_FLOATS)
            time.sleep(0.02)
            second = torch.zeros(3 * MIB_OF_FLOATS)
            time.sleep(0.02)
            del first
            time.sleep(0.02)
            profiler.sample("all there")
        with open(profiler.report()._trace.path, encoding="utf-8", errors="replace") as file:
            self.assertIn('"all there 0"', file.read())
        peak = profiler.get_peak_analysis()
        before = peak["initial_allocated_mb"]  # by the counter of a CPU, which goes on over all profiles
        self.assertEqual((peak["peak_added_mb"], peak["current_allocated_mb"] - before, peak["device"]), (5, 3, "cpu"))
        levels = [point["allocated_mb"] - before for point in profiler.get_timeline()]
        self.assertEqual([level for i, level in enumerate(levels) if level != levels[i - 1] or i == 0], [2, 5, 3])
        self.assertIs(peak["current_reserved_mb"], tpusight.UNKNOWN)
        held = [row for row in profiler.report().holders if row["source"]]
        self.assertEqual({row["source"].split("(")[0].split("/")[-1] for row in held}, {"torch_test.py"})
        self.assertEqual(sum(row["bytes"] for row in held), 5 << 20)
        del second

    @needs_kineto
    def test_what_stays_from_step_to_step_may_be_a_leak(self):
        profiler, kept = tpusight.MemoryProfiler(), []
        for name, keep in ("leak", True), ("none", False):
            with profiler.track(name):
                for _ in range(4):
                    with profiler.step():
                        block = torch.zeros(MIB_OF_FLOATS)
                        if keep:
                            kept.append(block)
                        del block
        self.assertIs(profiler.get_peak_analysis("leak")["potential_leak"], True)
        self.assertIs(profiler.get_peak_analysis("none")["potential_leak"], False)
        self.assertEqual(profiler.get_peak_analysis()["peak_added_mb"], 1)  # the last one
        self.assertEqual(profiler.get_peak_analysis("leak")["peak_added_mb"], 4)
        self.assertEqual(profiler.get_peak_analysis("none")["initial_allocated_mb"],
                         profiler.get_peak_analysis("leak")["current_allocated_mb"])

    @needs_kineto
    def test_traces_go_with_the_profiler(self):
        profiler = tpusight.MemoryProfiler(record_history=False)
        with profiler.track():
            torch.zeros(MIB_OF_FLOATS)
        self.assertEqual({row["source"] for row in profiler.report().holders}, {None})
        profiler.export(self.path("m.html"), format="html")
        self.assertEqual(len(self.left()), 1)
        profiler.reset()
        self.assertEqual(self.left(), [])
        with self.assertRaisesRegex(tpusight.TpusightError, "nothing is tracked"):
            profiler.step()


def two_parts(x):
    y = torch.relu(x @ x) * 2
    torch._dynamo.graph_break()
    return torch.sigmoid(y) + 1


@needs_2
class Compile(InAFolder):
    own_temporary = False

    def marks(self, report):
        """[(start, duration)] in ms of the compiled and the eager calls, read here."""
        folder = os.path.join(os.path.dirname(report._trace.path), "times", report.mode)
        for mode in report.mode, "eager":
            with open(os.path.join(folder, f"turns-{mode}", "steps.pt.trace.json"), encoding="utf-8") as file:
                trace = json.load(file)
            yield [(trace["baseTimeNanoseconds"] / 1e6 + e["ts"] / 1e3, e["dur"] / 1e3) for e in trace["traceEvents"]]

    def test_a_model_is_compiled_and_told_of(self):
        torch._dynamo.utils.counters.clear()
        report = tpusight.TorchCompileAnalyzer().analyze(two_parts, torch.randn(32, 32), warmup=2, iterations=6)
        compiled, eager = self.marks(report)
        self.assertEqual((len(compiled), len(eager)), (6, 6))
        for ours, theirs in (report.compiled_time_ms, compiled), (report.eager_time_ms, eager):
            median = statistics.median(ms for _, ms in theirs)
            self.assertAlmostEqual(ours, median, delta=0.001 * median)
        self.assertAlmostEqual(report.speedup, report.eager_time_ms / report.compiled_time_ms)
        self.assert_turns(report, compiled, eager)
        self.assertEqual(report.total_graph_breaks, sum(torch._dynamo.utils.counters["graph_break"].values()))
        (found,) = report.graph_breaks
        self.assertIn("graph_break", found.reason)
        if found.location:  # PyTorch 2.5 and later
            self.assertIn(f"torch_test.py:{two_parts.__code__.co_firstlineno + 2}", found.location)
        self.assert_compile_time(report)
        self.assertAlmostEqual(report.fusion_ratio, report.ops_before_fusion / report.ops_after_fusion)
        self.assertGreater(report.ops_before_fusion, report.ops_after_fusion)
        json.dumps(report.to_dict())
        tpusight.TorchCompileAnalyzer().export_report(report, self.path("report.html"))
        with open(self.path("report.html"), encoding="utf-8") as file:
            self.assertIn(f"<th>speed-up<td>{report.speedup:.2f} (", file.read())
        folder = report._trace.path
        self.assertTrue(os.path.isdir(folder))
        del report, found
        gc.collect()
        self.assertFalse(os.path.exists(folder))

    def assert_turns(self, report, compiled, eager):
        """Eager and compiled calls took turns; of six ratios, all are the interval."""
        in_time = sorted([(start, "C") for start, _ in compiled] + [(start, "E") for start, _ in eager])
        self.assertEqual("".join(name for _, name in in_time), "EC" * 6)
        self.assertEqual(report.turns, 6)
        ratios = [e / c for (_, e), (_, c) in zip(eager, compiled)]
        self.assertAlmostEqual(report.speedup_low, min(ratios), delta=0.01 * min(ratios))
        self.assertAlmostEqual(report.speedup_high, max(ratios), delta=0.01 * max(ratios))
        self.assertIs(report.may_be_chance, report.p_value >= 0.05)

    def assert_compile_time(self, report):
        """Against PyTorch's own clock, round the compilation of a frame."""
        times = torch._dynamo.utils.compile_times(repr="csv", aggregate=False)
        inner = [values for name, values in zip(*times) if name.endswith("compile_inner")]
        theirs_ms = sum(float(s) for s in inner[0].split(",")) * 1e3
        self.assertAlmostEqual(report.compile_time_ms, theirs_ms, delta=0.02 * theirs_ms + 5)

    def test_a_stall_of_the_machine_is_not_a_speed_up(self):
        """Eight calls in a row take forty times as long, whosever they are: half of them are eager ones."""
        calls = []

        def busy(_):
            calls.append(1)
            time.sleep(0.02 if 4 <= len(calls) < 12 else 0.0005)
        folders = torch_compile._take_turns(torch, self.path("times"), {"eager": busy, "default": busy}, ((None,), {}), 0, 10)
        found = _program.ask("compile", "--json", "--label=eager", "--label=default", "--", *folders.values())
        row = found["modes"][1]
        self.assertEqual((len(calls), row["turns"], row["may_be_chance"]), (20, 10, True))
        self.assertLess(row["speedup_low"], 1.5)
        self.assertGreater(row["speedup_high"], 0.5)

    def test_modes_are_compared_each_in_turns_with_eager_calls(self):
        def small(x, *, scale):
            return torch.relu(x) * scale
        analyzer = tpusight.TorchCompileAnalyzer(backend="aot_eager")
        reports = analyzer.compare_modes(small, {"x": torch.ones(8), "scale": 2}, modes=["default"], iterations=3)
        self.assertEqual(list(reports), ["default"])
        report = reports["default"]
        self.assertEqual((report.mode, report.backend, report.total_graph_breaks), ("default", "aot_eager", 0))
        both = tpusight.TorchCompileAnalyzer().compare_modes(small, {"x": torch.ones(8), "scale": 2},
                                                             modes=["default", "reduce-overhead"], iterations=3)
        self.assertEqual(list(both), ["default", "reduce-overhead"])
        self.assertEqual([report.turns for report in both.values()], [3, 3])
        self.assertEqual([report.may_be_chance for report in both.values()], [True, True])  # three turns tell nothing
        with self.assertRaises(ValueError):
            analyzer.compare_modes(small, torch.ones(8), modes=[])

    def test_logging_is_as_before(self):
        import logging
        log = logging.getLogger("torch.__trace")
        before = log.level, list(log.handlers)
        tpusight.TorchCompileAnalyzer(backend="eager").analyze(torch.relu, (torch.ones(4),), iterations=2)
        with self.assertRaises(torch._dynamo.exc.Unsupported):  # a break, where there is to be none
            tpusight.TorchCompileAnalyzer(backend="eager", fullgraph=True).analyze(two_parts, torch.ones(4, 4))
        self.assertEqual(log.level, before[0])
        self.assertLessEqual(set(log.handlers), set(before[1]))


if __name__ == "__main__":
    package.main()
