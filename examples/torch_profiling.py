#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch code under the profiler: times, memory, what torch.compile makes of it. Without a GPU the GPU's figures are unknown.

    python examples/torch_profiling.py [--compile]
"""
import argparse

import torch
from tpusight import MemoryProfiler, TorchCompileAnalyzer, UnifiedProfiler

MODEL = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64))
BATCH = torch.randn(32, 64)


def times(folder: str) -> None:
    profiler = UnifiedProfiler(output_dir=folder, enable_trace=True, enable_memory=True, enable_flame_graph=True)
    with profiler.profile("my_benchmark") as session:
        MODEL(BATCH).sum().backward()
    print(session)
    small = profiler.profile_function(MODEL.forward, BATCH, name="small", warmup=5, iterations=20)
    large = profiler.profile_function(MODEL.forward, BATCH.repeat(8, 1), name="large", warmup=5, iterations=20)
    print(f"Speedup: {profiler.compare_sessions(large, small)['speedup']:.2f}x")


def memory(folder: str) -> None:
    profiler, optimizer = MemoryProfiler(sample_interval_ms=1.0, record_history=True), torch.optim.Adam(MODEL.parameters())
    with profiler.track("training_step"):
        for _ in range(4):
            with profiler.step():
                MODEL(BATCH).sum().backward()
                optimizer.step()
                optimizer.zero_grad()
    peak = profiler.get_peak_analysis()
    print(f"Peak: {peak['peak_allocated_mb']:.1f} MiB at t={peak['peak_time_ms']:.1f} ms, a leak: {peak['potential_leak']}")
    profiler.export(f"{folder}/memory_profile.json")


def compiled() -> None:
    report = TorchCompileAnalyzer(backend="inductor", mode="default").analyze(MODEL, BATCH, warmup=3, iterations=10)
    print(f"Speedup: {report.speedup:.2f}x, compile time: {report.compile_time_ms / 1000:.1f} s, graph breaks: {report.total_graph_breaks}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", default="./profiles", metavar="FOLDER", help="where traces go (default: ./profiles)")
    parser.add_argument("--compile", action="store_true", help="torch.compile, too, which takes a compiler and a minute")
    asked = parser.parse_args()
    times(asked.output)
    memory(asked.output)
    if asked.compile:
        compiled()
