#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Of trace files, without torch: HTAAnalyzer, FlameGraphGenerator, TimelineGenerator: traces_test.py

On a trace made here whose figures are counted by hand, on those in tests/data, and on the corpus' where TS_CORPUS is.
"""
import gzip
import json
import os
import re
import subprocess
import tempfile
import unittest

import package
import tpusight

CORPUS = os.environ.get("TS_CORPUS", os.path.join(package.ROOT, "..", "shared", "corpus"))
REAL = os.path.join(package.DATA, "torch", "stack.pt.trace.json.gz")


def event(cat, name, tid, start_us, duration_us, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0 if cat == "kernel" else 1, "tid": tid, "ts": start_us,
            "dur": duration_us, "args": args}


# A millisecond of a GPU: 700 us of a product, a sum over ranks for 100 us at once with it and 50 alone, 245 of
# nothing, a kernel of 5.
EVENTS = [
    event("cpu_op", "aten::mm", 1, 0, 400),
    event("cuda_runtime", "cudaLaunchKernel", 1, 50, 10, correlation=1),
    event("cuda_runtime", "cudaLaunchKernel", 1, 70, 10, correlation=2),
    event("cuda_runtime", "cudaLaunchKernel", 1, 90, 10, correlation=3),
    event("kernel", "gemm<128>", 7, 100, 700, correlation=1, stream=7),
    event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, 700, 150, correlation=2, stream=20),
    event("kernel", "tiny", 7, 1095, 5, correlation=3, stream=7),
]


def asked(*args):
    return json.loads(subprocess.run([package.PROGRAM, *args], capture_output=True, check=True).stdout)


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.trace = self.path("trace.json")
        with open(self.trace, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": EVENTS}, file)

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()


class HTA(InAFolder):
    def test_shares_are_those_counted_by_hand(self):
        report = tpusight.HTAAnalyzer().analyze_trace(self.trace)
        self.assertAlmostEqual(report.gpu_idle_time_pct, 24.5)
        self.assertAlmostEqual(report.compute_time_pct, 70.5)
        self.assertAlmostEqual(report.non_compute_time_pct, 5)
        self.assertAlmostEqual(report.communication_time_pct, 15)
        self.assertAlmostEqual(report.comm_comp_overlap_pct, 100 * 100 / 150)
        self.assertEqual([(k["name"], k["time_us"], k["count"]) for k in report.top_kernels],
                         [("gemm<128>", 700, 1), ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 150, 1), ("tiny", 5, 1)])

    def test_advice_is_the_programs(self):
        report, said = tpusight.HTAAnalyzer().analyze_trace(self.trace), asked("hta", "--json", self.trace)
        self.assertEqual((report.bottlenecks, report.recommendations), (said["bottlenecks"], said["recommendations"]))
        self.assertTrue(report.bottlenecks)
        self.assertEqual(report.answer, said)

    def test_without_a_gpu_shares_are_unknown(self):
        report = tpusight.HTAAnalyzer().analyze_trace(REAL)
        self.assertIs(report.gpu_idle_time_pct, tpusight.UNKNOWN)
        self.assertIs(report.communication_time_pct, tpusight.UNKNOWN)
        self.assertEqual((report.kernel_count, report.top_kernels), (0, []))
        self.assertIn("unknown", report._repr_html_())

    def test_reports_are_exported(self):
        analyzer = tpusight.HTAAnalyzer(output_dir=self.path("out"))
        report = analyzer.analyze_trace(self.trace)
        self.assertEqual(analyzer.export_report(report), self.path("out/hta_report.html"))
        self.assertIn("<!doctype html>", self.read("out/hta_report.html").lower())
        analyzer.export_report(report, self.path("r.json"), format="json")
        self.assertEqual(json.loads(self.read("r.json")), report.answer)
        with self.assertRaisesRegex(ValueError, "pdf is not a format"):
            analyzer.export_report(report, self.path("r.pdf"), format="pdf")
        with self.assertRaisesRegex(tpusight.TpusightError, "needs a trace"):
            analyzer.export_report(tpusight.HTAReport(gpu_idle_time_pct=50), self.path("r.html"))

    def test_a_report_is_of_what_json_can_write(self):
        report = tpusight.HTAAnalyzer().analyze_trace(self.trace)
        self.assertEqual(json.loads(json.dumps(report.to_dict()))["gpu_idle_time_pct"], report.gpu_idle_time_pct)
        self.assertNotIn("_trace", report.to_dict())
        self.assertIn("gemm&lt;128&gt;", report._repr_html_())

    def test_a_report_is_short_where_people_look_at_it(self):
        kernel = {"name": "void at::native::" + "x" * 3000, "count": 7}
        report = tpusight.HTAReport(gpu_idle_time_pct=24.5, top_kernels=[kernel] * 12)
        self.assertRegex(str(report), r"\AHTAReport\ngpu_idle_pct: unknown\ngpu_idle_time_pct: 24\.5\n")
        self.assertIn("\n  name void at::native::x", str(report))
        self.assertIn("xxx, count 7\n  ... 12 in all\n", str(report).replace("\n  name", "\n"))
        self.assertLess(len(str(report)), 1500)
        cells = re.findall(r"<td[^>]*>([^<]*)</td>", report._repr_html_())
        self.assertLessEqual(max(map(len, cells)), 80)
        self.assertIn('title="void at::native::x', report._repr_html_())
        self.assertLess(len(report._repr_html_()), 20000)
        self.assertLess(len(repr(report)), 1500)

    def test_a_trace_that_is_not_there_is_told(self):
        with self.assertRaisesRegex(tpusight.TpusightError, "none.json"):
            tpusight.HTAAnalyzer().analyze_trace(self.path("none.json"))
        with self.assertRaisesRegex(tpusight.TpusightError, "--json"):  # a name, no option
            tpusight.HTAAnalyzer().analyze_trace("--json")

    def test_a_folder_of_ranks_is_one_job(self):
        os.mkdir(self.path("job"))
        for rank in range(2):
            with open(self.path(f"job/rank{rank}.pt.trace.json"), "w", encoding="utf-8") as file:
                json.dump({"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": EVENTS}, file)
        report = tpusight.HTAAnalyzer().analyze_trace(self.path("job"))
        self.assertEqual([rank["rank"] for rank in report.answer["ranks"]], [0, 1])
        self.assertAlmostEqual(report.gpu_idle_time_pct, 24.5)
        self.assertEqual(report.top_kernels[0]["time_us"], 1400)

    def test_the_corpus_traces_have_htas_own_figures(self):
        truth = os.path.join(CORPUS, "truth", "hta.json")
        if not os.path.exists(truth):
            self.skipTest("no corpus here (TS_CORPUS)")
        with open(truth, encoding="utf-8") as file:
            theirs = json.load(file)
        nr = 0
        for name, answer in theirs.items():
            rows = answer.get("temporal_breakdown")
            if not isinstance(rows, list):  # HTA failed
                continue
            report = tpusight.HTAAnalyzer().analyze_trace(os.path.join(CORPUS, "kineto", name))
            for field, column in (("gpu_idle_time_pct", "idle_time_pctg"), ("compute_time_pct", "compute_time_pctg"),
                                  ("non_compute_time_pct", "non_compute_time_pctg")):
                self.assertAlmostEqual(report.hta_0_5[field], rows[0][column], delta=0.011, msg=f"{name} {field}")
                nr += 1
        self.assertGreater(nr, 0)


class Flame(InAFolder):
    def test_a_tree_has_the_calls_and_their_kernels(self):
        data = tpusight.FlameGraphGenerator(0, group_small_kernels=False, weight="device").from_chrome_trace(self.trace)
        self.assertEqual(data["value"], 855e6)
        (op,) = data["children"]
        self.assertEqual((op["name"], op["device_ps"], op["cpu_ps"]), ("aten::mm", 855e6, 400e6))
        kernels = [(frame["name"], frame["value"]) for frame in op["children"] if frame["category"] == "kernel"]
        self.assertEqual(kernels, [("gemm<128>", 700e6),
                                   ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 150e6), ("tiny", 5e6)])

    def test_cuts_are_handed_on(self):
        whole = tpusight.FlameGraphGenerator(min_duration_us=0, max_depth=0, group_small_kernels=False)
        self.assertEqual(whole.from_chrome_trace(REAL), asked("flame", "--json", "--min-duration-us=0", REAL))
        cut = tpusight.FlameGraphGenerator(min_duration_us=100, max_depth=3)
        said = asked("flame", "--json", "--min-duration-us=100", "--max-depth=3", "--group-small-kernels", REAL)
        self.assertEqual(cut.from_chrome_trace(REAL), said)
        self.assertNotEqual(said["children"], whole.from_chrome_trace(REAL)["children"])

    def test_small_kernels_are_grouped(self):
        small = [event("cuda_runtime", "cudaLaunchKernel", 1, 200 + i, 1, correlation=10 + i) for i in range(4)]
        small += [event("kernel", "tiny", 7, 900 + 10 * i, 5, correlation=10 + i, stream=7) for i in range(4)]
        with open(self.trace, "w", encoding="utf-8") as file:
            json.dump(EVENTS + small, file)
        for group, name in (False, "tiny"), (True, "(small kernels)"):
            data = tpusight.FlameGraphGenerator(10, 0, group, weight="device").from_chrome_trace(self.trace)
            names = [kernel["name"] for kernel in data["children"][0]["children"]]
            self.assertEqual(names, ["gemm<128>", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", name])

    def test_every_form_is_the_programs(self):
        generator = tpusight.FlameGraphGenerator(min_duration_us=0)
        data = generator.from_chrome_trace(REAL)
        for form in ("html", "folded", "speedscope", "text"):
            generator.export(data, self.path("flame"), format=form)
            said = subprocess.run([package.PROGRAM, "flame", f"--format={form}", "--min-duration-us=0",
                                   "--max-depth=50", "--group-small-kernels", REAL], capture_output=True, text=True,
                                  check=True).stdout
            self.assertEqual(self.read("flame"), said, form)
        generator.export(data, self.path("flame.json"), format="json")
        self.assertEqual(json.loads(self.read("flame.json")), dict(data))
        self.assertIn("<iframe", data._repr_html_())

    def test_a_tree_of_ones_own_is_written_as_json_alone(self):
        generator, own = tpusight.FlameGraphGenerator(), {"name": "root", "value": 100, "children": []}
        generator.export(own, self.path("own.json"), format="json")
        self.assertEqual(json.loads(self.read("own.json")), own)
        with self.assertRaisesRegex(tpusight.TpusightError, "needs a trace"):
            generator.export(own, self.path("own.html"))

    def test_an_answer_without_folded_stacks_says_why(self):
        with open(self.trace, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": [event("cpu_op", "aten::mm", 1, at, 0) for at in range(3)]}, file)
        generator = tpusight.FlameGraphGenerator(min_duration_us=0)
        with self.assertRaisesRegex(tpusight.TpusightError, "no frame of the stacks has a nanosecond of its own"):
            generator.export(generator.from_chrome_trace(self.trace), self.path("flame.folded"), format="folded")
        self.assertFalse(os.path.exists(self.path("flame.folded")))

    def test_no_file_is_more_open_than_the_trace_nor_the_trace(self):
        generator = tpusight.FlameGraphGenerator(min_duration_us=0)
        os.chmod(self.trace, 0o600)
        data = generator.from_chrome_trace(self.trace)
        with open(self.path("old.json"), "w", encoding="utf-8") as file:
            file.write("x" * 100000)
        os.chmod(self.path("old.json"), 0o666)
        os.link(self.trace, self.path("second.json"))
        for form in ("json", "html"):
            for name in (f"new.{form}", "old.json" if form == "json" else "old.html"):
                generator.export(data, self.path(name), format=form)
                self.assertEqual(os.stat(self.path(name)).st_mode & 0o777, 0o600)
            for name in ("trace.json", "second.json"):
                with self.assertRaises(tpusight.TpusightError):
                    generator.export(data, self.path(name), format=form)
        self.assertEqual(json.loads(self.read("old.json")), dict(data))
        self.assertEqual(json.loads(self.read("trace.json")), {"traceEvents": EVENTS})

    def test_what_cannot_be_written_is_told(self):
        generator = tpusight.FlameGraphGenerator(min_duration_us=0)
        data = generator.from_chrome_trace(self.trace)
        with self.assertRaisesRegex(tpusight.TpusightError, "was not written"):
            generator.export(data, self.path("no/folder.html"))

    def test_what_is_no_profiler_is_told(self):
        with self.assertRaisesRegex(tpusight.TpusightError, "not a profiler of torch"):
            tpusight.FlameGraphGenerator().from_profiler(object())


class Timeline(InAFolder):
    def test_times_are_those_counted_by_hand(self):
        timeline = tpusight.TimelineGenerator().from_chrome_trace(self.trace)
        self.assertEqual((timeline.total_time_us, timeline.cpu_active_time_us), (1100, 400))
        self.assertEqual((timeline.gpu_active_time_us, timeline.overlap_time_us), (755, 300))
        self.assertEqual((timeline.cpu_time_us, timeline.cuda_time_us), (400, 855))
        self.assertEqual(sorted((s["busy_us"], s["events"]) for s in timeline.streams), [(150, 1), (705, 2)])
        self.assertEqual(sum(timeline.steps[0][name] for name in timeline.steps[0] if name.endswith("_us"))
                         - timeline.steps[0]["start_us"], 2 * timeline.steps[0]["duration_us"])

    def test_without_a_gpu_its_times_are_unknown(self):
        timeline = tpusight.TimelineGenerator().from_chrome_trace(REAL)
        self.assertIs(timeline.gpu_active_time_us, tpusight.UNKNOWN)
        self.assertIs(timeline.overlap_time_us, tpusight.UNKNOWN)
        self.assertEqual(timeline.streams, [])
        self.assertGreater(timeline.cpu_active_time_us, 0)
        json.dumps(timeline.to_dict())

    def test_frames_of_python_need_not_count(self):
        with_them = tpusight.TimelineGenerator().from_chrome_trace(REAL)
        without = tpusight.TimelineGenerator(include_python_events=False).from_chrome_trace(REAL)
        self.assertEqual(without.answer, asked("timeline", "--json", "--no-python", REAL))
        self.assertLess(without.cpu_active_time_us, with_them.cpu_active_time_us)

    def test_a_trace_is_drawn_again(self):
        generator = tpusight.TimelineGenerator(min_duration_us=10)
        timeline = generator.from_chrome_trace(self.trace)
        generator.export_chrome_trace(timeline, self.path("drawn.json.gz"))
        with gzip.open(self.path("drawn.json.gz")) as file:
            names = [e["name"] for e in json.load(file)["traceEvents"]]
        self.assertIn("gemm<128>", names)
        self.assertNotIn("tiny", names)
        generator.generate_html_viewer(timeline, self.path("timeline.html"))
        self.assertIn("<!doctype html>", self.read("timeline.html").lower())

    def test_a_gpus_active_time_is_the_union_of_its_events(self):
        path = os.path.join(CORPUS, "kineto", "hta_trace_diff_control.json.gz")
        if not os.path.exists(path):
            self.skipTest("no corpus here (TS_CORPUS)")
        with gzip.open(path) as file:
            on_devices = ("kernel", "gpu_memcpy", "gpu_memset")
            events = [e for e in json.load(file)["traceEvents"] if e.get("cat", "").lower() in on_devices]
        active, end = 0, 0
        for start, duration in sorted((e["ts"], e["dur"]) for e in events):
            active += max(start + duration - max(start, end), 0)
            end = max(end, start + duration)
        timeline = tpusight.TimelineGenerator().from_chrome_trace(path)
        self.assertEqual(timeline.gpu_active_time_us, active)
        self.assertEqual(timeline.cuda_time_us, sum(e["dur"] for e in events))
        self.assertEqual(sum(s["events"] for s in timeline.streams), len(events))


if __name__ == "__main__":
    package.main()
