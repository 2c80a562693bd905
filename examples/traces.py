#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of PyTorch's profiler, without PyTorch: idle time and what it waits for, kernels, flame graph, timeline.

    python examples/traces.py trace.json.gz [--output FOLDER]
    python examples/traces.py --against before.json.gz after.json.gz
"""
import argparse
import os
from typing import Optional

from tpusight import FlameGraphGenerator, HTAAnalyzer, TimelineGenerator, UnifiedProfiler


def shown(value: Optional[float], unit: str) -> str:
    return "unknown" if value is None else f"{value:.1f} {unit}"


def report(path: str, folder: str) -> None:
    analyzer = HTAAnalyzer(output_dir=folder)
    found = analyzer.analyze_trace(path)
    print(f"GPU idle: {shown(found.gpu_idle_time_pct, '%')}, compute: {shown(found.compute_time_pct, '%')}, "
          f"communication: {shown(found.communication_time_pct, '%')}")
    for kernel in found.top_kernels[:5]:
        print(f"  {kernel['name'][:60]}: {kernel['time_us']:.0f} us, {kernel['count']} times")
    for title, advice in zip(found.bottlenecks, found.recommendations):
        print(f"{title}: {advice}")
    analyzer.export_report(found, os.path.join(folder, "hta_report.html"), format="html")

    flames = FlameGraphGenerator(min_duration_us=10.0, max_depth=50, group_small_kernels=True)
    flames.export(flames.from_chrome_trace(path), os.path.join(folder, "flame.html"), format="html")

    timelines = TimelineGenerator(min_duration_us=1.0, include_python_events=True)
    timeline = timelines.from_chrome_trace(path)
    print(f"Total: {shown(timeline.total_time_us, 'us')}, CPU active: {shown(timeline.cpu_active_time_us, 'us')}, "
          f"GPU active: {shown(timeline.gpu_active_time_us, 'us')}, both: {shown(timeline.overlap_time_us, 'us')}")
    timelines.export_chrome_trace(timeline, os.path.join(folder, "timeline_trace.json"))
    timelines.generate_html_viewer(timeline, os.path.join(folder, "timeline.html"))
    print(f"Written: {', '.join(sorted(os.listdir(folder)))} in {folder}")


def compare(before: str, after: str) -> None:
    profiler = UnifiedProfiler()
    found = profiler.compare_sessions(profiler.from_chrome_trace(before), profiler.from_chrome_trace(after))
    print(f"Speedup: {shown(found['speedup'], 'x')} ({found['basis']})")
    for change in found["kernel_changes"][:5]:
        print(f"  {change}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--output", default="./traces", metavar="FOLDER", help="where the pages go (default: ./traces)")
    parser.add_argument("--against", metavar="TRACE", help="an earlier trace to compare it with")
    asked = parser.parse_args()
    os.makedirs(asked.output, exist_ok=True)
    report(asked.trace, asked.output)
    if asked.against:
        compare(asked.against, asked.trace)
