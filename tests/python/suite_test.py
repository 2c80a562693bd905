#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Of trace files, without torch: UnifiedProfiler, MemoryProfiler, TorchCompileAnalyzer: suite_test.py

On traces made here whose figures are counted by hand, and on those that PyTorch wrote in tests/data/torch.
"""
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import package
import tpusight
import tpusight._torch

TORCH = os.path.join(package.DATA, "torch")
MIB = 1 << 20


def event(cat, name, pid, start_us, duration_us, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": 1, "ts": start_us, "dur": duration_us, "args": args}


def steps(nr, step_us, kernel_us, kernel="gemm"):
    """A step each STEP_US, in which a kernel runs that long."""
    out = []
    for n in range(nr):
        at = n * step_us
        out += [event("user_annotation", f"ProfilerStep#{n}", 1, at, step_us),
                event("cpu_op", "aten::mm", 1, at + 1, 20),
                event("cuda_runtime", "cudaLaunchKernel", 1, at + 5, 5, correlation=n + 1),
                event("kernel", kernel, 0, at + 15, kernel_us, correlation=n + 1, stream=1)]
    return out


def level(at_us, change, allocated, reserved, address=4096):
    return {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "s": "t", "pid": 1, "tid": 1, "ts": at_us,
            "args": {"Total Allocated": allocated, "Total Reserved": reserved, "Bytes": change, "Addr": address,
                     "Device Type": 1, "Device Id": 0}}


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def trace(self, name, events):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": events}, file)
        return path

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()


class Session(InAFolder):
    def test_its_figures_are_those_counted_by_hand(self):
        session = tpusight.UnifiedProfiler().from_chrome_trace(self.trace("t.json", steps(4, 1000, 600)), name="run")
        self.assertEqual((session.name, session.total_time_ms, session.cuda_time_ms), ("run", 4, 2.4))
        self.assertAlmostEqual(session.cpu_time_ms, 0.08)
        self.assertEqual(session.step_times_ms, [1, 1, 1, 1])
        (kernel,) = session.kernels
        self.assertEqual((kernel.name, kernel.cuda_time_us, kernel.call_count, kernel.mean_us), ("gemm", 2400, 4, 600))
        self.assertEqual(kernel.op, "aten::mm")
        product, launch = session.operators
        self.assertEqual((product.name, product.call_count, product.cpu_time_us, product.self_cpu_time_us),
                         ("aten::mm", 4, 80, 60))
        self.assertEqual((product.cuda_time_us, product.self_cuda_time_us, product.flops), (2400, 2400, tpusight.UNKNOWN))
        self.assertEqual((launch.name, launch.self_cpu_time_us, launch.self_cuda_time_us), ("cudaLaunchKernel", 20, 0))
        self.assertIs(session.peak_memory_mb, tpusight.UNKNOWN)
        self.assertEqual(session.flame_graph_data["cuda_time_ms"], 2.4)
        self.assertTrue(session.bottlenecks and session.recommendations)
        self.assertEqual(json.loads(json.dumps(session.to_dict()))["kernels"][0]["call_count"], 4)
        self.assertIn("gemm", session._repr_html_())

    def test_what_is_not_asked_for_stays_unknown(self):
        profiler = tpusight.UnifiedProfiler(enable_memory=False, enable_flame_graph=False)
        events = steps(2, 1000, 600) + [level(500, MIB, MIB, 2 * MIB)]
        session = profiler.from_chrome_trace(self.trace("t.json", events))
        self.assertEqual((session.peak_memory_mb, session.flame_graph_data), (tpusight.UNKNOWN, None))

    def test_memory_is_the_devices(self):
        events = steps(2, 1000, 600) + [level(100, 3 * MIB, 3 * MIB, 8 * MIB), level(900, -2 * MIB, MIB, 8 * MIB)]
        session = tpusight.UnifiedProfiler().from_chrome_trace(self.trace("t.json", events))
        self.assertEqual((session.peak_memory_mb, session.allocated_memory_mb, session.reserved_memory_mb), (3, 1, 8))

    def test_sessions_are_compared_by_their_steps(self):
        profiler = tpusight.UnifiedProfiler()
        traces = {"a.json": steps(5, 1000, 800) + [level(10, 4 * MIB, 4 * MIB, 4 * MIB)],
                  "b.json": steps(5, 500, 300) + [level(10, MIB, MIB, 4 * MIB)]}
        before, after = (profiler.from_chrome_trace(self.trace(name, events)) for name, events in traces.items())
        said = profiler.compare_sessions(before, after)
        self.assertEqual((said["speedup"], said["basis"]), (2, "step"))
        self.assertAlmostEqual(said["p_value"], 2 / 252)  # of 5 and 5: all of one before all of the other
        self.assertEqual({name: round(value, 9) for name, value in said["timing_diff"].items()},
                         {"total_ms": 2.5, "cuda_ms": 2.5, "cpu_ms": 0, "step_ms": 0.5})
        self.assertEqual(said["memory_diff"], {"peak_mb": 3, "allocated_mb": 3, "reserved_mb": 0})
        (change,) = said["kernel_changes"]
        self.assertEqual((change["name"], change["state"], change["diff_us"]), ("gemm", "faster", 500))
        json.dumps(said)

    def test_new_and_gone_kernels_are_told(self):
        profiler = tpusight.UnifiedProfiler()
        before = profiler.from_chrome_trace(self.trace("a.json", steps(3, 1000, 800, "old_gemm")))
        after = profiler.from_chrome_trace(self.trace("b.json", steps(3, 1000, 300, "new_gemm")))
        said = profiler.compare_sessions(before, after)["kernel_changes"]
        self.assertEqual([(c["name"], c["state"], c["diff_us"], c["baseline_us"]) for c in said],
                         [("old_gemm", "gone", 800, 800), ("new_gemm", "new", -300, tpusight.UNKNOWN)])

    def test_without_a_device_the_hosts_steps_are_compared(self):
        def host_steps(step_us):
            return [event("user_annotation", f"ProfilerStep#{n}", 1, n * step_us, step_us) for n in range(3)] + [
                event("cpu_op", "aten::mm", 1, n * step_us, step_us) for n in range(3)]
        profiler = tpusight.UnifiedProfiler()
        sessions = [profiler.from_chrome_trace(self.trace(f"{us}.json", host_steps(us))) for us in (300, 100)]
        said = profiler.compare_sessions(*sessions)
        self.assertEqual((said["speedup"], said["basis"], said["timing_diff"]["cuda_ms"]), (3, "step", tpusight.UNKNOWN))
        (change,) = said["operator_changes"]
        self.assertEqual((change["name"], change["state"], change["diff_us"], change["baseline_count"]),
                         ("aten::mm", "faster", 200, 1))
        calls = [self.trace(f"{us}.json", [event("cpu_op", "a", 1, 0, us)]) for us in (300, 100)]
        said = profiler.compare_sessions(*map(profiler.from_chrome_trace, calls))
        self.assertEqual((said["speedup"], said["basis"], said["timing_diff"]["step_ms"]), (3, "total", tpusight.UNKNOWN))

    def test_a_session_made_by_hand_cannot_be_compared(self):
        with self.assertRaisesRegex(tpusight.TpusightError, "needs a trace"):
            tpusight.UnifiedProfiler().compare_sessions(tpusight.ProfileSession(), tpusight.ProfileSession())


class Memory(InAFolder):
    LEVELS = [level(10, 2 * MIB, 3 * MIB, 4 * MIB), level(1500, 5 * MIB, 8 * MIB, 12 * MIB, 8192),
              level(2500, -2 * MIB, 6 * MIB, 12 * MIB), level(7000, -MIB, 5 * MIB, 6 * MIB, 9000)]

    def report(self, events=(), **options):
        profiler = tpusight.MemoryProfiler(**options)
        profiler.from_chrome_trace(self.trace("t.json", [event("cpu_op", "aten::mm", 1, 0, 8000), *events]), name="run")
        return profiler

    def test_nothing_tracked_is_nothing_said(self):
        profiler = tpusight.MemoryProfiler()
        self.assertEqual((profiler.get_timeline(), profiler.get_peak_analysis(), profiler.report()), ([], {}, None))
        with self.assertRaisesRegex(tpusight.TpusightError, "nothing was tracked"):
            profiler.export(os.path.join(self.folder, "x.json"))

    def test_the_peak_is_where_the_level_was_highest(self):
        peak = self.report(self.LEVELS).get_peak_analysis()
        self.assertEqual((peak["peak_allocated_mb"], peak["peak_time_ms"], peak["peak_reserved_mb"]), (8, 1.5, 12))
        levels = "initial_allocated_mb", "current_allocated_mb", "current_reserved_mb", "peak_added_mb"
        self.assertEqual([peak[name] for name in levels], [1, 5, 6, 7])
        self.assertIsNone(peak["potential_leak"])

    def test_the_timeline_has_the_levels(self):
        points = self.report(self.LEVELS, sample_interval_ms=0).get_timeline()
        self.assertEqual([point["allocated_mb"] for point in points], [3, 8, 6, 5])
        self.assertEqual([point["reserved_mb"] for point in points], [4, 12, 12, 6])
        for point, at_ms in zip(points, (0, 1.5, 2.5, 7)):
            self.assertAlmostEqual(point["time_ms"], at_ms, delta=8 / 512 + 0.011)

    def test_points_are_no_closer_than_the_interval(self):
        points = self.report(self.LEVELS, sample_interval_ms=4).get_timeline()
        self.assertEqual([point["allocated_mb"] for point in points], [8, 5])
        self.assertEqual(self.report(self.LEVELS, sample_interval_ms=4).get_peak_analysis()["peak_allocated_mb"], 8)

    def growing(self, each):
        marks = [event("user_annotation", f"ProfilerStep#{n}", 1, n * 1000, 1000) for n in range(4)]
        return marks + [level(n * 1000 + 500, MIB, (1 + each * n) * MIB, 16 * MIB, 4096 * (n + 1)) for n in range(4)]

    def test_a_level_that_rises_each_step_may_be_a_leak(self):
        self.assertIs(self.report(self.growing(1)).get_peak_analysis()["potential_leak"], True)
        self.assertIs(self.report(self.growing(0)).get_peak_analysis()["potential_leak"], False)

    def test_a_trace_without_allocations_says_so(self):
        profiler = self.report()
        self.assertEqual(profiler.get_timeline(), [])
        self.assertIs(profiler.get_peak_analysis()["peak_allocated_mb"], tpusight.UNKNOWN)
        self.assertIn("profile_memory=True", profiler.report().notes[0])

    def test_reports_are_exported(self):
        profiler = self.report(self.LEVELS)
        profiler.export(os.path.join(self.folder, "m.json"))
        said = json.loads(self.read("m.json"))
        self.assertEqual(said["peak"]["peak_allocated_mb"], 8)
        self.assertEqual(said["answer"]["peak_bytes"], 8 * MIB)
        profiler.export(os.path.join(self.folder, "m.csv"), format="csv")
        self.assertIn("allocated_bytes", self.read("m.csv").splitlines()[0])
        self.assertEqual(len(self.read("m.csv").splitlines()), 5)
        profiler.export(os.path.join(self.folder, "m.html"), format="html")
        self.assertIn("<!doctype html>", self.read("m.html").lower())

    def test_reset_forgets(self):
        profiler = self.report(self.LEVELS)
        profiler.reset()
        self.assertEqual(profiler.get_peak_analysis(), {})

    def test_marks_need_something_that_is_tracked(self):
        with self.assertRaisesRegex(tpusight.TpusightError, "nothing is tracked|no torch"):
            tpusight.MemoryProfiler().sample()


class Compile(InAFolder):
    def test_breaks_have_reason_suggestion_and_place(self):
        trace, log = "breaks.pt.trace.json.gz", "dedicated_log_torch_trace_breaks.log.gz"
        report = tpusight.TorchCompileAnalyzer().analyze_trace(os.path.join(TORCH, trace), os.path.join(TORCH, log))
        with open(os.path.join(TORCH, "breaks.json"), encoding="utf-8") as file:
            theirs = json.load(file)["counters"]
        places = {re.sub(r".*_at_", "", name) for name in theirs["resumes"]}
        self.assertEqual(report.total_graph_breaks, len(places))
        self.assertEqual({found.location.split(":")[-1] for found in report.graph_breaks}, places)
        reasons = {found.reason for found in report.graph_breaks}
        self.assertTrue({reason.split("\n")[0] for reason in theirs["graph_break"]} <= reasons, reasons)
        self.assertNotIn(None, reasons)
        self.assertIn("Remove", report.graph_breaks[0].suggestion)
        self.assertIs(report.speedup, tpusight.UNKNOWN)
        self.assertGreater(report.compile_time_ms, 0)

    def test_without_the_log_reasons_are_unknown(self):
        report = tpusight.TorchCompileAnalyzer().analyze_trace(os.path.join(TORCH, "breaks.pt.trace.json.gz"))
        self.assertEqual({found.reason for found in report.graph_breaks}, {None})

    def test_reports_are_exported(self):
        analyzer = tpusight.TorchCompileAnalyzer()
        path = os.path.join(TORCH, "mode_default.pt.trace.json.gz")
        report = analyzer.analyze_trace(path)
        self.assertEqual((report.fusion_ratio, report.ops_before_fusion, report.ops_after_fusion), (1.25, 30, 24))
        analyzer.export_report(report, os.path.join(self.folder, "c.json"), format="json")
        self.assertEqual(json.loads(self.read("c.json"))["answer"], report.answer)
        analyzer.export_report(report, os.path.join(self.folder, "c.html"))
        self.assertIn("<!doctype html>", self.read("c.html").lower())
        self.assertNotIn("<aside>", self.read("c.html"))  # a trace alone has nothing to be compared with
        said = subprocess.run([package.PROGRAM, "compile", path], capture_output=True, text=True, check=True).stdout
        analyzer.export_report(report, os.path.join(self.folder, "c.txt"), format="text")
        self.assertEqual(self.read("c.txt"), said)


    def test_the_page_says_what_compiling_won(self):
        analyzer = tpusight.TorchCompileAnalyzer()
        path = os.path.join(TORCH, "mode_default.pt.trace.json.gz")
        for won, says in ({"speedup": 2.0, "speedup_low": 1.5, "speedup_high": 2.5, "p_value": 0.002, "may_be_chance": False,
                           "pays_after_steps": 40}, ("2.00 (1.50 to 2.50 with 95 %; not by chance, p = 0.002)", "<td>40 calls")), \
                ({"speedup": 0.5, "may_be_chance": True}, ("0.50 (unknown to unknown with 95 %; may be chance)", "<td>never: ")):
            report = dataclasses.replace(analyzer.analyze_trace(path), mode="<b>", eager_time_ms=3, compiled_time_ms=1.5, **won)
            analyzer.export_report(report, os.path.join(self.folder, "won.html"))
            head, page = self.read("won.html").split('<div id="tpusight">')
            for words in ("&lt;b&gt;", "<td>3.000 ms a call", "<td>1.500 ms a call", *says):
                self.assertIn(words, head)
            self.assertIn("tpusight-report", page)


class Gpus:
    """What torch.cuda is asked for: two devices, the second of which holds memory."""

    def __init__(self):
        self.waited = []

    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 2)
    memory_reserved = staticmethod(lambda index: index * MIB)

    def synchronize(self, index):
        self.waited.append(index)


class WithoutTorch(unittest.TestCase):
    def test_every_gpu_in_use_is_waited_for(self):
        torch = mock.Mock(spec=["cuda"], cuda=Gpus())
        tpusight._torch.synchronize(torch)
        self.assertEqual(torch.cuda.waited, [1])

    def test_what_needs_torch_says_so(self):
        doors = (lambda: tpusight.UnifiedProfiler(enable_trace=False).profile_function(int),
                 lambda: tpusight.UnifiedProfiler(enable_trace=False).profile("a").__enter__(),
                 lambda: tpusight.MemoryProfiler().track("a").__enter__(),
                 lambda: tpusight.TorchCompileAnalyzer().analyze(int, 1))
        with mock.patch.dict(sys.modules, {"torch": None}):
            for door in doors:
                with self.assertRaisesRegex(tpusight.TpusightError, "pip install torch"):
                    door()


if __name__ == "__main__":
    package.main()
