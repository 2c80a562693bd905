#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures that are not known, in formats, arithmetic and JSON: unknown_test.py"""
import copy
import json
import math
import os
import pickle
import unittest

import package
import tpusight
from tpusight import _unknown

TRACE = os.path.join(package.DATA, "torch_operators.pt.trace.json.gz")  # of a CPU alone
U = tpusight.UNKNOWN


class Unknown(unittest.TestCase):
    def test_any_format_of_a_number_says_so(self):
        for spec in ".2f", "", "g", ",.0f", "+.1e", ".1%":
            self.assertEqual(format(U, spec), "unknown", spec)
        self.assertEqual((f"{U:10.2f}|", f"{U:<10}|", f"{U:*^11.3f}", f"{U:012.1f}|", str(U)), (
            "   unknown|", "unknown   |", "**unknown**", "     unknown|", "unknown"))

    def test_what_is_reckoned_with_it_is_unknown(self):
        reckoned = [U / 1000, 3 + U, U - 1.5, 2 * U, 1 / U, U ** 2, 5 - U, U // 2, U % 2, -U, +U, abs(U), round(U), round(U, 2)]
        self.assertEqual([x is U for x in reckoned], [True] * len(reckoned))
        self.assertTrue(math.isnan(U) and isinstance(U, float))
        self.assertFalse(U)  # `if session.cuda_time_ms:` is of a figure
        self.assertFalse(U > 0 or U < 0 or U == 0)
        self.assertTrue(all(x is U for x in (copy.copy(U), copy.deepcopy(U), pickle.loads(pickle.dumps(U)), _unknown.Unknown())))

    def test_a_figure_is_never_none(self):
        session = tpusight.UnifiedProfiler().from_chrome_trace(TRACE)
        self.assertEqual(f"GPU time: {session.cuda_time_ms:.2f} ms", "GPU time: unknown ms")
        session.peak_memory_mb = None
        self.assertIs(session.peak_memory_mb, U)
        session.trace_path = None
        self.assertIsNone(session.trace_path)
        timeline = tpusight.TimelineGenerator().from_chrome_trace(TRACE)
        self.assertEqual(f"{timeline.gpu_active_time_us / 1000:.2f} {timeline.overlap_time_us/1000:6.1f}", "unknown unknown")
        report = tpusight.HTAAnalyzer().analyze_trace(TRACE)
        self.assertEqual(f"{report.gpu_idle_time_pct:.1f}%", "unknown%")

    def test_json_and_tables_have_null(self):
        session = tpusight.UnifiedProfiler().from_chrome_trace(TRACE)
        said = json.loads(json.dumps(session.to_dict(), allow_nan=False))
        self.assertIsNone(said["cuda_time_ms"])
        self.assertIsNone(said["operators"][0]["cuda_time_us"])
        self.assertEqual({row["cuda_time_us"] for row in session.table("operators").to_dicts()}, {None})
        self.assertIn("unknown", str(session))
        self.assertIn("<i>unknown</i>", session._repr_html_())

    def test_a_comparison_formats_what_it_does_not_know(self):
        profiler = tpusight.UnifiedProfiler()
        before, after = profiler.from_chrome_trace(TRACE), profiler.from_chrome_trace(TRACE)
        comparison = profiler.compare_sessions(before, after)
        self.assertEqual(f"{comparison['memory_diff']['peak_mb']:.1f} MB, {comparison['timing_diff']['cuda_ms']:.1f} ms",
                         "unknown MB, unknown ms")
        self.assertEqual(f"{comparison['speedup']:.2f}", "1.00")

    def test_memory_of_a_trace_without_memory_is_unknown(self):
        memory = tpusight.MemoryProfiler()
        self.assertEqual(memory.get_peak_analysis(), {})
        report = memory.from_chrome_trace(TRACE)
        peak = memory.get_peak_analysis()
        self.assertEqual(f"Peak: {peak['peak_allocated_mb']:.1f}MB at t={peak['peak_time_ms']:.1f}ms", "Peak: unknownMB at t=unknownms")
        self.assertIsNone(json.loads(json.dumps(report.to_dict()))["peak"]["peak_allocated_mb"])


if __name__ == "__main__":
    package.main()
